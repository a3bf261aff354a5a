// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes documents as files. A file holds a Spanscope document, or only a query, in JSON, YAML or
// Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/query/chat_writer.h"
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

/// A file that holds a chat as servers take it: a list of messages, or the body of a request.
struct ChatFile {
  std::string text;
  query::ChatForm form = query::ChatForm::None;
  /// The nodes of its messages in the document, in order. Empty: they are not known.
  std::vector<document::NodeId> nodes;
};

/// A document that was read from a file. Its diagnostics also name the comments and other parts of the file
/// that a document cannot hold.
struct OpenedFile : document::OpenedDocument {
  /// The chat in the file, if it is JSON and holds one; else nullptr. That it is read as a query is no
  /// diagnostic, because saveDocument() can write the chat again.
  std::shared_ptr<const ChatFile> chat = nullptr;
};

/// Reads a file. Its name tells the form, or else its text does. From a picture it reads the document that
/// the picture carries. If a Lisp query names files, they are read if they lie in its folder.
OpenedFile openDocument(const QString& path);
/// Writes the whole file or nothing. If the path ends in ".json", ".yaml", ".yml" or ".lisp", it writes only
/// the query, in that form. Refuses names of pictures, and documents that could not be read again. `chat`:
/// the chat that the document was opened from. Where chatText() can write it, the file holds the chat.
std::optional<Error> saveDocument(const QString& path, const document::Document& document,
                                  const ChatFile* chat = nullptr);
/// The query of a document as the chat that it was opened from, if a file of this name can hold a chat and
/// the chat can hold the query. `chat` may be nullptr.
std::optional<query::RewrittenChat> chatText(const QString& path, const document::Document& document,
                                             const ChatFile* chat);
/// Whether a text that was read as a query is a list of chat messages. If so, removes the warning that it is
/// read as a seq: nothing of it is lost.
bool takeChatList(std::string_view text, std::vector<query::Diagnostic>& diagnostics);

/// Whether a file of this name holds only a query.
bool isQueryPath(const QString& path);
/// What is lost if only the document's query is saved, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const document::Document& document);

}  // namespace spanscope::ui
