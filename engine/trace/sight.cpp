// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/sight.h"

#include "engine/trace/prompt_parts.h"

#include <algorithm>

namespace spanscope::trace {
namespace {

/// The scope around each scope: the innermost one of which a segment sees something of the scope.
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
    std::sort(copy.sees.begin(), copy.sees.end());
  }
  for (const RecomputedTokens& recomputed : again->segments) {
    if (recomputed.segment < m_copies.size() && m_copies[recomputed.segment])
      m_copies[recomputed.segment]->again = recomputed.tokens;
  }
}

std::optional<std::uint32_t> WhoSees::storedIn(const TokenPlace& row) const {
  const std::optional<Copy>& copy = m_copies[row.segment];
  if (!copy || std::binary_search(copy->again.begin(), copy->again.end(), row.local)) return std::nullopt;
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
  if (std::find(seen.begin(), seen.end(), key.segment) != seen.end()) return Sight::Seen;
  const std::int64_t fromOwnBase = other.base + key.local - own.base;
  if (fromOwnBase >= 0 && fromOwnBase < own.visibleBegin) return Sight::Twin;
  return isInside(own.scope, other.scope) ? Sight::Before : Sight::Beside;
}

}  // namespace spanscope::trace
