// SPDX-License-Identifier: GPL-3.0-or-later
// Divides the attention of single rows into work for the GPU. Open this file to change the items of decode
// attention.
#pragma once

#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/attention/row_runs.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// Some keys of one segment for one row. The items of a row are consecutive and in prompt order.
struct DecodeItem {
  static constexpr std::int32_t kReadsAll = -(1 << 30);

  std::int32_t row = -1;        ///< below 0: no work
  std::int32_t firstBlock = 0;  ///< index of the segment's first block in the list of blocks
  std::int32_t begin = 0;       ///< positions in the segment; none before the row's window
  std::int32_t end = 0;
  std::int32_t causal = 0;        ///< not 0: the row reads only up to its own position
  std::int32_t rotation = 0;      ///< row of the rotation table minus the row's position in its segment
  std::int32_t massSpan = 0;      ///< number of keys in a stretch; 0: no mass is needed
  std::int32_t firstStretch = 0;  ///< index of the segment's stretch 0 among the stretches of the run
  std::int32_t range = -1;  ///< number of the segment in the run, if the item has the segment's first key;
                            ///< else −1.
  /// Index of the segment's block 0 among the blocks of the choice. Block 0 may be before the first of these
  /// blocks.
  std::int32_t firstChoice = kReadsAll;
};

/// A block with keys of a row that may not read all blocks.
struct ChoiceBlock {
  std::int32_t row = -1;      ///< below 0: no work
  std::int32_t block = 0;     ///< physical
  std::int32_t begin = 0;     ///< slots
  std::int32_t end = 0;       ///< at least begin + 1
  std::int32_t rotation = 0;  ///< row of the rotation table
};
/// The blocks of a row. The blocks are consecutive and in prompt order.
struct ChoiceRow {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t most = 0;
};

/// Attention mass of one run.
struct MassEntry {
  std::int32_t firstRow = 0;
  std::int32_t rowCount = 0;
  std::int32_t stretches = 0;  ///< number of stretches in all segments of the run
  std::int32_t ranges = 0;
  std::int64_t firstMass = 0;   ///< index of the first element of the run's [heads][stretches]
  std::int64_t firstFirst = 0;  ///< index of the first element of the run's [heads][ranges]
};

struct DecodePlan {
  std::vector<DecodeItem> items;
  std::vector<std::int32_t> rowItems;  ///< [rows + 1]: first item of each row
  std::vector<std::int32_t> locals;    ///< [rows]: position of each row in its segment
  std::vector<std::int32_t> blocks;
  std::vector<ChoiceBlock> choiceBlocks;
  std::vector<ChoiceRow> choiceRows;
  Rotations rotations;
  std::vector<MassEntry> masses;  ///< of the runs whose mass is needed
  std::int64_t massElements = 0;  ///< of all masses together
  std::int64_t firstElements = 0;
  std::int32_t itemStretches = 0;  ///< max stretches in one item
  std::int32_t chunkKeys = 0;
};

/// Divides every segment at multiples of `chunkKeys` positions. The grouping of sums then depends only on the
/// keys. Rows without a run have no work. `queryHeads` determines the layout of the mass. `blockSize`
/// determines the blocks from which some rows choose. `keptRotations`: as for Rotations::close().
DecodePlan planDecode(std::span<const RowRun> runs, std::int32_t rows, std::int32_t chunkKeys,
                      std::int32_t queryHeads, std::int32_t blockSize, std::int64_t keptRotations = 0);

}  // namespace spanscope::cuda
