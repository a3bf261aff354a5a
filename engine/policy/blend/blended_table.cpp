// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/blend/blended_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::policy {

using layout::Segment;
using layout::SpanTable;

SpanTable blendedTable(const SpanTable& spans) {
  const std::vector<Segment>& segments = spans.segments;
  const auto isInDocument = [](const Segment& segment) { return !segment.hidden && segment.scope != 0; };
  const auto first = static_cast<std::size_t>(std::find_if(segments.begin(), segments.end(), isInDocument) -
                                              segments.begin());
  if (first == segments.size()) return spans;

  SpanTable table;
  table.parts = spans.parts;
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
    view.push_back(static_cast<std::uint32_t>(table.segments.size()));
    table.segments.push_back(std::move(copy));
  }
  Segment last = segments.back();
  last.sees = view;
  table.segments.push_back(std::move(last));
  return table;
}

}  // namespace spanscope::policy
