// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/kv_deviation.h"

#include "engine/compute/half.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace spanscope::cpu {
namespace {

using compute::DType;
using compute::StoredPart;

/// One row against its slot. Keys of a slot lie blockSize elements apart, values together.
template <class T>
float deviationOf(const float* row, const CpuKvStore& store, StoredPart part, std::int32_t layer,
                  std::int64_t slot, const RowKernels& kernels, const float* cosSin, float* rotated) {
  const compute::KvShape& shape = store.shape();
  const std::int64_t headSize = shape.headSize;
  const std::int64_t inBlock = slot % shape.blockSize;
  const auto block = static_cast<BlockId>(slot / shape.blockSize);
  const bool isKeys = part == StoredPart::Keys;
  const std::int64_t step = isKeys ? shape.blockSize : 1;
  float sum = 0;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const float* own = row + head * headSize;
    if (isKeys) {
      kernels.rotate(own, cosSin, headSize / 2, 1.0F, rotated);
      own = rotated;
    }
    const T* const stored = isKeys ? store.keys<T>(layer, block, head) + inBlock
                                   : store.values<T>(layer, block, head) + inBlock * headSize;
    for (std::int64_t i = 0; i < headSize; ++i) {
      float difference = 0;
      if constexpr (std::is_same_v<T, float>) {
        difference = own[i] - stored[i * step];
      } else {
        difference =
            compute::floatFromBf16(compute::bf16FromFloat(own[i])) - compute::floatFromBf16(stored[i * step]);
      }
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace

void measureDeviations(Executor& executor, const RowKernels& kernels, const CpuPass& pass, StoredPart part,
                       const CpuTensor& x, std::int32_t layer, const CpuKvStore& store, CpuTensor& out) {
  const bool isBf16 = store.shape().type == DType::BF16;
  executor.runRanges(x.rows(), x.columns() * 4, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rotated(static_cast<std::size_t>(store.shape().headSize));
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t slot = pass.slots()[static_cast<std::size_t>(row)];
      const auto deviation = isBf16 ? &deviationOf<std::uint16_t> : &deviationOf<float>;
      *out.row(row) =
          deviation(x.row(row), store, part, layer, slot, kernels, pass.keyRotation(row), rotated.data());
    }
  });
}

}  // namespace spanscope::cpu
