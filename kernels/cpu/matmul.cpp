// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/matmul.h"

#include <algorithm>

namespace spanscope::cpu {

namespace {

// Rows that are packed at once: bounds the scratch memory, and one pass over the weights serves them all.
constexpr std::int64_t kMostRows = 768;
// A block's packed rows (kRowBlock × kColumnBlock) share the second-level cache with its sums; a panel's part
// (kColumnBlock × panelWidth) stays in the first.
constexpr std::int64_t kRowBlock = 96;
constexpr std::int64_t kColumnBlock = 256;
constexpr std::int64_t kBlockFeatures = 256;
// Packed weights are widened once for all rows of a block: twice as many of them halve what that costs, and
// still leave half of a second-level cache of a mebibyte.
constexpr std::int64_t kWidenedRowBlock = 192;
// Columns of packed weights that are widened at once for few rows: whole blocks' parts, and so few that four
// panels stay in the nearest cache.
constexpr std::int64_t kWidenedColumns = 64;
// With few rows the weights are streamed: about this much of them in a block.
constexpr std::int64_t kStreamedBytes = 256 * 1024;

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

void Matmul::run(Executor& executor, const CpuTensor& x, const CpuWeight& weight, const CpuWeight* bias,
                 bool accumulate, CpuTensor& out) {
  MatmulJob job;
  job.weight = &weight;
  job.bias = bias != nullptr ? bias->data<float>() : nullptr;
  job.columns = weight.columns();
  job.features = weight.rows();
  job.panels = ceilDiv(job.features, m_kernels.panelWidth);
  job.accumulate = accumulate;
  for (std::int64_t first = 0; first < x.rows() && !executor.stopped(); first += kMostRows) {
    const std::int64_t rows = std::min(kMostRows, x.rows() - first);
    job.rowTiles = {rows, ceilDiv(rows, m_kernels.rowTile)};
    job.out = out.row(first);
    runRows(executor, x.row(first), job);
  }
}

void Matmul::runRows(Executor& executor, const float* x, MatmulJob& job) {
  const std::int64_t rows = job.rowTiles.rows;
  if (rows == 1) {
    job.packedRows = x;
  } else {
    m_packedRows.reserve(checkedBytes("packed rows", rows, job.columns, sizeof(float)), "packed rows");
    float* packed = m_packedRows.as<float>();
    job.packedRows = packed;
    executor.runRanges(job.rowTiles.tiles, m_kernels.rowTile * job.columns,
                       [&](std::int64_t first, std::int64_t last) {
                         m_kernels.packRows(x, job.rowTiles, first, last, job.columns, packed);
                       });
  }

  const std::int64_t threads = executor.threads();
  const bool isPacked = compute::infoOf(job.weight->format()).isPacked();
  std::int64_t panelStep = 1;
  if (job.rowTiles.tiles == 1) {
    job.rowBlock = 1;
    job.columnBlock = isPacked ? std::min(kWidenedColumns, job.columns) : job.columns;
    job.panelBlock = std::max<std::int64_t>(1, kStreamedBytes / job.weight->panelBytes());
    panelStep = m_kernels.mostPanels;
  } else {
    const std::int64_t most = ceilDiv(isPacked ? kWidenedRowBlock : kRowBlock, m_kernels.rowTile);
    job.rowBlock = ceilDiv(job.rowTiles.tiles, ceilDiv(job.rowTiles.tiles, most));
    job.columnBlock = kColumnBlock;
    job.panelBlock = kBlockFeatures / m_kernels.panelWidth;
  }
  // A narrow product, too, has something for every thread.
  const std::int64_t rowBlocks = ceilDiv(job.rowTiles.tiles, job.rowBlock);
  job.panelBlock = std::min(job.panelBlock, ceilDiv(job.panels, ceilDiv(3 * threads, rowBlocks)));
  job.panelBlock = ceilDiv(job.panelBlock, panelStep) * panelStep;

  const std::int64_t panelBlocks = ceilDiv(job.panels, job.panelBlock);
  const std::int64_t sums = job.rowBlock * m_kernels.rowTile * job.panelBlock * m_kernels.panelWidth;
  const std::int64_t widened =
      isPacked ? std::max(panelStep, std::int64_t{1}) * job.columnBlock * m_kernels.panelWidth : 0;
  m_scratch.reserve(checkedBytes("sums", sums + widened, threads, sizeof(float)), "sums");
  float* scratch = m_scratch.as<float>();
  const auto block = [&](std::int64_t index, int thread) {
    float* const own = scratch + thread * (sums + widened);
    // Neighbouring blocks share panels: these come from memory once, the rows stay in a cache anyway.
    m_kernels.block(job, index % rowBlocks, index / rowBlocks, {.sums = own, .widened = own + sums});
  };
  executor.run(rowBlocks * panelBlocks, rows * job.columns * job.features, block);
}

}  // namespace spanscope::cpu
