// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/observation.h"

#include <algorithm>
#include <numeric>

namespace spanscope::run {

trace::AttentionMass massEvent(std::int32_t layer, std::uint32_t segment, std::span<const std::uint32_t> sees,
                               const ObservedRun& observed, std::int32_t blockSize, bool singleRow,
                               std::int32_t heads, const compute::RunMass& mass) {
  trace::AttentionMass event;
  event.layer = layer;
  event.segment = segment;
  event.virtualIndex = observed.begin / blockSize;
  event.row = singleRow && observed.count == 1 ? observed.begin : -1;
  event.rows = observed.count;
  event.keySegments.assign(sees.begin(), sees.end());
  event.keySegments.push_back(segment);
  event.keySpan = mass.keySpan;
  event.keyBlocks = mass.keyBlocks;
  event.heads = heads;
  event.mass = mass.mass;
  for (float& value : event.mass) value /= static_cast<float>(observed.count);
  return event;
}

std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers) {
  const auto found = std::find_if(observed.begin(), observed.end(), [&](const ObservedRun& run) {
    return run.part == part && run.begin == local && run.count == 1;
  });
  if (found == observed.end()) return {};
  const auto index = static_cast<std::size_t>(found - observed.begin());

  std::vector<double> sums(segments, 0.0);
  double rows = 0;
  for (const model::LayerMass& layer : mass) {
    if (std::find(layers.begin(), layers.end(), layer.layer) == layers.end()) continue;
    const compute::RunMass& run = layer.runs[index];
    const auto width =
        static_cast<std::size_t>(std::accumulate(run.keyBlocks.begin(), run.keyBlocks.end(), 0));
    if (width == 0) continue;
    const std::size_t heads = run.mass.size() / width;
    rows += static_cast<double>(heads);
    for (std::size_t head = 0; head < heads; ++head) {
      std::size_t at = head * width;
      for (std::size_t range = 0; range < run.keyBlocks.size(); ++range) {
        const std::uint32_t target = range < sees.size() ? sees[range] : segment;
        for (std::int32_t block = 0; block < run.keyBlocks[range]; ++block) {
          sums[target] += static_cast<double>(run.mass[at++]);
        }
      }
    }
  }
  if (rows == 0) return {};
  std::vector<float> result(segments);
  std::transform(sums.begin(), sums.end(), result.begin(),
                 [rows](double sum) { return static_cast<float>(sum / rows); });
  return result;
}

}  // namespace spanscope::run
