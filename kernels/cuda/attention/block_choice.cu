// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/block_choice.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/pool_element.h"
#include "kernels/cuda/reductions.h"

namespace spanscope::cuda {

namespace {

SPANSCOPE_DEVICE float keyElement(float element) {
  return element;
}
SPANSCOPE_DEVICE float keyElement(Bf16 element) {
  return toFloat(element);
}

SPANSCOPE_DEVICE float most(float query, float least, float greatest) {
  const float low = query * least;
  const float high = query * greatest;
  return low > high ? low : high;
}

/// Orders scores: NaN is the largest, and of equal scores the earlier one.
SPANSCOPE_DEVICE bool isBefore(float first, int firstPlace, float second, int secondPlace) {
  const bool isFirstNan = first != first;
  const bool isSecondNan = second != second;
  if (isFirstNan != isSecondNan) return isFirstNan;
  if (first > second || first < second) return first > second;
  return firstPlace < secondPlace;
}

}  // namespace

/// The known bounds of the keys of some slots, by the lanes of a warp. Each lane has a pair (i, i + headSize
/// / 2) of elements at a time.
template <class T>
struct BoundsOfKeys {
  const KeyValuePool& pool;
  const T* keys;  ///< keys of one head in one block
  int begin;      ///< slots
  int end;

  SPANSCOPE_DEVICE void measure(int element, float& least, float& greatest) const {
    for (int slot = begin; slot < end; ++slot) {
      const float value = keyElement(keys[slot * pool.headSize + element]);
      const bool isFirst = slot == begin;
      least = isFirst || value < least ? value : least;
      greatest = isFirst || value > greatest ? value : greatest;
    }
  }
};

template <class T>
SPANSCOPE_DEVICE BoundsOfKeys<T> boundsOfKeys(const BlockChoiceArguments& arguments,
                                              const ChoiceBlock& block) {
  const KeyValuePool& pool = arguments.pool;
  return {pool, static_cast<const T*>(pool.keys) + pool.placeOf(arguments.layer, block.block, blockIndex().y),
          block.begin, block.end};
}

/// Bounds are stored only for whole blocks.
SPANSCOPE_DEVICE bool isWhole(const ChoiceBlock& block, const KeyValuePool& pool) {
  return pool.bounds != nullptr && block.begin == 0 && block.end == pool.blockSize;
}

/// A warp for each block of a row and key head. Rows that share a block may both compute its bounds, with the
/// same result.
template <class T>
SPANSCOPE_KERNEL(kKeyBoundBudget)
keyBoundKernel(BlockChoiceArguments arguments) {
  const ChoiceBlock block = arguments.blocks[blockIndex().x];
  const KeyValuePool& pool = arguments.pool;
  if (block.row < 0 || !isWhole(block, pool)) return;
  const std::int64_t head = pool.headOf(arguments.layer, block.block, blockIndex().y);
  if (pool.bounded[head] != 0) return;
  syncWarp();  // all lanes have read `bounded`
  const BoundsOfKeys<T> known = boundsOfKeys<T>(arguments, block);
  T* const bounds = static_cast<T*>(pool.bounds) + head * 2 * pool.headSize;
  for (int element = laneIndex(); element < pool.tensorHeadSize(); element += kWarpSize) {
    float least = 0;
    float greatest = 0;
    known.measure(element, least, greatest);
    bounds[element] = toElement<T>(least);
    bounds[pool.headSize + element] = toElement<T>(greatest);
  }
  if (laneIndex() == 0) pool.bounded[head] = 1;
}

/// A warp for each block of a row and key head. Each lane has a pair (i, i + headSize / 2) of elements at a
/// time.
template <class T>
SPANSCOPE_KERNEL(kBlockBoundBudget)
blockBoundKernel(BlockChoiceArguments arguments) {
  const ChoiceBlock block = arguments.blocks[blockIndex().x];
  if (block.row < 0) return;
  const KeyValuePool& pool = arguments.pool;
  const int keyHead = blockIndex().y;
  const int group = arguments.queryHeads / pool.heads;
  const int size = pool.tensorHeadSize();
  const int pairs = size / 2;
  const float* const cosines = arguments.cosSin + static_cast<std::int64_t>(block.rotation) * size;
  const Bf16* const queries = arguments.queries + block.row * arguments.queryStride + keyHead * group * size;
  const BoundsOfKeys<T> measured = boundsOfKeys<T>(arguments, block);
  const T* const kept = isWhole(block, pool)
                            ? static_cast<const T*>(pool.bounds) +
                                  pool.headOf(arguments.layer, block.block, keyHead) * 2 * pool.headSize
                            : nullptr;
  float sums[kMostGroup] = {};
  for (int pair = laneIndex(); pair < pairs; pair += kWarpSize) {
    float least[2] = {};
    float greatest[2] = {};
    SPANSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int element = pair + half * pairs;
      if (kept != nullptr) {
        least[half] = keyElement(kept[element]);
        greatest[half] = keyElement(kept[pool.headSize + element]);
      } else {
        measured.measure(element, least[half], greatest[half]);
      }
    }
    const float cosine = cosines[pair];
    const float sine = cosines[pairs + pair];
    SPANSCOPE_UNROLL
    for (int head = 0; head < kMostGroup; ++head) {
      if (head >= group) break;
      const float first = toFloat(queries[head * size + pair]);
      const float second = toFloat(queries[head * size + pairs + pair]);
      sums[head] += most(first * cosine - second * sine, least[0], greatest[0]);
      sums[head] += most(second * cosine + first * sine, least[1], greatest[1]);
    }
  }
  float bound = 0;
  SPANSCOPE_UNROLL
  for (int head = 0; head < kMostGroup; ++head) {
    if (head >= group) break;
    const float sum = warpSum(sums[head]);
    bound = head == 0 || sum > bound ? sum : bound;
  }
  if (laneIndex() == 0)
    arguments.bounds[static_cast<std::int64_t>(keyHead) * arguments.blockCount + blockIndex().x] = bound;
}

/// A block for each row and key head. A block of keys is read if few enough blocks precede this block in
/// order.
SPANSCOPE_KERNEL(kBlockChoiceBudget) blockChoiceKernel(BlockChoiceArguments arguments) {
  const ChoiceRow row = arguments.rows[blockIndex().x];
  const std::int64_t first = static_cast<std::int64_t>(blockIndex().y) * arguments.blockCount + row.first;
  const float* const bounds = arguments.bounds + first;
  for (int i = threadIndex(); i < row.count; i += threadCount()) {
    bool isRead = row.count <= row.most || i == 0 || i == row.count - 1;
    if (!isRead) {
      int before = 0;
      for (int other = 1; other < row.count - 1; ++other) {
        if (other != i && isBefore(bounds[other], other, bounds[i], i)) ++before;
      }
      isRead = before < row.most - 2;
    }
    arguments.chosen[first + i] = isRead ? 1 : 0;
  }
}

void chooseBlocks(Stream& stream, const BlockChoiceArguments& arguments) {
  const int heads = arguments.pool.heads;
  const LaunchShape shape{.grid = {arguments.blockCount, heads}, .threads = kKeyBoundBudget.threads};
  if (arguments.pool.bounds != nullptr)
    launch(stream, "boundKeys", shape, arguments.pool.isFloat ? keyBoundKernel<float> : keyBoundKernel<Bf16>,
           arguments);
  launch(stream, "boundBlocks", {.grid = {arguments.blockCount, heads}, .threads = kBlockBoundBudget.threads},
         arguments.pool.isFloat ? blockBoundKernel<float> : blockBoundKernel<Bf16>, arguments);
  launch(stream, "chooseBlocks", {.grid = {arguments.rowCount, heads}, .threads = kBlockChoiceBudget.threads},
         blockChoiceKernel, arguments);
}

}  // namespace spanscope::cuda
