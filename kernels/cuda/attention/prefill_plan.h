// SPDX-License-Identifier: GPL-3.0-or-later
// Divides the attention of many rows into work for the GPU. Open this file to change the tiles of prefill.
#pragma once

#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/attention/row_runs.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// The keys of one segment for the rows of one run.
struct PrefillRange {
  std::int32_t firstBlock = 0;  ///< index of the segment's first block in the list of blocks
  std::int32_t begin = 0;       ///< positions in the segment
  std::int32_t end = 0;
  std::int32_t causal = 0;                              ///< not 0: a row reads up to its own position
  std::int32_t windowOffset = RowRun::kReadsFromBegin;  ///< like RowRun::windowOffset()
  std::int32_t rotation = 0;  ///< a query row with position p in its segment uses table row `rotation` + p
};

struct PrefillRun {
  std::int32_t firstRow = 0;
  std::int32_t rowCount = 0;
  std::int32_t firstRange = 0;
  std::int32_t rangeCount = 0;
};

/// Pairs of a row and a query head of one key head. The number of a pair in the run is row · group + head.
struct PrefillItem {
  std::int32_t run = -1;  ///< below 0: no work
  std::int32_t firstPair = 0;
};

struct PrefillPlan {
  std::vector<PrefillRun> runs;
  std::vector<PrefillRange> ranges;
  std::vector<PrefillItem> items;
  std::vector<std::int32_t> locals;  ///< [rows]: position of each row in its segment, ascending in a run
  std::vector<std::int32_t> blocks;
  Rotations rotations;
};

/// `group`: number of query heads per key head. `keptRotations`: as for Rotations::close().
PrefillPlan planPrefill(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                        std::int64_t keptRotations = 0);

// Divides attention on tensor cores also along the keys, for one of two reasons:
// - A single row and a row among many rows must get the same result. The keys are then divided at fixed
//   positions.
// - The rows alone would leave most of the GPU idle.

/// Fixed division of the keys: each piece has this number of positions, counted from position 0 of the
/// segment. The result of a row then depends only on its keys.
inline constexpr std::int32_t kSplitKeys = 512;

/// Pairs of a row and a query head for one thread block, numbered as in PrefillItem.
struct SplitTile {
  std::int32_t run = 0;
  std::int32_t firstPair = 0;
  std::int32_t pairs = 0;
  std::int32_t firstItem = 0;  ///< the tile's items are consecutive and in prompt order
  std::int32_t itemCount = 0;
};

/// Some keys of one segment for one tile.
struct SplitItem {
  std::int32_t tile = -1;  ///< below 0: no work
  std::int32_t range = 0;
  std::int32_t begin = 0;  ///< positions in the segment, all in one range of `splitKeys` positions
  std::int32_t end = 0;
  std::int64_t firstPartial = 0;  ///< number of earlier partial results in the launch, per key head
};

/// Tiles whose partial results are in memory at the same time.
struct SplitLaunch {
  std::int32_t firstTile = 0;
  std::int32_t tileCount = 0;
  std::int32_t firstItem = 0;
  std::int32_t itemCount = 0;
  std::int64_t partials = 0;  ///< number of partial results per key head: one for each item and pair
  bool operator==(const SplitLaunch&) const = default;
};

struct SplitPlan {
  PrefillPlan rows;
  std::vector<SplitTile> tiles;
  std::vector<SplitItem> items;
  std::vector<SplitLaunch> launches;
};

/// `group`: number of query heads per key head. A launch has at most `mostPartials` partial results per key
/// head, or only one tile. Keys are divided at multiples of `splitKeys` positions. `splitKeys` must be a
/// multiple of kPrefillTileKeys. `keptRotations`: as for Rotations::close().
SplitPlan planSplit(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                    std::int64_t mostPartials, std::int32_t splitKeys = kSplitKeys,
                    std::int64_t keptRotations = 0);

}  // namespace spanscope::cuda
