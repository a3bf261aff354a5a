// SPDX-License-Identifier: GPL-3.0-or-later
// Documents as text. A `.span` file keeps query and layout apart:
//
//     {"spanscope": {"version": 1}, "query": …, "layout": {"nodes": {PATH: …}, "frames": […], "notes": […]},
//      "parameters": {NAME: …}, "settings": {…}, "drafts": [{"query": …, "layout": {"nodes": …}}]}
//
// "query" and the queries of drafts are the JSON of the language; PATH is the place of a node in them. Where
// an input is missing, an empty seq stands in the query and the layout says "missing" at its path. Frozen
// replies stand there as "frozen": one as a text, several as a list of texts. What stands for a parameter is
// its value, a text, or {"value": …, "type": …, "default": …, "description": …}, each of which may be left
// out; a type is one of query::parameterKindName().
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/source_map.h"
#include "engine/workbench/document/document.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::document {

inline constexpr int kDocumentVersion = 1;

struct OpenedDocument {
  std::optional<Document> document;  ///< nothing if there was an error
  bool plainQuery = false;           ///< the text is a query alone
  std::vector<query::Diagnostic> diagnostics;
  /// Where the nodes of its query stand, in bytes from `queryBegin`, by their paths in the text: that of
  /// what is muted too, and without what is missing.
  query::SourceMap sources;
  std::size_t queryBegin = 0;  ///< the byte of the text at which its query begins
};

/// Whether the text is that of a document, right or wrong, and not that of a query alone.
bool isDocumentText(std::string_view text);

/// Untrusted text; every field is checked.
OpenedDocument readDocument(std::string_view text);
/// Ends with a line break. Reading it gives an equal document with ids counted anew.
std::string writeDocument(const Document& document);

/// The paths of a tree's nodes in toTree(), those of missing inputs with kNoNode.
std::vector<std::pair<std::string, NodeId>> pathsInTree(const Document& document, NodeId top);

}  // namespace spanscope::document
