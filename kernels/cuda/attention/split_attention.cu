// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/prefill_tiles.h"
#include "kernels/cuda/attention/split_attention.h"

#include <iterator>
#include <string>

namespace spanscope::cuda {

namespace {

constexpr int kMergeWarps = kSplitMergeBudget.threads / kWarpSize;
constexpr int kMergeBlocks = kPrefillTilePairs / kMergeWarps;  ///< of a tile and a key head
constexpr int kMergeElements = kTensorHeadSizes[std::size(kTensorHeadSizes) - 1] / kWarpSize;  ///< of a lane
static_assert(kMergeWarps * kMergeBlocks == kPrefillTilePairs);

/// Returns the place of the results of an item's first pair.
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

/// Blocks of kMergeWarps pairs for each tile and key head, with a warp for each pair. One block per tile
/// would leave the GPU idle. An item without keys for the pair's row is skipped and changes nothing. Items
/// are added in prompt order. Each lane reads the data of one item, so that shared data is read once.
SPANSCOPE_KERNEL(kSplitMergeBudget) splitMergeKernel(SplitAttentionArguments arguments) {
  const SplitTile tile = arguments.tiles[arguments.launch.firstTile + blockIndex().x / kMergeBlocks];
  const int pair = blockIndex().x % kMergeBlocks * kMergeWarps + warpIndex();
  if (pair >= tile.pairs) return;
  const PrefillRun run = arguments.rows.runs[tile.run];
  const KeyValuePool& pool = arguments.rows.pool;
  const int group = arguments.rows.queryHeads / pool.heads;
  const int headSize = pool.headSize;
  const auto placeOfItem = [&](int i) {
    return placeOf(arguments.items[tile.firstItem + i], tile, pool.heads, blockIndex().y) + pair;
  };
  float largest = kMinusInfinity;
  for (int i = laneIndex(); i < tile.itemCount; i += kWarpSize) {
    const float each = arguments.partialSums[placeOfItem(i)].largest;
    largest = each > largest ? each : largest;
  }
  SPANSCOPE_UNROLL
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    const float other = shuffleXor(largest, distance);
    largest = other > largest ? other : largest;
  }
  float total = 0;
  float sums[kMergeElements];
  SPANSCOPE_UNROLL
  for (int e = 0; e < kMergeElements; ++e) sums[e] = 0;
  for (int first = 0; first < tile.itemCount; first += kWarpSize) {
    const int count = tile.itemCount - first < kWarpSize ? tile.itemCount - first : kWarpSize;
    std::int64_t place = 0;
    PartialSum own{kMinusInfinity, 0};
    if (laneIndex() < count) {
      place = placeOfItem(first + laneIndex());
      own = arguments.partialSums[place];
    }
    const float ownFactor = own.sum > 0 ? exp2Fast(own.largest - largest) : 0.0F;
    for (int i = 0; i < count; ++i) {
      const float sum = shuffle(own.sum, i);
      const float factor = shuffle(ownFactor, i);
      const float* const values = arguments.partialValues + shuffle(place, i) * headSize;
      if (!(sum > 0)) continue;
      total = multiplyAdd(sum, factor, total);
      SPANSCOPE_UNROLL
      for (int e = 0; e < kMergeElements; ++e) {
        const int element = laneIndex() + e * kWarpSize;
        if (element < headSize) sums[e] = multiplyAdd(values[element], factor, sums[e]);
      }
    }
  }
  const int size = pool.tensorHeadSize();
  const int row = run.firstRow + (tile.firstPair + pair) / group;
  const int head = blockIndex().y * group + (tile.firstPair + pair) % group;
  Bf16* const out =
      arguments.rows.out + (static_cast<std::int64_t>(row) * arguments.rows.queryHeads + head) * size;
  SPANSCOPE_UNROLL
  for (int e = 0; e < kMergeElements; ++e) {
    const int element = laneIndex() + e * kWarpSize;
    if (element < size) out[element] = toBf16(total > 0 ? divideExact(sums[e], total) : 0.0F);
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
           {.grid = {arguments.launch.tileCount * kMergeBlocks, pool.heads},
            .threads = kSplitMergeBudget.threads},
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
