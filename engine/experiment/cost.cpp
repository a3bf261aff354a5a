// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/cost.h"

namespace spanscope::experiment {
namespace {

/// Keys read by `count` causal rows after `depth` tokens: Σ (depth + i), i = 1 … count.
double keysRead(std::int64_t depth, std::int64_t count) {
  const auto rows = static_cast<double>(count);
  return rows * static_cast<double>(depth) + rows * (rows + 1) / 2;
}

}  // namespace

ModelCost costOf(const model::ModelConfig& config, double weightElementBytes, double keyValueElementBytes) {
  const double layers = config.layers;
  const double hidden = config.hiddenSize;
  const double inner = config.intermediateSize;
  const double queries = static_cast<double>(config.heads) * config.headSize;
  const double keys = static_cast<double>(config.keyValueHeads) * config.headSize;
  const double layerWeights =
      layers * (hidden * queries + 2 * hidden * keys + queries * hidden + 3 * hidden * inner);
  const double outputWeights = static_cast<double>(config.vocabularySize) * hidden;
  return {.layerFlops = 2 * layerWeights,
          .outputFlops = 2 * outputWeights,
          .attentionFlops = 4 * layers * queries,
          .weightBytes = (layerWeights + outputWeights) * weightElementBytes,
          .keyValueBytes = 2 * layers * keys * keyValueElementBytes};
}

double promptFlops(const ModelCost& cost, std::int64_t depth, std::int64_t count) {
  return cost.layerFlops * static_cast<double>(count) + cost.outputFlops +
         cost.attentionFlops * keysRead(depth, count);
}

double generationBytes(const ModelCost& cost, std::int64_t depth, std::int64_t count) {
  return cost.weightBytes * static_cast<double>(count) + cost.keyValueBytes * keysRead(depth, count);
}

}  // namespace spanscope::experiment
