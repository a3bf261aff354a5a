// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes documents as files. A file holds a Spanscope document, or only a query, in JSON, YAML or
// Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/query/chat_writer.h"
#include "engine/query/query_form.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_text.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::ui {

/// A file that holds a query alone, or a chat as servers take it.
struct QueryFile {
  QString path;
  query::QueryForm form = query::QueryForm::Json;
  query::ChatForm chat = query::ChatForm::None;  ///< of JSON: a list of messages, or the body of a request
  std::string text;                              ///< of a chat
  /// The nodes of a chat's messages in the document, in order. Empty: they are not known.
  std::vector<document::NodeId> nodes;
};

/// A document that was read from a file. Its diagnostics also name the comments and other parts of the file
/// that a document cannot hold.
struct OpenedFile : document::OpenedDocument {
  /// What the file is if it holds a query alone; else nullptr. That a chat in JSON is read as a query is no
  /// diagnostic, because saveDocument() can write the chat again.
  std::shared_ptr<const QueryFile> file = nullptr;
};

/// Reads a file. Its name tells the form, or else its text does. From a picture it reads the document that
/// the picture carries. If a Lisp query names files, they are read if they lie in its folder.
OpenedFile openDocument(const QString& path);
/// Writes the whole file or nothing. `opened`: the file that the document was opened from; nullptr: it held
/// no query alone. A file with a savedForm() gets only the query, as the same chat where chatText() can write
/// it. Refuses names of pictures, and documents that could not be read again.
std::optional<Error> saveDocument(const QString& path, const document::Document& document,
                                  const QueryFile* opened = nullptr);
/// The form in which a file holds only the query. The end of its name decides (.json, .yaml, .yml, .lisp,
/// .spnl). A file with another name keeps the form in which it was opened, unless it ends in .span. Nothing:
/// it holds a document.
std::optional<query::QueryForm> savedForm(const QString& path, const QueryFile* opened);
/// The query of a document as the chat that it was opened from, if a file of this name can hold a chat and
/// the chat can hold the query.
std::optional<query::RewrittenChat> chatText(const QString& path, const document::Document& document,
                                             const QueryFile* opened);
/// Whether a text that was read as a query is a list of chat messages. If so, removes the warning that it is
/// read as a seq: nothing of it is lost.
bool takeChatList(std::string_view text, std::vector<query::Diagnostic>& diagnostics);

/// Whether a file of this name holds only a query.
bool isQueryPath(const QString& path);
/// Whether anything but the model was chosen. A query that is opened runs on the model in use, with its
/// adapter and template and under its usual policy.
bool hasOwnSettings(const document::RunSettings& settings);
/// What is lost if only the document's query is saved, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const document::Document& document);

/// Why a document cannot be saved at this path, as a sentence for a person. Empty if nothing is known that
/// would prevent it. File permissions count even for an administrator, whom the system would let write: a
/// file that was made read-only is meant to stay as it is.
QString whyNotWritable(const QString& path);

}  // namespace spanscope::ui
class QSettings;

namespace spanscope::ui {

inline constexpr int kMostRecentFiles = 10;

/// The files that were opened or saved last, kept in the settings. The newest stand first, but files that do
/// not exist now come after all that do.
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

}  // namespace spanscope::ui
