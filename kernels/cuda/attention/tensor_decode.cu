// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/decode_results.h"
#include "kernels/cuda/attention/prefill_tiles.h"
#include "kernels/cuda/attention/row_scale.h"
#include "kernels/cuda/attention/tensor_decode.h"
#include "kernels/cuda/device.h"

#include <string>

namespace spanscope::cuda {

namespace {

constexpr int kWarps = kTensorDecodeThreads / kWarpSize;
constexpr int kSliceKeys = kTensorDecodeSliceKeys;
constexpr int kSliceColumns = kSliceKeys / kColumns;

/// The work of one warp: every fourth slice of an item, for one key head.
template <int HeadSize>
struct TensorDecoding {
  static constexpr int kStride = tensorDecodeStride(HeadSize);
  static constexpr int kStages = tensorDecodeStages(HeadSize);
  static constexpr int kValueColumns = HeadSize / kColumns;

  const DecodeAttentionArguments& arguments;
  DecodeItem item;
  int keyHead;
  int group;                   ///< query heads
  int end;                     ///< one past the last key that the row attends to
  const std::uint8_t* chosen;  ///< by block of the segment; null: all blocks are read

  // Shared memory.
  Bf16* queries;  ///< [kTensorDecodePairs][kStride], rotated, with zeros after the group's rows
  Bf16* slices;   ///< the warp's: [kStages][keys, values][kSliceKeys][kStride]
  float* all;     ///< [group][chunkKeys]: scores of all keys, if the mass is needed

  SPANSCOPE_DEVICE Bf16* keysOf(int stage) const { return slices + 2 * stage * kSliceKeys * kStride; }
  SPANSCOPE_DEVICE Bf16* valuesOf(int stage) const { return keysOf(stage) + kSliceKeys * kStride; }

  /// Used by all threads of the block.
  SPANSCOPE_DEVICE void turnQueries() const {
    constexpr int kPairs = HeadSize / 2;
    const int padding = arguments.pool.padding;
    const int pairs = kPairs - padding / 2;
    const int size = 2 * pairs;
    const std::int64_t row = item.rotation + arguments.locals[item.row];
    const float* const cosines = arguments.cosSin + row * size;
    const Bf16* const source = arguments.queries + item.row * arguments.queryStride + keyHead * group * size;
    for (int i = threadIndex(); i < kTensorDecodePairs * kPairs; i += threadCount()) {
      const int head = i / kPairs;
      const int pair = i % kPairs;
      if (pair >= pairs) continue;
      float first = 0;
      float second = 0;
      if (head < group) {
        const float a = toFloat(source[head * size + pair]);
        const float b = toFloat(source[head * size + pairs + pair]);
        first = a * cosines[pair] - b * cosines[pairs + pair];
        second = b * cosines[pair] + a * cosines[pairs + pair];
      }
      queries[head * kStride + pair] = toBf16(first);
      queries[head * kStride + pairs + pair] = toBf16(second);
    }
    for (int i = threadIndex(); i < kTensorDecodePairs * padding; i += threadCount())
      queries[i / padding * kStride + size + i % padding] = toBf16(0);
  }

  /// Returns the places of the keys of a slice. Lane i and lane i + 16 have the i-th of 16 places. The place
  /// is less than 0 for unread keys.
  SPANSCOPE_DEVICE std::int64_t findKeys(int slice) const {
    const KeyValuePool& pool = arguments.pool;
    const int local = slice * kSliceKeys + laneIndex() % kSliceKeys;
    if (local < item.begin || local >= end) return -1;
    const int inSegment = local / pool.blockSize;
    if (chosen != nullptr && chosen[inSegment] == 0) return -1;
    const std::int64_t block = arguments.blocks[item.firstBlock + inSegment];
    return pool.placeOf(arguments.layer, block, keyHead) + local % pool.blockSize * HeadSize;
  }

  /// Moves from `slice` to the warp's next slice with keys. Returns false if there is no such slice.
  SPANSCOPE_DEVICE bool seek(int& slice, std::int64_t& places) const {
    const int sliceEnd = (end + kSliceKeys - 1) / kSliceKeys;
    for (; slice < sliceEnd; slice += kWarps) {
      places = findKeys(slice);
      if (chosen == nullptr || ballot(places >= 0) != 0) return true;
    }
    return false;
  }

  /// Starts to copy the keys and values of a slice. Unread places become 0.
  SPANSCOPE_DEVICE void start(std::int64_t places, int stage) const {
    constexpr int kVectors = HeadSize / kVector;
    static_assert(kSliceKeys * kVectors % kWarpSize == 0, "every lane has as many");
    const auto* const keys = static_cast<const Bf16*>(arguments.pool.keys);
    const auto* const values = static_cast<const Bf16*>(arguments.pool.values);
    SPANSCOPE_UNROLL
    for (int i = 0; i < kSliceKeys * kVectors / kWarpSize; ++i) {
      const int vector = i * kWarpSize + laneIndex();
      const int key = vector / kVectors;
      const int element = vector % kVectors * kVector;
      const std::int64_t place = shuffle(places, key);
      const std::int64_t from = place < 0 ? 0 : place + element;
      const int bytes = place < 0 ? 0 : 16;
      copyAsync16(keysOf(stage) + key * kStride + element, keys + from, bytes);
      copyAsync16(valuesOf(stage) + key * kStride + element, values + from, bytes);
    }
  }

  SPANSCOPE_DEVICE void multiplyKeys(int stage, SumFragment (&scores)[kSliceColumns]) const {
    SPANSCOPE_UNROLL
    for (int column = 0; column < kSliceColumns; ++column) scores[column] = {{0, 0, 0, 0}};
    const int matrix = laneIndex() / 8;
    const int row = laneIndex() % 8;
    const Bf16* const left = queries + (matrix % 2 * 8 + row) * kStride + matrix / 2 * 8;
    const Bf16* const right = keysOf(stage) + (matrix / 2 * 8 + row) * kStride + matrix % 2 * 8;
    SPANSCOPE_UNROLL
    for (int depth = 0; depth < HeadSize; depth += kDepth) {
      LeftFragment query;
      loadMatrices<4, false>(query.registers, left + depth);
      std::uint32_t registers[4];
      loadMatrices<4, false>(registers, right + depth);
      multiplyAccumulate(scores[0], query, {{registers[0], registers[1]}});
      multiplyAccumulate(scores[1], query, {{registers[2], registers[3]}});
    }
  }

  SPANSCOPE_DEVICE void multiplyValues(int stage, const SumFragment (&weights)[kSliceColumns],
                                       SumFragment (&sums)[kValueColumns]) const {
    const int matrix = laneIndex() / 8;
    const int row = laneIndex() % 8;
    const Bf16* const right = valuesOf(stage) + (matrix % 2 * 8 + row) * kStride + matrix / 2 * 8;
    const LeftFragment left = leftOf(weights[0], weights[1]);
    SPANSCOPE_UNROLL
    for (int element = 0; element < kValueColumns; element += 2) {
      std::uint32_t registers[4];
      loadMatrices<4, true>(registers, right + element * kColumns);
      multiplyAccumulate(sums[element], left, {{registers[0], registers[1]}});
      multiplyAccumulate(sums[element + 1], left, {{registers[2], registers[3]}});
    }
  }

  SPANSCOPE_DEVICE void keepScores(int slice, std::uint32_t seen, float scale,
                                   const SumFragment (&scores)[kSliceColumns]) const {
    SPANSCOPE_UNROLL
    for (int column = 0; column < kSliceColumns; ++column) {
      SPANSCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int head = laneIndex() / 4 + i / 2 * 8;
        const int key = column * kColumns + laneIndex() % 4 * 2 + i % 2;
        if (head >= group || (seen >> static_cast<unsigned>(key) & 1U) == 0) continue;
        const int inChunk = (slice * kSliceKeys + key) % arguments.chunkKeys;
        all[head * arguments.chunkKeys + inChunk] = cappedOf(arguments, scores[column].values[i] * scale);
      }
    }
  }
};

}  // namespace

/// A block for each item and key head.
template <int HeadSize>
SPANSCOPE_KERNEL(kTensorDecodeBudget<HeadSize>)
tensorDecodeKernel(DecodeAttentionArguments arguments) {
  using Work = TensorDecoding<HeadSize>;
  const DecodeItem item = arguments.items[blockIndex().x];
  const int group = arguments.queryHeads / arguments.pool.heads;
  const int keyHead = blockIndex().y;
  const bool hasMass = arguments.itemStretches > 0;
  SharedMemory shared;
  Bf16* const queries = shared.take<Bf16>(kTensorDecodePairs * Work::kStride);
  Bf16* const slices = shared.take<Bf16>(kWarps * tensorDecodeSliceElements(HeadSize));
  PartialSum* const warpSums = shared.take<PartialSum>(kWarps * kTensorDecodePairs);
  float* const all = shared.take<float>(hasMass ? group * arguments.chunkKeys : 0);
  if (item.row < 0) return;
  Bf16* const own = slices + warpIndex() * tensorDecodeSliceElements(HeadSize);
  const Work work{arguments,
                  item,
                  keyHead,
                  group,
                  endOf(item, arguments.locals),
                  item.firstChoice == DecodeItem::kReadsAll
                      ? nullptr
                      : arguments.chosen + keyHead * arguments.choiceBlocks + item.firstChoice,
                  queries,
                  own,
                  all};
  work.turnQueries();
  if (hasMass) {
    for (int i = threadIndex(); i < group * arguments.chunkKeys; i += threadCount()) all[i] = kMinusInfinity;
  }

  // Slices are counted from position 0 of the segment. The grouping of sums then depends only on the keys.
  const int firstSlice = item.begin / kSliceKeys;
  int slice = firstSlice + (warpIndex() - firstSlice % kWarps + kWarps) % kWarps;
  std::int64_t places = -1;
  bool hasSlice = work.seek(slice, places);
  if (hasSlice) work.start(places, 0);
  commitCopies();
  syncBlock();  // queries are rotated

  const float scale = powerScaleOf(arguments, item.row);
  PartialSum rows[2] = {{kMinusInfinity, 0}, {kMinusInfinity, 0}};
  SumFragment sums[Work::kValueColumns];
  SPANSCOPE_UNROLL
  for (int column = 0; column < Work::kValueColumns; ++column) sums[column] = {{0, 0, 0, 0}};
  int stage = 0;
  while (hasSlice) {
    const std::uint32_t seen = ballot(places >= 0);
    const int current = slice;
    slice += kWarps;
    hasSlice = work.seek(slice, places);
    if constexpr (Work::kStages == 2) {
      if (hasSlice) work.start(places, 1 - stage);
      commitCopies();
      waitCopies<1>();
    } else {
      waitCopies<0>();
    }
    syncWarp();  // the slice has arrived
    SumFragment scores[kSliceColumns];
    work.multiplyKeys(stage, scores);
    if (hasMass) work.keepScores(current, seen, scale, scores);
    const float left = capScores(arguments, scores, {scale, scale}) ? 1.0F : scale;
    weigh(
        scores, {left, left}, [&](int key, int) { return (seen >> static_cast<unsigned>(key) & 1U) != 0; },
        rows, sums);
    work.multiplyValues(stage, scores, sums);
    syncWarp();  // the slice has been read
    if constexpr (Work::kStages == 2) {
      stage = 1 - stage;
    } else {
      if (hasSlice) work.start(places, 0);
      commitCopies();
    }
  }
  waitCopies<0>();

  // Each warp writes its sums to the place of its slices.
  auto* const left = reinterpret_cast<float*>(own);
  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float sum = sumOfLanes(rows[half].sum);
    const int head = laneIndex() / 4 + 8 * half;
    if (head >= group) continue;
    if (laneIndex() % 4 == 0) warpSums[warpIndex() * kTensorDecodePairs + head] = {rows[half].largest, sum};
    SPANSCOPE_UNROLL
    for (int column = 0; column < Work::kValueColumns; ++column) {
      float* const target = left + head * HeadSize + column * kColumns + laneIndex() % 4 * 2;
      target[0] = sums[column].values[2 * half];
      target[1] = sums[column].values[2 * half + 1];
    }
  }
  syncBlock();
  const auto largestOf = [&](int head) {
    float largest = kMinusInfinity;
    for (int warp = 0; warp < kWarps; ++warp) {
      const float other = warpSums[warp * kTensorDecodePairs + head].largest;
      largest = other > largest ? other : largest;
    }
    return largest;
  };
  for (int i = threadIndex(); i < group * HeadSize; i += threadCount()) {
    const int head = i / HeadSize;
    const float largest = largestOf(head);
    PartialSum total{largest, 0};
    float value = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      const PartialSum each = warpSums[warp * kTensorDecodePairs + head];
      if (each.sum == 0) continue;
      const float factor = exp2Fast(each.largest - largest);
      const auto* const values =
          reinterpret_cast<const float*>(slices + warp * tensorDecodeSliceElements(HeadSize));
      total.sum = multiplyAdd(each.sum, factor, total.sum);
      value = multiplyAdd(values[i], factor, value);
    }
    const std::int64_t place = decodePlaceOf(arguments, keyHead * group + head);
    arguments.partialValues[place * HeadSize + i % HeadSize] = value;
    if (i % HeadSize == 0) arguments.partialSums[place] = total;
  }
  if (item.massSpan == 0 || work.end <= item.begin) return;
  for (int head = warpIndex(); head < group; head += kWarps) {
    storeMass(arguments, item, keyHead * group + head, all + head * arguments.chunkKeys,
              item.begin / arguments.chunkKeys * arguments.chunkKeys, work.end, largestOf(head));
  }
}

void sumOnTensorCores(Stream& stream, const DecodeAttentionArguments& arguments) {
  const KeyValuePool& pool = arguments.pool;
  const int group = arguments.queryHeads / pool.heads;
  const int massKeys = arguments.itemStretches > 0 ? arguments.chunkKeys : 0;
  const auto run = [&]<int HeadSize>() {
    launch(stream, "decodeAttention",
           {.grid = {arguments.itemCount, pool.heads},
            .threads = kTensorDecodeThreads,
            .sharedBytes = tensorDecodeSharedBytes(HeadSize, group, massKeys)},
           tensorDecodeKernel<HeadSize>, arguments);
  };
  if (arguments.chunkKeys % kSliceKeys == 0 && !pool.isFloat && forTensorHeadSize(pool.headSize, run)) return;
  throw Failure(errorAt("attention on tensor cores",
                        "heads of " + std::to_string(pool.headSize) + (pool.isFloat ? ", f32" : ", bf16") +
                            ", chunks of " + std::to_string(arguments.chunkKeys),
                        "heads of 16, 32, 64, 80, 96, 128 or 256 in bf16, chunks of a multiple of 16"));
}

}  // namespace spanscope::cuda
