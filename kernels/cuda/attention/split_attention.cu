// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/prefill_tiles.h"
#include "kernels/cuda/attention/split_attention.h"

#include <string>

namespace spanscope::cuda {

namespace {

/// Where the first pair of an item has its results.
SPANSCOPE_DEVICE std::int64_t placeOf(const SplitItem& item, const SplitTile& tile, int heads, int head) {
  return item.firstPartial * heads + std::int64_t{head} * tile.pairs;
}

}  // namespace

/// A block for each item and key head.
template <int HeadSize>
SPANSCOPE_KERNEL(kSplitBudget<HeadSize>)
splitKernel(SplitAttentionArguments arguments) {
  using Work = Prefill<HeadSize>;
  SharedMemory shared;
  Bf16* const queries = shared.take<Bf16>(kPrefillTilePairs * Work::kStride);
  Bf16* const keys = shared.take<Bf16>(kPrefillTileKeys * Work::kStride);
  Bf16* const values = shared.take<Bf16>(kPrefillTileKeys * Work::kStride);
  const SplitItem item = arguments.items[arguments.launch.firstItem + blockIndex().x];
  if (item.tile < 0) return;
  const SplitTile tile = arguments.tiles[item.tile];
  const int heads = arguments.rows.pool.heads;
  const Work work{arguments.rows,
                  arguments.rows.runs[tile.run],
                  tile.firstPair,
                  blockIndex().y,
                  arguments.rows.queryHeads / heads,
                  queries,
                  keys,
                  values};
  LaneRows rows{{0, 0}, {0, 0}, {{kMinusInfinity, 0}, {kMinusInfinity, 0}}};
  SumFragment sums[Work::kValueColumns];
  SPANSCOPE_UNROLL
  for (int column = 0; column < Work::kValueColumns; ++column) sums[column] = {{0, 0, 0, 0}};
  attendRange(work, arguments.rows.ranges[item.range], item.begin, item.end, rows, sums);
  waitCopies<0>();

  const std::int64_t first = placeOf(item, tile, heads, blockIndex().y);
  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float sum = sumOfLanes(rows.sums[half].sum);
    const int pair = Work::ownPair(half);
    if (pair >= tile.pairs) continue;
    if (laneIndex() % 4 == 0) arguments.partialSums[first + pair] = {rows.sums[half].largest, sum};
    float* const out = arguments.partialValues + (first + pair) * HeadSize + laneIndex() % 4 * 2;
    SPANSCOPE_UNROLL
    for (int column = 0; column < Work::kValueColumns; ++column) {
      const float(&own)[4] = sums[column].values;
      out[column * kColumns] = own[2 * half];
      out[column * kColumns + 1] = own[2 * half + 1];
    }
  }
}

/// A block for each tile and key head, a warp for each pair. An item whose keys the pair's row does not see
/// is passed over, so that it changes nothing that others see them.
SPANSCOPE_KERNEL(kSplitMergeBudget) splitMergeKernel(SplitAttentionArguments arguments) {
  const SplitTile tile = arguments.tiles[arguments.launch.firstTile + blockIndex().x];
  const PrefillRun run = arguments.rows.runs[tile.run];
  const KeyValuePool& pool = arguments.rows.pool;
  const int group = arguments.rows.queryHeads / pool.heads;
  const int headSize = pool.headSize;
  const int size = pool.tensorHeadSize();
  for (int pair = warpIndex(); pair < tile.pairs; pair += warpCount()) {
    const auto place = [&](int i) {
      const SplitItem& item = arguments.items[tile.firstItem + i];
      return placeOf(item, tile, pool.heads, blockIndex().y) + pair;
    };
    PartialSum total{kMinusInfinity, 0};
    for (int i = 0; i < tile.itemCount; ++i) {
      const float largest = arguments.partialSums[place(i)].largest;
      total.largest = largest > total.largest ? largest : total.largest;
    }
    for (int i = 0; i < tile.itemCount; ++i) {
      const PartialSum each = arguments.partialSums[place(i)];
      if (each.sum > 0) total.sum = multiplyAdd(each.sum, exp2Fast(each.largest - total.largest), total.sum);
    }
    const int row = run.firstRow + (tile.firstPair + pair) / group;
    const int head = blockIndex().y * group + (tile.firstPair + pair) % group;
    Bf16* const out =
        arguments.rows.out + (static_cast<std::int64_t>(row) * arguments.rows.queryHeads + head) * size;
    for (int element = laneIndex(); element < size; element += kWarpSize) {
      float sum = 0;
      for (int i = 0; i < tile.itemCount; ++i) {
        const PartialSum each = arguments.partialSums[place(i)];
        if (each.sum > 0)
          sum = multiplyAdd(arguments.partialValues[place(i) * headSize + element],
                            exp2Fast(each.largest - total.largest), sum);
      }
      out[element] = toBf16(total.sum > 0 ? divideExact(sum, total.sum) : 0.0F);
    }
  }
}

void attendSplit(Stream& stream, const SplitAttentionArguments& arguments) {
  const KeyValuePool& pool = arguments.rows.pool;
  const auto run = [&]<int HeadSize>() {
    launch(stream, "splitAttention",
           {.grid = {arguments.launch.itemCount, pool.heads},
            .threads = kPrefillThreads,
            .sharedBytes = prefillSharedBytes(HeadSize)},
           splitKernel<HeadSize>, arguments);
    launch(stream, "mergeSplitAttention",
           {.grid = {arguments.launch.tileCount, pool.heads}, .threads = kSplitMergeBudget.threads},
           splitMergeKernel, arguments);
  };
  const bool dividesHeads = pool.heads > 0 && arguments.rows.queryHeads % pool.heads == 0;
  if (!pool.isFloat && dividesHeads && forTensorHeadSize(pool.headSize, run)) return;
  throw Failure(errorAt("attention on tensor cores",
                        std::to_string(arguments.rows.queryHeads) + " query heads, " +
                            std::to_string(pool.heads) + " key heads of " + std::to_string(pool.headSize) +
                            (pool.isFloat ? ", f32" : ", bf16"),
                        "heads of 16, 32, 64, 80, 96, 128 or 256 in bf16"));
}

}  // namespace spanscope::cuda
