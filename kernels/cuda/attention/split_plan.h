// SPDX-License-Identifier: GPL-3.0-or-later
// How attention on tensor cores is cut into work for the card over its keys too: where it has to be the same
// for a row alone and among many, at fixed places; and where rows alone would leave most of the card idle.
#pragma once

#include "kernels/cuda/attention/prefill_plan.h"

#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Keys that are summed together, counted from local token 0 of each segment, where that has to be fixed: a
/// row's result depends on its keys alone then.
inline constexpr std::int32_t kSplitKeys = 512;

/// Pairs of a row and a query head that a block takes, as PrefillItem counts them.
struct SplitTile {
  std::int32_t run = 0;
  std::int32_t firstPair = 0;
  std::int32_t pairs = 0;
  std::int32_t firstItem = 0;  ///< its items stand one after the other, in view order
  std::int32_t itemCount = 0;
};

/// Some keys of one segment for one tile.
struct SplitItem {
  std::int32_t tile = -1;  ///< less than 0: nothing to do
  std::int32_t range = 0;
  std::int32_t begin = 0;  ///< local tokens, all in one stretch of `splitKeys`
  std::int32_t end = 0;
  std::int64_t firstPartial = 0;  ///< pairs of a key head before it in its launch
};

/// Tiles whose partial results are in memory at the same time.
struct SplitLaunch {
  std::int32_t firstTile = 0;
  std::int32_t tileCount = 0;
  std::int32_t firstItem = 0;
  std::int32_t itemCount = 0;
  std::int64_t partials = 0;  ///< pairs of a key head
  bool operator==(const SplitLaunch&) const = default;
};

struct SplitPlan {
  PrefillPlan rows;
  std::vector<SplitTile> tiles;
  std::vector<SplitItem> items;
  std::vector<SplitLaunch> launches;
};

/// `group` query heads to a key head. A launch has at most `mostPartials` pairs, or a single tile. Keys are
/// cut at multiples of `splitKeys` local tokens, a multiple of kPrefillTileKeys; `keptRotations` is what
/// Rotations::close takes.
SplitPlan planSplit(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                    std::int64_t mostPartials, std::int32_t splitKeys = kSplitKeys,
                    std::int64_t keptRotations = 0);

}  // namespace spanscope::cuda
