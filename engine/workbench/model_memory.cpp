// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_memory.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/saturated.h"
#include "engine/run/run_options.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::workbench {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::string gibibytes(std::uint64_t bytes) {
  std::array<char, 32> text{};
  constexpr double kGibi = 1 << 30;
  std::snprintf(text.data(), text.size(), "%.2f GiB", static_cast<double>(bytes) / kGibi);
  return text.data();
}

}  // namespace

std::uint64_t MemoryNeed::pool() const {
  return blocks == 0 ? 0
         : blockBytes > kMost / static_cast<std::uint64_t>(blocks)
             ? kMost
             : blockBytes * static_cast<std::uint64_t>(blocks);
}

std::uint64_t MemoryNeed::total() const {
  return saturatedSum({weights, pool(), workspace});
}

MemoryNeed memoryNeed(const model::ModelConfig& config, const model::WeightAmounts& weights,
                      const run::SessionConfig* session, const compute::MemoryRules& rules) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queries = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keys = std::int64_t{config.keyValueHeads} * config.headSize;
  MemoryNeed need;
  for (const auto& [format, elements] : weights)
    need.weights = saturatedSum({need.weights, rules.ofMatrix(format, elements)});
  if (session == nullptr) return need;
  need.blocks = session->blockCount;
  need.kvType = session->kvType.value_or(compute::DType::F32);
  need.blockBytes = rules.ofStore({.layers = config.layers,
                                   .blocks = 1,
                                   .blockSize = session->blockSize,
                                   .heads = config.keyValueHeads,
                                   .headSize = config.headSize,
                                   .type = need.kvType});
  // Residual, normed and kept rows; queries and what they gathered; keys and values; both halves of the
  // activation; and the logits of one row, which are f32 everywhere.
  const std::int64_t columns = 3 * hidden + 2 * queries + 2 * keys + 2 * inner;
  need.workspace =
      saturatedSum({saturatedProduct({session->rowsPerPass, columns, rules.ofActivation}),
                    saturatedProduct({config.vocabularySize, std::int64_t{sizeof(float)}}), rules.ofPasses});
  return need;
}

void checkMemory(const MemoryNeed& need, const compute::Device& device) {
  if (device.memoryBytes == 0 || need.total() <= device.memoryBytes) return;
  std::string found = gibibytes(need.weights) + " of weights";
  if (need.blocks > 0) {
    found += ", " + gibibytes(need.pool()) + " for a pool of " + counted(need.blocks, "block") + " in " +
             compute::nameOf(need.kvType) + " and " + gibibytes(need.workspace) + " to work in";
  }
  std::string expected = "at most the " + gibibytes(device.memoryBytes) + " of memory that it has";
  const std::uint64_t other = saturatedSum({need.weights, need.workspace});
  if (need.blocks > 0 && need.blockBytes > 0 && other < device.memoryBytes) {
    expected +=
        "; a pool of " + counted((device.memoryBytes - other) / need.blockBytes, "block") + " would fit";
  } else if (need.blocks > 0) {
    expected += ", which is too little for any pool";
  }
  throw Failure({.file = {},
                 .place = "memory of " + device.name,
                 .found = std::move(found),
                 .expected = std::move(expected)});
}

}  // namespace spanscope::workbench
