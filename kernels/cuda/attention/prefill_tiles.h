// SPDX-License-Identifier: GPL-3.0-or-later
// Tiles of keys and values for the attention kernels on tensor cores. Open this file before you change these
// kernels.
//
// Each warp has 16 pairs. For each tile of keys, the warp multiplies:
//
//    scores (16 × 64) = queries (16 × headSize) · keysᵀ
//
//    sums (16 × headSize) += weights (16 × 64) · values
//
// The stored keys are the right factor by columns. The values are transposed during loading. The weights
// never leave the warp's registers. The layout of a sum is also the layout of a left factor. Two tiles of a
// sum with 8 columns each make one tile of a left factor with 16 columns. Keys are copied while values are
// multiplied, and the other way round.
#pragma once

#include "kernels/cuda/attention/partial_sum.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/attention/row_scale.h"
#include "kernels/cuda/device.h"

namespace spanscope::cuda {

inline constexpr int kWarpPairs = 16;  ///< rows of a product of tensor cores
inline constexpr int kWarpKeys =
    kPrefillTileKeys / (kPrefillThreads / kWarpSize);  ///< number of keys that a warp copies
inline constexpr int kDepth = 16;                      ///< of a product of tensor cores
inline constexpr int kColumns = 8;                     ///< of a product of tensor cores
inline constexpr int kKeyColumns = kPrefillTileKeys / kColumns;
inline constexpr int kVector = 8;  ///< number of elements in one copy

/// Returns two tiles of sums with 8 columns each, as a left factor with 16 columns.
SPANSCOPE_DEVICE LeftFragment leftOf(const SumFragment& low, const SumFragment& high) {
  return {{packBf16(low.values[0], low.values[1]), packBf16(low.values[2], low.values[3]),
           packBf16(high.values[0], high.values[1]), packBf16(high.values[2], high.values[3])}};
}

/// The work of one thread block: some pairs of a run and a key head.
template <int HeadSize>
struct Prefill {
  static constexpr int kStride = prefillRowStride(HeadSize);
  static constexpr int kValueColumns = HeadSize / kColumns;

  const PrefillAttentionArguments& arguments;
  PrefillRun run;
  int firstPair;
  int keyHead;
  int group;

  // Shared memory.
  Bf16* queries;  ///< [kPrefillTilePairs][kStride], rotated; each warp has its own rows
  Bf16* keys;     ///< [kPrefillTileKeys][kStride]
  Bf16* values;   ///< [kPrefillTileKeys][kStride]

  SPANSCOPE_DEVICE bool isPair(int pair) const { return firstPair + pair < run.rowCount * group; }
  SPANSCOPE_DEVICE int rowOf(int pair) const { return run.firstRow + (firstPair + pair) / group; }
  SPANSCOPE_DEVICE int headOf(int pair) const { return keyHead * group + (firstPair + pair) % group; }

  /// Returns the pairs whose sums this lane has.
  SPANSCOPE_DEVICE static int ownPair(int half) {
    return warpIndex() * kWarpPairs + laneIndex() / 4 + 8 * half;
  }
  /// Positions ascend. The first pair of the thread block reads from the first key on. The last pair reads up
  /// to the last key.
  SPANSCOPE_DEVICE int firstLocal() const { return arguments.locals[rowOf(0)]; }
  SPANSCOPE_DEVICE int lastLocal() const {
    const int left = run.rowCount * group - firstPair;
    return arguments.locals[rowOf((left < kPrefillTilePairs ? left : kPrefillTilePairs) - 1)];
  }

  /// Rotates the warp's queries for one range. The query vectors can be read after the next barrier.
  SPANSCOPE_DEVICE void turnQueries(const PrefillRange& range) const {
    constexpr int kPairs = HeadSize / 2;
    const int padding = arguments.pool.padding;
    const int pairs = kPairs - padding / 2;
    const int size = 2 * pairs;
    for (int i = laneIndex(); i < kWarpPairs * kPairs; i += kWarpSize) {
      const int pair = warpIndex() * kWarpPairs + i / kPairs;
      const int element = i % kPairs;
      if (element >= pairs) continue;
      Bf16* const target = queries + pair * kStride + element;
      float first = 0;
      float second = 0;
      if (isPair(pair)) {
        const int row = rowOf(pair);
        const Bf16* const source =
            arguments.queries + row * arguments.queryStride + headOf(pair) * size + element;
        const std::int64_t place = range.rotation + arguments.locals[row];
        const float* const cosSin = arguments.cosSin + place * size + element;
        const float a = toFloat(source[0]);
        const float b = toFloat(source[pairs]);
        first = a * cosSin[0] - b * cosSin[pairs];
        second = b * cosSin[0] + a * cosSin[pairs];
      }
      target[0] = toBf16(first);
      target[pairs] = toBf16(second);
    }
    for (int i = laneIndex(); i < kWarpPairs * padding; i += kWarpSize)
      queries[(warpIndex() * kWarpPairs + i / padding) * kStride + size + i % padding] = toBf16(0);
  }

  /// Returns the places of the keys of a tile that the warp copies. Lane i and lane i + 16 have the place of
  /// the i-th of 16 keys. The place is below 0 outside of begin … end − 1. Finding a block takes a division
  /// and a load, which is too slow for every 16 bytes.
  SPANSCOPE_DEVICE std::int64_t findKeys(const PrefillRange& range, int begin, int end, int tile) const {
    const KeyValuePool& pool = arguments.pool;
    const int local = tile * kPrefillTileKeys + warpIndex() * kWarpKeys + laneIndex() % kWarpKeys;
    if (local < begin || local >= end) return -1;
    const std::int64_t block = arguments.blocks[range.firstBlock + local / pool.blockSize];
    return pool.placeOf(arguments.layer, block, keyHead) + local % pool.blockSize * HeadSize;
  }

  /// Starts to copy a tile of keys or values. Elements outside of the keys become 0.
  SPANSCOPE_DEVICE void startTile(std::int64_t places, const void* memory, Bf16* target) const {
    constexpr int kVectors = HeadSize / kVector;
    static_assert(kWarpKeys * kVectors % kWarpSize == 0, "every lane has as many");
    Bf16* const own = target + warpIndex() * kWarpKeys * kStride;
    // The addresses of several simultaneous copies would take registers that the sums need.
    SPANSCOPE_ROLLED
    for (int i = 0; i < kWarpKeys * kVectors / kWarpSize; ++i) {
      const int vector = i * kWarpSize + laneIndex();
      const int key = vector / kVectors;
      const int element = vector % kVectors * kVector;
      const std::int64_t place = shuffle(places, key);
      const Bf16* const source = static_cast<const Bf16*>(memory) + (place < 0 ? 0 : place + element);
      copyAsync16(own + key * kStride + element, source, place < 0 ? 0 : 16);
    }
  }

  SPANSCOPE_DEVICE void multiplyKeys(SumFragment (&scores)[kKeyColumns]) const {
    SPANSCOPE_UNROLL
    for (int column = 0; column < kKeyColumns; ++column) scores[column] = {{0, 0, 0, 0}};
    const int matrix = laneIndex() / 8;
    const int row = laneIndex() % 8;
    const Bf16* const left =
        queries + (warpIndex() * kWarpPairs + matrix % 2 * 8 + row) * kStride + matrix / 2 * 8;
    const Bf16* const right = keys + (matrix / 2 * 8 + row) * kStride + matrix % 2 * 8;
    SPANSCOPE_UNROLL
    for (int depth = 0; depth < HeadSize; depth += kDepth) {
      LeftFragment query;
      loadMatrices<4, false>(query.registers, left + depth);
      SPANSCOPE_UNROLL
      for (int column = 0; column < kKeyColumns; column += 2) {
        std::uint32_t registers[4];
        loadMatrices<4, false>(registers, right + column * kColumns * kStride + depth);
        multiplyAccumulate(scores[column], query, {{registers[0], registers[1]}});
        multiplyAccumulate(scores[column + 1], query, {{registers[2], registers[3]}});
      }
    }
  }

  SPANSCOPE_DEVICE void multiplyValues(const SumFragment (&weights)[kKeyColumns],
                                       SumFragment (&sums)[kValueColumns]) const {
    const int matrix = laneIndex() / 8;
    const int row = laneIndex() % 8;
    const Bf16* const right = values + (matrix % 2 * 8 + row) * kStride + matrix / 2 * 8;
    SPANSCOPE_UNROLL
    for (int column = 0; column < kKeyColumns; column += 2) {
      const LeftFragment left = leftOf(weights[column], weights[column + 1]);
      SPANSCOPE_UNROLL
      for (int element = 0; element < kValueColumns; element += 2) {
        std::uint32_t registers[4];
        loadMatrices<4, true>(registers, right + column * kColumns * kStride + element * kColumns);
        multiplyAccumulate(sums[element], left, {{registers[0], registers[1]}});
        multiplyAccumulate(sums[element + 1], left, {{registers[2], registers[3]}});
      }
    }
  }
};

/// The two rows of a sum fragment with elements in this lane: lane / 4, and 8 rows further.
struct LaneRows {
  int begins[2];       ///< first key that the row reads
  int limits[2];       ///< one past the last key that the row reads
  PartialSum sums[2];  ///< `largest` is over the keys of all lanes, `sum` over the keys of this lane
};

/// Scales and bounds the scores of a tile, if there is a soft cap. Returns whether there is one.
template <class Arguments, int KeyColumns>
SPANSCOPE_DEVICE bool capScores(const Arguments& arguments, SumFragment (&scores)[KeyColumns],
                                const float (&scales)[2]) {
  if (!(arguments.softCap > 0)) return false;
  SPANSCOPE_UNROLL
  for (int column = 0; column < KeyColumns; ++column) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < 4; ++i)
      scores[column].values[i] = cappedOf(arguments, scores[column].values[i] * scales[i / 2]);
  }
  return true;
}

/// Turns the scores of a tile into weights, and scales the sums so far to the new largest score. The function
/// isSeen(key, half) returns whether this row of the lane reads a key of the tile.
template <int KeyColumns, int Columns, class Seen>
SPANSCOPE_DEVICE void weigh(SumFragment (&scores)[KeyColumns], const float (&scales)[2], const Seen& isSeen,
                            PartialSum (&rows)[2], SumFragment (&sums)[Columns]) {
  float largest[2] = {kMinusInfinity, kMinusInfinity};
  SPANSCOPE_UNROLL
  for (int column = 0; column < KeyColumns; ++column) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int key = column * kColumns + laneIndex() % 4 * 2 + i % 2;
      const float score = isSeen(key, i / 2) ? scores[column].values[i] * scales[i / 2] : kMinusInfinity;
      scores[column].values[i] = score;
      largest[i / 2] = score > largest[i / 2] ? score : largest[i / 2];
    }
  }
  float factors[2];
  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    // Four lanes share a row.
    SPANSCOPE_UNROLL
    for (int distance = 1; distance < 4; distance *= 2) {
      const float other = shuffleXor(largest[half], distance);
      largest[half] = other > largest[half] ? other : largest[half];
    }
    const float before = rows[half].largest;
    const float now = largest[half] > before ? largest[half] : before;
    // If a row has read no key yet, every weight is 2^−∞.
    largest[half] = now == kMinusInfinity ? 0.0F : now;
    factors[half] = exp2Fast(before - largest[half]);
    rows[half].largest = now;
    rows[half].sum *= factors[half];
  }
  SPANSCOPE_UNROLL
  for (int column = 0; column < KeyColumns; ++column) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float weight = exp2Fast(scores[column].values[i] - largest[i / 2]);
      scores[column].values[i] = weight;
      rows[i / 2].sum += weight;
    }
  }
  SPANSCOPE_UNROLL
  for (int column = 0; column < Columns; ++column) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) sums[column].values[i] *= factors[i / 2];
  }
}

/// Adds the positions begin … end − 1 of a range to the sums of the lane's rows. Tiles begin at position 0 of
/// the segment. The grouping of sums then depends only on the keys. The whole thread block must call this. On
/// return, copies may still be running, to places that have been read.
template <int HeadSize>
SPANSCOPE_DEVICE void attendRange(const Prefill<HeadSize>& work, const PrefillRange& range, int begin,
                                  int end, LaneRows& rows,
                                  SumFragment (&sums)[Prefill<HeadSize>::kValueColumns]) {
  const KeyValuePool& pool = work.arguments.pool;
  float scales[2] = {0, 0};
  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int pair = work.ownPair(half);
    rows.begins[half] = begin;
    rows.limits[half] = 0;
    if (!work.isPair(pair)) continue;
    scales[half] = powerScaleOf(work.arguments, work.rowOf(pair));
    const int own = work.arguments.locals[work.rowOf(pair)];
    const int first = own + range.windowOffset;
    rows.begins[half] = first > begin ? first : begin;
    rows.limits[half] = range.causal != 0 && own + 1 < end ? own + 1 : end;
  }
  const int firstTile = begin / kPrefillTileKeys;
  const int tileEnd = (end + kPrefillTileKeys - 1) / kPrefillTileKeys;
  std::int64_t places = work.findKeys(range, begin, end, firstTile);
  work.startTile(places, pool.keys, work.keys);
  commitCopies();
  work.turnQueries(range);
  for (int tile = firstTile; tile < tileEnd; ++tile) {
    waitCopies<0>();
    syncBlock();  // the keys have arrived, and the earlier values have been read
    work.startTile(places, pool.values, work.values);
    commitCopies();
    SumFragment scores[kKeyColumns];
    work.multiplyKeys(scores);
    syncBlock();  // the keys have been read
    if (tile + 1 < tileEnd) {
      places = work.findKeys(range, begin, end, tile + 1);
      work.startTile(places, pool.keys, work.keys);
    }
    commitCopies();
    const int firstKey = tile * kPrefillTileKeys;
    const int begins[2] = {rows.begins[0] - firstKey, rows.begins[1] - firstKey};
    const int limits[2] = {rows.limits[0] - firstKey, rows.limits[1] - firstKey};
    const auto isSeen = [&](int key, int half) { return key >= begins[half] && key < limits[half]; };
    const bool isCapped = capScores(work.arguments, scores, scales);
    weigh(scores, {isCapped ? 1.0F : scales[0], isCapped ? 1.0F : scales[1]}, isSeen, rows.sums, sums);
    waitCopies<1>();
    syncBlock();  // the values have arrived
    work.multiplyValues(scores, sums);
  }
}

/// Returns the sums of the weights of all keys. Each lane passes the sum of its own keys.
SPANSCOPE_DEVICE float sumOfLanes(float sum) {
  SPANSCOPE_UNROLL
  for (int distance = 1; distance < 4; distance *= 2) sum += shuffleXor(sum, distance);
  return sum;
}

}  // namespace spanscope::cuda
