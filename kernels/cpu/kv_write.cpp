// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/kv_write.h"

#include "engine/compute/half.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

namespace {

using compute::DType;

template <class T>
T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(std::uint16_t)) {
    return compute::bf16FromFloat(value);
  } else {
    return value;
  }
}

struct Writer {
  const RowKernels& kernels;
  const CpuTensor& keys;
  const CpuTensor& values;
  std::span<const std::int64_t> slots;
  std::int32_t layer;
  CpuKvStore& store;

  template <class T>
  void writeRow(std::int64_t row, const float* cosSin, float* rotated) const {
    const compute::KvShape& shape = store.shape();
    const std::int64_t headSize = shape.headSize;
    const std::int64_t blockSize = shape.blockSize;
    const std::int64_t slot = slots[static_cast<std::size_t>(row)];
    const std::int64_t inBlock = slot % blockSize;
    const auto block = static_cast<BlockId>(slot / blockSize);
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      kernels.rotate(keys.row(row) + head * headSize, cosSin, headSize / 2, 1.0F, rotated);
      T* toKeys = store.keys<T>(layer, block, head) + inBlock;
      for (std::int64_t i = 0; i < headSize; ++i) toKeys[i * blockSize] = narrow<T>(rotated[i]);
      const float* value = values.row(row) + head * headSize;
      T* toValues = store.values<T>(layer, block, head) + inBlock * headSize;
      for (std::int64_t i = 0; i < headSize; ++i) toValues[i] = narrow<T>(value[i]);
    }
  }
};

}  // namespace

void writeKeysValues(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                     const CpuTensor& keys, const CpuTensor& values, std::int32_t layer, CpuKvStore& store) {
  const Writer writer{kernels, keys, values, pass.slots(), layer, store};
  const auto headSize = static_cast<std::size_t>(store.shape().headSize);
  const bool isBf16 = store.shape().type == DType::BF16;
  for (const std::int64_t slot : pass.slots())
    store.keyBounds().forget(layer, static_cast<BlockId>(slot / store.shape().blockSize));
  executor.runRanges(keys.rows(), keys.columns() * 4, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rotated(headSize);
    for (std::int64_t row = first; row < last; ++row) {
      const float* cosSin = pass.keyRotation(row);
      if (isBf16) {
        writer.writeRow<std::uint16_t>(row, cosSin, rotated.data());
      } else {
        writer.writeRow<float>(row, cosSin, rotated.data());
      }
    }
  });
}

}  // namespace spanscope::cpu
