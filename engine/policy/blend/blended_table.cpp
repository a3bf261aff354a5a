// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/blend/blended_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::policy {

using layout::Segment;
using layout::SpanTable;

SpanTable blendedTable(const SpanTable& spans, const layout::Blending& blending) {
  const std::vector<Segment>& segments = spans.segments;
  const auto isInDocument = [](const Segment& segment) { return !segment.hidden && segment.scope != 0; };
  const auto first = static_cast<std::size_t>(std::find_if(segments.begin(), segments.end(), isInDocument) -
                                              segments.begin());
  if (first == segments.size()) return spans;

  SpanTable table;
  table.cropped = spans.cropped;
  std::vector<std::uint32_t> view;
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    table.segments.push_back(segments[i]);
    if (i >= first) {
      table.segments.back().hidden = true;
    } else if (!segments[i].hidden) {
      view.push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (std::size_t i = first; i + 1 < segments.size(); ++i) {
    if (segments[i].hidden || segments[i].visibleBegin == segments[i].length()) continue;
    Segment copy = segments[i];
    copy.independent = false;
    copy.sees = view;
    copy.repeats = static_cast<std::uint32_t>(i);
    view.push_back(static_cast<std::uint32_t>(table.segments.size()));
    table.segments.push_back(std::move(copy));
  }
  Segment last = segments.back();
  last.sees = view;
  table.segments.push_back(std::move(last));
  table.blending = blending;
  return table;
}

SpanTable unblendedTable(const SpanTable& blended) {
  if (!blended.blending) return blended;
  SpanTable table;
  table.cropped = blended.cropped;
  table.mostBlocks = blended.mostBlocks;
  for (std::size_t i = 0; i + 1 < blended.segments.size(); ++i) {
    const Segment& segment = blended.segments[i];
    if (segment.repeats) {
      table.segments[*segment.repeats].hidden = false;
    } else {
      table.segments.push_back(segment);
    }
  }
  // What repeats others stands behind all of them, so these have the places that they had.
  Segment last = blended.segments.back();
  for (std::uint32_t& seen : last.sees) seen = blended.segments[seen].repeats.value_or(seen);
  table.segments.push_back(std::move(last));
  return table;
}

void restoreBlend(SpanTable& table, const layout::Blending& blending) {
  bool repeatsAny = false;
  for (std::size_t i = 0; i + 1 < table.segments.size(); ++i) {
    Segment& segment = table.segments[i];
    if (segment.hidden) continue;
    for (std::size_t j = 0; j < i && !segment.repeats; ++j) {
      const Segment& other = table.segments[j];
      const bool isSame = other.hidden && other.base == segment.base && other.scope == segment.scope &&
                          other.visibleBegin == segment.visibleBegin && other.tokens == segment.tokens;
      if (isSame) segment.repeats = static_cast<std::uint32_t>(j);
    }
    repeatsAny = repeatsAny || segment.repeats;
  }
  if (repeatsAny) table.blending = blending;
}

}  // namespace spanscope::policy
