// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/matmul.h"

#include <algorithm>

namespace spanscope::cpu {

namespace {

// Rows that are packed at once: bounds the scratch memory, and one pass over the weights serves them all.
constexpr std::int64_t kMostRows = 768;
// A tile's packed rows (rowBlock × columnBlock) share the second-level cache with its sums; a panel's part
// (columnBlock × panelWidth) stays in the first.
constexpr std::int64_t kRowBlock = 96;
constexpr std::int64_t kColumnBlock = 256;
constexpr std::int64_t kBlockFeatures = 256;
// With few rows the weights are streamed: this much of them a tile.
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
    job.rows = std::min(kMostRows, x.rows() - first);
    job.out = out.row(first);
    runRows(executor, x.row(first), job);
  }
}

void Matmul::runRows(Executor& executor, const float* x, MatmulJob& job) {
  const std::int64_t rowTile = m_kernels.rowTile;
  const std::int64_t rowTiles = ceilDiv(job.rows, rowTile);
  if (job.rows == 1) {
    job.packedRows = x;
  } else {
    m_packedRows.reserve(checkedBytes("packed rows", job.rows, job.columns, sizeof(float)), "packed rows");
    float* packed = m_packedRows.as<float>();
    job.packedRows = packed;
    executor.runRanges(rowTiles, rowTile * job.columns, [&](std::int64_t first, std::int64_t last) {
      m_kernels.packRows(x, first * rowTile, std::min(job.rows, last * rowTile), job.columns, packed);
    });
  }

  const std::int64_t threads = executor.threads();
  if (rowTiles == 1) {
    job.rowBlock = rowTile;
    job.columnBlock = job.columns;
    const auto panelBytes =
        job.columns * m_kernels.panelWidth * static_cast<std::int64_t>(compute::sizeOf(job.weight->type()));
    job.panelBlock = std::clamp<std::int64_t>(kStreamedBytes / panelBytes, 4, 64);
  } else {
    job.rowBlock = std::min(ceilDiv(kRowBlock, rowTile), rowTiles) * rowTile;
    job.columnBlock = kColumnBlock;
    job.panelBlock = kBlockFeatures / m_kernels.panelWidth;
  }
  // Narrow products still have something for every thread, but not less than a few panels each.
  const std::int64_t rowBlocks = ceilDiv(job.rows, job.rowBlock);
  const std::int64_t wanted = ceilDiv(3 * threads, rowBlocks);
  job.panelBlock = std::clamp<std::int64_t>(ceilDiv(job.panels, wanted), 4, job.panelBlock);

  const std::int64_t panelBlocks = ceilDiv(job.panels, job.panelBlock);
  const std::int64_t sums = job.rowBlock * job.panelBlock * m_kernels.panelWidth;
  m_sums.reserve(checkedBytes("sums", sums, threads, sizeof(float)), "sums");
  float* scratch = m_sums.as<float>();
  const auto tile = [&](std::int64_t index, int thread) {
    // Neighbouring tiles share panels: these come from memory once, the rows stay in a cache anyway.
    m_kernels.block(job, index % rowBlocks, index / rowBlocks, scratch + thread * sums);
  };
  const std::int64_t work = job.rows * job.columns * job.features;
  constexpr std::int64_t kWorthAThread = 1 << 16;
  if (work < kWorthAThread) {
    for (std::int64_t index = 0; index < rowBlocks * panelBlocks; ++index) tile(index, 0);
  } else {
    executor.run(rowBlocks * panelBlocks, tile);
  }
}

}  // namespace spanscope::cpu
