// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the document that the user edits: a query as a tree of nodes with permanent ids, its layout, and
// its settings. Open this file first when you work on documents. A document is a plain value. Copies are
// cheap, because they share nodes until a node changes. Comparisons are exact. Unlike a query, a document may
// be incomplete. A generate node may lack its input, and there may be further trees that are not part of the
// query yet.
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

/// Identifies a node during the life of its document, through moves, undo and redo. 0: no node.
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
using query::mostAnswers;

/// The user's decision about a passage that an augment finds.
enum class PassageMark {
  Pinned,  ///< the passage is always in the prompt
  Dropped  ///< the passage is never in the prompt
};

/// DocumentNode::server of a node that the embedded engine answers, for any settings.
inline constexpr const char* kEmbedded = "embedded";

struct DocumentNode {
  /// The node's own fields. The children in these fields are empty (default nodes in boxes, no elements in a
  /// join).
  query::Node own;
  /// The children in prompt order. An operator with a fixed number of inputs has this number of entries. A
  /// missing input is kNoNode. A join has one entry per child and never kNoNode.
  std::vector<NodeId> children;
  NodeId parent = kNoNode;
  std::string name;               ///< chosen by the user; may be empty
  std::optional<Point> position;  ///< top left; none: the tidy layout places the node.
  /// The points of the wire to the parent, in order from the node. The points are distances from the node's
  /// output, and therefore move with the node.
  std::vector<Point> bends;
  bool collapsed = false;  ///< whether the children are hidden
  bool muted = false;      ///< whether a run leaves out the node and everything below it.
  /// Answers that replace the run of a generate, repeat or map node. A repeat has one answer per copy, and a
  /// map one answer per input, in order. Nothing: the node runs.
  std::vector<std::string> frozen;
  /// For a node that generates: the name of its server, or kEmbedded. Empty: the document's settings decide.
  std::string server;
  /// For an augment: the passages with a decision of the user, by the hash of their text (32 hexadecimal
  /// digits).
  std::map<std::string, PassageMark> passages;
  bool isFrozen() const { return !frozen.empty(); }
  bool operator==(const DocumentNode&) const = default;
};

/// A titled rectangle below the nodes.
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
  /// Returns nullptr if the id is not in the document.
  const DocumentNode* find(NodeId id) const;
  /// The id must be in the document.
  const DocumentNode& at(NodeId id) const;
  bool contains(NodeId id) const { return find(id) != nullptr; }
  std::size_t size() const { return m_nodes.size(); }
  std::vector<NodeId> ids() const;  ///< ascending

  /// Returns the top of the tree that is the query. Returns kNoNode for an empty document.
  NodeId root() const { return m_root; }
  /// Returns the tops of all trees: first the root, then the others by id.
  std::vector<NodeId> tops() const;
  bool inQuery(NodeId id) const;  ///< whether the node is the root or below it
  /// Returns the node and everything below it in prompt order. A parent comes before its children.
  std::vector<NodeId> subtree(NodeId id) const;
  /// Returns the index among the children of its parent, or 0 for a top.
  std::size_t indexInParent(NodeId id) const;
  bool isAncestor(NodeId above, NodeId below) const;  ///< also true if both are the same

  std::map<std::string, std::string> parameters;  ///< values by name
  /// The declarations of parameters: kind, default, description. Names are different.
  std::vector<query::ParameterDeclaration> declarations;
  RunSettings settings;
  std::vector<Frame> frames;
  std::vector<Note> notes;

  bool operator==(const Document& other) const;
  /// Returns the nodes that differ from those of `other`, ascending. Returns nothing if the two have
  /// different ids or roots.
  std::optional<std::vector<NodeId>> nodesUnlike(const Document& other) const;

  // Only edits.h may call these functions, because only edits.h changes the structure.
  NodeId insert(DocumentNode node);  ///< makes a new top with a new id and these children. The `parent` of
                                     ///< the node is ignored.
  /// Gives the document its own copy of the node for changes. The reference is valid until the next edit() of
  /// the same node.
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
  /// Returns nullptr if the id is not in the document.
  const Entry* entryOf(NodeId id) const;

  /// Ascending by id: new nodes have the highest ids. A list is used because every change copies the nodes.
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
