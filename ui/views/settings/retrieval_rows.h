// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QString>

#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;
class QWidget;

namespace spanscope::ui {

class CheckedField;
class SettingsRows;

/// How augments of the document retrieve. Hidden, but for a word, in a document without one.
class RetrievalRows {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::RetrievalRows)
 public:
  /// Adds its rows at the end of `rows`, which outlive it.
  explicit RetrievalRows(SettingsRows& rows);

  void show(const document::Document& document, const Theme& theme);

 private:
  void makeChunkRows();
  void makeServerRows();
  QLabel* add(const QString& label, QWidget* field);
  QString applyAddress(const QString& text);
  QString applyModel(const QString& text);

  SettingsRows& m_rows;
  std::vector<QWidget*> m_widgets;  ///< of every row
  std::vector<QWidget*> m_server;   ///< of those that are for a server alone
  QLabel* m_unused = nullptr;
  QSpinBox* m_fragments = nullptr;
  QComboBox* m_ranking = nullptr;
  QSpinBox* m_chunk = nullptr;
  QSpinBox* m_overlap = nullptr;
  QLabel* m_overlapHint = nullptr;
  QCheckBox* m_summaries = nullptr;
  QComboBox* m_embeddings = nullptr;
  CheckedField* m_address = nullptr;
  CheckedField* m_model = nullptr;
  QLabel* m_serverHint = nullptr;
};

}  // namespace spanscope::ui
