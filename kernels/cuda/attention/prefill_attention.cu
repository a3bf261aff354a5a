// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/prefill_tiles.h"

#include <string>

namespace spanscope::cuda {

/// A block for each item and key head.
template <int HeadSize>
SPANSCOPE_KERNEL(kPrefillBudget<HeadSize>)
prefillKernel(PrefillAttentionArguments arguments) {
  using Work = Prefill<HeadSize>;
  SharedMemory shared;
  Bf16* const queries = shared.take<Bf16>(kPrefillTilePairs * Work::kStride);
  Bf16* const keys = shared.take<Bf16>(kPrefillTileKeys * Work::kStride);
  Bf16* const values = shared.take<Bf16>(kPrefillTileKeys * Work::kStride);
  const PrefillItem item = arguments.items[blockIndex().x];
  if (item.run < 0) return;
  const KeyValuePool& pool = arguments.pool;
  const Work work{arguments,
                  arguments.runs[item.run],
                  item.firstPair,
                  blockIndex().y,
                  arguments.queryHeads / pool.heads,
                  queries,
                  keys,
                  values};
  const int firstLocal = work.firstLocal();
  const int lastLocal = work.lastLocal();

  LaneRows rows{{0, 0}, {0, 0}, {{kMinusInfinity, 0}, {kMinusInfinity, 0}}};
  SumFragment sums[Work::kValueColumns];
  SPANSCOPE_UNROLL
  for (int column = 0; column < Work::kValueColumns; ++column) sums[column] = {{0, 0, 0, 0}};
  for (int r = 0; r < work.run.rangeCount; ++r) {
    const PrefillRange range = arguments.ranges[work.run.firstRange + r];
    const int end = range.causal != 0 && lastLocal + 1 < range.end ? lastLocal + 1 : range.end;
    const int first = firstLocal + range.windowOffset;
    const int begin = first > range.begin ? first : range.begin;
    if (end > begin) attendRange(work, range, begin, end, rows, sums);
  }
  waitCopies<0>();

  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float sum = sumOfLanes(rows.sums[half].sum);
    const int pair = Work::ownPair(half);
    if (!work.isPair(pair)) continue;
    const std::int64_t place =
        static_cast<std::int64_t>(work.rowOf(pair)) * arguments.queryHeads + work.headOf(pair);
    const float factor = sum > 0 ? 1.0F / sum : 0.0F;
    const int size = pool.tensorHeadSize();
    auto* const out = reinterpret_cast<std::uint32_t*>(arguments.out + place * size);
    SPANSCOPE_UNROLL
    for (int column = 0; column < Work::kValueColumns; ++column) {
      const float(&own)[4] = sums[column].values;
      const int element = column * kColumns + laneIndex() % 4 * 2;
      if (element < size) out[element / 2] = packBf16(own[2 * half] * factor, own[2 * half + 1] * factor);
    }
    if (arguments.totals != nullptr && laneIndex() % 4 == 0)
      arguments.totals[place] = {rows.sums[half].largest, sum};
  }
}

void attendPrefill(Stream& stream, const PrefillAttentionArguments& arguments) {
  const KeyValuePool& pool = arguments.pool;
  const auto run = [&]<int HeadSize>() {
    launch(stream, "prefillAttention",
           {.grid = {arguments.itemCount, pool.heads},
            .threads = kPrefillThreads,
            .sharedBytes = prefillSharedBytes(HeadSize)},
           prefillKernel<HeadSize>, arguments);
  };
  const bool dividesHeads = pool.heads > 0 && arguments.queryHeads % pool.heads == 0;
  if (!pool.isFloat && dividesHeads && forTensorHeadSize(pool.headSize, run)) return;
  throw Failure(errorAt("attention on tensor cores",
                        std::to_string(arguments.queryHeads) + " query heads, " + std::to_string(pool.heads) +
                            " key heads of " + std::to_string(pool.headSize) +
                            (pool.isFloat ? ", f32" : ", bf16"),
                        "heads of 16, 32, 64, 80, 96, 128 or 256 in bf16"));
}

}  // namespace spanscope::cuda
