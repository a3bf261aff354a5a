// SPDX-License-Identifier: GPL-3.0-or-later
// The two products of attention on the keys of a tile. The products are scores of query vectors with keys,
// and sums of values by weights. The result of a query vector has the same bits for any other query vectors.
// The file is compiled once per instruction set. Open this file to speed up attention.

#if defined(SPANSCOPE_KERNELS_CPU_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPANSCOPE_KERNELS_CPU_ATTENTION_PRODUCTS_INL_H_
#undef SPANSCOPE_KERNELS_CPU_ATTENTION_PRODUCTS_INL_H_
#else
#define SPANSCOPE_KERNELS_CPU_ATTENTION_PRODUCTS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/simd-inl.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kStep = static_cast<std::int64_t>(kLanes);
constexpr std::int64_t kWidth = 2 * kStep;
// Scores of a tile are stored in whole vectors. The last vector may extend beyond the tile.
constexpr std::int64_t kScoreStride = kMostTileKeys + kWidth;
constexpr std::int64_t kFewQueries = 6;

/// Whether to prefetch values while keys are read. With few queries, memory is slower than the arithmetic.
/// Each line is requested once. There is one request for each read key, because a core drops requests that do
/// not fit its queue. A core prefetches keys itself.
template <int kQueries>
constexpr bool kFetchesAhead = kQueries <= kFewQueries;

/// Elements or keys per turn of a loop. The loop's own steps take much of the time of many multiply-adds.
constexpr std::int64_t kTurn = 4;

/// Prefetches a line into the second-level cache. For the first level, a core has too few pending lines to
/// use the full memory rate.
HWY_INLINE void fetch(const void* line) {
  __builtin_prefetch(line, 0, 2);
}

template <std::int64_t kLines, class Element>
HWY_INLINE void fetchLines(const Element* from, const Element* end) {
  for (std::int64_t line = 0; line < kLines; ++line, from += 64 / sizeof(Element)) {
    if (from < end) fetch(from);
  }
}

/// The place of a vector of keys, and the place of its scores.
template <class Element>
struct KeyVector {
  const Element* keys = nullptr;
  float* scores = nullptr;
  const Element* values = nullptr;  ///< values of the keys in this vector
  std::int64_t fetched = 0;         ///< number of keys whose values were prefetched
};

/// Adds the products of an element of a head, of queries and vectors of keys. The vectors then move to the
/// next element.
template <int kQueries, int kVectors, class Element>
HWY_INLINE void addProducts(const float* rotated, std::int64_t headSize, std::int64_t blockSize,
                            std::array<KeyVector<Element>, kVectors>& vectors,
                            FloatVector (&acc)[kQueries][kVectors]) {
  const FloatTag d;
  FloatVector key[kVectors];
  SPANSCOPE_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    key[v] = widen(d, vectors[v].keys);
    vectors[v].keys += blockSize;
  }
  SPANSCOPE_UNROLL
  for (int q = 0; q < kQueries; ++q) {
    const FloatVector element = hn::Set(d, rotated[q * headSize]);
    SPANSCOPE_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[q][v] = hn::MulAdd(element, key[v], acc[q][v]);
  }
}

/// scores[query][i] = ⟨rotated[query], key i⟩ for kVectors vectors of keys, of one block or of several
/// blocks.
template <int kQueries, int kVectors, bool kFetches, class Element>
HWY_INLINE void scoreVectors(const float* rotated, std::int64_t headSize, std::int64_t blockSize,
                             std::array<KeyVector<Element>, kVectors> vectors) {
  const FloatTag d;
  FloatVector acc[kQueries][kVectors];
  SPANSCOPE_UNROLL
  for (int q = 0; q < kQueries; ++q) {
    SPANSCOPE_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[q][v] = hn::Zero(d);
  }
  if constexpr (kFetches) {
    // Prefetches the values of one vector after the other, during the loop over the elements.
    constexpr std::int64_t kLine = 64 / sizeof(Element);
    constexpr std::int64_t kElements = std::max<std::int64_t>(1, kLine / (kVectors * kStep));
    constexpr std::int64_t kLines = kElements * kVectors * kStep / kLine;
    std::int64_t i = 0;
    for (int part = 0; part < kVectors; ++part) {
      const std::int64_t to = (part + 1) * headSize / kVectors;
      const Element* values = vectors[part].values;
      const Element* const valuesEnd = values + vectors[part].fetched * headSize;
      for (std::int64_t waiting = 0; i < to; ++i) {
        if (--waiting < 0) {
          waiting = kElements - 1;
          fetchLines<kLines>(values, valuesEnd);
          values += kLines * kLine;
        }
        addProducts<kQueries, kVectors, Element>(rotated + i, headSize, blockSize, vectors, acc);
      }
    }
  } else {
    std::int64_t i = 0;
    for (; i + kTurn <= headSize; i += kTurn) {
      SPANSCOPE_UNROLL
      for (std::int64_t at = 0; at < kTurn; ++at)
        addProducts<kQueries, kVectors, Element>(rotated + i + at, headSize, blockSize, vectors, acc);
    }
    for (; i < headSize; ++i)
      addProducts<kQueries, kVectors, Element>(rotated + i, headSize, blockSize, vectors, acc);
  }
  SPANSCOPE_UNROLL
  for (int q = 0; q < kQueries; ++q) {
    SPANSCOPE_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::StoreU(acc[q][v], d, vectors[v].scores + q * kScoreStride);
  }
}

/// `kFetches`: whether to prefetch the values for the next product.
template <int kQueries, bool kFetches, class Element>
HWY_INLINE void scoreInPairs(std::span<const KeyPiece<Element>> pieces, std::int64_t blockSize,
                             const float* rotated, std::int64_t headSize, float* scores) {
  // Two vectors at a time, from consecutive blocks: a query's element is loaded once for both.
  KeyVector<Element> waiting;
  for (const KeyPiece<Element>& piece : pieces) {
    for (std::int64_t i = 0; i < piece.count; i += kStep) {
      const KeyVector<Element> vector{.keys = piece.keys + i,
                                      .scores = scores + piece.at + i,
                                      .values = piece.values + i * headSize,
                                      .fetched = std::min(piece.count - i, kStep)};
      if (waiting.keys == nullptr) {
        waiting = vector;
        continue;
      }
      scoreVectors<kQueries, 2, kFetches, Element>(rotated, headSize, blockSize, {waiting, vector});
      waiting.keys = nullptr;
    }
  }
  if (waiting.keys != nullptr)
    scoreVectors<kQueries, 1, kFetches, Element>(rotated, headSize, blockSize, {waiting});
}

/// `fetches`: whether to prefetch the values if there are few queries.
template <int kQueries, class Element>
void scorePieces(std::span<const KeyPiece<Element>> pieces, std::int64_t blockSize, const float* rotated,
                 std::int64_t headSize, float* scores, bool fetches) {
  if (kFetchesAhead<kQueries> && fetches)
    scoreInPairs<kQueries, kFetchesAhead<kQueries>>(pieces, blockSize, rotated, headSize, scores);
  else
    scoreInPairs<kQueries, false>(pieces, blockSize, rotated, headSize, scores);
}

/// Computes sums[query] = sums[query] · decay[query] + Σ weights[query][i] · values[i], for kVectors vectors
/// of head elements. The sum is over tile keys low … high − 1.
template <int kQueries, int kVectors, class Element>
HWY_INLINE void addValueVectors(const KeyPieces<Element>& pieces, std::int64_t low, std::int64_t high,
                                std::int64_t headSize, const float* HWY_RESTRICT weights,
                                const float* HWY_RESTRICT decay, std::int64_t column,
                                float* HWY_RESTRICT sums, std::int64_t sumStride) {
  const FloatTag d;
  FloatVector acc[kQueries][kVectors];
  SPANSCOPE_UNROLL
  for (int q = 0; q < kQueries; ++q) {
    const FloatVector factor = hn::Set(d, decay[q]);
    SPANSCOPE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      acc[q][v] = hn::Mul(hn::LoadU(d, sums + q * sumStride + column + v * kStep), factor);
    }
  }
  for (const KeyPiece<Element>& piece : pieces) {
    const std::int64_t from = std::max(low, piece.at);
    const std::int64_t to = std::min(high, piece.at + piece.count);
    const Element* value = piece.values + (from - piece.at) * headSize + column;
    const auto add = [&](std::int64_t i) HWY_ATTR {
      FloatVector part[kVectors];
      SPANSCOPE_UNROLL
      for (int v = 0; v < kVectors; ++v) part[v] = widen(d, value + v * kStep);
      SPANSCOPE_UNROLL
      for (int q = 0; q < kQueries; ++q) {
        const FloatVector weight = hn::Set(d, weights[q * kScoreStride + i]);
        SPANSCOPE_UNROLL
        for (int v = 0; v < kVectors; ++v) acc[q][v] = hn::MulAdd(weight, part[v], acc[q][v]);
      }
      value += headSize;
    };
    std::int64_t i = from;
    if constexpr (kQueries > kFewQueries / 2) {
      for (; i + kTurn <= to; i += kTurn) {
        add(i);
        add(i + 1);
        add(i + 2);
        add(i + 3);
      }
    }
    for (; i < to; ++i) add(i);
  }
  SPANSCOPE_UNROLL
  for (int q = 0; q < kQueries; ++q) {
    SPANSCOPE_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::StoreU(acc[q][v], d, sums + q * sumStride + column + v * kStep);
  }
}

template <int kQueries, class Element>
void addValues(const KeyPieces<Element>& pieces, std::int64_t low, std::int64_t high, std::int64_t headSize,
               const float* weights, const float* decay, float* sums, std::int64_t sumStride) {
  std::int64_t column = 0;
  // Few queries wait for memory, which is fastest in order. The registers have 2 sums of kRowTile queries, or
  // 4 sums of half that number.
  if constexpr (2 * kQueries <= kRowTile) {
    for (; column + 3 * kStep < headSize; column += 2 * kWidth) {
      addValueVectors<kQueries, 4>(pieces, low, high, headSize, weights, decay, column, sums, sumStride);
    }
  }
  for (; column + kStep < headSize; column += kWidth) {
    addValueVectors<kQueries, 2>(pieces, low, high, headSize, weights, decay, column, sums, sumStride);
  }
  if (column < headSize) {
    addValueVectors<kQueries, 1>(pieces, low, high, headSize, weights, decay, column, sums, sumStride);
  }
}

template <class Element>
using ScorePieces = void (*)(std::span<const KeyPiece<Element>>, std::int64_t, const float*, std::int64_t,
                             float*, bool);
template <class Element>
using AddValues = void (*)(const KeyPieces<Element>&, std::int64_t, std::int64_t, std::int64_t, const float*,
                           const float*, float*, std::int64_t);

template <class Element, int... kQuery>
constexpr std::array<ScorePieces<Element>, sizeof...(kQuery)> scoreTable(
    std::integer_sequence<int, kQuery...>) {
  return {&scorePieces<kQuery + 1, Element>...};
}
template <class Element, int... kQuery>
constexpr std::array<AddValues<Element>, sizeof...(kQuery)> valueTable(
    std::integer_sequence<int, kQuery...>) {
  return {&addValues<kQuery + 1, Element>...};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#endif
