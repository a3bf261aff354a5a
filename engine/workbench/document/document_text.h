// SPDX-License-Identifier: GPL-3.0-or-later
// Documents as text. A `.span` file keeps query and layout apart:
//
//     {"spanscope": {"version": 1}, "query": …, "layout": {"nodes": {PATH: …}, "frames": […], "notes": […]},
//      "parameters": {NAME: …}, "settings": {…}, "drafts": [{"query": …, "layout": {"nodes": …}}]}
//
// "query" and the queries of drafts are JSON of the language. PATH is the place of a node in them. For a
// missing input, the query contains an empty seq, and the layout says "missing" at its path. The points that
// the wire to the parent passes are "bends", a list of [x, y]. Frozen replies are in the layout as "frozen":
// one reply is a text, several are a list of texts. A parameter has its value, which is a text, or
// {"value": …, "type": …, "default": …, "description": …}, in which each member is optional. A type is a
// query::parameterKindName().
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/parse_result.h"
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
  /// Where the nodes of the document's query stand, in bytes from `queryBegin`, by their paths in the text.
  /// Muted nodes are included; missing inputs are not.
  query::SourceMap sources;
  std::size_t queryBegin = 0;  ///< the byte of the text at which the document's query begins
};

/// Whether the text is meant as a document, valid or not, as opposed to a query alone.
bool isDocumentText(std::string_view text);

/// The text is untrusted; every field is checked.
OpenedDocument readDocument(std::string_view text);
/// The document as text, which ends with a line break. Reading it gives an equal document with new ids.
std::string writeDocument(const Document& document);

/// The paths of a tree's nodes in toTree(). Missing inputs have kNoNode.
std::vector<std::pair<std::string, NodeId>> pathsInTree(const Document& document, NodeId top);

}  // namespace spanscope::document
