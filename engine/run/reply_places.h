// SPDX-License-Identifier: GPL-3.0-or-later
// The places in the cache where sampled tokens stand or will stand. A prediction asks which prompts reach
// such a place.
#pragma once

#include "engine/layout/span_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

namespace spanscope::run {

/// Holds span tables whose unknown tokens are negative, and says what another table may find where the
/// unknown tokens stand. The time to add or to compare a table grows with the tokens of that table, not with
/// the number of tables. A wrong yes is possible and only makes a prediction more careful. A wrong no is not
/// possible.
class ReplyPlaces {
 public:
  explicit ReplyPlaces(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// Adds a prompt that will be in the cache. A reply will continue its last segment.
  void add(const layout::SpanTable& table);

  struct Reach {
    /// A segment goes on where an unknown token stands. Or the segments that it sees may turn out to be the
    /// same as segments with unknown tokens.
    bool continues = false;
    /// A segment ends inside the block in which unknown tokens begin. The unknown tokens decide in which of
    /// several blocks it is found, and so whether it counts as relocated. Or the segment is found as one that
    /// stood behind unknown tokens, so that nobody knows at which base it was stored.
    bool ends = false;
  };
  Reach reach(const layout::SpanTable& table) const;

 private:
  /// What is known of a segment of a table and of what the segment sees.
  struct Context {
    bool known = true;             ///< no unknown token is seen, not even through other segments
    std::uint64_t identity = 0;    ///< equal if the same is seen at the same distances; only if `known`
    std::uint64_t content = 0;     ///< of the segment and what it sees; only if all tokens of both are known
    std::int32_t knownTokens = 0;  ///< tokens of the segment before its first unknown token
  };
  /// A segment that sees unknown tokens.
  struct Uncertain {
    std::vector<std::vector<TokenId>> seen;  ///< known tokens at the beginning of each seen segment
    std::vector<bool> whole;                 ///< whether these are all tokens of the seen segment
    std::vector<TokenId> tokens;             ///< tokens of this segment before its first unknown token
  };

  static std::vector<Context> contextsOf(const layout::SpanTable& table);
  void addMoved(const layout::Segment& segment, const Context& context);
  static bool canBeAlike(const layout::SpanTable& table, const layout::Segment& segment,
                         const Uncertain& other);
  bool meetsUncertain(const layout::SpanTable& table, const layout::Segment& segment) const;

  std::int32_t m_blockSize;
  /// Hashes of a context and the tokens before an unknown token.
  std::unordered_set<std::uint64_t> m_continued;
  /// The same, but cut at any token of the block of the unknown token.
  std::unordered_set<std::uint64_t> m_ended;
  /// Hashes of a context and each beginning of a segment behind a reply.
  std::unordered_set<std::uint64_t> m_moved;
  std::map<std::size_t, std::vector<Uncertain>> m_uncertain;  ///< by the number of segments that they see
};

}  // namespace spanscope::run
