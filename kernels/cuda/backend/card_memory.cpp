// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_memory.h"

#include "engine/base/saturated.h"
#include "kernels/cuda/backend/card_key_value_store.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>

namespace spanscope::cuda {
namespace {

/// Of one launch: attention is cut into launches that stay below (kMostPartialBytes in attention_work.cpp),
/// which give their memory to each other.
constexpr std::size_t kPartialBytes = std::size_t{128} << 20U;
/// An estimate: 512 rows that read 64 segments of heads of 128 have 16 MiB of rotations, by far the largest
/// of the lists, and buffers are up to twice as large as what is asked for (card_buffers.cpp).
constexpr std::size_t kListBytes = std::size_t{32} << 20U;

}  // namespace

compute::MemoryRules cardMemoryRules() {
  const auto bytesOf = [](const compute::KvShape& shape) {
    const KeyValuePool pool = poolOf(shape);
    return saturatedProduct({2, pool.layers, pool.blocks, pool.blockSize, pool.heads, pool.headSize,
                             static_cast<std::int64_t>(pool.elementBytes())});
  };
  const auto elementBytes = static_cast<std::int64_t>(sizeof(Bf16));
  return {.ofStore = bytesOf,
          .ofMatrixElement = [elementBytes](compute::DType) { return elementBytes; },
          .ofActivation = elementBytes,
          .ofPasses = kPartialBytes + kListBytes + kProductWorkspaceBytes};
}

}  // namespace spanscope::cuda
