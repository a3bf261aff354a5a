// SPDX-License-Identifier: GPL-3.0-or-later
// Converts between documents and queries.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::document {

/// Makes a document with one tree; the tidy layout places its nodes.
Document fromQuery(const query::Node& query);

/// Connects places of a query with nodes of a document.
struct NodePaths {
  std::map<NodeId, NodePath> byNode;
  std::map<NodePath, NodeId> byPath;
  /// The node at a path or, if it has none, at the nearest place above that has one; kNoNode if none has.
  NodeId nodeOf(const NodePath& path) const;
  bool operator==(const NodePaths&) const = default;
};

enum class TakeOut {
  Nothing,  ///< the tree as it is drawn: this is saved
  /// Without muted branches, and with frozen replies in place of their nodes, in the engine's layout: the
  /// replies of a repeat or a map as a plus, each with the prompt before it if plus distribution would put
  /// the prompt there, unless something in that prompt would have to run. This is run and exported.
  MutedAndFrozen,
};

struct QueryOf {
  std::optional<query::Node> query;  ///< nothing if something is missing
  NodePaths paths;                   ///< into `query`
  std::vector<NodeId> incomplete;    ///< nodes of the tree with a missing input
};
/// The query below `top` (kNoNode: below the root).
QueryOf toQuery(const Document& document, TakeOut takeOut, NodeId top = kNoNode);

/// The subtree as a query, with an empty seq for each missing input: for the clipboard and drafts.
query::Node toTree(const Document& document, NodeId top);

/// Replaces the document's query. A node that does not change (its subtree is elsewhere under the same
/// parent, or something was put around it or taken away around it; else it has the same operator, and a part
/// below it or its place in common) keeps its id, name, position, looks and server.
void replaceQuery(Document& document, const query::Node& query);

/// The values for a run: the given values, and defaults for the others.
std::map<std::string, std::string> effectiveValues(const Document& document);

}  // namespace spanscope::document
