// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/twin/telling/cache_observer.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spanscope::twin::sglang {

// The tree in which SGLang 0.5.23 keeps what was computed, with the eviction policy lru and no second tier:
// an edge holds a run of tokens, whole pages of them, and runs that begin alike are split where they part.

/// What keeps contents apart that have the same tokens.
struct Realm {
  std::string key;   ///< of an adapter or the like; empty: none
  std::string salt;  ///< empty: none
  auto operator<=>(const Realm&) const = default;
};

class RadixTree {
 public:
  /// A node by its number; the root is 0. A number of a node that was evicted is used again.
  using NodeId = std::size_t;

  /// A node that had to go.
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

  /// The longest beginning of the tokens, in whole pages. Counts as use. A node is split where the match
  /// ends.
  Match match(const Realm& realm, std::span<const TokenId> tokens);
  /// The same without any of that.
  std::size_t matchedTokens(const Realm& realm, std::span<const TokenId> tokens) const;
  /// Adds the whole pages of the tokens. Gives how many tokens were there already. `places`: the block in
  /// which each page stands, as far as it is not there already; may be empty.
  std::size_t insert(const Realm& realm, std::span<const TokenId> tokens,
                     std::span<const BlockId> places = {});
  /// The blocks of all pages from the root to the end of a node.
  std::vector<BlockId> placesTo(NodeId node) const;
  /// The blocks of all pages.
  std::vector<BlockId> places() const;
  /// Keeps a node and all above it until it is unlocked as often.
  void lock(NodeId node);
  void unlock(NodeId node);
  /// Drops leaves that nobody has locked, the one that was used longest ago first, until so many tokens are
  /// dropped or none is left.
  std::vector<Evicted> evict(std::int64_t tokens);
  void clear();

  std::int64_t evictable() const { return m_evictable; }  ///< tokens that nobody has locked
  std::int64_t locked() const { return m_locked; }        ///< tokens that somebody has
  std::int32_t pageSize() const { return static_cast<std::int32_t>(m_pageSize); }

 private:
  using Page = std::vector<TokenId>;
  using ChildKey = std::pair<Realm, Page>;

  struct Node {
    NodeId parent = 0;
    Realm realm;
    std::vector<TokenId> tokens;
    std::vector<BlockId> places;  ///< one a page; empty: they were not told
    std::map<ChildKey, NodeId> children;
    std::int64_t locks = 0;
    std::uint64_t lastUse = 0;
    bool isUsed = false;
  };

  std::span<const TokenId> wholePages(std::span<const TokenId> tokens) const;
  ChildKey keyOf(const Realm& realm, std::span<const TokenId> tokens) const;
  std::size_t common(const Node& node, std::span<const TokenId> tokens) const;
  NodeId make(NodeId parent, Realm realm, std::span<const TokenId> tokens, std::span<const BlockId> places);
  /// Parts a node behind its first tokens. Gives the new node, which has them.
  NodeId split(NodeId node, std::size_t tokens);

  std::size_t m_pageSize;
  std::vector<Node> m_nodes;
  std::vector<NodeId> m_unused;
  std::int64_t m_evictable = 0;
  std::int64_t m_locked = 0;
  std::uint64_t m_now = 0;
};

struct Admission {
  std::int64_t cached = 0;  ///< tokens that are found, even if the request is refused
  bool isRefused = false;   ///< there is no room, even without all that nobody uses
};

/// The room for tokens and the tree of what is kept in it, as requests use them that are computed whole, one
/// after the other. A token of a reply counts when it is computed.
class TokenCache {
 public:
  /// `pageSize`: tokens, at least 1. `room`: tokens, whole pages of them.
  TokenCache(std::int32_t pageSize, std::int64_t room) : m_room(room), m_free(room), m_tree(pageSize) {}

  CacheShape shape() const { return {.blockSize = m_tree.pageSize(), .blocks = m_room / m_tree.pageSize()}; }
  /// Has everything told that happens from now on; null: nothing more. The server numbers pages otherwise.
  void watch(CacheObserver* observer) { m_observer = observer; }

  /// `prompt` has at least one token, and no request of this name runs.
  Admission admit(const std::string& request, std::vector<TokenId> prompt, Realm realm);
  /// Computes a token of the reply of a request that runs. If it is refused, the request is gone, and its
  /// reply is not kept.
  bool decode(const std::string& request, TokenId token);
  /// Ends a request and keeps what it has computed, in whole pages. Does nothing if it does not run.
  void free(const std::string& request);
  /// Forgets everything, unless a request runs.
  bool reset();

  bool runs(const std::string& request) const { return m_requests.contains(request); }
  std::int64_t freeTokens() const { return m_free; }
  const RadixTree& tree() const { return m_tree; }
  /// Tokens of each node that was evicted since the last call, in order.
  std::vector<std::int64_t> takeEvicted();

 private:
  struct Running {
    Realm realm;
    std::vector<TokenId> tokens;
    std::size_t promptSize = 0;
    std::size_t kept = 0;  ///< so many of its tokens are in the tree, and locked there
    RadixTree::NodeId node = 0;
    std::vector<BlockId> places;  ///< the block of each page, the last one perhaps not full
  };

  std::int64_t pagesOf(std::size_t tokens) const;
  /// Evicts until so many tokens are free, if that can be.
  void makeRoom(const std::string& request, std::int64_t tokens);
  /// Takes blocks for all tokens of a request.
  void takePages(const std::string& request, Running& running);
  void keep(const std::string& request, Running& running);
  /// Gives back the tokens that are not in the tree, and those in it to whoever wants them.
  void release(const std::string& request, const Running& running);
  void tellLookup(const std::string& request, const Running& running) const;

  std::int64_t m_room;
  std::int64_t m_free;
  RadixTree m_tree;
  std::map<std::string, Running> m_requests;
  std::vector<std::int64_t> m_evicted;
  BlockNumbers m_numbers;
  CacheObserver* m_observer = nullptr;
};

}  // namespace spanscope::twin::sglang
