// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/simd-inl.h"
#include "kernels/cpu/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kWidth = 2 * static_cast<std::int64_t>(kLanes);

// How many bytes ahead of the arithmetic a stream of weights is prefetched.
constexpr std::int64_t kAheadBytes = 1024;

/// The two vectors of a panel for one k.
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

HWY_INLINE PanelVectors loadPanel(const F16Bits* panel) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> halves;
  const auto* const elements = reinterpret_cast<const hwy::float16_t*>(panel);
  return {hn::PromoteTo(d, hn::LoadU(halves, elements)),
          hn::PromoteTo(d, hn::LoadU(halves, elements + kLanes))};
}

/// sums[row][panel] (+)= Σ over `count` k of rows[k][row] · panels[panel][k], for panels that come from
/// memory. The sums of panel p begin at sums + p · sumStride and have rows of kWidth.
template <int kRows, int kPanels, class Element>
void multiplyStreams(const float* HWY_RESTRICT rows, const Element* HWY_RESTRICT panels,
                     std::int64_t panelStride, std::int64_t count, float* HWY_RESTRICT sums,
                     std::int64_t sumStride, bool isFirst) {
  constexpr std::int64_t kAhead = kAheadBytes / static_cast<std::int64_t>(sizeof(Element));
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
      // Without this fence, the compiler would keep the rows' elements from one panel to the next. The sums
      // would then move to memory.
      if (p > 0 && kRows > 1) std::atomic_signal_fence(std::memory_order_seq_cst);
      const PanelVectors panel = loadPanel(panels + p * panelStride);
      if (kRows > 1) hwy::Prefetch(panels + p * panelStride + kAhead);  // a single row needs no prefetch
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
using MultiplyStreams = void (*)(const float*, const Element*, std::int64_t, std::int64_t, float*,
                                 std::int64_t, bool);

/// Max number of panels that are processed together for this number of rows. The sums are enough to keep the
/// multipliers busy, and fit in the registers.
constexpr int kMostPanels = 4;
constexpr int mostPanels(int rows) {
  return std::max(1, std::min(kMostPanels, kRowTile / rows));
}

/// multiplyStreams<rows, panels> at [rows − 1][panels − 1].
template <class Element>
using StreamsTable = std::array<std::array<MultiplyStreams<Element>, kMostPanels>, kRowTile>;

template <class Element, int kRows, int... kPanel>
constexpr std::array<MultiplyStreams<Element>, kMostPanels> streamsRow(
    std::integer_sequence<int, kPanel...> /*unused*/) {
  return {&multiplyStreams<kRows, std::min(kPanel + 1, mostPanels(kRows)), Element>...};
}

template <class Element, int... kRow>
constexpr StreamsTable<Element> streamsTable(std::integer_sequence<int, kRow...> /*unused*/) {
  return {streamsRow<Element, kRow + 1>(std::make_integer_sequence<int, kMostPanels>())...};
}

/// The memory to prefetch during the arithmetic.
struct Ahead {
  const std::byte* at = nullptr;  ///< null: no prefetch
  std::int64_t bytes = 0;         ///< bytes for each k
};

/// sums[row] (+)= Σ over `count` k of rows[k][row] · panel[k], for a panel in the nearest cache. One turn of
/// the loop takes several k. A core with a second thread would otherwise lose time in the loop's own steps.
template <int kRows, bool kAsks, class Element>
void multiplyTile(const float* HWY_RESTRICT rows, const Element* HWY_RESTRICT panel, Ahead ahead,
                  std::int64_t count, float* HWY_RESTRICT sums, bool isFirst) {
  // Products that are rounded before the addition need registers of their own.
  constexpr std::int64_t kTogether = HWY_TARGET == HWY_SSE4 ? 1 : 4;
  const FloatTag d;
  FloatVector acc[kRows][2];
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    acc[r][0] = isFirst ? hn::Zero(d) : hn::LoadU(d, sums + r * kWidth);
    acc[r][1] = isFirst ? hn::Zero(d) : hn::LoadU(d, sums + r * kWidth + kLanes);
  }
  const auto add = [&](std::int64_t k) HWY_ATTR {
    const PanelVectors vectors = loadPanel(panel + k * kWidth);
    SPANSCOPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const FloatVector x = hn::Set(d, rows[k * kRows + r]);
      acc[r][0] = hn::MulAdd(x, vectors.first, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, vectors.second, acc[r][1]);
    }
    if constexpr (kAsks) {
      hwy::Prefetch(ahead.at);
      ahead.at += ahead.bytes;
    }
    // The compiler would load all elements first, and run out of registers.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  };
  std::int64_t k = 0;
  for (; k + kTogether <= count; k += kTogether) {
    SPANSCOPE_UNROLL
    for (std::int64_t at = 0; at < kTogether; ++at) add(at);
    rows += kTogether * kRows;
    panel += kTogether * kWidth;
  }
  for (; k < count; ++k) {
    add(0);
    rows += kRows;
    panel += kWidth;
  }
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(acc[r][0], d, sums + r * kWidth);
    hn::StoreU(acc[r][1], d, sums + r * kWidth + kLanes);
  }
}

template <class Element>
using MultiplyTile = void (*)(const float*, const Element*, Ahead, std::int64_t, float*, bool);

/// multiplyTile<rows> at [rows − 1].
template <class Element, bool kAsks, int... kRow>
constexpr std::array<MultiplyTile<Element>, kRowTile> tileTable(
    std::integer_sequence<int, kRow...> /*unused*/) {
  return {&multiplyTile<kRow + 1, kAsks, Element>...};
}

/// Adds the sums of the block's tiles, the bias and the previous output, in this order.
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

/// [row tiles][columns][rows of the tile]
const float* rowsOf(const MatmulJob& job) {
  return reinterpret_cast<const float*>(job.packedRows);
}

/// Parts of panels in a product, from one k on. `at` is in the first panel. The next panel is `stride`
/// elements further.
template <class Element>
struct Panels {
  const Element* at = nullptr;
  std::int64_t stride = 0;
};

/// Panels of f32, f16 or bf16 as they are stored.
template <class ElementOfPanel>
class PlainPanels {
 public:
  using Element = ElementOfPanel;
  PlainPanels(const MatmulJob& job, const MatmulScratch& scratch)
      : m_parts(*job.weight, kWidth, scratch.arranged) {}

  Panels<Element> take(std::int64_t panel, std::int64_t together, std::int64_t k, std::int64_t count) const {
    return {reinterpret_cast<const Element*>(m_parts.take(panel, together, k, count)),
            m_parts.stride(count) / static_cast<std::int64_t>(sizeof(Element))};
  }

 private:
  PanelParts m_parts;
};

/// Panels of f32, f16 or bf16, widened to floats.
template <class Stored>
class WidenedPanels {
 public:
  using Element = float;
  WidenedPanels(const MatmulJob& job, const MatmulScratch& scratch)
      : m_stored(job, scratch), m_out(scratch.widened) {}

  Panels<float> take(std::int64_t panel, std::int64_t together, std::int64_t k, std::int64_t count) const {
    const FloatTag d;
    const std::int64_t stride = count * kWidth;
    const Panels<Stored> stored = m_stored.take(panel, together, k, count);
    for (std::int64_t i = 0; i < together; ++i) {
      for (std::int64_t at = 0; at < stride; at += kWidth) {
        const PanelVectors vectors = loadPanel(stored.at + i * stored.stride + at);
        hn::StoreU(vectors.first, d, m_out + i * stride + at);
        hn::StoreU(vectors.second, d, m_out + i * stride + at + kLanes);
      }
    }
    return {m_out, stride};
  }

 private:
  PlainPanels<Stored> m_stored;
  float* m_out;
};

/// Panels in packed formats, widened to floats.
class PackedPanels {
 public:
  using Element = float;
  PackedPanels(const MatmulJob& job, const MatmulScratch& scratch)
      : m_weight(*job.weight),
        m_widen(packedFunctions(m_weight.format()).widen),
        m_room(scratch.arranged),
        m_out(scratch.widened) {}

  Panels<float> take(std::int64_t panel, std::int64_t together, std::int64_t k, std::int64_t count) const {
    const std::int64_t stride = count * kWidth;
    for (std::int64_t i = 0; i < together; ++i) {
      const PackedPart part(m_weight, panel + i, k, count, m_room);
      m_widen(m_weight.packedShape(), part.panelData, part.k, count, m_out + i * stride);
    }
    return {m_out, stride};
  }

 private:
  const CpuWeight& m_weight;
  decltype(PackedFunctions::widen) m_widen;
  std::byte* m_room;
  float* m_out;
};

/// One tile of rows. The panels are read once, several at a time.
template <class Source>
void streamedBlock(const MatmulJob& job, std::int64_t panelBlock, const MatmulScratch& scratch) {
  using Element = typename Source::Element;
  static constexpr auto kTable = streamsTable<Element>(std::make_integer_sequence<int, kRowTile>());
  const Source source(job, scratch);
  const std::int64_t rows = job.rowTiles.rows;
  const std::int64_t firstPanel = panelBlock * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = kRowTile * kWidth;
  const std::int64_t group = mostPanels(static_cast<int>(rows));
  for (std::int64_t k = 0; k < job.columns; k += job.columnBlock) {
    const std::int64_t count = std::min(job.columnBlock, job.columns - k);
    for (std::int64_t panel = 0; panel < panels; panel += group) {
      const std::int64_t together = std::min(group, panels - panel);
      const Panels<Element> taken = source.take(firstPanel + panel, together, k, count);
      kTable[static_cast<std::size_t>(rows - 1)][static_cast<std::size_t>(together - 1)](
          rowsOf(job) + k * rows, taken.at, taken.stride, count, scratch.sums + panel * sumStride, sumStride,
          k == 0);
    }
  }
  finish(job, 0, rows, firstPanel, panels, scratch.sums, sumStride);
}

/// Returns the place of the next part of the panel, for a prefetch. Null for a borrowed weight, whose parts
/// are in many places.
Ahead nextPanel(const CpuWeight& weight, std::int64_t panel, std::int64_t k) {
  if (weight.isBorrowed()) return {};
  const std::int64_t bytes = weight.panelBytes() / weight.columns();
  return {weight.data<std::byte>() + (panel + 1) * weight.panelBytes() +
              weight.panelBytes() * k / weight.columns(),
          bytes};
}

/// Several tiles of rows. A part of a panel stays in the nearest cache for all tiles.
template <class Source>
void cachedBlock(const MatmulJob& job, std::int64_t rowBlock, std::int64_t panelBlock,
                 const MatmulScratch& scratch) {
  using Element = typename Source::Element;
  static constexpr auto kTiles = tileTable<Element, false>(std::make_integer_sequence<int, kRowTile>());
  static constexpr auto kAskingTiles = tileTable<Element, true>(std::make_integer_sequence<int, kRowTile>());
  const Source source(job, scratch);
  const std::int64_t firstTile = rowBlock * job.rowBlock;
  const std::int64_t lastTile = std::min(firstTile + job.rowBlock, job.rowTiles.tiles);
  const std::int64_t firstRow = job.rowTiles.begin(firstTile);
  const std::int64_t firstPanel = panelBlock * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = job.rowBlock * kRowTile * kWidth;
  for (std::int64_t k = 0; k < job.columns; k += job.columnBlock) {
    const std::int64_t count = std::min(job.columnBlock, job.columns - k);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const Element* const taken = source.take(firstPanel + panel, 1, k, count).at;
      const Ahead ahead = nextPanel(*job.weight, firstPanel + panel, k);
      for (std::int64_t tile = firstTile; tile < lastTile; ++tile) {
        const std::int64_t row = job.rowTiles.begin(tile);
        const std::int64_t tileRows = job.rowTiles.begin(tile + 1) - row;
        const float* const packed = rowsOf(job) + row * job.columns + k * tileRows;
        float* const sums = scratch.sums + panel * sumStride + (row - firstRow) * kWidth;
        const auto& table = tile + 1 == lastTile && ahead.at != nullptr ? kAskingTiles : kTiles;
        table[static_cast<std::size_t>(tileRows - 1)](packed, taken, ahead, count, sums, k == 0);
        // The sums are still in a near cache.
        if (k + count == job.columns) finish(job, row, tileRows, firstPanel + panel, 1, sums, sumStride);
      }
    }
  }
}

/// One tile of few rows. A widened weight is used immediately and not stored.
void fusedBlock(const MatmulJob& job, std::int64_t panelBlock, const MatmulScratch& scratch) {
  const CpuWeight& weight = *job.weight;
  const PackedFunctions& functions = packedFunctions(weight.format());
  const std::int64_t rows = job.rowTiles.rows;
  const std::int64_t firstPanel = panelBlock * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = kRowTile * kWidth;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const PackedPart whole(weight, firstPanel + panel, 0, job.columns, scratch.arranged);
    functions.multiply[rows - 1](weight.packedShape(), whole.panelData, job.columns, rowsOf(job),
                                 scratch.sums + panel * sumStride);
  }
  finish(job, 0, rows, firstPanel, panels, scratch.sums, sumStride);
}

template <class Element>
void plainBlock(const MatmulJob& job, std::int64_t rowBlock, std::int64_t panelBlock,
                const MatmulScratch& scratch) {
  if (job.rowTiles.tiles == 1) return streamedBlock<PlainPanels<Element>>(job, panelBlock, scratch);
  if (scratch.widened != nullptr)
    return cachedBlock<WidenedPanels<Element>>(job, rowBlock, panelBlock, scratch);
  cachedBlock<PlainPanels<Element>>(job, rowBlock, panelBlock, scratch);
}

void block(const MatmulJob& job, std::int64_t rowBlock, std::int64_t panelBlock,
           const MatmulScratch& scratch) {
  switch (job.weight->format()) {
    case compute::WeightFormat::BF16:
      return plainBlock<std::uint16_t>(job, rowBlock, panelBlock, scratch);
    case compute::WeightFormat::F16:
      return plainBlock<F16Bits>(job, rowBlock, panelBlock, scratch);
    case compute::WeightFormat::F32:
      return plainBlock<float>(job, rowBlock, panelBlock, scratch);
    default:
      if (job.rowTiles.rows <= kMostFusedRows) return fusedBlock(job, panelBlock, scratch);
      if (job.rowTiles.tiles == 1) return streamedBlock<PackedPanels>(job, panelBlock, scratch);
      return cachedBlock<PackedPanels>(job, rowBlock, panelBlock, scratch);
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

std::int64_t packedRowBytes(const CpuWeight& weight) {
  return weight.columns() * static_cast<std::int64_t>(sizeof(float));
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* out) {
  const std::int64_t columns = weight.columns();
  auto* const packed = reinterpret_cast<float*>(out);
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t row = rowTiles.begin(tile);
    packTileOf(rowTiles.begin(tile + 1) - row, x + row * columns, columns, packed + row * columns,
               std::make_integer_sequence<int, kRowTile>());
  }
}

}  // namespace

MatmulKernels targetMatmulKernels() {
  return {.panelWidth = kWidth,
          .rowTile = kRowTile,
          .mostPanels = kMostPanels,
          .readsSingleRow = true,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &block};
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
