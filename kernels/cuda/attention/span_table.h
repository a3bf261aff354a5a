// SPDX-License-Identifier: GPL-3.0-or-later
// What rows attend to, as hosts say it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Keys of one segment that rows read.
struct SegmentKeys {
  std::vector<std::int32_t> blocks;  ///< physical ones, from the segment's local token 0
  std::int32_t begin = 0;            ///< first local token that is read
  std::int32_t end = 0;              ///< one past the last
  std::int64_t base = 0;             ///< position of local token 0 in the view
  bool causal = false;               ///< the rows' own segment: a row at local token j reads up to j
};

/// Rows of one segment that follow each other in a pass.
struct RowRun {
  static constexpr std::int32_t kNoMass = -1;

  std::int32_t firstRow = 0;  ///< in the tensors of the pass
  std::int32_t rowCount = 0;
  std::int32_t firstLocal = 0;  ///< local token of the first row
  /// Of each row, ascending; empty where they follow each other.
  std::vector<std::int32_t> locals = {};
  std::int64_t base = 0;          ///< position of the segment's local token 0
  std::vector<SegmentKeys> keys;  ///< in view order: results are merged in this order
  /// Keys of a stretch whose attention mass is asked for, counted from local token 0 of each segment.
  std::int32_t massSpan = kNoMass;
  /// Of the blocks that hold its keys a row reads at most so many; 0: all.
  std::int32_t mostBlocks = 0;
  /// By how many tokens the rows may move on before they are planned again.
  std::int32_t growth = 0;

  std::int32_t localOf(std::int32_t row) const {
    return locals.empty() ? firstLocal + row : locals[static_cast<std::size_t>(row)];
  }
  std::int32_t lastLocal() const { return localOf(rowCount - 1); }
};

}  // namespace spanscope::cuda
