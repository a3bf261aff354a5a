// SPDX-License-Identifier: GPL-3.0-or-later
// Aligns each prompt with all earlier prompts: the longest common prefix, and repeats at any place. Open this
// file to change how repeats are found.
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace spanscope::doctor {

/// Tokens [begin, begin + count) of a prompt that are also in an earlier request from token `at` on.
struct Repeat {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::uint32_t request = 0;
  std::size_t at = 0;
  bool operator==(const Repeat&) const = default;
};

/// Keeps the tokens of all requests in a prefix tree, so that common prefixes are stored once. Every token
/// takes four bytes. An index of rolling hashes finds repeats. The index has the hash of each k-th run of k
/// tokens, with k = (n + 1) / 2. Every run of at least n tokens contains such a run whole. The index takes
/// about eight bytes per k tokens.
class Alignment {
 public:
  /// `repeatTokens`: the min length n of a repeat, at least 2.
  explicit Alignment(std::size_t repeatTokens);

  struct Found {
    std::size_t common = 0;               ///< tokens of the longest common prefix
    std::optional<std::uint32_t> best{};  ///< the last request with this prefix
    std::size_t alive = 0;                ///< the same, only with requests since `oldest`
    std::size_t withPrevious = 0;         ///< common prefix with the request `previous`
    std::vector<Repeat> repeats{};        ///< in order of their ends; they can overlap
  };

  struct Added {
    std::uint64_t realm = 0;          ///< requests of different realms share no prefix
    std::span<const TokenId> tokens;  ///< prompt and answer
    std::size_t prompt = 0;           ///< tokens of the prompt
    std::int64_t time = 0;
    std::int64_t oldest = std::numeric_limits<std::int64_t>::min();
    std::optional<std::uint32_t> previous{};
  };
  /// Looks the prompt up in all earlier requests, and adds the request.
  Found add(const Added& added);

  std::size_t size() const { return m_ends.size(); }
  /// Returns the tokens of a request.
  std::vector<TokenId> tokensOf(std::uint32_t request) const;
  /// Tokens that are stored. Common prefixes count once.
  std::size_t storedTokens() const { return m_stored; }

 private:
  using NodeId = std::uint32_t;
  static constexpr std::size_t kChunk = std::size_t{1} << 18U;
  static constexpr std::size_t kMostAlike = 64;  ///< entries of the index with the same tokens

  struct Node {
    NodeId parent = 0;
    std::size_t begin = 0;  ///< of the node's tokens in the store
    std::size_t length = 0;
    std::size_t depth = 0;  ///< tokens before the node
    std::uint32_t last = 0;
    std::int64_t time = 0;
    std::uint32_t visited = 0;  ///< number of the last request with this node, from 1
  };
  /// Neighbouring tokens of one request in the store.
  struct Region {
    std::size_t begin = 0;
    std::size_t length = 0;
    std::uint32_t request = 0;
    std::size_t at = 0;  ///< place of the first token in the request
  };

  TokenId token(std::size_t at) const { return m_store[at / kChunk][at % kChunk]; }
  void append(std::span<const TokenId> tokens);
  NodeId rootOf(std::uint64_t realm);
  std::vector<Repeat> repeatsOf(std::span<const TokenId> prompt, std::size_t from) const;
  void index(const Region& region, std::span<const TokenId> tokens, const std::vector<Repeat>& repeats);
  void put(std::size_t block);
  void grow();
  std::uint64_t hashAt(std::size_t begin) const;
  bool isSame(std::size_t left, std::size_t right) const;
  const Region& regionAt(std::size_t begin) const;

  std::size_t m_least;       ///< n
  std::size_t m_block;       ///< k
  std::uint64_t m_drop = 1;  ///< the factor of the oldest token of a rolling hash
  std::vector<std::unique_ptr<TokenId[]>>
      m_store;            // NOLINT(modernize-avoid-c-arrays): chunks without zeroing
  std::size_t m_end = 0;  ///< of the used store
  std::size_t m_stored = 0;
  std::vector<Region> m_regions;       ///< in order
  std::vector<std::uint32_t> m_slots;  ///< number of a block of the store plus 1; 0: free
  std::size_t m_used = 0;
  std::vector<Node> m_nodes;
  std::unordered_map<std::uint64_t, NodeId> m_roots;
  std::unordered_map<std::uint64_t, NodeId> m_children;  ///< by node and first token
  std::vector<NodeId> m_ends;                            ///< by request
};

}  // namespace spanscope::doctor
