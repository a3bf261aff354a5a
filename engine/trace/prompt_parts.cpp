// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/prompt_parts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace spanscope::trace {

namespace {

/// Whether `rest` continues the segment `linked`, whose tokens were recomputed (policy link).
bool isRestOf(const SegmentInfo& linked, const SegmentInfo& rest) {
  return !linked.hidden && linked.visibleBegin == 0 && rest.visibleBegin > 0 && linked.depth > 0 &&
         linked.scope == rest.scope && linked.node == rest.node;
}

/// Makes the sections of a trace without sections. A segment is a source if it is independent, or the first
/// visible segment of its scope.
PromptDivided partPerSegment(std::span<const SegmentInfo> segments) {
  PromptDivided divided;
  std::set<std::uint32_t> scopes;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentInfo& segment = segments[i];
    const bool begins = !segment.hidden && segment.depth > 0 && scopes.insert(segment.scope).second;
    const bool goesOn = i > 0 && isRestOf(segments[i - 1], segment);
    divided.ranges.push_back({.part = static_cast<std::uint32_t>(divided.parts.size() - (goesOn ? 1 : 0)),
                              .segment = static_cast<std::uint32_t>(i),
                              .begin = 0,
                              .end = static_cast<std::int32_t>(segment.tokens.size())});
    if (!goesOn) divided.parts.push_back({.node = segment.node, .inPlus = begins});
  }
  return divided;
}

}  // namespace

std::optional<std::size_t> copyOf(std::span<const SegmentInfo> segments, std::size_t hidden) {
  const SegmentInfo& stored = segments[hidden];
  for (std::size_t i = hidden + 1; stored.hidden && i < segments.size(); ++i) {
    const SegmentInfo& segment = segments[i];
    if (!segment.hidden && segment.scope == stored.scope && segment.base == stored.base &&
        segment.node == stored.node && segment.visibleBegin == stored.visibleBegin)
      return i;
  }
  return std::nullopt;
}

PromptParts::PromptParts(std::span<const SegmentInfo> segments, const PromptDivided* divided)
    : m_divided(divided == nullptr || divided->parts.empty() ? partPerSegment(segments) : *divided),
      m_roles(m_divided.parts.size(), PartRole::Hidden) {
  for (const PartRange& range : m_divided.ranges) {
    if (range.segment >= segments.size()) continue;
    const SegmentInfo& segment = segments[range.segment];
    const bool isOwn = range.segment + 1 == segments.size();
    if (segment.hidden || (range.end <= segment.visibleBegin && !isOwn)) continue;
    PartRange visible = range;
    visible.begin = std::clamp(segment.visibleBegin, range.begin, range.end);
    m_visible.push_back(visible);
    PartRole& role = m_roles[range.part];
    const bool isSource = m_divided.parts[range.part].inPlus || segment.independent;
    if (role == PartRole::Hidden) role = PartRole::Context;
    if (isSource) role = PartRole::Source;
  }
  if (const auto part = own()) m_roles[*part] = PartRole::Own;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const SegmentInfo& segment = segments[i];
    if (copyOf(segments, i)) continue;
    const std::int32_t end =
        segment.hidden ? static_cast<std::int32_t>(segment.tokens.size()) : segment.visibleBegin;
    if (end > 0) m_beside.push_back({.part = partAt(i, 0).value_or(0), .segment = i, .begin = 0, .end = end});
  }
}

std::optional<std::uint32_t> PromptParts::partAt(std::uint32_t segment, std::int32_t local) const {
  const auto after = std::ranges::upper_bound(m_divided.ranges, segment, {}, &PartRange::segment);
  std::optional<std::uint32_t> part;
  for (auto range = after; range != m_divided.ranges.begin();) {
    --range;
    if (range->segment != segment) break;
    part = range->part;
    // Tokens after the prompt belong to its last section.
    if (local >= range->begin) break;
  }
  return part;
}

std::optional<std::uint32_t> PromptParts::own() const {
  return m_visible.empty() ? std::nullopt : std::optional(m_visible.back().part);
}

std::int64_t PromptParts::tokens(std::size_t part) const {
  std::int64_t count = 0;
  for (const PartRange& range : m_visible) {
    if (range.part == part) count += range.end - range.begin;
  }
  return count;
}

PartAttention byPart(const SegmentAttention& row, const PromptParts& parts) {
  PartAttention joined{
      .index = row.index, .keyParts = {}, .layers = row.layers, .heads = row.heads, .mass = {}, .first = {}};
  const std::size_t segments = row.keySegments.size();
  std::vector<std::size_t> places;     // by key segment: index in keyParts
  std::vector<bool> begins(segments);  // whether the section begins with this segment
  const auto partOf = [&](std::uint32_t segment) {
    for (const PartRange& range : parts.visible()) {
      if (range.segment == segment) return std::optional(range.part);
    }
    return parts.partAt(segment, 0);
  };
  const std::uint32_t none = static_cast<std::uint32_t>(parts.size());
  const std::uint32_t own = segments == 0 ? none : partOf(row.keySegments.back()).value_or(none);
  for (std::size_t i = 0; i < segments; ++i) {
    const std::uint32_t part = partOf(row.keySegments[i]).value_or(none);
    const auto known = std::ranges::find(joined.keyParts, part);
    begins[i] = known == joined.keyParts.end();
    if (begins[i]) joined.keyParts.push_back(part);
  }
  // The row's own section comes last.
  if (const auto at = std::ranges::find(joined.keyParts, own); at != joined.keyParts.end())
    std::rotate(at, at + 1, joined.keyParts.end());
  for (const std::uint32_t segment : row.keySegments) {
    const auto at = std::ranges::find(joined.keyParts, partOf(segment).value_or(none));
    places.push_back(static_cast<std::size_t>(at - joined.keyParts.begin()));
  }
  const std::size_t width = joined.keyParts.size();
  const std::size_t rows = segments == 0 ? 0 : std::min(row.mass.size(), row.first.size()) / segments;
  joined.mass.resize(rows * width);
  joined.first.resize(rows * width);
  for (std::size_t head = 0; head < rows; ++head) {
    for (std::size_t i = 0; i < segments; ++i) {
      joined.mass[head * width + places[i]] += row.mass[head * segments + i];
      if (begins[i]) joined.first[head * width + places[i]] = row.first[head * segments + i];
    }
  }
  return joined;
}

std::vector<double> sourceReads(const PromptParts& parts, const PartAttention& row) {
  std::vector<double> reads(parts.size(), 0.0);
  if (row.index < 0) return reads;
  const std::size_t width = row.keyParts.size();
  const std::size_t values = std::min(row.mass.size(), row.first.size());
  for (std::size_t at = 0; at < values; ++at) {
    const std::uint32_t part = row.keyParts[at % width];
    if (part >= parts.size() || parts.role(part) != PartRole::Source) continue;
    const double read = static_cast<double>(row.mass[at]) - static_cast<double>(row.first[at]);
    if (read > 0) reads[part] += read * read;
  }
  return reads;
}

std::vector<double> normalised(std::vector<double> reads) {
  const double sum = std::accumulate(reads.begin(), reads.end(), 0.0);
  if (sum <= 0) return reads;
  for (double& read : reads) read /= sum;
  return reads;
}

std::vector<double> sourceShares(const PromptParts& parts, std::span<const PartAttention* const> rows) {
  std::vector<double> reads(parts.size(), 0.0);
  for (const PartAttention* row : rows) {
    const std::vector<double> own = sourceReads(parts, *row);
    std::ranges::transform(reads, own, reads.begin(), std::plus<>());
  }
  return normalised(std::move(reads));
}

namespace {

/// Returns the enclosing scope of each scope: the innermost scope with a segment that attends to the scope.
std::map<std::uint32_t, std::uint32_t> outerScopes(std::span<const SegmentInfo> segments) {
  std::map<std::uint32_t, std::uint32_t> outer;
  for (const SegmentInfo& segment : segments) {
    if (segment.scope != 0) outer.emplace(segment.scope, 0);
  }
  for (const SegmentInfo& segment : segments) {
    for (const std::uint32_t seen : segment.sees) {
      const std::uint32_t inner = segments[seen].scope;
      if (inner > segment.scope) outer[inner] = std::max(outer[inner], segment.scope);
    }
  }
  return outer;
}

}  // namespace

WhoSees::WhoSees(std::span<const SegmentInfo> segments, const TokensRecomputed* again)
    : m_segments(segments), m_copies(segments.size()), m_outer(outerScopes(segments)) {
  if (again == nullptr) return;
  std::vector<std::optional<std::size_t>> copies(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].hidden) copies[i] = copyOf(segments, i);
  }
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    if (!copies[i]) continue;
    Copy& copy = m_copies[*copies[i]].emplace();
    copy.source = i;
    for (const std::uint32_t seen : segments[i].sees) {
      if (!segments[seen].hidden) {
        copy.sees.push_back(seen);
      } else if (copies[seen]) {
        copy.sees.push_back(static_cast<std::uint32_t>(*copies[seen]));
      }
    }
    std::ranges::sort(copy.sees);
  }
  for (const RecomputedTokens& recomputed : again->segments) {
    if (recomputed.segment < m_copies.size() && m_copies[recomputed.segment])
      m_copies[recomputed.segment]->again = recomputed.tokens;
  }
}

std::optional<std::uint32_t> WhoSees::storedIn(const TokenPlace& row) const {
  const std::optional<Copy>& copy = m_copies[row.segment];
  if (!copy || std::ranges::binary_search(copy->again, row.local)) return std::nullopt;
  return copy->source;
}

const std::vector<std::uint32_t>& WhoSees::segmentsSeenBy(const TokenPlace& row) const {
  return storedIn(row) ? m_copies[row.segment]->sees : m_segments[row.segment].sees;
}

bool WhoSees::isInside(std::uint32_t scope, std::uint32_t outer) const {
  while (scope > outer) {
    const auto found = m_outer.find(scope);
    if (found == m_outer.end()) return false;
    scope = found->second;
  }
  return scope == outer;
}

Sight WhoSees::sight(const TokenPlace& row, const TokenPlace& key) const {
  if (row.segment >= m_segments.size() || key.segment >= m_segments.size()) return Sight::Hidden;
  const SegmentInfo& own = m_segments[row.segment];
  const SegmentInfo& other = m_segments[key.segment];
  if (other.hidden || key.local < other.visibleBegin) return Sight::Hidden;
  if (key.segment > row.segment || (key.segment == row.segment && key.local > row.local)) return Sight::Later;
  if (key.segment == row.segment) return Sight::Own;
  const std::vector<std::uint32_t>& seen = segmentsSeenBy(row);
  if (std::ranges::find(seen, key.segment) != seen.end()) return Sight::Seen;
  const std::int64_t fromOwnBase = other.base + key.local - own.base;
  if (fromOwnBase >= 0 && fromOwnBase < own.visibleBegin) return Sight::HiddenCopy;
  return isInside(own.scope, other.scope) ? Sight::Before : Sight::Beside;
}

}  // namespace spanscope::trace
