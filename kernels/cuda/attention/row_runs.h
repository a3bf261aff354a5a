// SPDX-License-Identifier: GPL-3.0-or-later
// What rows attend to, as the host describes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Keys of one segment that rows read.
struct SegmentKeys {
  std::vector<std::int32_t> blocks;  ///< physical blocks, starting at the segment's local token 0
  std::int32_t begin = 0;            ///< first local token that is read
  std::int32_t end = 0;              ///< one past the last local token
  std::int64_t base = 0;             ///< position of local token 0 in the view
  bool causal = false;               ///< the segment is the rows' own: a row at local token j reads up to j
};

/// Rows of one segment that follow each other in a pass.
struct RowRun {
  static constexpr std::int32_t kNoMass = -1;
  static constexpr std::int32_t kReadsFromBegin = -(1 << 30);

  std::int32_t firstRow = 0;  ///< in the tensors of the pass
  std::int32_t rowCount = 0;
  std::int32_t firstLocal = 0;  ///< local token of the first row
  /// Local token of each row, ascending. Empty if they follow each other.
  std::vector<std::int32_t> locals = {};
  std::int64_t base = 0;          ///< position of the segment's local token 0
  std::vector<SegmentKeys> keys;  ///< in view order: results are merged in this order
  /// Number of keys in a stretch of the attention mass, counted from local token 0 of each segment. kNoMass:
  /// no mass is needed.
  std::int32_t massSpan = kNoMass;
  /// A row reads at most so many of the blocks that contain its keys; 0: all blocks.
  std::int32_t mostBlocks = 0;
  /// By how many tokens the rows may advance before a new plan is made; 0 where there is a window.
  std::int32_t growth = 0;
  /// A row reads only keys that stand less than so many positions before it, itself included; 0: all.
  std::int32_t window = 0;

  std::int32_t localOf(std::int32_t row) const {
    return locals.empty() ? firstLocal + row : locals[static_cast<std::size_t>(row)];
  }
  std::int32_t lastLocal() const { return localOf(rowCount - 1); }
  /// The window of a row at local token j begins at token j + windowOffset() of `segment`, which may lie
  /// before the first or behind the last of them. kReadsFromBegin: before the first for every row.
  std::int32_t windowOffset(const SegmentKeys& segment) const {
    if (window == 0) return kReadsFromBegin;
    // Farther away than any token of a segment is as good as out of sight.
    const std::int64_t offset = base - segment.base - window + 1;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(offset, kReadsFromBegin, -std::int64_t{kReadsFromBegin}));
  }
  /// The first token of `segment` that a row at `local` reads, segment.end at most.
  std::int32_t beginOf(const SegmentKeys& segment, std::int32_t local) const {
    const std::int64_t first = std::int64_t{local} + windowOffset(segment);
    return static_cast<std::int32_t>(
        std::max<std::int64_t>(segment.begin, std::min<std::int64_t>(first, segment.end)));
  }
  /// One past the last token of `segment` that a row at `local` reads.
  static std::int32_t endOf(const SegmentKeys& segment, std::int32_t local) {
    return segment.causal ? std::min(segment.end, local + 1) : segment.end;
  }
};

}  // namespace spanscope::cuda
