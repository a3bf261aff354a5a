// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes documents as files. A file holds a Spanscope document, or only a query, in JSON, YAML or
// Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_text.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <string_view>
#include <vector>

namespace spanscope::ui {

/// A document that was read from a file. Its diagnostics also name the comments and other parts of the file
/// that a document cannot hold.
struct OpenedFile : document::OpenedDocument {
  /// The file holds a list of chat messages. That this is read as a seq is no diagnostic, because
  /// saveDocument() can write the list again.
  bool isChatList = false;
};

/// Reads a file. Its name tells the form, or else its text does. From a picture it reads the document that
/// the picture carries. If a Lisp query names files, they are read if they lie in its folder.
OpenedFile openDocument(const QString& path);
/// Writes the whole file or nothing. If the path ends in ".json", ".yaml", ".yml" or ".lisp", it writes only
/// the query, in that form. Refuses names of pictures, and documents that could not be read again. With
/// `asChatList`, it writes a ".json" file as a list of chat messages if mayBeChatList().
std::optional<Error> saveDocument(const QString& path, const document::Document& document,
                                  bool asChatList = false);
/// Whether a text that was read as a query is a list of chat messages. If so, removes the warning that it is
/// read as a seq: nothing of it is lost.
bool takeChatList(std::string_view text, std::vector<query::Diagnostic>& diagnostics);
/// Whether the query is a seq of messages alone, which a list of chat messages can hold.
bool mayBeChatList(const document::Document& document);

/// Whether a file of this name holds only a query.
bool isQueryPath(const QString& path);
/// What is lost if only the document's query is saved, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const document::Document& document);

}  // namespace spanscope::ui
