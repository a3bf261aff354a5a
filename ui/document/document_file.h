// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes documents as files. A file holds a Spanscope document, or only a query, in JSON, YAML or
// Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/query/chat_writer.h"
#include "engine/query/query_form.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_text.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::ui {

/// A file with only a query, or with a chat in the form that servers accept.
struct QueryFile {
  QString path;
  query::QueryForm form = query::QueryForm::Json;
  query::ChatForm chat = query::ChatForm::None;  ///< of JSON: a list of messages, or the body of a request
  std::string text;                              ///< of a chat
  /// The nodes of a chat's messages in the document, in order. Empty if they are not known.
  std::vector<document::NodeId> nodes;
};

/// A document that was read from a file. The diagnostics also name the comments and other parts of the file
/// that a document cannot hold.
struct OpenedFile : document::OpenedDocument {
  /// The file if it has only a query; else nullptr. A chat in JSON is read as a query without a diagnostic,
  /// because saveDocument() can write the chat again.
  std::shared_ptr<const QueryFile> file = nullptr;
};

/// Reads a file. The form follows from the file's name, or else from the file's text. From a picture, reads
/// the document in the picture. If a Lisp query names files in its own folder, this function reads these
/// files too.
OpenedFile openDocument(const QString& path);
/// Writes the whole file or nothing. `opened`: the file that the document was opened from; nullptr if that
/// file had more than a query. A file with a savedForm() gets only the query. The query is saved as the same
/// chat if chatText() can write the chat. Refuses names of pictures, and documents that could not be read
/// again.
std::optional<Error> saveDocument(const QString& path, const document::Document& document,
                                  const QueryFile* opened = nullptr);
/// The form in which a file has only the query; nothing if the file has a document. The end of the file's
/// name decides (.json, .yaml, .yml, .lisp, .spnl). A file with another name keeps the form in which it was
/// opened, unless its name ends in .span.
std::optional<query::QueryForm> savedForm(const QString& path, const QueryFile* opened);
/// The query of a document, written as the chat that it was opened from. Nothing if a file of this name
/// cannot have a chat, or if the chat cannot express the query.
std::optional<query::RewrittenChat> chatText(const QString& path, const document::Document& document,
                                             const QueryFile* opened);
/// Whether a text that was read as a query is a list of chat messages. If so, removes the warning that the
/// list is read as a seq, because nothing is lost.
bool takeChatList(std::string_view text, std::vector<query::Diagnostic>& diagnostics);

/// Whether a file of this name has only a query.
bool isQueryPath(const QString& path);
/// Whether any setting differs from the settings of an opened query. Such a query runs on the current model,
/// with its adapter, its template, its context size and its usual policy.
bool hasOwnSettings(const document::RunSettings& settings);
/// The names of everything that is lost if only the document's query is saved, for the user.
QStringList lostWhenSavedAsQuery(const document::Document& document);

/// Why a document cannot be saved at this path, as a sentence for the user. Empty if no reason is known. A
/// read-only file is refused even for an administrator, because the file is meant to stay unchanged.
QString whyNotWritable(const QString& path);

}  // namespace spanscope::ui
class QSettings;

namespace spanscope::ui {

inline constexpr int kMostRecentFiles = 10;

/// The files that were opened or saved last, kept in the settings. The newest are first. Files that do not
/// exist now come after all others.
class RecentFiles {
 public:
  /// `settings` must outlive this object.
  explicit RecentFiles(QSettings& settings) : m_settings(&settings) {}

  QStringList paths() const;
  void add(const QString& path);
  void remove(const QString& path);
  void clear();

 private:
  QSettings* m_settings;
};

// Writes a document into a picture file and reads it from there. A PNG has the document in a text chunk, an
// SVG in its metadata. Other programs show these files as ordinary pictures.

/// Returns the picture with a document in it. `documentText` comes from writeDocument(). `picture` is a whole
/// PNG or SVG that this program wrote. Returns anything else unchanged.
QByteArray withDocument(const QByteArray& picture, std::string_view documentText);

/// Returns the text of the document in a picture, or an error. The picture is untrusted, so every length
/// field is checked.
std::variant<std::string, Error> documentOfPicture(const QByteArray& picture);

/// Whether the bytes begin as a PNG or an SVG does.
bool isPicture(const QByteArray& bytes);
/// Whether the file name ends in .png or .svg.
bool isPicturePath(const QString& path);

}  // namespace spanscope::ui
