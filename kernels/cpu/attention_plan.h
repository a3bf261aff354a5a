// SPDX-License-Identifier: GPL-3.0-or-later
// Plans an attention operation: key ranges, stretches, tiles and tasks. Open this file to change how keys are
// divided.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backend.h"
#include "kernels/cpu/kv_places.h"
#include "kernels/cpu/rotary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// A key range, and the rotations for the query vectors that read this range.
struct PlannedRange {
  std::vector<BlockId> blocks;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t base = 0;  ///< start position of the segment in the view
  bool causal = false;
  /// Rotations by the number of tokens between the first row of the run and a row. Entry 0 is for the
  /// distance between the first row and the start position of the range's segment.
  RotaryRows rotary;

  std::int64_t keys() const { return std::max<std::int64_t>(0, end - begin); }
};

/// Keys with a separate result, which is merged with the results before it. A stretch is a part of a range,
/// or several ranges of few keys.
struct KeyStretch {
  std::uint32_t range = 0;
  std::int64_t begin = 0;  ///< positions in the segment that are in the range
  std::int64_t end = 0;
  /// More than 1: all keys of this number of ranges from `range` on; some ranges may be empty. Then `begin`
  /// is 0, and `end` is the number of keys in these ranges.
  std::uint32_t ranges = 1;
};

struct PlannedRun {
  std::int64_t firstRow = 0;
  std::int64_t rowCount = 0;
  std::vector<std::int32_t> locals;  ///< position of each row in the segment, ascending
  std::vector<PlannedRange> ranges;
  std::vector<KeyStretch> stretches;  ///< stretches of all ranges, in prompt order
  std::int32_t mostBlocks = 0;        ///< as in compute::QueryRun
  std::int64_t base = 0;              ///< start position of the rows' segment in the view
  std::int64_t window = 0;            ///< as in compute::AttentionShape

  std::int64_t local(std::int64_t row) const { return locals[static_cast<std::size_t>(row)]; }
  /// Returns one past the last position of `range` that the row reads.
  std::int64_t limit(const PlannedRange& range, std::int64_t row) const {
    return range.causal ? std::min(local(row) + 1, range.end) : range.end;
  }
  /// Returns the first position of `range` that the row reads. If the position is after limit(), the row
  /// reads no key of the range.
  std::int64_t start(const PlannedRange& range, std::int64_t row) const {
    if (window == 0) return range.begin;
    return std::max(range.begin, base + local(row) - window + 1 - range.base);
  }
  /// Returns the rotation for the row's queries that read `range`.
  const float* rotation(const PlannedRange& range, std::int64_t row) const {
    return range.rotary.row(local(row) - locals.front());
  }
};

/// Some rows of one run, with all query heads of one key head.
struct AttentionRows {
  std::uint32_t run = 0;
  std::int64_t firstRow = 0;  ///< in the run
  std::int64_t rowCount = 0;
  std::int32_t keyHead = 0;
};

/// Rows whose stretches are several tasks. The task that ends last merges all results.
struct AttentionJoin {
  AttentionRows rows;
  std::int64_t tasks = 0;
  std::int64_t firstResult = 0;  ///< index of the first stretch's result among those of all joins
};

/// The unit of work of a thread: all stretches of some rows, or some stretches of these rows.
struct AttentionTask {
  AttentionRows rows;
  std::size_t firstStretch = 0;
  std::size_t endStretch = 0;
  std::int32_t join = -1;  ///< index; −1: all stretches
};

class CpuAttentionPlan {
 public:
  /// The inputs must have been checked (compute::checkPass).
  CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                   const compute::PassInputs& inputs, std::int64_t blockSize, RotaryCache& cache);

  const compute::AttentionShape& shape() const { return m_shape; }
  const std::vector<PlannedRun>& runs() const { return m_runs; }
  const std::vector<AttentionTask>& tasks() const { return m_tasks; }
  const std::vector<AttentionJoin>& joins() const { return m_joins; }
  std::int64_t results() const { return m_results; }  ///< results of stretches that all joins merge
  std::int64_t rowsPerTask() const { return m_rowsPerTask; }
  /// Returns the multiply-adds of all tasks. With few rows, reading keys and values takes longer and counts
  /// as more multiply-adds.
  std::int64_t work() const { return m_work; }
  bool choosesBlocks() const { return m_choosesBlocks; }  ///< whether a run reads only some blocks

 private:
  void addTasks(const PlannedRun& run, const AttentionRows& rows, bool isSplit);

  compute::AttentionShape m_shape;
  std::int64_t m_rowsPerTask = 1;
  std::int64_t m_work = 0;
  bool m_choosesBlocks = false;
  std::vector<PlannedRun> m_runs;
  std::vector<AttentionTask> m_tasks;
  std::vector<AttentionJoin> m_joins;
  std::int64_t m_results = 0;
};

// Divides the keys of a segment into the tiles of attention.

constexpr std::int64_t kMostTileKeys = 64;
/// Ranges with at most this number of keys share tiles with their neighbours.
constexpr std::int64_t kShortRangeKeys = 32;
/// Approximate number of keys of a stretch.
constexpr std::int64_t kStretchKeys = 512;

/// Positions begin … end − 1 of a segment.
struct KeyTile {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Tiles of at most kMostTileKeys keys, counted from position 0. A tile has as many whole blocks as fit, or
/// an equal section of a large block. The tiles depend only on the block size.
class KeyTiles {
 public:
  explicit KeyTiles(std::int64_t blockSize)
      : m_blockSize(blockSize),
        m_tileKeys(blockSize <= kMostTileKeys ? kMostTileKeys / blockSize * blockSize : kMostTileKeys) {}

  std::int64_t blockSize() const { return m_blockSize; }

  /// Returns the number of keys of a stretch: whole tiles. Stretches are counted from position 0, like tiles.
  std::int64_t stretchKeys() const {
    const std::int64_t step = std::max(m_tileKeys, m_blockSize);
    return std::max<std::int64_t>(1, kStretchKeys / step) * step;
  }

  /// Returns the tile that contains a position.
  KeyTile tileOf(std::int64_t key) const {
    if (m_blockSize <= kMostTileKeys) {
      const std::int64_t begin = key / m_tileKeys * m_tileKeys;
      return {begin, begin + m_tileKeys};
    }
    const std::int64_t block = key / m_blockSize * m_blockSize;
    const std::int64_t begin = block + (key - block) / m_tileKeys * m_tileKeys;
    return {begin, std::min(begin + m_tileKeys, block + m_blockSize)};
  }

 private:
  std::int64_t m_blockSize;
  std::int64_t m_tileKeys;
};

/// The keys and values of a head in a layer.
template <class Element>
struct HeadParts {
  const Element* keys = nullptr;    ///< the first key of the layer
  const Element* values = nullptr;  ///< the first value of the layer
  KvPlaces places;
  std::int64_t head = 0;
  std::int64_t headSize = 0;

  const Element* keysOf(BlockId block) const { return keys + places.of(block, head); }
};

/// The keys of a tile in one block.
template <class Element>
struct KeyPiece {
  const Element* keys = nullptr;    ///< element 0 of the first key; element i is blockSize · i further
  const Element* values = nullptr;  ///< value of the first key; the next value is headSize further
  std::int64_t count = 0;
  std::int64_t at = 0;  ///< index of the first key in the tile
};

/// The pieces of one tile, in order.
template <class Element>
class KeyPieces {
 public:
  const KeyPiece<Element>* begin() const { return m_pieces.data(); }
  const KeyPiece<Element>* end() const { return m_pieces.data() + m_count; }

  bool isEmpty() const { return m_count == 0; }
  std::span<const KeyPiece<Element>> from(std::size_t first) const {
    return std::span(m_pieces).subspan(first, m_count - first);
  }
  std::size_t count() const { return m_count; }
  void clear() { m_count = 0; }

  /// Adds the keys begin … end − 1 of a segment, the first one at index `at`. Space for a vector follows
  /// these keys. `chosen`: as for lay().
  void add(const KeyTiles& tiles, const std::vector<BlockId>& blocks, std::int64_t begin, std::int64_t end,
           std::int64_t at, const HeadParts<Element>& parts, const std::uint8_t* chosen) {
    const std::int64_t blockSize = tiles.blockSize();
    for (std::int64_t key = begin; key < end;) {
      const std::int64_t block = key / blockSize;
      const std::int64_t slot = key - block * blockSize;
      const std::int64_t to = std::min(end, (block + 1) * blockSize);
      if (chosen == nullptr || chosen[block] != 0)
        append(parts, blocks[static_cast<std::size_t>(block)], slot, to - key, at + key - begin);
      key = to;
    }
  }

  /// Sets the pieces for the positions from … to − 1 of a tile that begins at `tileBegin`. `chosen`: by
  /// virtual block, 0 for blocks that are left out; null: no block is left out.
  void lay(const KeyTiles& tiles, const std::vector<BlockId>& blocks, std::int64_t from, std::int64_t to,
           std::int64_t tileBegin, const HeadParts<Element>& parts, const std::uint8_t* chosen) {
    m_count = 0;
    // The pieces start at a block or tile. The alignment of key vectors thus does not depend on `from`.
    const std::int64_t begin = std::max(from / tiles.blockSize() * tiles.blockSize(), tileBegin);
    add(tiles, blocks, begin, to, begin - tileBegin, parts, chosen);
  }

 private:
  void append(const HeadParts<Element>& parts, BlockId block, std::int64_t slot, std::int64_t count,
              std::int64_t at) {
    const std::int64_t place = parts.places.of(block, parts.head);
    m_pieces[m_count++] = {.keys = parts.keys + place + slot,
                           .values = parts.values + place + slot * parts.headSize,
                           .count = count,
                           .at = at};
  }

  std::array<KeyPiece<Element>, static_cast<std::size_t>(kMostTileKeys)> m_pieces;
  std::size_t m_count = 0;
};

}  // namespace spanscope::cpu
