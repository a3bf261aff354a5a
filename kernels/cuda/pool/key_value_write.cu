// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/key_value_write.h"
#include "kernels/cuda/pool/pool_element.h"

namespace spanscope::cuda {

/// A block for each row.
template <class T>
SPANSCOPE_KERNEL(kKeyValueWriteBudget)
keyValueWriteKernel(KeyValueWriteArguments arguments) {
  const int row = blockIndex().x;
  const std::int64_t slot = arguments.slots[row];
  if (slot < 0) return;
  const KeyValuePool& pool = arguments.pool;
  const int headSize = pool.tensorHeadSize();
  const int pairs = headSize / 2;
  const std::int64_t block = slot / pool.blockSize;
  const std::int64_t inBlock = slot % pool.blockSize * pool.headSize;
  const float* const cosines =
      arguments.cosSin + static_cast<std::int64_t>(arguments.localIndices[row]) * headSize;
  const float* const sines = cosines + pairs;
  const Bf16* const keys = arguments.keys + row * arguments.stride;
  const Bf16* const values = arguments.values + row * arguments.stride;
  for (int i = threadIndex(); i < pool.heads * pairs; i += threadCount()) {
    const int head = i / pairs;
    const int pair = i % pairs;
    const std::int64_t place = pool.placeOf(arguments.layer, block, head) + inBlock;
    const float first = toFloat(keys[head * headSize + pair]);
    const float second = toFloat(keys[head * headSize + pairs + pair]);
    T* const key = static_cast<T*>(pool.keys) + place;
    key[pair] = toElement<T>(first * cosines[pair] - second * sines[pair]);
    key[pairs + pair] = toElement<T>(second * cosines[pair] + first * sines[pair]);
    T* const value = static_cast<T*>(pool.values) + place;
    value[pair] = toElement<T>(toFloat(values[head * headSize + pair]));
    value[pairs + pair] = toElement<T>(toFloat(values[head * headSize + pairs + pair]));
  }
  if (pool.bounds == nullptr) return;
  for (int head = threadIndex(); head < pool.heads; head += threadCount())
    pool.bounded[pool.headOf(arguments.layer, block, head)] = 0;
}

void writeKeysValues(Stream& stream, const KeyValueWriteArguments& arguments) {
  launch(stream, "writeKeysValues", {.grid = {arguments.rows}, .threads = kKeyValueWriteThreads},
         arguments.pool.isFloat ? keyValueWriteKernel<float> : keyValueWriteKernel<Bf16>, arguments);
}

}  // namespace spanscope::cuda
