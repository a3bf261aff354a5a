// SPDX-License-Identifier: GPL-3.0-or-later
// What a person edits: a query as a tree of nodes with permanent names, its layout, and how it is run. It is
// a plain value: copies are cheap (they share nodes until a node changes), and comparisons are exact. Unlike
// a query, it may be incomplete: a generate may lack its input, and there may be further trees that are not
// part of the query yet.
#pragma once

#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::document {

/// Names a node as long as its document lives, through moves, undo and redo. 0: no node.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0;

struct Point {
  double x = 0;  ///< scene pixels at zoom 1
  double y = 0;
  bool operator==(const Point&) const = default;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  bool operator==(const Rect&) const = default;
};

using query::Arity;
using query::arityOf;
using query::mostReplies;

/// A person's decision about a fragment that an augment finds.
enum class FragmentMark {
  Pinned,  ///< the fragment is always in the prompt
  Dropped  ///< the fragment is never in the prompt
};

/// DocumentNode::server of a node that the embedded engine answers, whatever the settings say.
inline constexpr const char* kEmbedded = "embedded";

struct DocumentNode {
  /// The node's own fields. Its children are left empty (default nodes in boxes, no elements in a join).
  query::Node own;
  /// The children in prompt order. An operator with a fixed number of inputs has as many entries; kNoNode
  /// stands for a missing input. A join has one entry per child and never kNoNode.
  std::vector<NodeId> children;
  NodeId parent = kNoNode;
  std::string name;               ///< chosen by the person; may be empty
  std::optional<Point> position;  ///< top left; none: the tidy layout places the node
  /// The points that the wire to the parent passes, in order from the node. They are distances from the
  /// node's output, so they move with the node.
  std::vector<Point> bends;
  bool collapsed = false;  ///< whether the children are hidden
  bool muted = false;      ///< whether a run leaves out the node and everything under it
  /// Replies that replace running a generate (one), a repeat or a map (one per copy or input, in order).
  /// None: the node is run.
  std::vector<std::string> frozen;
  /// Of a node that answers: the name of the server that does it, or kEmbedded. Empty: what the document's
  /// settings say.
  std::string server;
  /// For an augment: the fragments that a person decided about, by the hash of their text (32 hexadecimal
  /// digits).
  std::map<std::string, FragmentMark> fragments;
  bool isFrozen() const { return !frozen.empty(); }
  bool operator==(const DocumentNode&) const = default;
};

/// A titled rectangle behind the nodes.
struct Frame {
  std::uint32_t id = 0;
  std::string title;
  Rect area;
  std::uint32_t hue = 0;  ///< hue of a segment, 0 … 5
  bool operator==(const Frame&) const = default;
};

/// A text on the canvas.
struct Note {
  std::uint32_t id = 0;
  std::string text;
  Rect area;
  bool operator==(const Note&) const = default;
};

using workbench::RunSettings;

class Document {
 public:
  /// nullptr if the id is not in the document.
  const DocumentNode* find(NodeId id) const;
  /// The id must be in the document.
  const DocumentNode& at(NodeId id) const;
  bool contains(NodeId id) const { return find(id) != nullptr; }
  std::size_t size() const { return m_nodes.size(); }
  std::vector<NodeId> ids() const;  ///< ascending

  /// Top of the tree that is the query; kNoNode if the document is empty.
  NodeId root() const { return m_root; }
  /// Tops of all trees: first the root, then the others by id.
  std::vector<NodeId> tops() const;
  bool inQuery(NodeId id) const;  ///< whether the node is the root or below it
  /// The node and everything under it in prompt order, parents first.
  std::vector<NodeId> subtree(NodeId id) const;
  /// Index among the children of its parent; 0 for a top.
  std::size_t indexInParent(NodeId id) const;
  bool isAncestor(NodeId above, NodeId below) const;  ///< also true if both are the same

  std::map<std::string, std::string> parameters;  ///< values by name
  /// The declarations of parameters: kind, default, description. Names are different.
  std::vector<query::ParameterDeclaration> declarations;
  RunSettings settings;
  std::vector<Frame> frames;
  std::vector<Note> notes;

  bool operator==(const Document& other) const;
  /// The nodes that differ from those of `other`, ascending. Nothing if the two have different ids or
  /// different roots.
  std::optional<std::vector<NodeId>> nodesUnlike(const Document& other) const;

  // For edits.h only, which alone changes the structure.
  NodeId insert(DocumentNode node);  ///< makes a new top with a new id; `parent` is ignored; the children
                                     ///< become its own
  /// Gives the document its own copy of the node, for changing. The reference is valid until the next edit()
  /// of the same node.
  DocumentNode& edit(NodeId id);
  void erase(NodeId id);  ///< erases only this node, which must have neither parent nor children
  void setRoot(NodeId id) { m_root = id; }
  std::uint32_t takeId() { return m_nextId++; }
  /// Moves the root to the top of its tree. If the root no longer exists, the first other top becomes the
  /// root.
  void mendRoot();

 private:
  struct Entry {
    NodeId id = kNoNode;
    std::shared_ptr<const DocumentNode> node;
  };
  /// nullptr if the id is not in the document.
  const Entry* entryOf(NodeId id) const;

  /// Ascending by id: new nodes have the highest ids. It is a list because it is copied with every change.
  std::vector<Entry> m_nodes;
  NodeId m_root = kNoNode;
  std::uint32_t m_nextId = 1;
};

// Splits a query into nodes of a document.

/// Makes nodes for a whole query and returns their top.
NodeId addSubtree(Document& document, const query::Node& tree);

/// Copies a subtree with its looks, but without the positions of the nodes below its top.
NodeId copySubtree(Document& document, NodeId id);

}  // namespace spanscope::document
