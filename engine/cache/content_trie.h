// SPDX-License-Identifier: GPL-3.0-or-later
// Stores contents as a trie. A content node is (parent, tokens of one block or tail). The parent of the first
// node of a chain is a root = (fingerprint, salt, ordered list of what is seen). Nodes are interned: equal
// contents are the same node, which is found by comparing tokens and never by hash. Whoever needs a node
// holds a NodeRef. A node that nobody holds is deleted.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_key.h"
#include "engine/cache/store/stored_block.h"

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

/// Keeps a node, and with it everything that its identity depends on: its chain down to the root, and what
/// the root sees. A NodeRef must not outlive its trie.
class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept;
  NodeRef& operator=(const NodeRef& other);
  NodeRef& operator=(NodeRef&& other) noexcept;
  ~NodeRef();

  /// kNoNode if it holds no node.
  NodeId id() const { return m_id; }

 private:
  friend class ContentTrie;
  NodeRef(ContentTrie& trie, NodeId id);
  void swap(NodeRef& other) noexcept;

  ContentTrie* m_trie = nullptr;
  NodeId m_id = kNoNode;
};

/// An entry of a root's list: an earlier segment that is seen.
struct SeenEnd {
  NodeId end = kNoNode;           ///< the seen segment's last node, or its root if it has no tokens
  std::int64_t distance = 0;      ///< base of the seeing segment − base of the seen segment, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
  auto operator<=>(const SeenEnd&) const = default;
};

/// A stored node that is similar to the wanted one.
struct NearestNode {
  NodeId node = kNoNode;
  std::int32_t common = 0;  ///< number of equal leading tokens
};

/// A stored node with the same tokens under another root.
struct OtherContext {
  NodeId node = kNoNode;
  std::int32_t differsAt = 0;  ///< first index at which the lists of seen segments differ; −1: only their
                               ///< fixed bases do
};

class ContentTrie {
 public:
  /// `naming` makes the names of contents in the span store and must outlive the trie. If it is null,
  /// contents have no names.
  ContentTrie(std::string fingerprint, KeyHash hash, const ContentNaming* naming = nullptr);
  ContentTrie(const ContentTrie&) = delete;
  ContentTrie& operator=(const ContentTrie&) = delete;

  /// Replaces the nodes of this trie by those of `other`, with the same ids. Nobody may hold a node of this
  /// trie. The copied nodes are held only by each other: hold each node that is needed before anything else
  /// changes. The marks of what requests of `other` are going to compute are not copied.
  void assignNodes(const ContentTrie& other);

  /// The root for this salt and list. The caller must hold every node of the list.
  /// `fixedBase`: the base of the segment, where keys and values depend on it (CacheConfig::positionStep);
  /// 0: they do not.
  NodeRef root(const std::string& salt, const std::vector<SeenEnd>& seen, std::int64_t fixedBase = 0);
  /// The child of `parent` with exactly these tokens, at least one.
  NodeRef child(NodeId parent, std::span<const TokenId> tokens);
  NodeRef hold(NodeId node);

  const trace::BlockKey& key(NodeId node) const { return m_nodes[node].key; }
  /// The name of the node in the span store; all zero if the trie has no naming.
  const ContentName& name(NodeId node) const { return m_nodes[node].name; }
  std::span<const TokenId> tokens(NodeId node) const { return m_nodes[node].tokens; }
  /// kNoNode for a root.
  NodeId parent(NodeId node) const { return m_nodes[node].parent; }

  /// Notes that a block holds this content. The caller must keep the node held until detach().
  void attach(NodeId node, BlockId block);
  void detach(NodeId node, BlockId block);
  /// The blocks that hold this content, in the order in which they were attached.
  const std::vector<BlockId>& blocks(NodeId node) const { return m_nodes[node].blocks; }

  /// Of the children of `parent` that have a block, the one with the most leading tokens in common with
  /// `tokens`; this may be no token. An equal child is preferred. Nothing if no child has a block.
  std::optional<NearestNode> nearest(NodeId parent, std::span<const TokenId> tokens) const;

  /// The first node of a chain that has a block and begins with `tokens`, under a root with the same salt but
  /// another list of seen segments than `root`. If there are several: one whose list agrees longest with that
  /// of `root`.
  std::optional<OtherContext> otherContext(NodeId root, std::span<const TokenId> tokens) const;

  /// The children of the same parent that begin with the tokens of `node` and have a block or are going to be
  /// computed. `node` is one of them if this holds for it. It must not be a root.
  std::vector<NodeId> continuations(NodeId node) const;

  /// The running request that is going to compute this node; if there are several, the first that said so. 0
  /// if there is none.
  RequestId pendingBy(NodeId node) const;
  bool isPendingBy(NodeId node, RequestId request) const;
  void addPending(NodeId node, RequestId request);
  /// Does nothing if the request was not going to compute the node.
  void dropPending(NodeId node, RequestId request);
  /// The same as nearest(), but of the children that a running request is going to compute.
  std::optional<NearestNode> nearestPending(NodeId parent, std::span<const TokenId> tokens) const;

  /// True for a root that sees nothing.
  bool isPlainRoot(NodeId node) const;

  /// Number of nodes that are held, roots included.
  std::size_t size() const { return m_size; }

 private:
  friend class NodeRef;

  using Tokens = std::span<const TokenId>;
  struct TokensLess {
    bool operator()(Tokens a, Tokens b) const;
  };
  using Children = std::map<Tokens, NodeId, TokensLess>;  ///< each key views the child's own tokens

  struct RootContent {
    std::string salt;
    std::vector<SeenEnd> seen;
    std::int64_t fixedBase = 0;
    auto operator<=>(const RootContent&) const = default;
  };

  struct Node {
    NodeId parent = kNoNode;
    NodeId next = kNoNode;  ///< links nodes that are about to be freed, and free nodes
    std::uint32_t holds = 0;
    trace::BlockKey key;
    ContentName name;
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;
    std::vector<RequestId> pending;
    Children children;                  ///< all children
    Children stored;                    ///< the children that have a block
    Children awaited;                   ///< the children that a running request is going to compute
    const RootContent* root = nullptr;  ///< for roots: the key in m_roots
  };

  /// The first node of a chain. m_firstNodes orders those with a block by salt and tokens, across all roots.
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
