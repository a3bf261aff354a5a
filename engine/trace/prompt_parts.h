// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a prompt as a person reads them, whatever segments the policy made of them.
#pragma once

#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
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

}  // namespace spanscope::trace
