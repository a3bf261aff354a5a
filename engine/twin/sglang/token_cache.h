// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/sglang/radix_tree.h"
#include "engine/twin/telling/cache_observer.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spanscope::twin::sglang {

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
