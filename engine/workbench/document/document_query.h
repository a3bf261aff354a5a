// SPDX-License-Identifier: GPL-3.0-or-later
// Between documents and queries.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::document {

/// A document of one tree, placed by the tidy layout.
Document fromQuery(const query::Node& query);

/// Which node of a document each place of a query is.
struct NodePaths {
  std::map<NodeId, NodePath> byNode;
  std::map<NodePath, NodeId> byPath;
  /// The node of a path, or of the nearest place above it that has one; kNoNode if none has.
  NodeId nodeOf(const NodePath& path) const;
  bool operator==(const NodePaths&) const = default;
};

enum class TakeOut {
  Nothing,  ///< the tree as it is drawn: what is saved
  /// Muted branches left out, frozen replies in place of what gave them, as the engine lays replies out
  /// (those of a repeat or a map as a plus; with the prompt before each where plus distribution would put it
  /// there, unless something in that prompt would have to run): what is run and exported.
  MutedAndFrozen,
};

struct QueryOf {
  std::optional<query::Node> query;  ///< nothing where something is missing
  NodePaths paths;                   ///< into `query`
  std::vector<NodeId> incomplete;    ///< nodes of the tree that lack an input
};
/// The query below `top` (kNoNode: the root).
QueryOf toQuery(const Document& document, TakeOut takeOut, NodeId top = kNoNode);

/// The subtree as a query with an empty seq where an input is missing: for the clipboard and drafts.
query::Node toTree(const Document& document, NodeId top);

/// Changes the document's query to this one. Nodes that stay what they were (same place and operator, or the
/// same subtree elsewhere under the same parent) keep their id, name, position and looks.
void replaceQuery(Document& document, const query::Node& query);

/// The values that a run takes: those that are given, and defaults where none is.
std::map<std::string, std::string> effectiveValues(const Document& document);

}  // namespace spanscope::document
