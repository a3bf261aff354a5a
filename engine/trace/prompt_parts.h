// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a prompt as a person reads them, whatever segments the policy made of them.
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

/// What a part is to the tokens of the answer.
enum class PartRole : std::uint8_t {
  Source,   ///< something the answer may look up: a child of plus, or another independent segment
  Context,  ///< other text before the question: the system's
  Own,      ///< question, template and reply: the part that the answer goes on with
  Hidden,   ///< no row sees any token of it
};

/// The visible segment that stands in the place of a hidden segment and began as a copy of it (policies blend
/// and relay); nothing if there is none.
std::optional<std::size_t> copyOf(std::span<const SegmentInfo> segments, std::size_t hidden);

class PromptParts {
 public:
  PromptParts() = default;
  /// `divided`: what the trace told of the table. If it is null or empty, each visible segment is a part.
  PromptParts(std::span<const SegmentInfo> segments, const PromptDivided* divided);

  std::size_t size() const { return m_divided.parts.size(); }
  const PartInfo& info(std::size_t part) const { return m_divided.parts[part]; }
  PartRole role(std::size_t part) const { return m_roles[part]; }
  /// Ranges of visible tokens in view order. The reply goes on with the last one.
  const std::vector<PartRange>& visible() const { return m_visible; }
  /// Ranges of tokens that stand in nobody's view and of which no visible segment is a copy: they only carry
  /// what the policy needs, such as beginnings that `link` replaces. Ascending; one range of each segment at
  /// most.
  const std::vector<PartRange>& beside() const { return m_beside; }
  /// The part of a local token, also of a hidden one. A generated token belongs to the last part of its
  /// segment. Nothing if the segment has no tokens.
  std::optional<std::uint32_t> partAt(std::uint32_t segment, std::int32_t local) const;
  /// The part that the answer goes on with; nothing if there are no parts.
  std::optional<std::uint32_t> own() const;
  /// Number of visible tokens of the prompt in the part.
  std::int64_t tokens(std::size_t part) const;
  bool operator==(const PromptParts&) const = default;

 private:
  PromptDivided m_divided;
  std::vector<PartRange> m_visible;
  std::vector<PartRange> m_beside;
  std::vector<PartRole> m_roles;
};

/// Joins the segments of a row to parts. Right if no segment that the row sees holds tokens of several parts;
/// for others the trace has a PartAttention of its own.
PartAttention byPart(const SegmentAttention& row, const PromptParts& parts);

/// For every part its share of what the reply read, 0 … 1; they sum to 1, or are all 0 where nothing was
/// read. Only sources have one.
///
///   share of d  =  Σ (m − s)²  /  the same of all sources
///
/// over all rows from which a token of the reply was drawn, layers and heads, with m the attention on d and s
/// the part of it on d's first token, which is looked at for nothing. The square lets a head that looks at
/// one document count more than many that look a little at all of them. `spanq bench sources` chose the
/// measure among others on generated questions of which the answer's documents are known; the manual has its
/// figures and theirs.
std::vector<double> sourceShares(const PromptParts& parts, std::span<const PartAttention* const> rows);
/// The sum of one row, by part, before it is divided.
std::vector<double> sourceReads(const PromptParts& parts, const PartAttention& row);
/// Divides by the sum, unless that is 0.
std::vector<double> normalised(std::vector<double> reads);

/// Whether a row may look at a key, and why or why not.
enum class Sight : std::uint8_t {
  Own,         ///< yes: the key stands in the row's own segment, and not after the row
  Seen,        ///< yes: the row's segment sees the key's
  Later,       ///< no: the key comes after the row
  Beside,      ///< no: each stands in a scope of its own, beside the other's: children of plus
  Before,      ///< no: the key stands before the scope in which the row was computed on its own
  HiddenCopy,  ///< no: the row was computed behind a hidden copy of the key
  Hidden       ///< no: the key stands in nobody's view, or there is no such token
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
/// read less than it may see (AnswerRows).
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
