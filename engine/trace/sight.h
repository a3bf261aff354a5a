// SPDX-License-Identifier: GPL-3.0-or-later
// Who sees whom in a prompt: the attention mask that follows from a request's span table.
#pragma once

#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::trace {

/// Whether a row may look at a key, and why or why not.
enum class Sight : std::uint8_t {
  Own,     ///< yes: the key stands in the row's own segment, and not after the row
  Seen,    ///< yes: the row's segment sees the key's
  Later,   ///< no: the key comes after the row
  Beside,  ///< no: each stands in a scope of its own, beside the other's: children of plus
  Before,  ///< no: the key stands before the scope in which the row was computed on its own
  Twin,    ///< no: the row was computed behind a hidden copy of the key
  Hidden   ///< no: the key stands in nobody's view, or there is no such token
};
constexpr bool isSeen(Sight sight) {
  return sight == Sight::Own || sight == Sight::Seen;
}

/// A token of a request: its segment, and its place in the segment. Generated tokens continue the last
/// segment.
struct TokenPlace {
  std::uint32_t segment = 0;
  std::int32_t local = 0;
  bool operator==(const TokenPlace&) const = default;
};

/// The mask of one request. It says what the row of a token may look at when its keys and values, or the
/// token after it, are computed. A layer with a window looks at less, and a policy may have a generated row
/// read less than it may see (ReplyRows).
class WhoSees {
 public:
  WhoSees() = default;
  /// `segments` must outlive this object; each sees only earlier ones, as Replay checks. `again`: what the
  /// trace told of tokens that were computed again. The other tokens of a segment that copies a stored one
  /// have the keys and values of the stored one, so they saw what that one saw. Null: nothing was told, so
  /// every row of a copy saw what the copy sees.
  explicit WhoSees(std::span<const SegmentInfo> segments, const TokensRecomputed* again = nullptr);

  Sight sight(const TokenPlace& row, const TokenPlace& key) const;
  /// The other segments of which the row sees all visible tokens, ascending. All rows of a segment see the
  /// same ones, except in copies.
  const std::vector<std::uint32_t>& segmentsSeenBy(const TokenPlace& row) const;
  /// The hidden segment whose keys and values the row has, because the row was not computed again; nothing:
  /// the row was computed in this segment.
  std::optional<std::uint32_t> storedIn(const TokenPlace& row) const;

 private:
  bool isInside(std::uint32_t scope, std::uint32_t outer) const;

  std::span<const SegmentInfo> m_segments;
  struct Copy {
    std::uint32_t source = 0;
    std::vector<std::uint32_t> sees;  ///< what the source saw, as visible segments
    std::vector<std::int32_t> again;  ///< local tokens that were computed again, ascending
  };
  std::vector<std::optional<Copy>> m_copies;       ///< by segment
  std::map<std::uint32_t, std::uint32_t> m_outer;  ///< by scope but 0: the scope around it, of a lower number
};

}  // namespace spanscope::trace
