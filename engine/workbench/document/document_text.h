// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes documents as text. Open this file for the format of `.span` files, which have query and
// layout in separate members:
//
//     {"spanscope": {"version": 1}, "query": …, "layout": {"nodes": {PATH: …}, "frames": […], "notes": […]},
//      "parameters": {NAME: …}, "settings": {…}, "drafts": [{"query": …, "layout": {"nodes": …}}]}
//
// "query" and the queries of drafts are JSON of the language. PATH is the path of a node in these queries.
// For a missing input, the query contains an empty seq. The layout has "missing" at the path of the missing
// input. "bends" is a list of [x, y], the points of the wire to the parent. Frozen answers are in the layout
// as "frozen". One answer is a text, several are a list of texts. A parameter has its value, which is a text,
// or an object. The object is {"value": …, "type": …, "default": …, "description": …}, and each member is
// optional. A type is a query::parameterKindName().
#pragma once

#include "engine/query/diagnostic.h"
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
  bool plainQuery = false;           ///< the text is only a query
  std::vector<query::Diagnostic> diagnostics;
  /// The places of the nodes of the document's query, by their paths in the text. Places are in bytes from
  /// `queryBegin`. Muted nodes are included, but not missing inputs.
  query::SourceMap sources;
  std::size_t queryBegin = 0;  ///< the first byte of the document's query in the text
};

/// Whether the text is intended as a document, valid or not. Otherwise the text is only a query.
bool isDocumentText(std::string_view text);

/// Reads a document. The text is untrusted, so every field is checked.
OpenedDocument readDocument(std::string_view text);
/// Returns the document as text, which ends with a line break. When this text is read, the result is an equal
/// document with new ids.
std::string writeDocument(const Document& document);

/// Returns the paths of a tree's nodes in toTree(). Missing inputs have kNoNode.
std::vector<std::pair<std::string, NodeId>> pathsInTree(const Document& document, NodeId top);

}  // namespace spanscope::document
