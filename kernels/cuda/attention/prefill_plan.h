// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts the attention of many rows into work for the card.
#pragma once

#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/attention/row_runs.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// The keys of one segment for the rows of one run.
struct PrefillRange {
  std::int32_t firstBlock = 0;  ///< place of the segment's first block in the list of blocks
  std::int32_t begin = 0;       ///< local tokens
  std::int32_t end = 0;
  std::int32_t causal = 0;                              ///< not 0: a row reads up to its own local token
  std::int32_t windowOffset = RowRun::kReadsFromBegin;  ///< as RowRun::windowOffset()
  std::int32_t rotation = 0;  ///< row of the rotation table minus the local token of the row
};

struct PrefillRun {
  std::int32_t firstRow = 0;
  std::int32_t rowCount = 0;
  std::int32_t firstRange = 0;
  std::int32_t rangeCount = 0;
};

/// Pairs of a row and a query head of one key head. They are numbered through the run: row · group + head.
struct PrefillItem {
  std::int32_t run = -1;  ///< below 0: nothing to do
  std::int32_t firstPair = 0;
};

struct PrefillPlan {
  std::vector<PrefillRun> runs;
  std::vector<PrefillRange> ranges;
  std::vector<PrefillItem> items;
  std::vector<std::int32_t> locals;  ///< [rows]: local token of each row, ascending within a run
  std::vector<std::int32_t> blocks;
  Rotations rotations;
};

/// `group`: number of query heads per key head. `keptRotations`: as for Rotations::close().
PrefillPlan planPrefill(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                        std::int64_t keptRotations = 0);

}  // namespace spanscope::cuda
