// SPDX-License-Identifier: GPL-3.0-or-later
// Stores contents as a trie. Open this file to change how contents are identified. A node is (parent, tokens
// of one full or partial block). The parent of a chain's first node is a root. A root is (fingerprint, salt,
// ordered list of the segments that can be attended to). Equal contents are the same node. A lookup compares
// tokens, never hashes. A NodeRef keeps a node. A node without a NodeRef is deleted.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/stored_block.h"
#include "engine/trace/pool_state.h"

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

/// A function that makes a key from bytes. Code that makes keys takes the function as a parameter, so that
/// tests can make every key collide.
using KeyHash = trace::BlockKey (*)(std::span<const std::uint8_t> bytes);

/// Makes a key by XXH3-128, the default hash of the program.
trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes);

/// One entry of the list of segments that a segment can attend to. The entry names the target segment by key.
struct SeenKey {
  trace::BlockKey end;        ///< key of the target's last block, which may be partial
  std::int64_t distance = 0;  ///< start position of the attending segment − start position of the target, in
                              ///< tokens
  std::int32_t visibleBegin = 0;  ///< first visible position in the target segment
};

/// Key of the root of a chain. `fixedBase` has the meaning of ContentTrie::root().
trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen, std::int64_t fixedBase = 0);

/// Key of a full or partial block with these tokens that follows `parent`.
trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens);

/// Returns the number of equal tokens at the beginning.
std::int32_t commonPrefix(std::span<const TokenId> a, std::span<const TokenId> b);

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

class ContentTrie;

/// Keeps a node and everything that its identity depends on. The identity depends on the chain up to the
/// root, and on the segments in the root's list. A NodeRef must not outlive its trie.
class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept;
  NodeRef& operator=(const NodeRef& other);
  NodeRef& operator=(NodeRef&& other) noexcept;
  ~NodeRef();

  /// Returns kNoNode for an empty NodeRef.
  NodeId id() const { return m_id; }

 private:
  friend class ContentTrie;
  NodeRef(ContentTrie& trie, NodeId id);
  void swap(NodeRef& other) noexcept;

  ContentTrie* m_trie = nullptr;
  NodeId m_id = kNoNode;
};

/// An entry of a root's list: an earlier segment, the target, that can be attended to.
struct SeenEnd {
  NodeId end = kNoNode;       ///< the target's last node, or its root if it has no tokens
  std::int64_t distance = 0;  ///< start position of the attending segment − start position of the target, in
                              ///< tokens
  std::int32_t visibleBegin = 0;  ///< first visible position in the target segment
  auto operator<=>(const SeenEnd&) const = default;
};

/// A stored node that is similar to the requested node.
struct NearestNode {
  NodeId node = kNoNode;
  std::int32_t common = 0;  ///< number of equal leading tokens
};

/// A stored node with the same tokens under another root.
struct OtherContext {
  NodeId node = kNoNode;
  std::int32_t differsAt = 0;  ///< first index at which the lists of the roots differ; −1: only their fixed
                               ///< start positions differ
};

class ContentTrie {
 public:
  /// `naming` makes the names of contents in the span store and must outlive the trie. If `naming` is null,
  /// contents have no names.
  ContentTrie(std::string fingerprint, KeyHash hash, const ContentNaming* naming = nullptr);
  ContentTrie(const ContentTrie&) = delete;
  ContentTrie& operator=(const ContentTrie&) = delete;

  /// Replaces the nodes of this trie by the nodes of `other`, with the same ids. No node of this trie may be
  /// in use. At first, only other copied nodes keep a copied node. The caller must keep each needed node
  /// before the trie changes. Marks of pending nodes are not copied.
  void assignNodes(const ContentTrie& other);

  /// Returns the root for this salt and list. The caller must keep every node of the list. `fixedBase` is the
  /// start position of the segment if keys and values depend on it (CacheConfig::positionStep), else 0.
  NodeRef root(const std::string& salt, const std::vector<SeenEnd>& seen, std::int64_t fixedBase = 0);
  /// Returns the child of `parent` with exactly these tokens, at least one.
  NodeRef child(NodeId parent, std::span<const TokenId> tokens);
  NodeRef hold(NodeId node);

  const trace::BlockKey& key(NodeId node) const { return m_nodes[node].key; }
  /// Returns the name of the node in the span store. All bytes are zero if the trie has no naming.
  const ContentName& name(NodeId node) const { return m_nodes[node].name; }
  std::span<const TokenId> tokens(NodeId node) const { return m_nodes[node].tokens; }
  /// Returns kNoNode for a root.
  NodeId parent(NodeId node) const { return m_nodes[node].parent; }

  /// Records that a block has this content. The caller must keep the node until detach().
  void attach(NodeId node, BlockId block);
  void detach(NodeId node, BlockId block);
  /// Returns the blocks with this content, in the order of attach().
  const std::vector<BlockId>& blocks(NodeId node) const { return m_nodes[node].blocks; }

  /// Returns the child of `parent` that has a block and shares the most leading tokens with `tokens`. The
  /// number may be 0. An equal child is preferred. Returns nothing if no child has a block.
  std::optional<NearestNode> nearest(NodeId parent, std::span<const TokenId> tokens) const;

  /// Finds the first node of a chain that has a block and begins with `tokens`. The root of this chain has
  /// the same salt as `root` but another list. If several nodes match, returns the node whose list has the
  /// longest common prefix with the list of `root`.
  std::optional<OtherContext> otherContext(NodeId root, std::span<const TokenId> tokens) const;

  /// Returns the children of the same parent that begin with the tokens of `node`. Each of these children has
  /// a block or is going to be computed. `node` is included on the same condition. `node` must not be a root.
  std::vector<NodeId> continuations(NodeId node) const;

  /// Returns the running request that is going to compute this node, or 0. If several requests have marked
  /// the node, returns the first.
  RequestId pendingBy(NodeId node) const;
  bool isPendingBy(NodeId node, RequestId request) const;
  void addPending(NodeId node, RequestId request);
  /// Does nothing if the request was not going to compute the node.
  void dropPending(NodeId node, RequestId request);
  /// Works like nearest(), for the children that a running request is going to compute.
  std::optional<NearestNode> nearestPending(NodeId parent, std::span<const TokenId> tokens) const;

  /// Whether the node is a root with an empty list.
  bool isPlainRoot(NodeId node) const;

  /// Returns the number of nodes in use, including roots.
  std::size_t size() const { return m_size; }

 private:
  friend class NodeRef;

  using Tokens = std::span<const TokenId>;
  struct TokensLess {
    bool operator()(Tokens a, Tokens b) const;
  };
  using Children = std::map<Tokens, NodeId, TokensLess>;  ///< each key is a view of the child's tokens

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
