// SPDX-License-Identifier: GPL-3.0-or-later
// The tree in which SGLang 0.5.23 keeps what was computed, with the eviction policy lru and no second tier:
// an edge holds a run of tokens, whole pages of them, and runs that begin alike are split where they part.
#pragma once

#include "engine/base/ids.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spanscope::twin::sglang {

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

}  // namespace spanscope::twin::sglang
