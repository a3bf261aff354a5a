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

namespace spanscope::ui {

/// Reads a file. Its name tells the form, or else its text does. From a picture it reads the document that
/// the picture carries. If a Lisp query names files, they are read if they lie in its folder.
document::OpenedDocument openDocument(const QString& path);
/// Writes the whole file or nothing. If the path ends in ".json", ".yaml", ".yml" or ".lisp", it writes only
/// the query, in that form. Refuses names of pictures, and documents that could not be read again.
std::optional<Error> saveDocument(const QString& path, const document::Document& document);

/// Whether a file of this name holds only a query.
bool isQueryPath(const QString& path);
/// What is lost if only the document's query is saved, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const document::Document& document);

}  // namespace spanscope::ui
