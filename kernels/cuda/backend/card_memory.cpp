// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_memory.h"

#include "engine/base/saturated.h"
#include "kernels/cuda/backend/attention_work.h"
#include "kernels/cuda/backend/card_key_value_store.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>

namespace spanscope::cuda {
namespace {

/// An estimate. The table of rotations has 64 MiB for heads of 128 and all its positions. It is copied while
/// it grows. The lists of a pass are much smaller.
constexpr std::size_t kListBytes = std::size_t{128} << 20U;

}  // namespace

compute::MemoryRules cardMemoryRules() {
  const auto bytesOf = [](const compute::KvShape& shape) {
    const KeyValuePool pool = poolOf(shape);
    // Also a byte for each head of a block. It says whether bounds of the head's keys are known.
    return saturatedSum({saturatedProduct({2, pool.layers, pool.blocks, pool.blockSize, pool.heads,
                                           pool.headSize, static_cast<std::int64_t>(pool.elementBytes())}),
                         saturatedProduct({pool.layers, pool.blocks, pool.heads})});
  };
  const auto elementBytes = static_cast<std::int64_t>(sizeof(Bf16));
  return {.ofStore = bytesOf,
          .ofMatrix =
              [elementBytes](compute::WeightFormat, std::int64_t elements) {
                return saturatedProduct({elements, elementBytes});
              },
          .ofActivation = elementBytes,
          .ofPasses = kMostPartialBytes + kListBytes + kProductWorkspaceBytes};
}

}  // namespace spanscope::cuda
