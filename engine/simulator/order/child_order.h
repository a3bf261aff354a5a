// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the order of the children of `plus` in a prompt, so that a server with prefix caching reuses as
// many tokens as possible. All functions are pure: the cache is a function from the beginning of a prompt to
// its number of cached tokens. Open this file to change the order of a prompt.
//
// The rules, in this order:
//
// 1. The prompt has the max number of cached tokens now.
// 2. Long children of many prompts come first. Later prompts then probably share a longer beginning.
// 3. Other children have a fixed order. Equal sets of children then have equal prompts.
//
// The children of `seq` and `cross` keep their places.
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::simulator {

enum class PartKind : std::uint8_t {
  Text,    ///< tokens, without children
  Series,  ///< the children keep their order (seq, par, cross)
  Free,    ///< the children may change places (plus)
};

/// A prompt as a tree. The texts of a prompt have numbers from 0, in written order.
struct PromptPart {
  PartKind kind = PartKind::Text;
  std::vector<TokenId> tokens{};       ///< of a text
  std::vector<PromptPart> children{};  ///< of a series or a free part
};

/// Returns a hash of the contents. Two orders of the children of a free part have the same hash.
std::uint64_t contentOf(const PromptPart& part);

/// Returns the number of cached tokens of `beginning`, if more tokens follow. A longer beginning never has
/// fewer cached tokens.
using CachedTokens = std::function<std::int64_t(std::span<const TokenId> beginning)>;

/// The number of prompts that contained each child of a free part.
class PartCounts {
 public:
  /// Counts the children of all free parts of a prompt, each content once.
  void add(const PromptPart& prompt);
  /// Adds `count` prompts with a child of this content.
  void add(std::uint64_t content, std::uint32_t count);
  std::uint32_t of(std::uint64_t content) const;
  /// All contents with their counts, by content.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all() const;

 private:
  void bound();

  static constexpr std::size_t kMost = std::size_t{1} << 18U;
  std::unordered_map<std::uint64_t, std::uint32_t> m_counts;
};

struct OrderRules {
  std::int64_t block = 1;  ///< tokens of a cache block, at least 1.
  /// A difference of fewer cached tokens than this number does not count. Documents often begin with the same
  /// few words. Such a short hit must not change the order.
  std::int64_t step = 1;
  /// If the free parts together have at most this number of children, the search is exact.
  std::size_t exactChildren = 8;
  /// Max number of partial orders that the search tries for a prompt with more children.
  std::size_t mostTries = 2000;
  /// Contents of children that come first among orders with equal hits, in this order.
  std::vector<std::uint64_t> first{};
  /// The next prompt begins with this number of contents of `first`, too. Their tokens count as cached in an
  /// order that begins with them, because the next prompt then finds them.
  std::size_t kept = 0;
};

struct ChosenOrder {
  std::vector<std::size_t> texts;  ///< the numbers of all texts, in the chosen order
  std::int64_t tokens = 0;         ///< of the prompt
  std::int64_t cached = 0;         ///< cached tokens in the chosen order
  std::int64_t asWritten = 0;      ///< cached tokens in written order; at most `cached`, up to a step.
  /// No order has more cached tokens. Equal to `cached`, up to a step, if the search was exact.
  std::int64_t most = 0;
  bool isExact = true;  ///< whether the search tried every order that could be better
  bool isMoved() const;
};

/// Chooses the order of a prompt. The result depends only on the arguments. With more than
/// OrderRules::exactChildren children, the search tries the child with the max number of cached tokens first.
/// The search ends after OrderRules::mostTries partial orders. The result is never worse than the written
/// order, and never worse than the best choice of the first child.
ChosenOrder chooseOrder(const PromptPart& prompt, const CachedTokens& cached, const PartCounts& counts,
                        const OrderRules& rules);

/// A plan for prompts that are known before the first of them is sent.
struct SendingPlan {
  std::vector<std::size_t> order;  ///< the indices of all prompts, in sending order.
  /// OrderRules::first for each prompt.
  std::vector<std::vector<std::uint64_t>> first;
  /// OrderRules::kept for each prompt.
  std::vector<std::size_t> kept;
};

/// Plans prompts so that prompts with a common beginning follow each other. The plan concerns the first free
/// part of each prompt. The function repeatedly joins the two groups of prompts whose common children have
/// the max number of tokens. The prompts of a group begin with its common children, and follow each other.
SendingPlan planSending(const std::vector<PromptPart>& prompts);

}  // namespace spanscope::simulator
