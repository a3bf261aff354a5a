// SPDX-License-Identifier: GPL-3.0-or-later
// What a person edits: a query as a tree of nodes with names that stay, how it is laid out, and how it is to
// be run. A plain value: copying it is cheap (nodes are shared until they change), comparing it is exact.
// Unlike a query it may be incomplete: a generate may lack its input, and trees may lie about that are not
// part of the query yet.
#pragma once

#include "engine/policy/policies.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"

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

inline constexpr std::int32_t kLeastKeptMebibytes = 16;
inline constexpr std::int32_t kMostMebibytes = 1 << 20;

/// Model and cache settings, applied on the next run.
struct RunSettings {
  std::string model;  ///< directory of the checkpoint; empty: the bundled one
  std::string policy = policy::standardPolicy().name;
  std::uint64_t seed = 0;
  std::int32_t blockSize = 16;           ///< 1 … 1024
  std::int32_t blockCount = 512;         ///< the null block included
  std::string kvType = "f32";            ///< or "bf16"
  std::int32_t threads = 0;              ///< 0: one a core
  std::int32_t maxTokens = 0;            ///< of generates that set none; 0: the model's own
  bool observe = true;                   ///< record attention
  std::vector<std::int32_t> layers;      ///< which layers; empty: all
  bool observeRows = false;              ///< for every token instead of every block
  std::int32_t attentionMebibytes = 64;  ///< most of it that a run records, 1 … kMostMebibytes
  std::int32_t keptMebibytes =
      512;                 ///< of events that the window keeps, kLeastKeptMebibytes … kMostMebibytes
  bool distribute = true;  ///< plus distribution
  std::string outputForm = "anew";  ///< or "reused"
  /// Attention locality: most entries that one judge reads; 0: the query stays as it is; 1 means 0.
  std::int32_t locality = 0;
  std::string localityShape = "tree";  ///< or "map-reduce"
  std::int32_t fragments = 5;          ///< that an augment finds: 1 … 10000
  /// "lexical", "embedding", "hybrid", or "auto": by vectors where an augment names the model, else by words.
  std::string ranking = "auto";
  std::int32_t chunk = 128;   ///< most tokens of a fragment: 8 … 2^20
  std::int32_t overlap = 16;  ///< most tokens that fragments share; at most a quarter of `chunk` counts
  bool summaries = false;     ///< search summaries too, made by the model
  std::string embeddings = "checkpoint";  ///< whose vectors: the checkpoint's, or of a "server"
  std::string embeddingsUrl;              ///< of the server's API, e.g. "http://localhost:8000/v1"
  std::string embeddingsModel;            ///< that embeds there
  std::string reducePrompt;  ///< question of every ply but the first; empty: the same all the way up
  bool operator==(const RunSettings&) const = default;
};

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
  std::map<NodeId, std::shared_ptr<const DocumentNode>> m_nodes;
  NodeId m_root = kNoNode;
  std::uint32_t m_nextId = 1;
};

}  // namespace spanscope::document
