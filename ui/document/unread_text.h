// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the text that a document cannot hold: text that a reader left out, and JSON text that is no query
// yet.
#pragma once

#include "engine/query/diagnostic.h"
#include "ui/document/document_file.h"
#include "ui/document/document_model.h"
#include "ui/document/problems.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

class UnreadText : public QObject {
  Q_OBJECT
 public:
  /// The unread text of a document. The model owns it; the first call creates it.
  static UnreadText& of(DocumentModel& model);
  /// The unread text of a document; nullptr if of() was not called for this model.
  static const UnreadText* find(const DocumentModel& model);

  // ---- what was left out ----
  /// Replaces the warnings of the reader of the document's file. `file`: the file if it has only a query;
  /// nullptr if it has a document.
  void noteFile(const std::vector<query::Diagnostic>& diagnostics,
                std::shared_ptr<const QueryFile> file = nullptr);
  /// Adds the warnings about a text that was pasted. Call this function after the change. Undo removes the
  /// warnings.
  void notePaste(const std::vector<query::Diagnostic>& diagnostics);
  /// Replaces the warnings about JSON text that became the query. Call this function after the change. Undo
  /// removes the warnings.
  void noteJson(const std::vector<query::Diagnostic>& diagnostics);
  /// Call this function when the document was saved. The file then has only the document. `form`: the form of
  /// a file with only a query; nothing for a document.
  void noteSaved(const QString& path, std::optional<query::QueryForm> form);
  /// Call this function when the document was saved as the chat that it was opened from. The file still has
  /// parts that the document cannot hold: `diagnostics` are the warnings of its reader.
  void noteSavedAsChat(const QString& path, const std::vector<query::Diagnostic>& diagnostics);
  /// Call this function when another document replaced the opened document, because the nodes are different.
  void forgetNodes();
  /// The parts of the document's file that saving over it removes, for the user.
  QStringList leftOutOfFile() const;
  /// The file that the document was opened from or saved in, if it has only a query; else nullptr.
  const QueryFile* file() const { return m_file.get(); }
  /// Whether a user chose settings that the file cannot hold. The model does not count.
  bool hasOwnSettings() const;

  // ---- JSON text that is no query yet ----
  /// Nothing if the text shows the document.
  const std::optional<QString>& typed() const { return m_typed; }
  /// Keeps the text while the user types. The text counts as an unsaved change.
  void setTyped(const QString& text);
  /// Takes the errors of the typed text.
  void setTypedErrors(std::vector<query::Diagnostic> errors);
  /// The document when typing began. Later changes of the document conflict with the text.
  const std::shared_ptr<const document::Document>& base() const { return m_base; }
  /// Takes the current document as base(). The user knows this document and continues to type.
  void takeBase();
  /// Removes the typed text, because the text became the query or the user discarded the text.
  void discardTyped();
  /// Makes views read typed text now, without waiting for a pause. Views with such text react to settling().
  void settle();
  /// Why the query cannot be run, exported or saved now, in words. Empty if no text is pending.
  QString refusal() const;

  /// Errors and warnings for the list of problems. Errors of pending text come first. `withJson`: also lists
  /// warnings about JSON text that became the query.
  std::vector<Problem> problems(bool withJson = true) const;

 Q_SIGNALS:
  void changed();   ///< something here has another value
  void settling();  ///< see settle()

 private:
  enum class Source { File, Paste, Json };
  struct LeftOut {
    Source source = Source::File;
    std::size_t line = 0;  ///< from 1; 0: not known
    QString found;
    QString hint;
    int undoIndex = 0;  ///< of the undo stack after the change that brought the text
  };

  explicit UnreadText(DocumentModel& model);
  void note(Source source, std::vector<query::Diagnostic> diagnostics);
  void followUndo(int index);
  QString sentence(const LeftOut& part) const;

  DocumentModel& m_model;
  std::vector<LeftOut> m_leftOut;
  std::shared_ptr<const QueryFile> m_file;
  int m_fileIndex = 0;                                    ///< of the undo stack when the file was opened
  mutable std::optional<document::RunSettings> m_judged;  ///< the last settings of hasOwnSettings()
  mutable bool m_isOwn = false;                           ///< the result for these settings
  std::optional<QString> m_typed;
  std::vector<query::Diagnostic> m_errors;  ///< of the typed text
  std::shared_ptr<const document::Document> m_base;
};

/// Removes the warnings about values that `document` has, because its own list of problems names them.
/// `pointer`: the place of its query in the text.
void removeKept(std::vector<query::Diagnostic>& warnings, const document::Document& document,
                const std::string& pointer);

/// The problems of a document's unread text, followed by the problems of the document.
std::vector<Problem> withUnread(const UnreadText& unread, std::vector<Problem> problems);

}  // namespace spanscope::ui
