// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kWidth = 2 * static_cast<std::int64_t>(kLanes);

/// The two vectors that one k of a panel consists of.
struct PanelVectors {
  FloatVector first;
  FloatVector second;
};

HWY_INLINE PanelVectors loadPanel(const float* panel) {
  const FloatTag d;
  return {hn::LoadU(d, panel), hn::LoadU(d, panel + kLanes)};
}

HWY_INLINE PanelVectors loadPanel(const std::uint16_t* panel) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> words;
#if HWY_TARGET == HWY_SCALAR
  std::uint32_t word = 0;
  std::memcpy(&word, panel, sizeof word);
  const auto pairs = hn::Set(words, word);
#else
  const hn::Repartition<std::uint16_t, FloatTag> halves;
  const auto pairs = hn::BitCast(words, hn::LoadU(halves, panel));
#endif
  return {hn::BitCast(d, hn::ShiftLeft<16>(pairs)),
          hn::BitCast(d, hn::And(pairs, hn::Set(words, 0xFFFF0000U)))};
}

/// sums[row][panel] (+)= Σ over `count` k of rows[k][row] · panels[panel][k]. The sums of panel p begin at
/// sums + p · sumStride and have rows of kWidth.
template <int kRows, int kPanels, class Element>
void multiply(const float* HWY_RESTRICT rows, const Element* HWY_RESTRICT panels, std::int64_t panelStride,
              std::int64_t count, float* HWY_RESTRICT sums, std::int64_t sumStride, bool isFirst) {
  const FloatTag d;
  FloatVector acc[kPanels][kRows][2];
  SPANSCOPE_UNROLL
  for (int p = 0; p < kPanels; ++p) {
    SPANSCOPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const float* sum = sums + p * sumStride + r * kWidth;
      acc[p][r][0] = isFirst ? hn::Zero(d) : hn::LoadU(d, sum);
      acc[p][r][1] = isFirst ? hn::Zero(d) : hn::LoadU(d, sum + kLanes);
    }
  }
  for (std::int64_t k = 0; k < count; ++k) {
    SPANSCOPE_UNROLL
    for (int p = 0; p < kPanels; ++p) {
      const PanelVectors panel = loadPanel(panels + p * panelStride);
      SPANSCOPE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const FloatVector x = hn::Set(d, rows[r]);
        acc[p][r][0] = hn::MulAdd(x, panel.first, acc[p][r][0]);
        acc[p][r][1] = hn::MulAdd(x, panel.second, acc[p][r][1]);
      }
    }
    rows += kRows;
    panels += kWidth;
  }
  SPANSCOPE_UNROLL
  for (int p = 0; p < kPanels; ++p) {
    SPANSCOPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      float* sum = sums + p * sumStride + r * kWidth;
      hn::StoreU(acc[p][r][0], d, sum);
      hn::StoreU(acc[p][r][1], d, sum + kLanes);
    }
  }
}

template <class Element>
using Multiply = void (*)(const float*, const Element*, std::int64_t, std::int64_t, float*, std::int64_t,
                          bool);

/// How many panels go through at once with so many rows: enough sums to keep the multipliers busy, no more
/// than the registers hold.
constexpr int panelsAtOnce(int rows) {
  return std::max(1, std::min(4, kRowTile / rows));
}

template <class Element, int... kRow>
constexpr std::array<Multiply<Element>, sizeof...(kRow)> groupTable(std::integer_sequence<int, kRow...>) {
  return {&multiply<kRow + 1, panelsAtOnce(kRow + 1), Element>...};
}

template <class Element, int... kRow>
constexpr std::array<Multiply<Element>, sizeof...(kRow)> singleTable(std::integer_sequence<int, kRow...>) {
  return {&multiply<kRow + 1, 1, Element>...};
}

/// Adds up what the block's tiles left in `sums`, bias and the former result, in this order.
void finish(const MatmulJob& job, std::int64_t firstRow, std::int64_t rows, std::int64_t firstPanel,
            std::int64_t panels, const float* sums, std::int64_t sumStride) {
  const FloatTag d;
  for (std::int64_t r = 0; r < rows; ++r) {
    float* outRow = job.out + (firstRow + r) * job.features;
    for (std::int64_t p = 0; p < panels; ++p) {
      const float* sum = sums + p * sumStride + r * kWidth;
      const std::int64_t feature = (firstPanel + p) * kWidth;
      if (feature + kWidth <= job.features) {
        for (std::int64_t i = 0; i < kWidth; i += static_cast<std::int64_t>(kLanes)) {
          auto value = hn::LoadU(d, sum + i);
          if (job.bias != nullptr) value = hn::Add(value, hn::LoadU(d, job.bias + feature + i));
          if (job.accumulate) value = hn::Add(value, hn::LoadU(d, outRow + feature + i));
          hn::StoreU(value, d, outRow + feature + i);
        }
      } else {
        for (std::int64_t i = 0; feature + i < job.features; ++i) {
          float value = sum[i];
          if (job.bias != nullptr) value += job.bias[feature + i];
          if (job.accumulate) value += outRow[feature + i];
          outRow[feature + i] = value;
        }
      }
    }
  }
}

template <class Element>
void blockOf(const MatmulJob& job, std::int64_t rowBlock, std::int64_t panelBlock, float* sums) {
  constexpr auto kGroups = groupTable<Element>(std::make_integer_sequence<int, kRowTile>());
  constexpr auto kSingles = singleTable<Element>(std::make_integer_sequence<int, kRowTile>());
  const std::int64_t firstRow = rowBlock * job.rowBlock;
  const std::int64_t rows = std::min(job.rowBlock, job.rows - firstRow);
  const std::int64_t firstPanel = panelBlock * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t panelStride = job.columns * kWidth;
  const std::int64_t sumStride = job.rowBlock * kWidth;
  const Element* weights = job.weight->data<Element>() + firstPanel * panelStride;

  for (std::int64_t k = 0; k < job.columns; k += job.columnBlock) {
    const std::int64_t count = std::min(job.columnBlock, job.columns - k);
    std::int64_t panel = 0;
    while (panel < panels) {
      const Element* at = weights + panel * panelStride + k * kWidth;
      float* panelSums = sums + panel * sumStride;
      std::int64_t group = 1;
      for (std::int64_t row = 0; row < rows; row += kRowTile) {
        const std::int64_t tileRows = std::min<std::int64_t>(kRowTile, rows - row);
        const auto index = static_cast<std::size_t>(tileRows - 1);
        const float* packed = job.packedRows + (firstRow + row) * job.columns + k * tileRows;
        // A single tile of few rows takes several panels at once.
        if (rows == tileRows) group = panelsAtOnce(static_cast<int>(tileRows));
        if (group > panels - panel) group = 1;
        const auto& table = group > 1 ? kGroups : kSingles;
        table[index](packed, at, panelStride, count, panelSums + row * kWidth, sumStride, k == 0);
      }
      panel += group;
    }
  }
  finish(job, firstRow, rows, firstPanel, panels, sums, sumStride);
}

void block(const MatmulJob& job, std::int64_t rowBlock, std::int64_t panelBlock, float* sums) {
  if (job.weight->type() == compute::DType::BF16) {
    blockOf<std::uint16_t>(job, rowBlock, panelBlock, sums);
  } else {
    blockOf<float>(job, rowBlock, panelBlock, sums);
  }
}

template <int kRows>
void packTile(const float* x, std::int64_t columns, float* packed) {
  for (std::int64_t k = 0; k < columns; ++k) {
    for (int r = 0; r < kRows; ++r) packed[k * kRows + r] = x[r * columns + k];
  }
}

template <int... kRow>
void packTileOf(std::int64_t rows, const float* x, std::int64_t columns, float* packed,
                std::integer_sequence<int, kRow...> /*unused*/) {
  constexpr std::array<void (*)(const float*, std::int64_t, float*), sizeof...(kRow)> kTable = {
      &packTile<kRow + 1>...};
  kTable[static_cast<std::size_t>(rows - 1)](x, columns, packed);
}

void packRows(const float* x, std::int64_t first, std::int64_t last, std::int64_t columns, float* packed) {
  for (std::int64_t row = first; row < last; row += kRowTile) {
    packTileOf(std::min<std::int64_t>(kRowTile, last - row), x + row * columns, columns,
               packed + row * columns, std::make_integer_sequence<int, kRowTile>());
  }
}

}  // namespace

MatmulKernels targetMatmulKernels() {
  return {kWidth, kRowTile, &packRows, &block};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spanscope::cpu {

HWY_EXPORT(targetMatmulKernels);

MatmulKernels matmulKernels() {
  return HWY_DYNAMIC_DISPATCH(targetMatmulKernels)();
}

}  // namespace spanscope::cpu
#endif
