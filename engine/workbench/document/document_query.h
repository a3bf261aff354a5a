// SPDX-License-Identifier: GPL-3.0-or-later
// Converts between documents and queries. Open this file when a document gives a wrong query.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::document {

/// Makes a document with one tree. The tidy layout places its nodes.
Document fromQuery(const query::Node& query);

/// Connects places of a query with nodes of a document.
struct NodePaths {
  std::map<NodePath, NodeId> byPath;
  /// Returns the node at a path. Without a node there, returns the node at the nearest path above. Returns
  /// kNoNode if there is none.
  NodeId nodeOf(const NodePath& path) const;
  bool operator==(const NodePaths&) const = default;
};

enum class TakeOut {
  Nothing,  ///< The tree as it is drawn. Files contain this tree.
  /// The tree without muted branches, with frozen answers instead of their nodes, in the engine's layout. The
  /// answers of a repeat or a map become a plus. Each answer has the prompt before it if plus distribution
  /// would put the prompt there. This prompt is left out if a node of the prompt would have to run. Runs and
  /// exports use this query.
  MutedAndFrozen,
};

struct QueryOf {
  std::optional<query::Node> query;  ///< nothing if an input is missing
  NodePaths paths;                   ///< paths in `query`
  std::vector<NodeId> incomplete;    ///< nodes of the tree with a missing input
};
/// Returns the query below `top` (kNoNode: below the root).
QueryOf toQuery(const Document& document, TakeOut takeOut, NodeId top = kNoNode);

/// Returns the subtree as a query, for the clipboard and drafts. Each missing input becomes an empty seq.
query::Node toTree(const Document& document, NodeId top);

/// Replaces the document's query. An unchanged node keeps its id, name, position, looks and server. A node
/// counts as unchanged in three cases:
/// - Its whole subtree is unchanged, at any place under the same parent.
/// - A node was added around its subtree, or removed from around it.
/// - The node has the same operator as before, and the same place or an unchanged child.
void replaceQuery(Document& document, const query::Node& query);

/// Returns the values for a run: the given values, and defaults for the others.
std::map<std::string, std::string> effectiveValues(const Document& document);

}  // namespace spanscope::document
