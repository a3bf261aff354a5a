// SPDX-License-Identifier: GPL-3.0-or-later
// Changes a document's tree and looks. A change that would break the tree changes nothing and returns false.
// Examples are a cycle, an input in use, or an index out of range. Open this file to add an edit.
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

/// The max number of points of one wire.
inline constexpr std::size_t kMostBends = 100;

/// Media type of a dragged operator. The data is the operator's name, e.g. "plus".
inline constexpr char kOperatorMimeType[] = "application/x-spanscope-operator";

/// Returns a node with default fields for a JSON key: "system", "g", "plus", … Any other key gives a user
/// message.
query::Node makeOperator(std::string_view op);
/// Returns the keys of all operators, in the order of the language.
const std::vector<std::string>& operatorNames();

/// Adds a new top without children. If the operator of the top has a fixed number of inputs, all inputs are
/// missing.
NodeId addNode(Document& document, query::Node own, std::optional<Point> position = {});
/// Adds a whole query as a new tree. A generate node always gets an input, which may be a default message.
NodeId addTree(Document& document, const query::Node& tree, std::optional<Point> position = {});
/// Whether a subtree may be put at the place. The move must not make a cycle. The input must be free, or the
/// parent must accept any number of children.
bool canConnect(const Document& document, NodeId child, const Place& place);
/// Moves the subtree from its place to another place.
bool connect(Document& document, NodeId child, const Place& place);
/// Makes the subtree a separate tree.
bool disconnect(Document& document, NodeId child);
/// Puts a node between a child and its parent (for a top: above it). The node must be new or the top of
/// another tree, and needs a free input. The root of the document stays the top of its tree.
bool insertAbove(Document& document, NodeId child, NodeId inserted);
/// Moves a child of a join to another index.
bool moveChild(Document& document, NodeId parent, std::size_t from, std::size_t to);
/// Swaps two children of a zip or a join.
bool swapChildren(Document& document, NodeId parent, std::size_t a, std::size_t b);

/// Removes the nodes and everything below them.
void removeSubtrees(Document& document, const std::vector<NodeId>& ids);
/// Removes only the nodes. The children of a node take its place if the parent accepts these children.
/// Otherwise the children become tops.
void removeKeepingChain(Document& document, const std::vector<NodeId>& ids);

/// Replaces the node's own fields. The operator must stay the same.
bool setOwn(Document& document, NodeId id, query::Node own);
/// Replaces the node's operator. Text and settings that both operators have stay. Children stay if the new
/// operator takes them. Other children become tops.
bool replaceOperator(Document& document, NodeId id, std::string_view op);
void setName(Document& document, NodeId id, std::string name);
void setMuted(Document& document, const std::vector<NodeId>& ids, bool muted);
void setCollapsed(Document& document, const std::vector<NodeId>& ids, bool collapsed);
/// Sets answers that replace the run of the node, in order. Nothing: the node runs. Changes nothing if the
/// node does not generate, or if a generate node would get several answers.
void setFrozen(Document& document, NodeId id, std::vector<std::string> answers);
/// Sets DocumentNode::server. Changes nothing if the node does not generate.
void setServer(Document& document, NodeId id, std::string server);
/// Pins or drops a passage of an augment. Without a mark, the passage's rank decides again.
void setPassageMark(Document& document, NodeId id, const std::string& hash, std::optional<PassageMark> mark);
void setPosition(Document& document, NodeId id, std::optional<Point> position);
/// Sets DocumentNode::bends. Changes nothing if the node has no parent or there are more than kMostBends.
void setBends(Document& document, NodeId id, std::vector<Point> bends);
bool makeRoot(Document& document, NodeId top);

/// Returns the document's declaration of the parameter, or nullptr.
const query::ParameterDeclaration* declarationOf(const Document& document, std::string_view name);
/// Replaces the declaration of a parameter. An empty declaration is removed.
void declareParameter(Document& document, query::ParameterDeclaration declaration);

/// Copies the subtrees. The copies become next siblings of the originals if the parent takes them, else tops.
std::vector<NodeId> duplicate(Document& document, const std::vector<NodeId>& ids);

/// Returns the nodes without an ancestor among these nodes, in prompt order.
std::vector<NodeId> topmost(const Document& document, const std::vector<NodeId>& ids);

}  // namespace spanscope::document
