// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/export/feature_table.h"
#include "engine/workbench/document/document.h"
#include "ui/export/export_settings.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QStyledItemDelegate>

#include <optional>
#include <string>
#include <vector>

class QLabel;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace spanscope::ui {

class ExportSettings;
class JsonHighlighter;

/// A dialog that exports the query of a document. The user chooses a target at the left. The dialog shows the
/// target's settings, the text that will be written, and remarks on the export.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  /// `name` is the beginning of proposed file names, e.g. "rag". `path` is the file of the document; empty:
  /// there is no file. Files of the query are read from the folder of `path`. `problems` is the list of
  /// problems that the window shows for the document; see QueryExportOptions.
  ExportDialog(const document::Document& document, const QString& name, const Theme& theme,
               QWidget* parent = nullptr, const QString& path = {}, std::vector<Problem> problems = {});

  void setTarget(const exports::ExportTarget& target);
  const exports::ExportTarget& target() const;

  /// The text that Copy and Save use; empty if there is no text yet. The preview shows only the beginning of
  /// a long text.
  QByteArray text() const;
  /// The file name that Save proposes: "rag.json", "rag.yaml", "rag.lisp", "rag.sh", "rag.py",
  /// "rag-chat.json", "rag-tokens.json". For JSON Lines, the extension is ".jsonl".
  QString proposedName() const;
  /// Writes the text to a file. The Save button asks for the path and calls this function.
  std::optional<Error> saveTo(const QString& path) const;

  /// The endpoint and the model that the user entered. The next dialog offers these values.
  QString endpoint() const;
  QString model() const;
  void setEndpoint(const QString& endpoint);
  void setModel(const QString& model);

 Q_SIGNALS:
  /// The user activated a remark. The window should show its node.
  void nodeWanted(spanscope::document::NodeId node);

 private:
  void build();
  QWidget* makeTargets();
  QWidget* makePreview();
  QWidget* makeRemarks();
  QLayout* makeButtons();
  void chooseTarget();
  void refresh();
  void tokensMade(const TokenText& made);
  /// Shows the text, or `instead` if the text is empty.
  void showText(std::string text, const QString& instead);
  void showRemarks(const std::vector<ExportRemark>& remarks);

  document::Document m_document;
  QString m_name;
  QString m_path;
  std::vector<Problem> m_problems;
  Theme m_theme;
  std::string m_text;
  TokenExport m_tokens;
  QListWidget* m_targets = nullptr;
  QLabel* m_explanation = nullptr;
  ExportSettings* m_settings = nullptr;
  QPlainTextEdit* m_preview = nullptr;
  JsonHighlighter* m_highlighter = nullptr;
  QLabel* m_facts = nullptr;
  QLabel* m_remarksTitle = nullptr;
  QListWidget* m_remarks = nullptr;
  QLabel* m_message = nullptr;
  QPushButton* m_copy = nullptr;
  QPushButton* m_save = nullptr;
};

/// The word for an effect: "Refused", "Differs", "Note".
QString effectWord(exports::Effect effect);

/// Paints a remark: a shape, the word for its effect, and the wrapped text.
class RemarkDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  enum RemarkDataRole { EffectRole = Qt::UserRole, NodeRole };

  RemarkDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme m_theme;
};

}  // namespace spanscope::ui
