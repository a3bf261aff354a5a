// SPDX-License-Identifier: GPL-3.0-or-later
// A block computes 16 columns of one `out` for all rows. The warps of the block take steps of the depth in
// turn, 32 elements each. The sums of the warps are added in the end.
//
// The weight is the left factor of the tensor cores, and x the right one. Therefore 8 rows of x are enough.
// In 16 elements of the depth, a lane needs two pairs, 8 elements apart. The order of the depth is free, but
// must be the same in both factors. A lane takes 8 consecutive elements, 16 bytes, for two products. No data
// then moves between lanes.
//
//    elements of a step   0 1   2 3   4 5   6 7   8 9   …   30 31
//    lane of its row      0     0     0     0     1     …   3
//    word of the lane     0     1     2     3     0     …   3
//    product              0     0     1     1     0     …   1
//    pair of the product  low   high  low   high  low   …   high
//
// Every block reads x, which is small and therefore in the caches. The weights bypass the caches.
#include "engine/base/error.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/product/few_row_product.h"

#include <string>

namespace spanscope::cuda {

namespace {

constexpr int kVector = 8;      ///< number of elements in one load of a lane
constexpr int kStepDepth = 32;  ///< elements that the four lanes of a row load together, for two products
constexpr int kBlockDepth = kFewRowWarps * kStepDepth;  ///< from a warp's step to its next
constexpr int kHalfColumns = 8;  ///< a lane has a row of the weight in each half of the left factor
static_assert(kFewRowColumns == 2 * kHalfColumns && kFewRowThreads % kFewRowColumns == 0);

/// Number of steps that a warp has begun, including the step that the warp multiplies now.
template <int Tiles>
inline constexpr int kBegun = Tiles <= 2 ? 4 : 3;

/// Returns the vector at this place, or 0 after the end of its row. A 0 adds nothing.
SPANSCOPE_DEVICE Words4 weightsAt(const Bf16* place, bool isThere) {
  Words4 words{{0, 0, 0, 0}};
  if (isThere) words = loadOnce16(place);
  return words;
}
SPANSCOPE_DEVICE Words4 elementsAt(const Bf16* place, bool isThere) {
  Words4 words{{0, 0, 0, 0}};
  if (isThere) words = load16(place);
  return words;
}

/// A lane's data of a step.
template <int Tiles>
struct Step {
  Words4 weights[2];   ///< a row in each half
  Words4 rows[Tiles];  ///< of x, one in each tile
};

/// Adds the products of the lanes' data of a step to `sum`, as two products.
SPANSCOPE_DEVICE void multiplyVectors(SumFragment& sum, const Words4 (&weights)[2], const Words4& row) {
  SPANSCOPE_UNROLL
  for (int i = 0; i < 4; i += 2) {
    multiplyAccumulate(
        sum, {{weights[0].words[i], weights[1].words[i], weights[0].words[i + 1], weights[1].words[i + 1]}},
        {{row.words[i], row.words[i + 1]}});
  }
}

/// The weight whose columns a block computes, and the first of these columns.
struct BlockWork {
  FewRowWeight weight;
  int firstColumn;
};
SPANSCOPE_HOST_DEVICE constexpr int blocksOf(int columns) {
  return (columns + kFewRowColumns - 1) / kFewRowColumns;
}
SPANSCOPE_DEVICE BlockWork workOf(const FewRowProduct& product, int block) {
  BlockWork work{product.weights[0], 0};
  SPANSCOPE_UNROLL
  for (int i = 1; i < kMostFewRowWeights; ++i) {
    if (i < product.count && block >= blocksOf(work.weight.columns)) {
      block -= blocksOf(work.weight.columns);
      work.weight = product.weights[i];
    }
  }
  work.firstColumn = block * kFewRowColumns;
  return work;
}

/// Loads the bits of an element of out.
SPANSCOPE_DEVICE std::uint32_t bitsAt(const FewRowWeight& weight, std::int64_t place) {
  if (weight.outIsFloat) return bitsOf(static_cast<const float*>(weight.out)[place]);
  return static_cast<const Bf16*>(weight.out)[place].bits;
}
SPANSCOPE_DEVICE float valueOf(const FewRowWeight& weight, std::uint32_t bits) {
  return weight.outIsFloat ? floatOf(bits) : toFloat(Bf16{static_cast<std::uint16_t>(bits)});
}
SPANSCOPE_DEVICE void store(const FewRowWeight& weight, std::int64_t place, float value) {
  if (weight.outIsFloat) {
    static_cast<float*>(weight.out)[place] = value;
  } else {
    static_cast<Bf16*>(weight.out)[place] = toBf16(value);
  }
}

}  // namespace

template <int Tiles>
SPANSCOPE_KERNEL(kFewRowBudget<Tiles>)
fewRowKernel(FewRowProduct product) {
  constexpr int kRows = Tiles * kFewRowTile;
  constexpr int kElements = (kRows * kFewRowColumns + kFewRowThreads - 1) / kFewRowThreads;
  SharedMemory shared;
  float* const sums = shared.take<float>(fewRowSums(Tiles));
  const BlockWork work = workOf(product, blockIndex().x);
  const FewRowWeight& weight = work.weight;

  const int group = laneIndex() / 4;
  const int firstInStep = laneIndex() % 4 * kVector;
  const int laneDepth = product.depth - firstInStep;
  // All tiles except the last one have all rows.
  const bool hasLast = (Tiles - 1) * kFewRowTile + group < product.rows;
  // The first step of this warp, and the lane's first data. Further steps have a fixed distance.
  int begin = warpIndex() * kStepDepth;
  const Bf16* x = product.x + group * product.xStride + begin + firstInStep;
  const Bf16* weightRows[2];
  SPANSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    // If the column does not exist, the lane recomputes the last column. The result is ignored.
    const int column = work.firstColumn + half * kHalfColumns + group;
    weightRows[half] = weight.elements +
                       (column < weight.columns ? column : weight.columns - 1) * weight.stride + begin +
                       firstInStep;
  }
  // Rows of x are loaded immediately after their weights. Rows of x are in the cache, and must not wait for
  // the weights of later steps.
  const auto start = [&](Step<Tiles>& step, int ahead) {
    const int at = ahead * kBlockDepth;
    const bool isInDepth = begin + at < laneDepth;
    SPANSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) step.weights[half] = weightsAt(weightRows[half] + at, isInDepth);
    SPANSCOPE_UNROLL
    for (int tile = 0; tile < Tiles; ++tile) {
      step.rows[tile] = elementsAt(x + tile * kFewRowTile * product.xStride + at,
                                   isInDepth && (tile + 1 < Tiles || hasLast));
    }
  };

  Step<Tiles> steps[kBegun<Tiles>];
  SPANSCOPE_UNROLL
  for (int ahead = 0; ahead + 1 < kBegun<Tiles>; ++ahead) start(steps[ahead], ahead);

  // Elements of `out` that this thread writes, all in one column. The old values and biases of these elements
  // are loaded with the weights, and used after their arrival.
  const int inColumns = threadIndex() % kFewRowColumns;
  const int outColumn = work.firstColumn + inColumns;
  const auto rowOf = [](int element) { return (element * kFewRowThreads + threadIndex()) / kFewRowColumns; };
  const auto isWanted = [&](int element) {
    return rowOf(element) < product.rows && outColumn < weight.columns;
  };
  const auto placeOf = [&](int element) { return rowOf(element) * weight.outStride + outColumn; };
  float bias = 0;
  if (weight.bias != nullptr && outColumn < weight.columns) bias = weight.bias[outColumn];
  std::uint32_t before[kElements];
  SPANSCOPE_UNROLL
  for (int element = 0; element < kElements; ++element) {
    before[element] = 0;
    if (weight.accumulate && isWanted(element)) before[element] = bitsAt(weight, placeOf(element));
  }

  SumFragment own[Tiles];
  SPANSCOPE_UNROLL
  for (int tile = 0; tile < Tiles; ++tile) own[tile] = {{0, 0, 0, 0}};
  bool isDone = begin >= product.depth;
  SPANSCOPE_ROLLED
  while (!isDone) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < kBegun<Tiles>; ++i) {
      const int ahead = i + kBegun<Tiles> - 1;
      start(steps[ahead % kBegun<Tiles>], ahead);
      SPANSCOPE_UNROLL
      for (int tile = 0; tile < Tiles; ++tile)
        multiplyVectors(own[tile], steps[i].weights, steps[i].rows[tile]);
      // Checked at every step, because the compiler moves no load over a branch, ahead of earlier products.
      isDone = begin + (i + 1) * kBlockDepth >= product.depth;
      if (isDone) break;
    }
    constexpr int kDone = kBegun<Tiles> * kBlockDepth;
    begin += kDone;
    x += kDone;
    SPANSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) weightRows[half] += kDone;
  }

  SPANSCOPE_UNROLL
  for (int tile = 0; tile < Tiles; ++tile) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int row = warpIndex() * kRows + tile * kFewRowTile + laneIndex() % 4 * 2 + i % 2;
      sums[row * kFewRowSumStride + group + i / 2 * kHalfColumns] = own[tile].values[i];
    }
  }
  syncBlock();  // the sums of all warps are there
  SPANSCOPE_UNROLL
  for (int element = 0; element < kElements; ++element) {
    if (!isWanted(element)) continue;
    float sum = 0;
    SPANSCOPE_UNROLL
    for (int warp = 0; warp < kFewRowWarps; ++warp)
      sum += sums[(warp * kRows + rowOf(element)) * kFewRowSumStride + inColumns];
    store(weight, placeOf(element), sum + bias + valueOf(weight, before[element]));
  }
}

namespace {

bool isAligned(const Bf16* elements, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(elements) % 16 == 0 && stride % kVector == 0;
}

}  // namespace

bool takesFewRows(const FewRowProduct& product) {
  if (product.rows > kMostFewRows || product.depth % kVector != 0 || product.count > kMostFewRowWeights)
    return false;
  if (!isAligned(product.x, product.xStride)) return false;
  for (int i = 0; i < product.count; ++i) {
    if (!isAligned(product.weights[i].elements, product.weights[i].stride)) return false;
  }
  return true;
}

void multiplyFewRows(Stream& stream, const FewRowProduct& product) {
  if (!takesFewRows(product)) {
    throw Failure(errorAt(
        "product of few rows",
        std::to_string(product.rows) + " rows of a depth of " + std::to_string(product.depth),
        "at most " + std::to_string(kMostFewRows) + " rows of whole vectors of " + std::to_string(kVector)));
  }
  if (product.rows == 0) return;
  int blocks = 0;
  for (int i = 0; i < product.count; ++i) blocks += blocksOf(product.weights[i].columns);
  const int tiles = (product.rows + kFewRowTile - 1) / kFewRowTile;
  launch(stream, "fewRowProduct",
         {.grid = {blocks}, .threads = kFewRowThreads, .sharedBytes = fewRowSharedBytes(tiles)},
         tiles == 1   ? fewRowKernel<1>
         : tiles == 2 ? fewRowKernel<2>
         : tiles == 3 ? fewRowKernel<3>
                      : fewRowKernel<4>,
         product);
}

}  // namespace spanscope::cuda
