// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/block_choice.h"
#include "kernels/cpu/attention.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/attention_products-inl.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

constexpr std::int64_t roundUp(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/// The memory of a task: arrays over its query vectors, row by row and within a row head by head.
struct Scratch {
  Scratch(float* memory, std::int64_t queries, std::int64_t size)
      : headSize(size), sumStride(roundUp(size, kWidth)) {
    const std::int64_t padded = queries + kStep;  // whole vectors from any query on
    const auto take = [&memory](std::int64_t count) {
      float* const part = memory;
      memory += roundUp(count, 16);
      return part;
    };
    rotated = take(queries * headSize);
    scores = take(queries * kScoreStride);
    sums = take(queries * sumStride);
    merged = take(queries * sumStride);
    maximum = take(padded);
    total = take(padded);
    mergedMaximum = take(padded);
    mergedTotal = take(padded);
    decay = take(padded);
    end = memory;
  }

  std::int64_t headSize;
  std::int64_t sumStride;
  float* rotated;        ///< [queries][headSize], for the current range
  float* scores;         ///< [queries][kScoreStride], of the current tile
  float* sums;           ///< [queries][sumStride], of the current stretch
  float* merged;         ///< [queries][sumStride], sums of the stretches before
  float* maximum;        ///< of the current stretch
  float* total;          ///< Σ e^(score − maximum) of the current stretch
  float* mergedMaximum;  ///< maximum of the previous stretches
  float* mergedTotal;
  float* decay;  ///< factor of a query vector's sums when a tile raises the maximum
  float* end;
};

/// The data with which a thread computes one run and one key head.
template <class Element>
class HeadWorker {
 public:
  HeadWorker(const AttentionJob& job, const PlannedRun& run, std::int32_t keyHead, std::int64_t queries,
             float* memory)
      : m_job(job),
        m_run(run),
        m_shape(job.plan->shape()),
        m_keyHead(keyHead),
        m_group(m_shape.queryHeads / m_shape.keyHeads),
        m_tiles(job.store->shape().blockSize),
        m_scratch(memory, queries, m_shape.headSize) {
    m_parts = {.keys = job.store->keys<Element>(job.layer),
               .values = job.store->values<Element>(job.layer),
               .places = job.store->places(job.layer),
               .head = keyHead,
               .headSize = m_shape.headSize};
  }

  void attend(std::int64_t firstRow, std::int64_t rowCount) {
    if (m_run.mostBlocks == 0) {
      attendRows(firstRow, rowCount);
      return;
    }
    for (std::int64_t row = firstRow; row < firstRow + rowCount && !m_job.stop->stop_requested(); ++row) {
      choose(row);
      attendRows(row, 1);
    }
  }

  /// Writes the results of some stretches to `results`, in order.
  void attendStretches(const AttentionTask& task, float* results) {
    const std::int64_t queries = task.rows.rowCount * m_group;
    const PlannedRange* rotated = nullptr;
    for (std::size_t i = task.firstStretch; i < task.endStretch; ++i) {
      attendStretch(m_run.stretches[i], task.rows.firstRow, task.rows.rowCount, rotated);
      if (m_job.stop->stop_requested()) return;
      float* const result = results + static_cast<std::int64_t>(i) * m_job.resultFloats;
      std::copy_n(m_scratch.maximum, queries, result);
      std::copy_n(m_scratch.total, queries, result + queries);
      std::copy_n(m_scratch.sums, queries * m_scratch.sumStride, result + 2 * queries);
    }
  }

  /// Joins the results of all stretches.
  void join(const AttentionRows& rows, const float* results) {
    const std::int64_t queries = rows.rowCount * m_group;
    clearMerged(queries);
    for (std::size_t i = 0; i < m_run.stretches.size(); ++i, results += m_job.resultFloats)
      merge(queries, results, results + queries, results + 2 * queries);
    writeOut(rows.firstRow, rows.rowCount);
  }

  /// Adds the weights of the rows' keys to sums[head of the group][stretch of keys]. Adds the weights of the
  /// first keys to firstSums[head of the group][range].
  void addMass(std::int64_t firstRow, std::int64_t rowCount, const MassTask& task) {
    if (m_run.mostBlocks == 0) {
      addMassOfRows(firstRow, rowCount, task);
      return;
    }
    for (std::int64_t row = firstRow; row < firstRow + rowCount && !m_job.stop->stop_requested(); ++row) {
      choose(row);
      addMassOfRows(row, 1, task);
    }
  }

 private:
  void attendRows(std::int64_t firstRow, std::int64_t rowCount) {
    const std::int64_t queries = rowCount * m_group;
    clearMerged(queries);
    const PlannedRange* rotated = nullptr;
    for (const KeyStretch& stretch : m_run.stretches) {
      // Stretches to which no row of the task attends need no work. The last rows have many keys before their
      // windows.
      const PlannedRange& range = m_run.ranges[stretch.range];
      if (stretch.ranges == 1 && m_run.limit(range, firstRow + rowCount - 1) <= stretch.begin) continue;
      attendStretch(stretch, firstRow, rowCount, rotated);
      merge(queries, m_scratch.maximum, m_scratch.total, m_scratch.sums);
      if (m_job.stop->stop_requested()) return;
    }
    writeOut(firstRow, rowCount);
  }

  void clearMerged(std::int64_t queries) {
    std::fill_n(m_scratch.mergedMaximum, queries, kNone);
    std::fill_n(m_scratch.mergedTotal, queries, 0.0F);
    std::fill_n(m_scratch.merged, queries * m_scratch.sumStride, 0.0F);
  }

  void addMassOfRows(std::int64_t firstRow, std::int64_t rowCount, const MassTask& task) {
    std::int64_t first = 0;
    double* firstSums = task.firstSums;
    for (const PlannedRange& range : m_run.ranges) {
      addRangeMass(range, firstRow, rowCount, task, task.sums + first, firstSums++);
      first += (std::max<std::int64_t>(range.end, 0) + task.keySpan - 1) / task.keySpan;
    }
  }

  /// Sets m_chosen for one row by the rule of block_choice.h.
  void choose(std::int64_t row) {
    const std::int64_t blockSize = m_tiles.blockSize();
    m_bounds.clear();
    for (const PlannedRange& range : m_run.ranges) {
      const std::int64_t limit = m_run.limit(range, row);
      const std::int64_t start = m_run.start(range, row);
      if (limit <= start) continue;
      rotate(range, row, 1);
      for (std::int64_t block = start / blockSize; block * blockSize < limit; ++block) {
        const std::int64_t begin = std::max<std::int64_t>(start - block * blockSize, 0);
        const std::int64_t end = std::min(limit - block * blockSize, blockSize);
        m_bounds.push_back(boundOf(range.blocks[static_cast<std::size_t>(block)], begin, end));
      }
    }
    m_choice.resize(m_bounds.size());
    compute::chooseBlocks(m_bounds, m_run.mostBlocks, m_choice);
    // By range and virtual block, including the blocks before the row's first block.
    m_chosen.clear();
    m_firstChosen.clear();
    auto next = m_choice.cbegin();
    for (const PlannedRange& range : m_run.ranges) {
      m_firstChosen.push_back(m_chosen.size());
      const std::int64_t limit = m_run.limit(range, row);
      const std::int64_t start = m_run.start(range, row);
      if (limit <= start) continue;
      m_chosen.insert(m_chosen.end(), static_cast<std::size_t>(start / blockSize), 0);
      const auto count = (limit + blockSize - 1) / blockSize - start / blockSize;
      m_chosen.insert(m_chosen.end(), next, next + count);
      next += count;
    }
  }

  /// Returns the max score of the row's query vectors with slots begin … end − 1 of a block. The query
  /// vectors are rotated for the block's range.
  float boundOf(BlockId block, std::int64_t begin, std::int64_t end) {
    const std::int64_t headSize = m_shape.headSize;
    const KeyBounds& known = m_job.store->keyBounds();
    const float* bounds = known.of(m_job.layer, block, m_keyHead);
    if (begin > 0 || end < m_tiles.blockSize()) {
      m_partBounds.resize(static_cast<std::size_t>(2 * headSize));
      measureBounds(m_parts.keysOf(block), headSize, m_tiles.blockSize(), begin, end, m_partBounds.data());
      bounds = m_partBounds.data();
    }
    float highest = kNone;
    for (std::int64_t inGroup = 0; inGroup < m_group; ++inGroup) {
      const float bound = mostOf(m_scratch.rotated + inGroup * headSize, bounds, bounds + headSize, headSize);
      if (!(bound <= highest)) highest = bound;
    }
    return highest;
  }

  /// Σ max(query · least, query · greatest)
  static float mostOf(const float* query, const float* least, const float* greatest, std::int64_t count) {
    const FloatTag d;
    auto sums = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + kStep <= count; i += kStep) {
      const auto element = hn::LoadU(d, query + i);
      const auto low = hn::Mul(element, hn::LoadU(d, least + i));
      const auto high = hn::Mul(element, hn::LoadU(d, greatest + i));
      sums = hn::Add(sums, hn::Max(low, high));
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; i < count; ++i) sum += std::max(query[i] * least[i], query[i] * greatest[i]);
    return sum;
  }

  /// By virtual block of a range. Null if all blocks are read.
  const std::uint8_t* chosenOf(const PlannedRange& range) const {
    if (m_run.mostBlocks == 0) return nullptr;
    return m_chosen.data() + m_firstChosen[static_cast<std::size_t>(&range - m_run.ranges.data())];
  }

  const float* queryOf(std::int64_t row, std::int64_t inGroup) const {
    const std::int64_t head = m_keyHead * m_group + inGroup;
    return m_job.queries + ((m_run.firstRow + row) * m_shape.queryHeads + head) * m_shape.headSize;
  }

  void rotate(const PlannedRange& range, std::int64_t firstRow, std::int64_t rowCount) {
    float* out = m_scratch.rotated;
    for (std::int64_t row = firstRow; row < firstRow + rowCount; ++row) {
      const float* cosSin = m_run.rotation(range, row);
      const float scale = m_shape.scale * m_shape.positionScale.at(m_run.base + m_run.local(row));
      for (std::int64_t inGroup = 0; inGroup < m_group; ++inGroup) {
        m_job.rows->rotate(queryOf(row, inGroup), cosSin, m_shape.headSize / 2, scale, out);
        out += m_shape.headSize;
      }
    }
  }

  /// Scores of query vectors first … last − 1 with the keys of m_pieces, from a given piece on.
  void score(std::int64_t first, std::int64_t last, std::size_t firstPiece = 0) {
    constexpr auto kTable = scoreTable<Element>(std::make_integer_sequence<int, kRowTile>());
    const std::span<const KeyPiece<Element>> all = m_pieces.from(firstPiece);
    // Keys of two vectors stay in the nearest cache until all queries have been scored.
    const auto together =
        last - first <= kRowTile
            ? all.size()
            : static_cast<std::size_t>(std::max<std::int64_t>(1, kWidth / m_tiles.blockSize()));
    for (std::size_t piece = 0; piece < all.size(); piece += together) {
      const auto pieces = all.subspan(piece, std::min(together, all.size() - piece));
      for (std::int64_t query = first; query < last; query += kRowTile) {
        const std::int64_t count = std::min<std::int64_t>(kRowTile, last - query);
        kTable[static_cast<std::size_t>(count - 1)](
            pieces, m_tiles.blockSize(), m_scratch.rotated + query * m_shape.headSize, m_shape.headSize,
            m_scratch.scores + query * kScoreStride, query == first);
      }
    }
    if (m_shape.softCap > 0) cap(first, last, all);
  }

  /// Bounds the scores of query vectors first … last − 1 with the keys of some pieces. Scores of keys between
  /// two pieces get no weight later.
  void cap(std::int64_t first, std::int64_t last, std::span<const KeyPiece<Element>> pieces) {
    if (pieces.empty()) return;
    const std::int64_t begin = pieces.front().at;
    const std::int64_t end = pieces.back().at + pieces.back().count;
    for (std::int64_t query = first; query < last; ++query)
      m_job.rows->softCap(m_scratch.scores + query * kScoreStride + begin, m_shape.softCap, end - begin);
  }

  /// Gives no weight to keys of the tile that are in no piece.
  void blankGaps(std::int64_t first, std::int64_t last, std::int64_t keys) {
    if (m_run.mostBlocks != 0) blankOutside(first, last, keys);
  }
  void blankOutside(std::int64_t first, std::int64_t last, std::int64_t keys) {
    std::int64_t at = 0;
    const auto blank = [&](std::int64_t to) {
      for (std::int64_t query = first; query < last && at < to; ++query)
        std::fill_n(m_scratch.scores + query * kScoreStride + at, to - at, kNone);
    };
    for (const KeyPiece<Element>& piece : m_pieces) {
      blank(piece.at);
      at = piece.at + piece.count;
    }
    blank(keys);
  }

  void addValuesOf(std::int64_t first, std::int64_t last, std::int64_t low, std::int64_t high) {
    constexpr auto kTable = valueTable<Element>(std::make_integer_sequence<int, kRowTile>());
    for (std::int64_t query = first; query < last; query += kRowTile) {
      const std::int64_t count = std::min<std::int64_t>(kRowTile, last - query);
      kTable[static_cast<std::size_t>(count - 1)](
          m_pieces, low, high, m_shape.headSize, m_scratch.scores + query * kScoreStride,
          m_scratch.decay + query, m_scratch.sums + query * m_scratch.sumStride, m_scratch.sumStride);
    }
  }

  /// Calls visit(tile, first, last) for each tile of the range's positions begin … end − 1, with m_pieces
  /// set. Rows first … last − 1 attend to some of the tile. Later rows attend to more keys after it, and to
  /// fewer keys before it.
  template <class Visit>
  void forTiles(const PlannedRange& range, std::int64_t begin, std::int64_t end, std::int64_t firstRow,
                std::int64_t rowCount, const Visit& visit) {
    const std::int64_t endRow = firstRow + rowCount;
    const std::int64_t limit = std::min(m_run.limit(range, endRow - 1), end);
    const std::int64_t start = std::max(m_run.start(range, firstRow), begin);
    if (limit <= start) return;
    std::int64_t row = firstRow;
    for (KeyTile tile = m_tiles.tileOf(start); tile.begin < limit; tile = m_tiles.tileOf(tile.end)) {
      const std::int64_t from = std::max(tile.begin, start);
      while (m_run.limit(range, row) <= from) ++row;
      std::int64_t last = endRow;
      while (last > row && m_run.start(range, last - 1) >= std::min(tile.end, limit)) --last;
      m_pieces.lay(m_tiles, range.blocks, from, std::min(tile.end, limit), tile.begin, m_parts,
                   chosenOf(range));
      if (!m_pieces.isEmpty() && row < last) visit(tile, row, last);
      if (m_job.stop->stop_requested()) return;
    }
  }

  /// Returns the keys of a tile that a row reads, as places in the tile.
  struct Seen {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool operator==(const Seen&) const = default;
  };
  Seen seenOf(const PlannedRange& range, const KeyTile& tile, std::int64_t row) const {
    const std::int64_t high = std::min(tile.end, m_run.limit(range, row)) - tile.begin;
    return {.low = std::clamp<std::int64_t>(m_run.start(range, row) - tile.begin, 0, high), .high = high};
  }

  /// Leaves the result in m_scratch. `rotated`: the range for which the queries are rotated, or null.
  void attendStretch(const KeyStretch& stretch, std::int64_t firstRow, std::int64_t rowCount,
                     const PlannedRange*& rotated) {
    const PlannedRange& range = m_run.ranges[stretch.range];
    const std::int64_t queries = rowCount * m_group;
    std::fill_n(m_scratch.maximum, queries, kNone);
    std::fill_n(m_scratch.total, queries, 0.0F);
    std::fill_n(m_scratch.sums, queries * m_scratch.sumStride, 0.0F);
    if (stretch.ranges > 1) {
      rotated = nullptr;
      attendShortRanges(stretch, firstRow, rowCount);
      return;
    }
    if (rotated != &range) rotate(range, firstRow, rowCount);
    rotated = &range;
    forTiles(range, stretch.begin, stretch.end, firstRow, rowCount,
             [&](const KeyTile& tile, std::int64_t seeingRow, std::int64_t endRow) {
               const std::int64_t first = (seeingRow - firstRow) * m_group;
               const std::int64_t end = (endRow - firstRow) * m_group;
               score(first, end);
               blankGaps(first, end, tile.end - tile.begin);
               m_seen.clear();
               for (std::int64_t row = seeingRow; row < endRow; ++row)
                 m_seen.push_back(seenOf(range, tile, row));
               takeTile(first, end);
             });
  }

  /// The ranges of a stretch share tiles. Each range is scored with query vectors that are rotated for this
  /// range. Then the tile's scores are used together.
  void attendShortRanges(const KeyStretch& stretch, std::int64_t firstRow, std::int64_t rowCount) {
    const std::size_t end = stretch.range + stretch.ranges;
    for (std::size_t index = stretch.range; index < end && !m_job.stop->stop_requested();) {
      const std::size_t first = index;
      const std::int64_t keys = scoreShortRanges(index, end, firstRow, rowCount);
      if (m_pieces.isEmpty()) continue;
      const std::int64_t queries = rowCount * m_group;
      if (m_run.mostBlocks != 0 || m_run.window != 0) blankOutside(0, queries, keys);
      m_seen.clear();
      for (std::int64_t row = 0; row < rowCount; ++row) {
        const bool sees = m_run.window == 0 || blankBefore(first, index, firstRow + row, row * m_group);
        m_seen.push_back({.low = 0, .high = sees ? keys : 0});
      }
      takeTile(0, queries);
    }
  }

  /// Scores a tile of ranges from `index` on. Leaves `index` at the first range that does not fit in the
  /// tile. Returns the keys of the tile.
  std::int64_t scoreShortRanges(std::size_t& index, std::size_t end, std::int64_t firstRow,
                                std::int64_t rowCount) {
    const std::int64_t queries = rowCount * m_group;
    m_pieces.clear();
    std::int64_t at = 0;
    for (; index < end && at + m_run.ranges[index].keys() <= kMostTileKeys; ++index) {
      const PlannedRange& range = m_run.ranges[index];
      const std::size_t first = m_pieces.count();
      // Later rows attend to fewer keys of this range.
      if (range.keys() > 0 && m_run.start(range, firstRow) < range.end) {
        m_pieces.add(m_tiles, range.blocks, range.begin, range.end, at, m_parts, chosenOf(range));
      }
      at += range.keys();
      if (m_pieces.count() == first) continue;
      rotate(range, firstRow, rowCount);
      score(0, queries, first);
    }
    return at;
  }

  /// Gives no weight to keys of the tile before the row's window, for the row's query vectors from `query`
  /// on. The keys belong to ranges first … end − 1. Returns whether the tile has other keys.
  bool blankBefore(std::size_t first, std::size_t end, std::int64_t row, std::int64_t query) {
    bool sees = false;
    std::int64_t at = 0;
    for (std::size_t index = first; index < end; ++index) {
      const PlannedRange& range = m_run.ranges[index];
      if (range.keys() == 0) continue;
      const std::int64_t unseen = std::min(m_run.start(range, row), range.end) - range.begin;
      for (std::int64_t i = 0; i < m_group; ++i)
        std::fill_n(m_scratch.scores + (query + i) * kScoreStride + at, unseen, kNone);
      sees |= unseen < range.keys();
      at += range.keys();
    }
    return sees;
  }

  /// Adds scores and values of a tile's m_pieces to the results of queries first … end − 1. m_seen has the
  /// keys of the tile that the rows of these queries read.
  void takeTile(std::int64_t first, std::int64_t end) {
    const auto forRows = [&](const auto& visit) {
      std::int64_t query = first;
      for (const Seen& seen : m_seen) {
        const std::int64_t next = query + m_group;
        for (; query < next && seen.low < seen.high; ++query) visit(query, seen);
        query = next;
      }
    };
    forRows([&](std::int64_t query, const Seen& seen) { raiseMaximum(query, seen); });
    decays(first, end);
    forRows([&](std::int64_t query, const Seen& seen) { weigh(query, seen); });
    // Queries with the same keys are computed together. In a tile on the diagonal, only the heads of one row
    // have the same keys.
    for (std::size_t row = 0; row < m_seen.size();) {
      std::size_t last = row + 1;
      while (last < m_seen.size() && m_seen[last] == m_seen[row]) ++last;
      if (m_seen[row].low < m_seen[row].high) {
        addValuesOf(first + static_cast<std::int64_t>(row) * m_group,
                    first + static_cast<std::int64_t>(last) * m_group, m_seen[row].low, m_seen[row].high);
      }
      row = last;
    }
  }

  /// Updates the query's maximum with the tile's scores low … high − 1. The old maximum goes to `decay`.
  /// Other scores in the same vectors get no weight.
  void raiseMaximum(std::int64_t query, const Seen& seen) {
    const FloatTag d;
    const auto [low, high] = seen;
    float* scores = m_scratch.scores + query * kScoreStride;
    const std::int64_t end = roundUp(high, kStep);
    std::fill_n(scores, low, kNone);
    std::fill_n(scores + high, end - high, kNone);
    auto highest = hn::Set(d, kNone);
    for (std::int64_t i = 0; i < end; i += kStep) highest = hn::Max(highest, hn::LoadU(d, scores + i));
    const float tileMaximum = hn::GetLane(hn::MaxOfLanes(d, highest));
    m_scratch.decay[query] = m_scratch.maximum[query];
    // Never −∞, so that scores of −∞ give weights of 0.
    m_scratch.maximum[query] =
        std::max({m_scratch.maximum[query], tileMaximum, std::numeric_limits<float>::lowest()});
  }

  /// decay = e^(old maximum − new maximum)
  void decays(std::int64_t first, std::int64_t last) {
    const FloatTag d;
    for (std::int64_t query = first; query < last; query += kStep) {
      const auto before = hn::LoadU(d, m_scratch.decay + query);
      const auto now = hn::LoadU(d, m_scratch.maximum + query);
      hn::StoreU(exponential(d, hn::Sub(before, now)), d, m_scratch.decay + query);
    }
  }

  /// Turns scores into weights and adds them to the query's total.
  void weigh(std::int64_t query, const Seen& seen) {
    const FloatTag d;
    const auto [low, high] = seen;
    float* scores = m_scratch.scores + query * kScoreStride;
    const auto maximum = hn::Set(d, m_scratch.maximum[query]);
    auto sum = hn::Zero(d);
    for (std::int64_t i = low / kStep * kStep; i < high; i += kStep) {
      const auto weight = exponential(d, hn::Sub(hn::LoadU(d, scores + i), maximum));
      hn::StoreU(weight, d, scores + i);
      sum = hn::Add(sum, weight);
    }
    const float decayed = m_scratch.total[query] * m_scratch.decay[query];
    m_scratch.total[query] = decayed + hn::GetLane(hn::SumOfLanes(d, sum));
  }

  /// Joins the result of a stretch to the earlier results.
  void merge(std::int64_t queries, const float* maxima, const float* totals, const float* allSums) {
    const FloatTag d;
    for (std::int64_t query = 0; query < queries; ++query) {
      const float maximum = maxima[query];
      if (maximum == kNone) continue;  // the row reads no key of this stretch
      const float before = m_scratch.mergedMaximum[query];
      float* merged = m_scratch.merged + query * m_scratch.sumStride;
      const float* sums = allSums + query * m_scratch.sumStride;
      if (before == kNone) {
        std::copy_n(sums, m_scratch.sumStride, merged);
        m_scratch.mergedMaximum[query] = maximum;
        m_scratch.mergedTotal[query] = totals[query];
        continue;
      }
      const float highest = std::max(before, maximum);
      const float keep = exponential(before - highest);
      const float take = exponential(maximum - highest);
      const auto keepAll = hn::Set(d, keep);
      const auto takeAll = hn::Set(d, take);
      for (std::int64_t i = 0; i < m_scratch.sumStride; i += kStep) {
        const auto kept = hn::Mul(hn::LoadU(d, merged + i), keepAll);
        hn::StoreU(hn::MulAdd(hn::LoadU(d, sums + i), takeAll, kept), d, merged + i);
      }
      m_scratch.mergedMaximum[query] = highest;
      m_scratch.mergedTotal[query] = m_scratch.mergedTotal[query] * keep + totals[query] * take;
    }
  }

  /// Returns the factor on the merged sums of a query vector whose softmax has a sink. A row that reads no
  /// key gives 0.
  float scaleWithSink(std::int64_t query, float sink) const {
    const float total = m_scratch.mergedTotal[query];
    if (total == 0.0F) return 0.0F;
    const float maximum = m_scratch.mergedMaximum[query];
    const float highest = std::max(maximum, sink);
    const float keep = exponential(maximum - highest);
    return keep / (total * keep + exponential(sink - highest));
  }

  void writeOut(std::int64_t firstRow, std::int64_t rowCount) {
    for (std::int64_t row = 0; row < rowCount; ++row) {
      for (std::int64_t inGroup = 0; inGroup < m_group; ++inGroup) {
        const std::int64_t query = row * m_group + inGroup;
        const float total = m_scratch.mergedTotal[query];
        const std::int64_t ofRow = m_keyHead * m_group + inGroup;
        const float scale = m_job.sinks != nullptr ? scaleWithSink(query, m_job.sinks[ofRow])
                            : total == 0.0F        ? 0.0F
                                                   : 1.0F / total;
        const std::int64_t head = (m_run.firstRow + firstRow + row) * m_shape.queryHeads + ofRow;
        float* out = m_job.out + head * m_shape.headSize;
        const float* merged = m_scratch.merged + query * m_scratch.sumStride;
        for (std::int64_t i = 0; i < m_shape.headSize; ++i) out[i] = merged[i] * scale;
        if (m_job.weightScale != nullptr) {
          m_job.weightScale[2 * head] = m_scratch.mergedMaximum[query];
          m_job.weightScale[2 * head + 1] = scale;
        }
      }
    }
  }

  void addRangeMass(const PlannedRange& range, std::int64_t firstRow, std::int64_t rowCount,
                    const MassTask& task, double* sums, double* firstSums) {
    rotate(range, firstRow, rowCount);
    forTiles(range, range.begin, range.end, firstRow, rowCount,
             [&](const KeyTile& tile, std::int64_t seeingRow, std::int64_t endRow) {
               const std::int64_t first = (seeingRow - firstRow) * m_group;
               const std::int64_t end = (endRow - firstRow) * m_group;
               score(first, end);
               blankGaps(first, end, tile.end - tile.begin);
               for (std::int64_t query = first; query < end; ++query) {
                 const std::int64_t row = firstRow + query / m_group;
                 const auto [low, high] = seenOf(range, tile, row);
                 const std::int64_t head =
                     (m_run.firstRow + row) * m_shape.queryHeads + m_keyHead * m_group + query % m_group;
                 weighFinally(query, low, high, m_job.weightScale + 2 * head);
                 addStretches(m_scratch.scores + query * kScoreStride, tile.begin, low, high, task.keySpan,
                              sums + query % m_group * task.keyBlocks);
                 if (tile.begin + low == range.begin && low < high) {
                   firstSums[query % m_group * task.ranges] +=
                       static_cast<double>(m_scratch.scores[query * kScoreStride + low]);
                 }
               }
             });
  }

  /// Turns scores into the weights of the whole softmax.
  void weighFinally(std::int64_t query, std::int64_t low, std::int64_t high, const float* weightScale) {
    const FloatTag d;
    float* scores = m_scratch.scores + query * kScoreStride;
    const auto maximum = hn::Set(d, weightScale[0]);
    const auto scale = hn::Set(d, weightScale[1]);
    for (std::int64_t i = low / kStep * kStep; i < high; i += kStep) {
      hn::StoreU(hn::Mul(exponential(d, hn::Sub(hn::LoadU(d, scores + i), maximum)), scale), d, scores + i);
    }
  }

  static void addStretches(const float* weights, std::int64_t tileBegin, std::int64_t low, std::int64_t high,
                           std::int64_t keySpan, double* sums) {
    for (std::int64_t i = low; i < high;) {
      const std::int64_t stretch = (tileBegin + i) / keySpan;
      const std::int64_t end = std::min(high, (stretch + 1) * keySpan - tileBegin);
      double sum = 0;
      for (; i < end; ++i) sum += static_cast<double>(weights[i]);
      sums[stretch] += sum;
    }
  }

  const AttentionJob& m_job;
  const PlannedRun& m_run;
  compute::AttentionShape m_shape;
  std::int64_t m_keyHead;
  std::int64_t m_group;
  KeyTiles m_tiles;
  Scratch m_scratch;
  KeyPieces<Element> m_pieces;
  HeadParts<Element> m_parts;
  // For the current row, if it does not read all blocks.
  std::vector<float> m_bounds;         ///< bounds of the blocks with the row's keys, in prompt order
  std::vector<std::uint8_t> m_choice;  ///< of the same blocks
  std::vector<std::uint8_t> m_chosen;  ///< by range and virtual block
  std::vector<std::size_t> m_firstChosen;
  std::vector<float> m_partBounds;
  std::vector<Seen> m_seen;  ///< of the current tile, by row that reads any key of it
};

std::int64_t scratchFloats(std::int64_t queries, std::int64_t headSize) {
  float* const none = nullptr;
  const Scratch scratch(none, queries, headSize);
  return scratch.end - none;
}

std::int64_t resultFloats(std::int64_t queries, std::int64_t headSize) {
  return roundUp(queries * (roundUp(headSize, kWidth) + 2), 16);
}

template <class Element>
void attendOf(const AttentionJob& job, const AttentionTask& task, float* memory) {
  const AttentionRows& rows = task.rows;
  const std::int64_t group = job.plan->shape().queryHeads / job.plan->shape().keyHeads;
  HeadWorker<Element> worker(job, job.plan->runs()[rows.run], rows.keyHead, rows.rowCount * group, memory);
  if (task.join < 0) {
    worker.attend(rows.firstRow, rows.rowCount);
    return;
  }
  const AttentionJoin& join = job.plan->joins()[static_cast<std::size_t>(task.join)];
  float* const results = job.results + join.firstResult * job.resultFloats;
  worker.attendStretches(task, results);
  if (job.stop->stop_requested()) return;
  const std::atomic_ref<std::int64_t> remaining(job.remaining[task.join]);
  if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) worker.join(rows, results);
}

template <class Element>
void massOf(const AttentionJob& job, const MassTask& task, float* memory) {
  const PlannedRun& run = job.plan->runs()[task.run];
  const std::int64_t group = job.plan->shape().queryHeads / job.plan->shape().keyHeads;
  const std::int64_t step = job.plan->rowsPerTask();
  HeadWorker<Element> worker(job, run, task.keyHead, step * group, memory);
  for (std::int64_t row = 0; row < run.rowCount && !job.stop->stop_requested(); row += step) {
    worker.addMass(row, std::min(step, run.rowCount - row), task);
  }
}

void attend(const AttentionJob& job, const AttentionTask& task, float* memory) {
  if (job.store->shape().type == compute::DType::BF16) {
    attendOf<std::uint16_t>(job, task, memory);
  } else {
    attendOf<float>(job, task, memory);
  }
}

void mass(const AttentionJob& job, const MassTask& task, float* memory) {
  if (job.store->shape().type == compute::DType::BF16) {
    massOf<std::uint16_t>(job, task, memory);
  } else {
    massOf<float>(job, task, memory);
  }
}

}  // namespace

AttentionKernels targetAttentionKernels() {
  return {&scratchFloats, &resultFloats, &attend, &mass};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spanscope::cpu {

HWY_EXPORT(targetAttentionKernels);

AttentionKernels attentionKernels() {
  return HWY_DYNAMIC_DISPATCH(targetAttentionKernels)();
}

}  // namespace spanscope::cpu
#endif
