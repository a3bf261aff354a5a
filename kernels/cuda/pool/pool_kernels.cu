// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/pool_element.h"
#include "kernels/cuda/pool/pool_kernels.h"
#include "kernels/cuda/reductions.h"

namespace spanscope::cuda {

namespace {

/// Copies by all threads of the block. If `bytes` of a slot is a multiple of 16, both addresses are multiples
/// of 16. Otherwise both addresses are multiples of 2.
SPANSCOPE_DEVICE void copyBytes(std::byte* target, const std::byte* source, std::int64_t bytes, bool by16) {
  const std::int64_t step = by16 ? 16 : 2;
  for (std::int64_t i = threadIndex() * step; i < bytes; i += threadCount() * step) {
    if (by16) {
      store16(target + i, load16(source + i));
    } else {
      *reinterpret_cast<std::uint16_t*>(target + i) = *reinterpret_cast<const std::uint16_t*>(source + i);
    }
  }
}

}  // namespace

/// A block for each copy and layer.
SPANSCOPE_KERNEL(kBlockCopiesBudget) blockCopiesKernel(BlockCopiesArguments arguments) {
  const BlockCopy copy = arguments.copies[blockIndex().x];
  const KeyValuePool& pool = arguments.pool;
  const auto element = static_cast<std::int64_t>(pool.elementBytes());
  const std::int64_t slotBytes = pool.headSize * element;
  for (int head = 0; head < pool.heads; ++head) {
    const std::int64_t from = pool.placeOf(blockIndex().y, copy.source, head) * element;
    const std::int64_t to = pool.placeOf(blockIndex().y, copy.target, head) * element;
    for (void* const memory : {pool.keys, pool.values}) {
      auto* const bytes = static_cast<std::byte*>(memory);
      copyBytes(bytes + to, bytes + from, copy.slots * slotBytes, slotBytes % 16 == 0);
    }
    if (pool.bounds != nullptr && threadIndex() == 0)
      pool.bounded[pool.headOf(blockIndex().y, copy.target, head)] = 0;
  }
}

void copyBlocks(Stream& stream, const BlockCopiesArguments& arguments) {
  launch(stream, "copyBlocks",
         {.grid = {arguments.count, arguments.pool.layers}, .threads = kBlockCopiesBudget.threads},
         blockCopiesKernel, arguments);
}

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

SPANSCOPE_DEVICE float elementValue(float element) {
  return element;
}
SPANSCOPE_DEVICE float elementValue(Bf16 element) {
  return toFloat(element);
}

/// A block for each row, a pair (i, i + headSize / 2) of a head for each thread at a time.
template <class T>
SPANSCOPE_KERNEL(kKeyValueDeviationBudget)
keyValueDeviationKernel(KeyValueDeviationArguments arguments) {
  SharedMemory shared;
  float* const scratch = shared.take<float>(kKeyValueDeviationThreads / kWarpSize);
  const int row = blockIndex().x;
  const KeyValuePool& pool = arguments.pool;
  const std::int64_t slot = arguments.slots[row];
  float sum = 0;
  if (slot >= 0) {
    const int headSize = pool.tensorHeadSize();
    const int pairs = headSize / 2;
    const std::int64_t block = slot / pool.blockSize;
    const std::int64_t inBlock = slot % pool.blockSize * pool.headSize;
    const bool isKeys = arguments.cosSin != nullptr;
    const float* const cosines =
        isKeys ? arguments.cosSin + static_cast<std::int64_t>(arguments.localIndices[row]) * headSize
               : nullptr;
    const Bf16* const own = arguments.rowsOf + row * arguments.stride;
    const T* const stored = static_cast<const T*>(isKeys ? pool.keys : pool.values);
    for (int i = threadIndex(); i < pool.heads * pairs; i += threadCount()) {
      const int head = i / pairs;
      const int pair = i % pairs;
      const T* const place = stored + pool.placeOf(arguments.layer, block, head) + inBlock;
      float first = toFloat(own[head * headSize + pair]);
      float second = toFloat(own[head * headSize + pairs + pair]);
      if (isKeys) {
        const float turned = first * cosines[pair] - second * cosines[pairs + pair];
        second = second * cosines[pair] + first * cosines[pairs + pair];
        first = turned;
      }
      const float firstDifference = elementValue(toElement<T>(first)) - elementValue(place[pair]);
      const float secondDifference = elementValue(toElement<T>(second)) - elementValue(place[pairs + pair]);
      sum += firstDifference * firstDifference + secondDifference * secondDifference;
    }
  }
  sum = blockSum(sum, scratch);
  if (threadIndex() == 0) arguments.out[row] = sum;
}

void measureDeviations(Stream& stream, const KeyValueDeviationArguments& arguments) {
  launch(stream, "measureDeviations",
         {.grid = {arguments.rows},
          .threads = kKeyValueDeviationThreads,
          .sharedBytes = kKeyValueDeviationBudget.sharedBytes},
         arguments.pool.isFloat ? keyValueDeviationKernel<float> : keyValueDeviationKernel<Bf16>, arguments);
}

}  // namespace spanscope::cuda
