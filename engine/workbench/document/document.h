// SPDX-License-Identifier: GPL-3.0-or-later
// What a person edits: a query as a tree of nodes with names that stay, how it is laid out, and how it is to
// be run. A plain value: copying it is cheap (nodes are shared until they change), comparing it is exact.
// Unlike a query it may be incomplete: a generate may lack its input, and trees may lie about that are not
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

/// Names a node for as long as its document lives, through moves, undo and redo. 0: none.
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

/// What a person decided of a fragment that an augment finds.
enum class FragmentMark {
  Pinned,  ///< it is always in the prompt
  Dropped  ///< it never is
};

struct DocumentNode {
  /// The node's own fields; its children are left empty (default nodes in boxes, no elements in a join).
  query::Node own;
  /// In prompt order. Operators with a fixed number of inputs have as many entries, kNoNode where one is
  /// missing; joins have one for each child and never kNoNode.
  std::vector<NodeId> children;
  NodeId parent = kNoNode;
  std::string name;               ///< given by the person; may be empty
  std::optional<Point> position;  ///< top left; none: placed by the tidy layout
  bool collapsed = false;         ///< children are not drawn
  bool muted = false;             ///< left out, with everything under it, when the query is run
  /// Replies that stand in for running a generate (one), a repeat or a map (one a copy or input, in order);
  /// none: it is run.
  std::vector<std::string> frozen;
  /// Of an augment: fragments that were decided on, by the hash of their text (32 hexadecimal digits).
  std::map<std::string, FragmentMark> fragments;
  bool isFrozen() const { return !frozen.empty(); }
  bool operator==(const DocumentNode&) const = default;
};

/// A titled rectangle behind the nodes.
struct Frame {
  std::uint32_t id = 0;
  std::string title;
  Rect area;
  std::uint32_t hue = 0;  ///< segment hue, 0 … 5
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
  /// nullptr for an id that is not in the document.
  const DocumentNode* find(NodeId id) const;
  /// For an id that is in the document.
  const DocumentNode& at(NodeId id) const;
  bool contains(NodeId id) const { return find(id) != nullptr; }
  std::size_t size() const { return m_nodes.size(); }
  std::vector<NodeId> ids() const;  ///< ascending

  /// Top of the tree that is the query; kNoNode: the document is empty.
  NodeId root() const { return m_root; }
  /// Tops of all trees: the root first, then the others by id.
  std::vector<NodeId> tops() const;
  bool inQuery(NodeId id) const;  ///< whether the root stands above it, or it is the root
  /// The node and everything under it, in prompt order, parents first.
  std::vector<NodeId> subtree(NodeId id) const;
  /// Place among its parent's children; 0 for a top.
  std::size_t indexInParent(NodeId id) const;
  bool isAncestor(NodeId above, NodeId below) const;  ///< true also where both are the same

  std::map<std::string, std::string> parameters;  ///< values by name
  /// What is said of parameters: kind, default, description. No name twice.
  std::vector<query::ParameterDeclaration> declarations;
  RunSettings settings;
  std::vector<Frame> frames;
  std::vector<Note> notes;

  bool operator==(const Document& other) const;
  /// The nodes that differ from those of `other`, ascending. Nothing where the two do not have the same nodes
  /// and the same root.
  std::optional<std::vector<NodeId>> nodesUnlike(const Document& other) const;

  // For edits.h only: the one place that changes structure.
  NodeId insert(DocumentNode node);  ///< a new top with a new id; `parent` is ignored, children are adopted
  /// A copy of its own to change; the reference holds until the next edit() of the same node.
  DocumentNode& edit(NodeId id);
  void erase(NodeId id);  ///< the node alone; it has no parent and no children any more
  void setRoot(NodeId id) { m_root = id; }
  std::uint32_t takeId() { return m_nextId++; }
  /// Makes the root the top of its tree, or the first other top where it is gone.
  void mendRoot();

 private:
  struct Entry {
    NodeId id = kNoNode;
    std::shared_ptr<const DocumentNode> node;
  };
  /// nullptr: it is not in the document.
  const Entry* entryOf(NodeId id) const;

  /// Ascending by id: new ones have the highest. A list, for it is copied with every change.
  std::vector<Entry> m_nodes;
  NodeId m_root = kNoNode;
  std::uint32_t m_nextId = 1;
};

}  // namespace spanscope::document
