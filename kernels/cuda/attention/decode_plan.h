// SPDX-License-Identifier: GPL-3.0-or-later
// How attention of single rows is cut into work for the card.
#pragma once

#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/attention/span_table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// Some keys of one segment for one row. A row's items stand one after the other, in view order.
struct DecodeItem {
  static constexpr std::int32_t kReadsAll = -(1 << 30);

  std::int32_t row = -1;        ///< less than 0: nothing to do
  std::int32_t firstBlock = 0;  ///< place of the segment's first block in the list of blocks
  std::int32_t begin = 0;       ///< local tokens
  std::int32_t end = 0;
  std::int32_t causal = 0;        ///< not 0: only up to the row's own local token
  std::int32_t rotation = 0;      ///< row of the rotation table, less the row's local token
  std::int32_t massSpan = 0;      ///< keys of a stretch; 0: no mass is asked for
  std::int32_t firstStretch = 0;  ///< place of stretch 0 of the segment among those of the run
  std::int32_t range = -1;  ///< number of the segment in the run where the item has its first key, else −1
  /// Place of the segment's block 0 among the blocks that are chosen from; may lie before the first of them.
  std::int32_t firstChoice = kReadsAll;
};

/// A block that holds keys of a row that may not read all.
struct ChoiceBlock {
  std::int32_t row = -1;      ///< less than 0: nothing to do
  std::int32_t block = 0;     ///< physical
  std::int32_t begin = 0;     ///< slots
  std::int32_t end = 0;       ///< at least one more
  std::int32_t rotation = 0;  ///< row of the rotation table
};
/// A row's blocks, which stand one after the other, in view order.
struct ChoiceRow {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t most = 0;
};

/// Attention mass of one run.
struct MassEntry {
  std::int32_t firstRow = 0;
  std::int32_t rowCount = 0;
  std::int32_t stretches = 0;  ///< of all its segments
  std::int32_t ranges = 0;
  std::int64_t firstMass = 0;   ///< where [heads][stretches] begin
  std::int64_t firstFirst = 0;  ///< where [heads][ranges] begin
};

struct DecodePlan {
  std::vector<DecodeItem> items;
  std::vector<std::int32_t> rowItems;  ///< [rows + 1]: first item of each row
  std::vector<std::int32_t> locals;    ///< [rows]: each row's local token
  std::vector<std::int32_t> blocks;
  std::vector<ChoiceBlock> choiceBlocks;
  std::vector<ChoiceRow> choiceRows;
  Rotations rotations;
  std::vector<MassEntry> masses;  ///< of the runs that asked for it
  std::int64_t massElements = 0;  ///< of all of them together
  std::int64_t firstElements = 0;
  std::int32_t itemStretches = 0;  ///< the most of an item
  std::int32_t chunkKeys = 0;
};

/// Cuts every segment at multiples of `chunkKeys` local tokens, so that what is summed together depends on
/// the keys alone. Rows that no run has get nothing to do. `queryHeads` lays out the mass, `blockSize` what
/// rows choose from that may not read all, `keptRotations` is what Rotations::close takes.
DecodePlan planDecode(std::span<const RowRun> runs, std::int32_t rows, std::int32_t chunkKeys,
                      std::int32_t queryHeads, std::int32_t blockSize, std::int64_t keptRotations = 0);

}  // namespace spanscope::cuda
