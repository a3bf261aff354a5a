// SPDX-License-Identifier: GPL-3.0-or-later
// Every change of a document's tree and looks, as functions from document to document. What would break the
// tree (a cycle, an input that is taken, an index out of range) changes nothing and returns false.
#pragma once

#include "engine/workbench/document/document.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::document {

/// A place for a child.
struct Place {
  NodeId parent = kNoNode;
  std::size_t index = 0;
};

/// Media type of an operator that is dragged; the data is its name, e.g. "plus".
inline constexpr char kOperatorMimeType[] = "application/x-spanscope-operator";

/// A node with default fields, by its key in JSON: "system", "g", "plus", …; a user message for any other.
query::Node makeOperator(std::string_view op);
/// The keys of all of them, in the order of the language.
const std::vector<std::string>& operatorNames();

/// A new top without children: inputs of operators with a fixed number of them are empty.
NodeId addNode(Document& document, query::Node own, std::optional<Point> position = {});
/// A whole query as a new tree; a generate has an input then, even where that is a default message.
NodeId addTree(Document& document, const query::Node& tree, std::optional<Point> position = {});
/// Whether a subtree may be put at the place: no cycle, the input is free or the parent takes any number.
bool canConnect(const Document& document, NodeId child, const Place& place);
/// Moves the subtree there, from wherever it stands.
bool connect(Document& document, NodeId child, const Place& place);
/// Makes the subtree a tree of its own.
bool disconnect(Document& document, NodeId child);
/// Puts a node between a child and its parent (or, for a top, above it). The node is new or the top of
/// another tree and needs a free input. The root moves along.
bool insertAbove(Document& document, NodeId child, NodeId inserted);
/// Moves a child of a join to another index.
bool moveChild(Document& document, NodeId parent, std::size_t from, std::size_t to);
/// Exchanges the order of a zip's or a join's children.
bool swapChildren(Document& document, NodeId parent, std::size_t a, std::size_t b);

/// Removes the nodes with everything under them.
void removeSubtrees(Document& document, const std::vector<NodeId>& ids);
/// Removes the nodes alone; their children take their place where it holds them, else become tops.
void removeKeepingChain(Document& document, const std::vector<NodeId>& ids);

/// Replaces the node's own fields; the operator stays.
bool setOwn(Document& document, NodeId id, query::Node own);
/// Another operator in place: text and settings that both have stay, children stay as far as the operator
/// takes them, the rest become tops.
bool replaceOperator(Document& document, NodeId id, std::string_view op);
void setName(Document& document, NodeId id, std::string name);
void setMuted(Document& document, const std::vector<NodeId>& ids, bool muted);
void setCollapsed(Document& document, const std::vector<NodeId>& ids, bool collapsed);
/// Replies that stand in for running the node, in order; none: it is run. Changes nothing where the node does
/// not generate, or where a generate is given several.
void setFrozen(Document& document, NodeId id, std::vector<std::string> replies);
/// Pins or drops a fragment of an augment, or leaves it to its rank again.
void setFragmentMark(Document& document, NodeId id, const std::string& hash,
                     std::optional<FragmentMark> mark);
void setPosition(Document& document, NodeId id, std::optional<Point> position);
bool makeRoot(Document& document, NodeId top);

/// What a document says of the parameter; nullptr: nothing.
const query::ParameterDeclaration* declarationOf(const Document& document, std::string_view name);
/// Says this of the parameter, in place of what was said; one that says nothing is left out.
void declareParameter(Document& document, query::ParameterDeclaration declaration);

/// A copy of the subtrees beside the originals: as next siblings where the parent takes them, else as tops.
std::vector<NodeId> duplicate(Document& document, const std::vector<NodeId>& ids);

/// The ids without those that have another of them above, in prompt order.
std::vector<NodeId> topmost(const Document& document, const std::vector<NodeId>& ids);

}  // namespace spanscope::document
