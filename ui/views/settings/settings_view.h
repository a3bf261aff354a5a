// SPDX-License-Identifier: GPL-3.0-or-later
// Model and cache settings of the document, for its next run.
#pragma once

#include "ui/views/common/input_view.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace spanscope::ui {

class CheckedField;
class RetrievalRows;
class SettingsRows;

class SettingsView : public InputView {
  Q_OBJECT
 public:
  explicit SettingsView(QWidget* parent = nullptr);
  ~SettingsView() override;

  QSize sizeHint() const override { return {360, 560}; }

 protected:
  void refresh() override;

 private:
  void makeModelRows();
  void makeCacheRows();
  void makeRunRows();
  void makeLocalityRows();
  void makeRecordRows();
  void showModels();
  void chooseModel(int index);
  QString applyLayers(const QString& text);

  std::unique_ptr<SettingsRows> m_rows;
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
  std::unique_ptr<RetrievalRows> m_retrieval;
  QCheckBox* m_observe = nullptr;
  CheckedField* m_layers = nullptr;
  QCheckBox* m_observeRows = nullptr;
  QSpinBox* m_attention = nullptr;
  QSpinBox* m_kept = nullptr;
};

/// "all", or the layers separated by commas.
QString layersText(const std::vector<std::int32_t>& layers);
/// The layers of such a text; nothing where it is none.
std::optional<std::vector<std::int32_t>> readLayers(const QString& text);

}  // namespace spanscope::ui
