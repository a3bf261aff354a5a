// SPDX-License-Identifier: GPL-3.0-or-later
// Describes for the host which keys rows read. Open this file before you change an attention plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Keys of one segment that rows read.
struct SegmentKeys {
  std::vector<std::int32_t> blocks;  ///< physical blocks, from position 0 of the segment
  std::int32_t begin = 0;            ///< first position that is read
  std::int32_t end = 0;              ///< one past the last position
  std::int64_t base = 0;             ///< start position of the segment in the view
  bool causal = false;               ///< the rows are in this segment. A row at position j reads keys up to j
};

/// Consecutive rows of one segment in a forward pass.
struct RowRun {
  static constexpr std::int32_t kNoMass = -1;
  static constexpr std::int32_t kReadsFromBegin = -(1 << 30);

  std::int32_t firstRow = 0;  ///< index in the tensors of the forward pass
  std::int32_t rowCount = 0;
  std::int32_t firstLocal = 0;  ///< position of the first row in the segment
  /// Position of each row in the segment, ascending. Empty if the positions are consecutive.
  std::vector<std::int32_t> locals = {};
  std::int64_t base = 0;          ///< start position of the segment
  std::vector<SegmentKeys> keys;  ///< in prompt order: results are merged in this order.
  /// Number of keys in a stretch of the attention mass, counted from position 0 of each segment. The value
  /// kNoMass means that no mass is needed.
  std::int32_t massSpan = kNoMass;
  /// A row reads at most this number of the blocks with its keys. 0: all blocks.
  std::int32_t mostBlocks = 0;
  /// Number of tokens by which the rows may advance before a new plan is made. 0 with a window.
  std::int32_t growth = 0;
  /// Number of positions that a row reads, up to and including its own position. 0: all positions.
  std::int32_t window = 0;

  std::int32_t localOf(std::int32_t row) const {
    return locals.empty() ? firstLocal + row : locals[static_cast<std::size_t>(row)];
  }
  std::int32_t lastLocal() const { return localOf(rowCount - 1); }
  /// The window of a row at position j begins at token j + windowOffset() of `segment`. The window can begin
  /// outside of the segment. kReadsFromBegin: before the first token for every row.
  std::int32_t windowOffset(const SegmentKeys& segment) const {
    if (window == 0) return kReadsFromBegin;
    // An offset beyond all tokens of a segment is limited.
    const std::int64_t offset = base - segment.base - window + 1;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(offset, kReadsFromBegin, -std::int64_t{kReadsFromBegin}));
  }
  /// Returns the first token of `segment` that a row at `local` reads, segment.end at most.
  std::int32_t beginOf(const SegmentKeys& segment, std::int32_t local) const {
    const std::int64_t first = std::int64_t{local} + windowOffset(segment);
    return static_cast<std::int32_t>(
        std::max<std::int64_t>(segment.begin, std::min<std::int64_t>(first, segment.end)));
  }
  /// Returns one past the last token of `segment` that a row at `local` reads.
  static std::int32_t endOf(const SegmentKeys& segment, std::int32_t local) {
    return segment.causal ? std::min(segment.end, local + 1) : segment.end;
  }
};

}  // namespace spanscope::cuda
