// SPDX-License-Identifier: GPL-3.0-or-later
// Simulates SGLang's radix cache. Open this file to compare with SGLang.
#pragma once

#include "engine/base/ids.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spanscope::simulator::sglang {

// The tree in which SGLang 0.5.23 keeps computed tokens, with eviction policy lru and no second tier. A node
// has a run of tokens, in whole pages. Runs with a common prefix are split at the end of the prefix.

/// Distinguishes contents with the same tokens.
struct Realm {
  std::string key;   ///< e.g. name of an adapter; empty: none
  std::string salt;  ///< empty: none
  auto operator<=>(const Realm&) const = default;
};

class RadixTree {
 public:
  /// The number of a node. The root is 0. Numbers of evicted nodes are reused.
  using NodeId = std::size_t;

  /// A node that was evicted.
  struct Evicted {
    std::int64_t tokens = 0;
    std::vector<BlockId> places;
  };
  struct Match {
    std::size_t tokens = 0;
    NodeId last = 0;  ///< the node at which the match ends
  };

  /// `pageSize`: tokens, at least 1.
  explicit RadixTree(std::int32_t pageSize);

  /// Returns the longest prefix of the tokens in the tree, in whole pages. The match counts as a use. A node
  /// is split at the end of the match.
  Match match(const Realm& realm, std::span<const TokenId> tokens);
  /// Returns the length of the match without any change.
  std::size_t matchedTokens(const Realm& realm, std::span<const TokenId> tokens) const;
  /// Adds the whole pages of the tokens. Returns the number of tokens that were already in the tree. `places`
  /// has the block of each new page; may be empty.
  std::size_t insert(const Realm& realm, std::span<const TokenId> tokens,
                     std::span<const BlockId> places = {});
  /// Returns the blocks of all pages from the root to the end of a node.
  std::vector<BlockId> placesTo(NodeId node) const;
  /// Returns the blocks of all pages.
  std::vector<BlockId> places() const;
  /// Locks a node and all nodes above it. Each lock needs one unlock.
  void lock(NodeId node);
  void unlock(NodeId node);
  /// Drops unlocked leaves, the least recently used first. Stops when `tokens` tokens are dropped or no such
  /// leaf is left.
  std::vector<Evicted> evict(std::int64_t tokens);
  void clear();

  std::int64_t evictable() const { return m_evictable; }  ///< tokens that are not locked
  std::int64_t locked() const { return m_locked; }        ///< tokens that are locked
  std::int32_t pageSize() const { return static_cast<std::int32_t>(m_pageSize); }

 private:
  using Page = std::vector<TokenId>;
  using ChildKey = std::pair<Realm, Page>;

  struct Node {
    NodeId parent = 0;
    Realm realm;
    std::vector<TokenId> tokens;
    std::vector<BlockId> places;  ///< one per page; empty: unknown
    std::map<ChildKey, NodeId> children;
    std::int64_t locks = 0;
    std::uint64_t lastUse = 0;
    bool isUsed = false;
  };

  std::span<const TokenId> wholePages(std::span<const TokenId> tokens) const;
  ChildKey keyOf(const Realm& realm, std::span<const TokenId> tokens) const;
  std::size_t common(const Node& node, std::span<const TokenId> tokens) const;
  NodeId make(NodeId parent, Realm realm, std::span<const TokenId> tokens, std::span<const BlockId> places);
  /// Splits a node after its first tokens. Returns the new node, which has these tokens.
  NodeId split(NodeId node, std::size_t tokens);

  std::size_t m_pageSize;
  std::vector<Node> m_nodes;
  std::vector<NodeId> m_unused;
  std::int64_t m_evictable = 0;
  std::int64_t m_locked = 0;
  std::uint64_t m_now = 0;
};

struct Admission {
  std::int64_t cached = 0;  ///< hits, even if the request is refused
  bool isRefused = false;   ///< there is no space, even after all possible evictions
};

/// The space for tokens, and the tree of kept tokens. Each prompt is computed as a whole, one request after
/// the other. A token of an answer counts when it is computed.
class TokenCache {
 public:
  /// `pageSize`: tokens, at least 1. `room`: tokens, in whole pages.
  TokenCache(std::int32_t pageSize, std::int64_t room) : m_room(room), m_free(room), m_tree(pageSize) {}

  CacheShape shape() const { return {.blockSize = m_tree.pageSize(), .blocks = m_room / m_tree.pageSize()}; }
  /// Sends later events to `observer`. Null: no events. The real server has other page numbers.
  void watch(CacheObserver* observer) { m_observer = observer; }

  /// `prompt` has at least one token, and no request with this name is running.
  Admission admit(const std::string& request, std::vector<TokenId> prompt, Realm realm);
  /// Computes a token of a running request's answer. Returns false if the token is refused. The request then
  /// ends, and its answer is not kept.
  bool decode(const std::string& request, TokenId token);
  /// Ends a request and keeps its computed tokens, in whole pages. Does nothing if the request is not
  /// running.
  void free(const std::string& request);
  /// Drops everything, unless a request is running.
  bool reset();

  bool runs(const std::string& request) const { return m_requests.contains(request); }
  std::int64_t freeTokens() const { return m_free; }
  const RadixTree& tree() const { return m_tree; }
  /// Returns the tokens of each node that was evicted since the last call, in order.
  std::vector<std::int64_t> takeEvicted();

 private:
  struct Running {
    Realm realm;
    std::vector<TokenId> tokens;
    std::size_t promptSize = 0;
    std::size_t kept = 0;  ///< number of its tokens that are in the tree and locked
    RadixTree::NodeId node = 0;
    std::vector<BlockId> places;  ///< the block of each page; the last page may not be full
  };

  std::int64_t pagesOf(std::size_t tokens) const;
  /// Evicts until `tokens` tokens are free, if possible.
  void makeRoom(const std::string& request, std::int64_t tokens);
  /// Allocates blocks for all tokens of a request.
  void takePages(const std::string& request, Running& running);
  void keep(const std::string& request, Running& running);
  /// Frees the tokens that are not in the tree, and unlocks the tokens in the tree.
  void release(const std::string& request, const Running& running);
  void traceLookup(const std::string& request, const Running& running) const;

  std::int64_t m_room;
  std::int64_t m_free;
  RadixTree m_tree;
  std::map<std::string, Running> m_requests;
  std::vector<std::int64_t> m_evicted;
  BlockNumbers m_numbers;
  CacheObserver* m_observer = nullptr;
};

}  // namespace spanscope::simulator::sglang
