// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of products of bytes for every instruction set. This file has the places of a panel's parts,
// and the loop over a block. Open this file to add an instruction set.
//
// An instruction set is a type with block<format>(job, i, j, scratch), which is MatmulKernels::block for one
// format. The function byteBlockOf() makes this block function from a kernel. A kernel has these members:
// - kFormat: the weight format;
// - kRowTile: max rows whose sums fit into registers at the same time;
// - kMostDirectRows: max rows that are multiplied with weights without storing the weights;
// - kRowLayout: the layout of activations;
// - kTakenPartBytes: the bytes of a part in the product's layout;
// - take(shape, panel, k, count, out): unpacks whole parts of a panel;
// - multiply<rows>(rows, taken, parts, sums): sums[row][32] (+)= Σ over those parts;
// - kStreams: places of memory that a core reads at the same time for one row;
// - multiplyPanels<rows, panels>(shape, panels, columns, rows, sums): for few rows and one or kStreams whole
//   panels. The function unpacks and multiplies parts in one step.
#pragma once

#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/fast/byte_panels.h"
#include "kernels/cpu/fast/byte_rows.h"
#include "kernels/cpu/fast/tile_blocks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace spanscope::cpu {

static_assert(BytePanelShape::kWidth == kFastWidth);

template <compute::WeightFormat kFormat>
inline constexpr const compute::PackedRule& kRuleOf =
    compute::kWeightFormats[static_cast<std::size_t>(kFormat)].rule;

/// A part of a panel: the places of its factors and codes.
struct BytePart {
  const std::byte* block;
  const std::byte* part;
  const std::byte* low;
  const std::byte* high;

  BytePart(const BytePanelShape& shape, const std::byte* panel, std::int64_t index)
      : block(panel + index / shape.parts() * shape.blockBytes),
        part(block + shape.headBytes + index % shape.parts() * shape.partBytes),
        low(part + shape.partHeadBytes),
        high(low + shape.lowBytes) {}
};

/// For tileBlock().
template <class Kernel>
class ByteProduct {
 public:
  static constexpr int kRowTile = Kernel::kRowTile;

  ByteProduct(const MatmulJob& job, const MatmulScratch& scratch)
      : m_weight(*job.weight),
        m_rows(job.packedRows),
        m_rowBytes(byteRowBytes(*job.weight, Kernel::kRowLayout)),
        m_room(scratch.arranged),
        m_taken(reinterpret_cast<std::byte*>(scratch.widened)) {}

  const std::byte* take(std::int64_t panel, std::int64_t k, std::int64_t count) const {
    const PackedPart part(m_weight, panel, k, count, m_room);
    Kernel::take(m_weight.byteShape(), part.panelData, part.k, count, m_taken);
    return m_taken;
  }
  const std::byte* rowsAt(std::int64_t row, std::int64_t rows, std::int64_t k) const {
    return m_rows + row * m_rowBytes + k / kPart * byteRowPartBytes(kPart, Kernel::kRowLayout) * rows;
  }
  void multiply(std::int64_t rows, const std::byte* tile, const std::byte* taken, std::int64_t count,
                float* sums, bool isFirst, bool /*isLast*/) const {
    static constexpr auto kTable = tileTable<ByteProduct>(std::make_integer_sequence<int, kRowTile>());
    if (isFirst) std::fill_n(sums, rows * kFastWidth, 0.0F);
    kTable[static_cast<std::size_t>(rows - 1)](tile, taken, count / kPart, sums);
  }
  template <int kRows>
  static void multiplyTile(const std::byte* tile, const std::byte* taken, std::int64_t parts, float* sums) {
    Kernel::template multiply<kRows>(tile, taken, parts, sums);
  }

 private:
  static constexpr std::int64_t kPart = kRuleOf<Kernel::kFormat>.partElements;
  const CpuWeight& m_weight;
  const std::byte* m_rows;
  std::int64_t m_rowBytes;
  std::byte* m_room;
  std::byte* m_taken;
};

template <class Kernel, std::size_t kPanels>
using MultiplyPanels = void (*)(const BytePanelShape& shape,
                                const std::array<const std::byte*, kPanels>& panels, std::int64_t columns,
                                const std::byte* rows, const std::array<float*, kPanels>& sums);

/// Returns for each number of rows from 1 on the function Kernel::multiplyPanels<rows> for one panel.
template <class Kernel, int... kRow>
constexpr auto bytePanelTable(std::integer_sequence<int, kRow...> /*unused*/) {
  return std::array<MultiplyPanels<Kernel, 1>, sizeof...(kRow)>{
      &Kernel::template multiplyPanels<kRow + 1, 1>...};
}

/// Computes one tile of few rows.
template <class Kernel>
void directByteBlock(const MatmulJob& job, std::int64_t j, const MatmulScratch& scratch) {
  static constexpr auto kTable =
      bytePanelTable<Kernel>(std::make_integer_sequence<int, Kernel::kMostDirectRows>());
  constexpr std::int64_t kStreams = Kernel::kStreams;
  const CpuWeight& weight = *job.weight;
  const std::int64_t rows = job.rowTiles.rows;
  const std::int64_t firstPanel = j * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = Kernel::kRowTile * kFastWidth;
  std::int64_t panel = 0;
  if constexpr (kStreams > 1) {
    // Each stream is one range of memory with consecutive panels.
    const std::int64_t each = rows == 1 && !weight.isBorrowed() ? panels / kStreams : 0;
    for (std::int64_t i = 0; i < each; ++i) {
      std::array<const std::byte*, kStreams> places;
      std::array<float*, kStreams> sums;
      for (std::int64_t stream = 0; stream < kStreams; ++stream) {
        const std::int64_t at = stream * each + i;
        places[static_cast<std::size_t>(stream)] =
            PackedPart(weight, firstPanel + at, 0, job.columns, nullptr).panelData;
        sums[static_cast<std::size_t>(stream)] = scratch.sums + at * sumStride;
      }
      Kernel::template multiplyPanels<1, kStreams>(weight.byteShape(), places, job.columns, job.packedRows,
                                                   sums);
    }
    panel = each * kStreams;
  }
  for (; panel < panels; ++panel) {
    const PackedPart whole(weight, firstPanel + panel, 0, job.columns, scratch.arranged);
    kTable[static_cast<std::size_t>(rows - 1)](weight.byteShape(), {whole.panelData}, job.columns,
                                               job.packedRows, {scratch.sums + panel * sumStride});
  }
  finishTiles(job, 0, rows, firstPanel, panels, scratch.sums, sumStride);
}

template <class Kernel>
void byteBlockOf(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  if (job.rowTiles.rows <= Kernel::kMostDirectRows) return directByteBlock<Kernel>(job, j, scratch);
  tileBlock<ByteProduct<Kernel>>(job, i, j, scratch);
}

using MatmulBlock = decltype(MatmulKernels::block);

template <class Set, std::size_t kIndex>
constexpr MatmulBlock byteBlockAt() {
  constexpr compute::WeightFormatInfo kInfo = compute::kWeightFormats[kIndex];
  if constexpr (kInfo.isPacked()) return &Set::template block<kInfo.format>;
  return nullptr;
}

template <class Set, std::size_t... kIndex>
constexpr std::array<MatmulBlock, sizeof...(kIndex)> byteBlockTable(
    std::index_sequence<kIndex...> /*unused*/) {
  return {byteBlockAt<Set, kIndex>()...};
}

/// MatmulKernels::block of an instruction set.
template <class Set>
void byteBlock(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  static constexpr auto kTable =
      byteBlockTable<Set>(std::make_index_sequence<compute::kWeightFormats.size()>());
  kTable[static_cast<std::size_t>(job.weight->format())](job, i, j, scratch);
}

}  // namespace spanscope::cpu
