// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/source_shares.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

namespace spanscope::trace {

std::vector<bool> sourceSegments(std::span<const SegmentInfo> segments) {
  std::vector<bool> sources;
  std::set<std::uint32_t> scopes;
  for (const SegmentInfo& segment : segments) {
    const bool begins = !segment.hidden && segment.depth > 0 && scopes.insert(segment.scope).second;
    sources.push_back(!segment.hidden && (segment.independent || begins));
  }
  return sources;
}

std::vector<double> sourceShares(std::span<const SegmentInfo> segments,
                                 std::span<const SegmentAttention* const> rows) {
  std::vector<double> shares(segments.size(), 0.0);
  const std::vector<bool> isSource = sourceSegments(segments);
  for (const SegmentAttention* row : rows) {
    if (row->index < 0 || row->keySegments.empty()) continue;
    const std::size_t width = row->keySegments.size();
    const std::size_t values = std::min(row->mass.size(), row->first.size());
    for (std::size_t at = 0; at < values; ++at) {
      // The last of them is the row's own segment.
      if (at % width + 1 == width) continue;
      const std::uint32_t segment = row->keySegments[at % width];
      if (segment >= segments.size() || !isSource[segment]) continue;
      const double read = static_cast<double>(row->mass[at]) - static_cast<double>(row->first[at]);
      if (read > 0) shares[segment] += read * read;
    }
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum <= 0) return shares;
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace spanscope::trace
