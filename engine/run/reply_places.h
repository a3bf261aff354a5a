// SPDX-License-Identifier: GPL-3.0-or-later
// Where in the cache sampled tokens stand or will stand, so that a prediction can say which prompts reach
// there.
#pragma once

#include "engine/layout/span_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

namespace spanscope::run {

/// Span tables whose unknown tokens are negative, and what of another table may be found where those stand.
/// Adding and comparing take time as the tokens of the table do, however many there are. A wrong yes is
/// possible, and only makes a prediction more careful; a wrong no is not.
class ReplyPlaces {
 public:
  explicit ReplyPlaces(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// A prompt that will be in the cache; its last segment will be continued by a reply.
  void add(const layout::SpanTable& table);

  struct Reach {
    /// A segment goes on where an unknown token stands, or sees what may turn out to be the same.
    bool continues = false;
    /// A segment ends inside the block in which the unknown tokens begin: which one of several blocks it is
    /// found in, and so whether that counts as relocated, depends on what they are. Or it is found as one
    /// that stood behind unknown tokens, so that nobody knows at which base it was stored.
    bool ends = false;
  };
  Reach reach(const layout::SpanTable& table) const;

 private:
  /// What one segment of a table sees, as far as it is known.
  struct Context {
    bool known = true;             ///< no unknown token is seen, however far down
    std::uint64_t identity = 0;    ///< equal where the same is seen at the same distances; only if `known`
    std::uint64_t content = 0;     ///< of the segment itself and what it sees; only if both are known
    std::int32_t knownTokens = 0;  ///< of the segment, before the first unknown one
  };
  /// A segment that sees unknown tokens.
  struct Uncertain {
    std::vector<std::vector<TokenId>> seen;  ///< the known tokens with which each seen segment begins
    std::vector<bool> whole;                 ///< whether that is all of it
    std::vector<TokenId> tokens;             ///< its own, to the first unknown one
  };

  static std::vector<Context> contextsOf(const layout::SpanTable& table);
  void addMoved(const layout::Segment& segment, const Context& context);
  static bool canBeAlike(const layout::SpanTable& table, const layout::Segment& segment,
                         const Uncertain& other);
  bool meetsUncertain(const layout::SpanTable& table, const layout::Segment& segment) const;

  std::int32_t m_blockSize;
  std::unordered_set<std::uint64_t> m_continued;  ///< contexts with the tokens before an unknown one
  std::unordered_set<std::uint64_t> m_ended;      ///< the same cut anywhere in the block of the unknown one
  std::unordered_set<std::uint64_t> m_moved;      ///< contexts with the beginnings of what stood behind some
  std::map<std::size_t, std::vector<Uncertain>> m_uncertain;  ///< by how many segments they see
};

}  // namespace spanscope::run
