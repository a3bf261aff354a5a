// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/layout_figures.h"

#include "engine/base/counted.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

namespace spanscope::trace {
namespace {

std::string percentText(double share) {
  std::string text(32, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.1f %%", std::abs(share) * 100);
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

}  // namespace

double LayoutFigures::added() const {
  return exactTokens() <= 0
             ? 0
             : static_cast<double>(pads + markers - cropped) / static_cast<double>(exactTokens());
}

LayoutFigures& LayoutFigures::operator+=(const LayoutFigures& other) {
  tokens += other.tokens;
  pads += other.pads;
  padBlocks += other.padBlocks;
  markers += other.markers;
  cropped += other.cropped;
  return *this;
}

LayoutFigures layoutFigures(const LayoutApplied& applied, std::span<const SegmentInfo> segments,
                            std::int32_t blockSize) {
  LayoutFigures figures;
  std::vector<std::int64_t> begins;  // by segment, visible tokens before its first visible one
  for (const SegmentInfo& segment : segments) {
    begins.push_back(figures.tokens);
    if (!segment.hidden)
      figures.tokens += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  std::set<std::int64_t> padded;
  for (const LayoutRun& run : applied.runs) {
    if (run.segment >= segments.size()) continue;
    const SegmentInfo& segment = segments[run.segment];
    if (segment.hidden) continue;
    const std::int64_t end = std::min<std::int64_t>(std::int64_t{run.begin} + run.count,
                                                    static_cast<std::int64_t>(segment.tokens.size()));
    const std::int64_t begin = std::max(run.begin, segment.visibleBegin);
    if (begin >= end) continue;
    if (run.role != LayoutRole::Pad) {
      figures.markers += end - begin;
      continue;
    }
    figures.pads += end - begin;
    const std::int64_t place = begins[run.segment] - segment.visibleBegin;
    for (std::int64_t block = (place + begin) / blockSize; block <= (place + end - 1) / blockSize; ++block)
      padded.insert(block);
  }
  figures.padBlocks = static_cast<std::int64_t>(padded.size());
  for (const CroppedRun& run : applied.cropped)
    figures.cropped += static_cast<std::int64_t>(run.tokens.size());
  return figures;
}

std::string addedText(const LayoutFigures& figures) {
  const double added = figures.added();
  const std::string sign = added > 0 ? "+" : added < 0 ? "−" : "±";
  return sign + percentText(added);
}

std::string layoutText(const LayoutFigures& figures) {
  std::string text = counted(figures.pads, "pad");
  if (figures.pads > 0) text += " in " + counted(figures.padBlocks, "block");
  text += ", " + counted(figures.markers, "marker") + ", " + counted(figures.cropped, "token") + " cropped: ";
  const double added = figures.added();
  if (added == 0) return text + "as many tokens as exact";
  return text + percentText(added) + (added > 0 ? " more" : " fewer") + " tokens than exact";
}

}  // namespace spanscope::trace
