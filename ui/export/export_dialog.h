// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/document.h"
#include "ui/export/query_export.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <array>
#include <cstddef>
#include <optional>

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;

namespace spanscope::ui {

/// The query of a document as JSON, YAML, Lisp, curl line and Python program, with what is to be said about
/// each.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  /// `name`: what the file names begin with, e.g. "rag".
  ExportDialog(const document::Document& document, const QString& name, const Theme& theme,
               QWidget* parent = nullptr);

  /// What the current tab shows, as Copy and Save take it; empty where the document has no query.
  QByteArray text() const;
  /// "rag.json", "rag.yaml", "rag.lisp", "rag.sh", "rag.py".
  QString proposedName() const;
  /// The dialog's Save button asks for the path and calls this.
  std::optional<Error> saveTo(const QString& path);

  /// The endpoint and the model that were filled in, to be offered again.
  QString endpoint() const;
  QString model() const;
  void setEndpoint(const QString& endpoint);
  void setModel(const QString& model);

 Q_SIGNALS:
  /// A remark was activated: show that node.
  void nodeWanted(spanscope::document::NodeId node);

 private:
  static constexpr std::size_t kTabs = 5;

  void build(const Theme& theme);
  QWidget* makeFields();
  QWidget* makeRemarks(const Theme& theme);
  QLayout* makeButtons();
  void refresh();
  void updateRemarks();

  document::Document m_document;
  QString m_name;
  Theme m_theme;
  std::optional<QueryExport> m_export;
  QLineEdit* m_endpoint = nullptr;
  QLineEdit* m_model = nullptr;
  QCheckBox* m_stream = nullptr;
  QCheckBox* m_oneLine = nullptr;
  QTabWidget* m_tabs = nullptr;
  std::array<QPlainTextEdit*, kTabs> m_texts{};
  QLabel* m_remarksTitle = nullptr;
  QListWidget* m_remarks = nullptr;
  QLabel* m_message = nullptr;
  QPushButton* m_copy = nullptr;
  QPushButton* m_save = nullptr;
};

}  // namespace spanscope::ui
