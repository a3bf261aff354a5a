// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the sections of a prompt as views show them, independent of the policy's segments. Also computes
// the attention mask of a request from its span table. Open this file when sections, document shares or masks
// look wrong.
#pragma once

#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::trace {

/// The role of a section for the tokens of the answer.
enum class PartRole : std::uint8_t {
  Source,   ///< content that the answer may look up: a child of plus, or another independent segment
  Context,  ///< other text before the question, such as the system message
  Own,      ///< question, template and answer: the section that the answer continues
  Hidden,   ///< no row attends to any of its tokens
};

/// Returns the visible segment that replaces a hidden segment and began as a copy of it (policies blend and
/// relay). Nothing if there is none.
std::optional<std::size_t> copyOf(std::span<const SegmentInfo> segments, std::size_t hidden);

class PromptParts {
 public:
  PromptParts() = default;
  /// `divided`: the sections that the trace reports. If `divided` is null or empty, each visible segment is a
  /// section.
  PromptParts(std::span<const SegmentInfo> segments, const PromptDivided* divided);

  std::size_t size() const { return m_divided.parts.size(); }
  const PartInfo& info(std::size_t part) const { return m_divided.parts[part]; }
  PartRole role(std::size_t part) const { return m_roles[part]; }
  /// Returns the ranges of visible tokens, in the order of the view. The answer continues the last range.
  const std::vector<PartRange>& visible() const { return m_visible; }
  /// Returns the ranges of hidden tokens without a visible copy. Only the policy needs these tokens, e.g.
  /// beginnings that `link` replaces. The ranges are ascending, with at most one range per segment.
  const std::vector<PartRange>& beside() const { return m_beside; }
  /// Returns the section of a local token, which may be hidden. A generated token belongs to the last section
  /// of its segment. Returns nothing if the segment has no tokens.
  std::optional<std::uint32_t> partAt(std::uint32_t segment, std::int32_t local) const;
  /// Returns the section that the answer continues, or nothing without sections.
  std::optional<std::uint32_t> own() const;
  /// Returns the number of visible prompt tokens in the section.
  std::int64_t tokens(std::size_t part) const;
  bool operator==(const PromptParts&) const = default;

 private:
  PromptDivided m_divided;
  std::vector<PartRange> m_visible;
  std::vector<PartRange> m_beside;
  std::vector<PartRole> m_roles;
};

/// Adds up the attention to segments by section. The result is correct if no attended segment contains tokens
/// of several sections. For other rows, the trace has a PartAttention.
PartAttention byPart(const SegmentAttention& row, const PromptParts& parts);

/// Returns the share of each section in the attention of the answer, 0 … 1. Only sources have a share. The
/// shares sum to 1, or all shares are 0 if the answer attends to no source.
///
/// share of d  =  Σ (m − s)²  /  the sum over all sources
///
/// The sum is over layers, heads and all rows from which a token of the answer was sampled. Here m is the
/// attention mass on d, and s is the attention mass on d's first token. The first token can be an attention
/// sink. Because of the square, heads that attend to one document count more than heads that attend to many.
/// `spanq bench sources` compared this measure with others on generated questions whose documents are known.
/// The manual has the values of all measures.
std::vector<double> sourceShares(const PromptParts& parts, std::span<const PartAttention* const> rows);
/// Returns the sum of one row by section, before the division.
std::vector<double> sourceReads(const PromptParts& parts, const PartAttention& row);
/// Divides the values by their sum, unless the sum is 0.
std::vector<double> normalised(std::vector<double> reads);

/// Whether a row can attend to a key, and the reason.
enum class Sight : std::uint8_t {
  Own,         ///< yes: the key is in the row's own segment, not after the row
  Seen,        ///< yes: the row's segment attends to the key's segment
  Later,       ///< no: the key comes after the row
  Beside,      ///< no: row and key are in parallel scopes, such as children of plus
  Before,      ///< no: the key is before the scope in which the row was computed alone
  HiddenCopy,  ///< no: the row was computed after a hidden copy of the key
  Hidden       ///< no: the key is hidden, or there is no such token
};
constexpr bool isSeen(Sight sight) {
  return sight == Sight::Own || sight == Sight::Seen;
}

/// A token of a request: its segment, and its position in the segment. Generated tokens continue the last
/// segment.
struct TokenPlace {
  std::uint32_t segment = 0;
  std::int32_t local = 0;
  bool operator==(const TokenPlace&) const = default;
};

/// The attention mask of one request: the keys that each row can attend to. A layer with a window attends to
/// fewer keys. A policy may also restrict a generated row further (AnswerRows).
class WhoSees {
 public:
  WhoSees() = default;
  /// `segments` must outlive this object. Each segment attends only to earlier segments, as Replay checks.
  /// `again`: the recomputed tokens. Other tokens of a copied segment have the keys and values of the source
  /// segment. These tokens therefore attended to the segments of the source. Null: not reported, so every row
  /// of a copy attends to the segments of the copy.
  explicit WhoSees(std::span<const SegmentInfo> segments, const TokensRecomputed* again = nullptr);

  Sight sight(const TokenPlace& row, const TokenPlace& key) const;
  /// Returns the other segments that the row can attend to with all their visible tokens, ascending. All rows
  /// of a segment attend to the same segments, except in copies.
  const std::vector<std::uint32_t>& segmentsSeenBy(const TokenPlace& row) const;
  /// Returns the hidden segment whose keys and values the row has, because the row was not recomputed.
  /// Returns nothing if the row was computed in its own segment.
  std::optional<std::uint32_t> storedIn(const TokenPlace& row) const;

 private:
  bool isInside(std::uint32_t scope, std::uint32_t outer) const;

  std::span<const SegmentInfo> m_segments;
  struct Copy {
    std::uint32_t source = 0;
    std::vector<std::uint32_t> sees;  ///< visible segments that the source attended to
    std::vector<std::int32_t> again;  ///< recomputed local tokens, ascending
  };
  std::vector<std::optional<Copy>> m_copies;       ///< by segment
  std::map<std::uint32_t, std::uint32_t> m_outer;  ///< by scope, except 0: the enclosing scope, which has a
                                                   ///< lower number
};

}  // namespace spanscope::trace
