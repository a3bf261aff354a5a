// SPDX-License-Identifier: GPL-3.0-or-later
// Model and cache settings of the document, for its next run.
#pragma once

#include "ui/views/document/document_view.h"

#include <functional>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace spanscope::ui {

class CheckedField;

class SettingsView : public DocumentView {
  Q_OBJECT
 public:
  explicit SettingsView(QWidget* parent = nullptr);

  QSize sizeHint() const override { return {360, 560}; }

 protected:
  void refresh() override;

 private:
  using Change = std::function<void(document::RunSettings&)>;

  void makeModelRows(QGridLayout& grid);
  void makeCacheRows(QGridLayout& grid);
  void makeRunRows(QGridLayout& grid);
  void makeLocalityRows(QGridLayout& grid);
  void makeRecordRows(QGridLayout& grid);
  void addHeader(QGridLayout& grid, const QString& title);
  void addRow(QGridLayout& grid, const QString& label, QWidget* field);
  void addHint(QGridLayout& grid, QLabel* label);
  QSpinBox* makeSpin(const QString& name, int least, int most, std::int32_t document::RunSettings::*member);
  QComboBox* makeCombo(const QString& name, const QStringList& values,
                       std::string document::RunSettings::*member);
  QCheckBox* makeCheck(const QString& text, bool document::RunSettings::*member);

  void change(const QString& name, const char* key, const Change& change);
  void endMerge();
  void showModels();
  void chooseModel(int index);
  QString applyLayers(const QString& text);

  QComboBox* m_model = nullptr;
  QComboBox* m_policy = nullptr;
  QLabel* m_exactness = nullptr;
  QSpinBox* m_blockSize = nullptr;
  QSpinBox* m_blockCount = nullptr;
  QLabel* m_capacity = nullptr;
  QComboBox* m_kvType = nullptr;
  QSpinBox* m_threads = nullptr;
  CheckedField* m_seed = nullptr;
  QSpinBox* m_maxTokens = nullptr;
  QCheckBox* m_distribute = nullptr;
  QComboBox* m_outputForm = nullptr;
  QSpinBox* m_locality = nullptr;
  QComboBox* m_localityShape = nullptr;
  QLineEdit* m_reducePrompt = nullptr;
  QCheckBox* m_observe = nullptr;
  CheckedField* m_layers = nullptr;
  QCheckBox* m_observeRows = nullptr;
  QLabel* m_footer = nullptr;
  std::vector<QLabel*> m_headers;
  std::vector<QLabel*> m_labels;
  bool m_isShowing = false;  ///< values come from the document, not from the person
};

/// "all", or the layers separated by commas.
QString layersText(const std::vector<std::int32_t>& layers);
/// The layers of such a text; nothing where it is none.
std::optional<std::vector<std::int32_t>> readLayers(const QString& text);

}  // namespace spanscope::ui
