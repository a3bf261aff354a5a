// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/key_value_deviation.h"
#include "kernels/cuda/pool/pool_element.h"
#include "kernels/cuda/reductions.h"

namespace spanscope::cuda {

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
