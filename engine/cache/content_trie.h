// SPDX-License-Identifier: GPL-3.0-or-later
// Contents as a trie. A content node is (parent, tokens of one block or tail); the parent of a chain's first
// node is a root = (fingerprint, salt, ordered list of what is seen). Nodes are interned: equal content is
// the same node, found by comparing tokens and never by hash. Whoever needs a node holds a NodeRef; a node
// nobody holds is gone.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_key.h"
#include "engine/cache/store/content_name.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cache {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

class ContentTrie;

/// Keeps a node, and with it everything that its identity is made of: its chain down to the root, and what
/// the root sees. Must not outlive its trie.
class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept;
  NodeRef& operator=(const NodeRef& other);
  NodeRef& operator=(NodeRef&& other) noexcept;
  ~NodeRef();

  /// kNoNode if it keeps none.
  NodeId id() const { return m_id; }

 private:
  friend class ContentTrie;
  NodeRef(ContentTrie& trie, NodeId id);
  void swap(NodeRef& other) noexcept;

  ContentTrie* m_trie = nullptr;
  NodeId m_id = kNoNode;
};

/// An earlier segment as a root names it.
struct SeenEnd {
  NodeId end = kNoNode;           ///< the seen segment's last node, or its root if it has no tokens
  std::int64_t distance = 0;      ///< seer's base − seen one's base, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
  auto operator<=>(const SeenEnd&) const = default;
};

/// A stored node that is alike.
struct NearestNode {
  NodeId node = kNoNode;
  std::int32_t common = 0;  ///< leading tokens that are equal
};

/// The same tokens, stored at another root.
struct OtherContext {
  NodeId node = kNoNode;
  std::int32_t differsAt = 0;  ///< first index at which the lists of seen segments differ
};

class ContentTrie {
 public:
  /// `naming`: makes the names of contents in the span store, and must outlive the trie; null: they have
  /// none.
  ContentTrie(std::string fingerprint, KeyHash hash, const ContentNaming* naming = nullptr);
  ContentTrie(const ContentTrie&) = delete;
  ContentTrie& operator=(const ContentTrie&) = delete;

  /// Takes over the nodes of `other` under the same ids, in place of its own, which nobody may hold. Only
  /// what nodes hold of each other is taken over: whoever needs a node must hold it before anything else
  /// changes. What requests of the other one are going to compute is not.
  void assignNodes(const ContentTrie& other);

  /// The root for this salt and list. Every node of the list must be held.
  NodeRef root(const std::string& salt, const std::vector<SeenEnd>& seen);
  /// The child of `parent` with exactly these tokens, at least one.
  NodeRef child(NodeId parent, std::span<const TokenId> tokens);
  NodeRef hold(NodeId node);

  const trace::BlockKey& key(NodeId node) const { return m_nodes[node].key; }
  /// In the span store; all zero where the trie has no naming.
  const ContentName& name(NodeId node) const { return m_nodes[node].name; }
  std::span<const TokenId> tokens(NodeId node) const { return m_nodes[node].tokens; }
  /// kNoNode for a root.
  NodeId parent(NodeId node) const { return m_nodes[node].parent; }

  /// A block holds this content from now on. The caller keeps the node held while it does.
  void attach(NodeId node, BlockId block);
  void detach(NodeId node, BlockId block);
  /// Blocks that hold this content, in the order in which they were attached.
  const std::vector<BlockId>& blocks(NodeId node) const { return m_nodes[node].blocks; }

  /// Among the children of `parent` that have a block, one with the most leading tokens in common with
  /// `tokens`, be it none; an equal child comes first. Nothing if no child has a block.
  std::optional<NearestNode> nearest(NodeId parent, std::span<const TokenId> tokens) const;

  /// A first node of a chain that has a block and begins with `tokens`, at a root of the same salt that sees
  /// something else than `root`; of several, one that agrees longest in what it sees.
  std::optional<OtherContext> otherContext(NodeId root, std::span<const TokenId> tokens) const;

  /// A running request that is going to compute this node, the first that said so; 0 if there is none.
  RequestId pendingBy(NodeId node) const;
  bool isPendingBy(NodeId node, RequestId request) const;
  void addPending(NodeId node, RequestId request);
  /// Does nothing if the request is not going to compute it.
  void dropPending(NodeId node, RequestId request);
  /// As `nearest`, among the children that a running request is going to compute.
  std::optional<NearestNode> nearestPending(NodeId parent, std::span<const TokenId> tokens) const;

  /// True for a root that sees nothing.
  bool isPlainRoot(NodeId node) const;

  /// Nodes and roots that are held.
  std::size_t size() const { return m_size; }

 private:
  friend class NodeRef;

  using Tokens = std::span<const TokenId>;
  struct TokensLess {
    bool operator()(Tokens a, Tokens b) const;
  };
  using Children = std::map<Tokens, NodeId, TokensLess>;  ///< keys are the children's own tokens

  struct RootContent {
    std::string salt;
    std::vector<SeenEnd> seen;
    auto operator<=>(const RootContent&) const = default;
  };

  struct Node {
    NodeId parent = kNoNode;
    NodeId next = kNoNode;  ///< links nodes that are about to be freed, and free ones
    std::uint32_t holds = 0;
    trace::BlockKey key;
    ContentName name;
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;
    std::vector<RequestId> pending;
    Children children;                  ///< all of them
    Children stored;                    ///< those that have a block
    Children awaited;                   ///< those that a running request is going to compute
    const RootContent* root = nullptr;  ///< for roots: the key in m_roots
  };

  /// Chains' first nodes that have a block, by tokens across all roots.
  struct FirstNode {
    std::string_view salt;
    Tokens tokens;
    NodeId node = kNoNode;
  };
  struct FirstNodeLess {
    bool operator()(const FirstNode& a, const FirstNode& b) const;
  };

  static std::optional<NearestNode> nearestOf(const Children& children, Tokens tokens);
  NodeId makeNode();
  void addHold(NodeId node) { ++m_nodes[node].holds; }
  void dropHold(NodeId node) noexcept;
  void dropOne(NodeId node, NodeId& unheld) noexcept;
  FirstNode firstNode(NodeId node) const;

  std::string m_fingerprint;
  KeyHash m_hash;
  const ContentNaming* m_naming;
  std::vector<Node> m_nodes;
  NodeId m_freeNodes = kNoNode;
  std::size_t m_size = 0;
  std::map<RootContent, NodeId> m_roots;
  std::set<FirstNode, FirstNodeLess> m_firstNodes;
};

}  // namespace spanscope::cache
