// SPDX-License-Identifier: GPL-3.0-or-later
// Documents as files: those of Spanscope, and files that are a query and nothing else, in JSON, YAML or Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_text.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace spanscope::document {

/// The form is told by the file's name, else by its text; of a picture, the document that it carries. Files
/// that a Lisp query names are read if they lie in its folder.
OpenedDocument openDocument(const QString& path);
/// Writes all or nothing. A path that ends in ".json", ".yaml", ".yml" or ".lisp" gets the query alone, in
/// that form. Refuses a document that could not be read again.
std::optional<Error> saveDocument(const QString& path, const Document& document);

/// Whether a file of that name holds a query alone.
bool isQueryPath(const QString& path);
/// What of the document a file with its query alone does not hold, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const Document& document);

}  // namespace spanscope::document
