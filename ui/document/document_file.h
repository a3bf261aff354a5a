// SPDX-License-Identifier: GPL-3.0-or-later
// Documents as files. A `.span` file keeps query and layout apart:
//
//     {"spanscope": {"version": 1}, "query": …, "layout": {"nodes": {PATH: …}, "frames": […], "notes": […]},
//      "parameters": {…}, "settings": {…}, "drafts": [{"query": …, "layout": {"nodes": …}}]}
//
// "query" and the queries of drafts are the JSON of the language; PATH is the place of a node in them. Where
// an input is missing, an empty seq stands in the query and the layout says "missing" at its path. A file
// that is a query and nothing else can be opened too, in JSON, YAML or Lisp.
#pragma once

#include "engine/base/error.h"
#include "engine/query/diagnostic.h"
#include "ui/document/document.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::document {

inline constexpr int kDocumentVersion = 1;

struct OpenedDocument {
  std::optional<Document> document;  ///< nothing if there was an error
  bool plainQuery = false;           ///< the text is a query alone
  std::vector<query::Diagnostic> diagnostics;
};

/// Untrusted text; every field is checked.
OpenedDocument readDocument(std::string_view text);
/// Ends with a line break. Reading it gives an equal document with ids counted anew.
std::string writeDocument(const Document& document);

/// The form is told by the file's name, else by its text. Files that a Lisp query names are read if they lie
/// in its folder.
OpenedDocument openDocument(const QString& path);
/// Writes all or nothing. A path that ends in ".json", ".yaml", ".yml" or ".lisp" gets the query alone, in
/// that form. Refuses a document that could not be read again.
std::optional<Error> saveDocument(const QString& path, const Document& document);

/// Whether a file of that name holds a query alone.
bool isQueryPath(const QString& path);
/// What of the document a file with its query alone does not hold, as a person reads it; empty: nothing.
QStringList lostWhenSavedAsQuery(const Document& document);

/// The paths of a tree's nodes in toTree(), those of missing inputs with kNoNode.
std::vector<std::pair<std::string, NodeId>> pathsInTree(const Document& document, NodeId top);

}  // namespace spanscope::document
