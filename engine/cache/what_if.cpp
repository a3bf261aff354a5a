// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/what_if.h"

#include "engine/cache/content_trie.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace spanscope::cache {
namespace {

using trace::LookupOutcome;
using trace::MissReason;

struct KeyHasher {
  std::size_t operator()(const trace::BlockKey& key) const {
    return static_cast<std::size_t>(key.low ^ (key.high * 0x9e3779b97f4a7c15U));
  }
};

std::int32_t sizeOf(std::span<const TokenId> tokens) {
  return static_cast<std::int32_t>(tokens.size());
}

/// Messages of a segment that are stored as a separate span.
struct StoredSpan {
  std::int32_t begin = 0;
  std::int32_t count = 0;
  std::int32_t cached = 0;
  BlockId block = kNullBlock;  ///< the first block of the span
};

class Advisor {
 public:
  explicit Advisor(const WhatIfInput& input) : m_input(input), m_size(input.pool.blockSize) {
    for (std::size_t block = 1; block < input.pool.blocks.size(); ++block) {
      const trace::BlockState& state = input.pool.blocks[block];
      if (state.cached) m_children[state.parent].push_back(static_cast<BlockId>(block));
    }
  }

  std::vector<std::vector<WhatIf>> advise() {
    std::vector<std::vector<WhatIf>> all;
    all.reserve(m_input.lookups.size());
    std::vector<StoredSpan> spans;
    std::optional<std::uint32_t> segment;
    for (const trace::BlockLookedUp& lookup : m_input.lookups) {
      std::vector<WhatIf>& changes = all.emplace_back();
      if (lookup.segment >= m_input.segments.size()) continue;
      if (segment != lookup.segment) {
        segment = lookup.segment;
        m_firstMissed.reset();
        m_chainBlocks = 0;
        spans = storedSpans(*segment);
      }
      const bool isFound = lookup.outcome == LookupOutcome::Hit || lookup.outcome == LookupOutcome::Relocated;
      if (isFound) continue;
      changes = changesFor(lookup, spans);
      if (!m_firstMissed) m_firstMissed = lookup.virtualIndex;
    }
    return all;
  }

 private:
  const trace::BlockState* stateOf(BlockId block) const {
    const auto index = static_cast<std::size_t>(block);
    if (block <= kNullBlock || index >= m_input.pool.blocks.size()) return nullptr;
    const trace::BlockState& state = m_input.pool.blocks[index];
    return state.cached ? &state : nullptr;
  }

  bool isLastOfPrompt(const trace::BlockLookedUp& lookup) const {
    return lookup.segment + 1 == m_input.segments.size() &&
           beginOf(lookup) + lookup.wanted == sizeOf(m_input.segments[lookup.segment].tokens);
  }
  std::int32_t beginOf(const trace::BlockLookedUp& lookup) const { return lookup.virtualIndex * m_size; }
  /// Returns the number of tokens that are not computed, for `stored` stored tokens of the block.
  std::int32_t usable(const trace::BlockLookedUp& lookup, std::int32_t stored) const {
    return std::min(stored, isLastOfPrompt(lookup) ? lookup.wanted - 1 : lookup.wanted);
  }

  std::vector<WhatIf> changesFor(const trace::BlockLookedUp& lookup, const std::vector<StoredSpan>& spans) {
    std::vector<WhatIf> changes;
    if (lookup.reason == MissReason::CacheOff || (lookup.wanted < m_size && !m_input.cacheTails)) {
      changes.push_back({.change = Change::CacheOn, .found = usable(lookup, lookup.wanted), .stored = {}});
      return changes;
    }
    if (lookup.reason == MissReason::LastToken) {
      changes.push_back({.change = Change::AlwaysComputed, .found = lookup.tokens, .stored = {}});
      return changes;
    }
    if (lookup.reason == MissReason::TokensDiffer) addOtherTokens(lookup, changes);
    addOwnSpan(lookup, spans, changes);
    if (lookup.reason == MissReason::ContextDiffers) addSameContext(lookup, changes);
    if (lookup.reason == MissReason::AfterMiss && m_firstMissed && stateOf(lookup.block) != nullptr) {
      changes.push_back({.change = Change::FindEarlier,
                         .found = usable(lookup, lookup.wanted),
                         .stored = {},
                         .earlier = *m_firstMissed,
                         .block = lookup.block});
    }
    addLargerPool(lookup, changes);
    changes.push_back({.change = Change::Again, .found = usable(lookup, lookup.wanted), .stored = {}});
    return changes;
  }

  void addOtherTokens(const trace::BlockLookedUp& lookup, std::vector<WhatIf>& changes) const {
    const trace::BlockState* stored = stateOf(lookup.block);
    const std::int32_t common = lookup.differsAt - beginOf(lookup);
    if (stored == nullptr || lookup.differsAt < 0 || common < 0) return;
    const std::int32_t end = std::min(lookup.wanted, stored->fill);
    // If the stored block ends before this position, other tokens would not give more matches.
    if (common >= end) return;
    changes.push_back({.change = Change::OtherTokens,
                       .found = usable(lookup, end),
                       .begin = lookup.differsAt,
                       .stored = {stored->tokens.begin() + common, stored->tokens.begin() + end},
                       .block = lookup.block});
  }

  void addOwnSpan(const trace::BlockLookedUp& lookup, const std::vector<StoredSpan>& spans,
                  std::vector<WhatIf>& changes) const {
    const std::int32_t begin = beginOf(lookup);
    for (const StoredSpan& span : spans) {
      const std::int32_t from = std::max(begin, span.begin);
      const std::int32_t to = std::min(begin + lookup.wanted, span.begin + span.cached);
      // The block may reach beyond the end of the span. Then only the tokens in the span are hits.
      if (to - from <= lookup.tokens) continue;
      changes.push_back({.change = Change::OwnSpan,
                         .found = to - from,
                         .begin = span.begin,
                         .count = span.count,
                         .cached = span.cached,
                         .stored = {},
                         .block = span.block});
      return;
    }
  }

  void addSameContext(const trace::BlockLookedUp& lookup, std::vector<WhatIf>& changes) const {
    const trace::BlockState* stored = stateOf(lookup.block);
    if (stored == nullptr) return;
    // A context with an empty list is a span. OwnSpan covers this case.
    if (m_input.plainRoot && stored->parent == *m_input.plainRoot &&
        m_input.segments[lookup.segment].seesOthers)
      return;
    changes.push_back({.change = Change::SameContext,
                       .found = usable(lookup, std::min(lookup.wanted, stored->fill)),
                       .stored = {},
                       .block = lookup.block});
  }

  /// Computes the pool size that would have kept an evicted content. A pool of this size also keeps the
  /// contents that were evicted later.
  void addLargerPool(const trace::BlockLookedUp& lookup, std::vector<WhatIf>& changes) {
    const bool isEvicted = lookup.reason == MissReason::Evicted && m_input.blocksToKeep;
    const auto more = isEvicted ? m_input.blocksToKeep(lookup.evictedBy) : std::nullopt;
    const bool isReachable = !m_firstMissed || m_chainBlocks > 0;
    if (!more || !isReachable) {
      // All later blocks are misses because this block is a miss.
      m_chainBlocks = -1;
      return;
    }
    m_chainBlocks = std::max(m_chainBlocks, static_cast<std::int64_t>(*more));
    changes.push_back({.change = Change::LargerPool,
                       .found = usable(lookup, lookup.wanted),
                       .stored = {},
                       .blockCount = static_cast<std::int64_t>(m_input.pool.blocks.size()) + m_chainBlocks});
  }

  /// Returns the longest stored chain at the plain root whose tokens equal the beginning of `tokens`.
  StoredSpan longestChain(std::span<const TokenId> tokens) const {
    StoredSpan best;
    const auto first = m_children.find(*m_input.plainRoot);
    if (first == m_children.end()) return best;
    const std::vector<BlockId>* children = &first->second;
    while (children != nullptr) {
      const std::span<const TokenId> rest = tokens.subspan(static_cast<std::size_t>(best.cached));
      std::int32_t most = 0;
      BlockId next = kNullBlock;
      for (const BlockId child : *children) {
        const std::int32_t common =
            commonPrefix(m_input.pool.blocks[static_cast<std::size_t>(child)].tokens, rest);
        if (common <= most) continue;
        most = common;
        next = child;
      }
      if (next == kNullBlock) break;
      if (best.block == kNullBlock) best.block = next;
      best.cached += most;
      const trace::BlockState& state = m_input.pool.blocks[static_cast<std::size_t>(next)];
      if (most < m_size || state.fill < m_size) break;
      const auto further = m_children.find(state.key);
      children = further == m_children.end() ? nullptr : &further->second;
    }
    return best;
  }

  std::vector<StoredSpan> storedSpans(std::uint32_t index) const {
    std::vector<StoredSpan> spans;
    if (!m_input.plainRoot) return spans;
    const WhatIfSegment& segment = m_input.segments[index];
    // The last token of a prompt cannot be in a span.
    const std::int32_t length = sizeOf(segment.tokens) - (index + 1 == m_input.segments.size() ? 1 : 0);
    std::vector<std::int32_t> ends = segment.messages;
    ends.push_back(sizeOf(segment.tokens));
    std::int32_t from = segment.seesOthers ? 0 : 1;  // a message at a chain's beginning is a span
    for (std::size_t message = 0; message < segment.messages.size(); ++message) {
      const std::int32_t begin = segment.messages[message];
      if (begin < from || begin >= length) continue;
      StoredSpan span = longestChain(
          segment.tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length - begin)));
      // The span covers all whole messages that are stored, at least the first message.
      std::int32_t end = ends[message + 1];
      for (std::size_t next = message + 1; next < ends.size() && ends[next] <= begin + span.cached; ++next)
        end = ends[next];
      if (end > length) continue;
      span.begin = begin;
      span.count = end - begin;
      span.cached = std::min(span.cached, span.count);
      // A few common words are no reason to write the query differently.
      if (span.cached < std::min(m_size, span.count) || span.cached * 2 < m_size) continue;
      spans.push_back(span);
      from = end;
    }
    return spans;
  }

  const WhatIfInput& m_input;
  std::int32_t m_size;
  std::unordered_map<trace::BlockKey, std::vector<BlockId>, KeyHasher> m_children;
  // For the current segment:
  std::optional<std::int32_t> m_firstMissed;  ///< virtual block
  std::int64_t m_chainBlocks = 0;  ///< additional blocks that keep all evicted blocks so far; −1: no number
                                   ///< does
};

}  // namespace

const char* changeName(Change change) {
  switch (change) {
    case Change::AlwaysComputed:
      return "always_computed";
    case Change::CacheOn:
      return "cache_on";
    case Change::OtherTokens:
      return "other_tokens";
    case Change::OwnSpan:
      return "own_span";
    case Change::SameContext:
      return "same_context";
    case Change::FindEarlier:
      return "find_earlier";
    case Change::LargerPool:
      return "larger_pool";
    case Change::Again:
      return "again";
  }
  return "";
}

std::vector<std::vector<WhatIf>> whatIf(const WhatIfInput& input) {
  return Advisor(input).advise();
}

}  // namespace spanscope::cache
