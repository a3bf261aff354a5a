// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/layout_metrics.h"

#include "engine/base/counted.h"
#include "engine/metrics/format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

namespace spanscope::metrics {
namespace {

std::string percentText(double share) {
  std::string text(32, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.1f %%", std::abs(share) * 100);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

}  // namespace

double LayoutMetrics::added() const {
  return exactTokens() <= 0
             ? 0
             : static_cast<double>(pads + markers - cropped) / static_cast<double>(exactTokens());
}

LayoutMetrics& LayoutMetrics::operator+=(const LayoutMetrics& other) {
  tokens += other.tokens;
  pads += other.pads;
  padBlocks += other.padBlocks;
  markers += other.markers;
  cropped += other.cropped;
  return *this;
}

LayoutMetrics layoutMetrics(const trace::LayoutApplied& applied, std::span<const trace::SegmentInfo> segments,
                            std::int32_t blockSize) {
  LayoutMetrics counts;
  std::vector<std::int64_t> begins;  // by segment, number of visible tokens before the segment
  for (const trace::SegmentInfo& segment : segments) {
    begins.push_back(counts.tokens);
    if (!segment.hidden)
      counts.tokens += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  std::set<std::int64_t> padded;
  for (const trace::LayoutRun& run : applied.runs) {
    if (run.segment >= segments.size()) continue;
    const trace::SegmentInfo& segment = segments[run.segment];
    if (segment.hidden) continue;
    const std::int64_t end = std::min<std::int64_t>(std::int64_t{run.begin} + run.count,
                                                    static_cast<std::int64_t>(segment.tokens.size()));
    const std::int64_t begin = std::max(run.begin, segment.visibleBegin);
    if (begin >= end) continue;
    if (run.role != trace::LayoutRole::Pad) {
      counts.markers += end - begin;
      continue;
    }
    counts.pads += end - begin;
    const std::int64_t place = begins[run.segment] - segment.visibleBegin;
    for (std::int64_t block = (place + begin) / blockSize; block <= (place + end - 1) / blockSize; ++block)
      padded.insert(block);
  }
  counts.padBlocks = static_cast<std::int64_t>(padded.size());
  for (const trace::CroppedRun& run : applied.cropped)
    counts.cropped += static_cast<std::int64_t>(run.tokens.size());
  return counts;
}

std::string addedText(const LayoutMetrics& counts) {
  return text(Unit::Change, counts.added());
}

std::string layoutText(const LayoutMetrics& counts) {
  std::string text = counted(counts.pads, "padding token");
  if (counts.pads > 0) text += " in " + counted(counts.padBlocks, "block");
  text += ", " + counted(counts.markers, "delimiter token") + ", " + counted(counts.cropped, "token") +
          " truncated: ";
  const double added = counts.added();
  if (added == 0) return text + /*id:many-tokens-exact*/ "as many tokens as the exact layout";
  return text + percentText(added) + (added > 0 ? " more" : " fewer") +
         /*id:than-exact-layout*/ " tokens than the exact layout";
}

}  // namespace spanscope::metrics
