// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/attention_work.h"

#include "engine/base/error.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/attention/tensor_decode.h"
#include "kernels/cuda/attention/tensor_head_sizes.h"
#include "kernels/cuda/backend/device_key_value_store.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::cuda {
namespace {

/// Keys that are summed together. The number is fixed. The result of a row thus depends only on the row's
/// keys.
constexpr std::int32_t kChunkKeys = 256;
/// Min pairs of a row and a head of a group for which tensor cores pay off.
constexpr std::int32_t kFewPairs = 16;
/// Min keys for which a merged part of a row's work pays off.
constexpr std::int32_t kLeastSplitKeys = 256;

/// A run in the form that the kernels take.
struct Piece {
  RowRun run;
  std::optional<std::size_t> mass;  ///< entry of the requested mass
};

RowRun rowRunOf(const compute::PassInputs& inputs, const compute::QueryRun& run, std::int32_t window) {
  const auto first = inputs.localIndices.begin() + static_cast<std::ptrdiff_t>(run.firstRow);
  RowRun result{.firstRow = static_cast<std::int32_t>(run.firstRow),
                .rowCount = run.rowCount,
                .firstLocal = *first,
                .base = run.base,
                .keys = {}};
  if (*(first + run.rowCount - 1) - *first + 1 != run.rowCount)
    result.locals.assign(first, first + run.rowCount);
  result.mostBlocks = run.mostBlocks;
  result.window = window;
  for (const compute::KeyRange& keys : run.keys) {
    result.keys.push_back({.blocks = {keys.blocks.begin(), keys.blocks.end()},
                           .begin = keys.begin,
                           .end = keys.end,
                           .base = keys.base,
                           .causal = keys.causal});
  }
  return result;
}

RowRun rowsOf(const RowRun& run, std::int32_t first, std::int32_t count) {
  RowRun part = run;
  part.firstRow += first;
  part.firstLocal = run.localOf(first);
  part.rowCount = count;
  if (!run.locals.empty()) part.locals.assign(run.locals.begin() + first, run.locals.begin() + first + count);
  return part;
}

/// Returns the number of blocks with keys to which a row at a local token attends.
std::int32_t blocksOf(const RowRun& run, std::int32_t local, std::int32_t blockSize) {
  std::int32_t blocks = 0;
  for (const SegmentKeys& keys : run.keys) {
    const std::int32_t begin = run.beginOf(keys, local);
    const std::int32_t end = RowRun::endOf(keys, local);
    if (end > begin) blocks += (end + blockSize - 1) / blockSize - begin / blockSize;
  }
  return blocks;
}

/// Returns the number of given keys that all rows of the run read, added up over the rows.
std::int32_t keyCountOf(const RowRun& run, const SegmentKeys& keys) {
  return std::max(keys.end - run.beginOf(keys, run.firstLocal), 0);
}

std::vector<Piece> piecesOf(const compute::AttentionShape& shape, const compute::PassInputs& inputs,
                            const compute::KvShape& store, bool observed) {
  std::vector<std::optional<std::size_t>> entries(inputs.runs.size());
  if (observed) {
    for (std::size_t i = 0; i < inputs.mass.runs.size(); ++i) entries[inputs.mass.runs[i]] = i;
  }
  std::vector<Piece> pieces;
  for (std::size_t r = 0; r < inputs.runs.size(); ++r) {
    RowRun run = rowRunOf(inputs, inputs.runs[r], shape.window);
    if (entries[r]) run.massSpan = inputs.mass.keySpan(*entries[r], store.blockSize);
    // Rows that may read all their blocks are treated like rows without a limit.
    std::int32_t whole = 0;
    while (run.mostBlocks > 0 && whole < run.rowCount &&
           blocksOf(run, run.localOf(whole), store.blockSize) <= run.mostBlocks)
      ++whole;
    if (whole > 0) {
      pieces.push_back({.run = rowsOf(run, 0, whole), .mass = entries[r]});
      pieces.back().run.mostBlocks = 0;
    }
    if (whole < run.rowCount)
      pieces.push_back({.run = rowsOf(run, whole, run.rowCount - whole), .mass = entries[r]});
  }
  return pieces;
}

/// Upper bound of the bytes of one row's partial results.
std::size_t partialBytes(const compute::AttentionShape& shape, const RowRun& run) {
  std::size_t items = 0;
  for (const SegmentKeys& keys : run.keys)
    items += static_cast<std::size_t>((keyCountOf(run, keys) + kChunkKeys - 1) / kChunkKeys) + 1;
  std::size_t floats = static_cast<std::size_t>(paddedHeadSize(shape.headSize)) + 2;
  if (run.massSpan != RowRun::kNoMass) floats += static_cast<std::size_t>(kChunkKeys / run.massSpan) + 3;
  return items * floats * sizeof(float) * static_cast<std::size_t>(shape.queryHeads);
}

/// Collects pieces into launches.
class Decodes {
 public:
  Decodes(const compute::AttentionShape& shape, std::int32_t blockSize, std::int64_t keptRotations)
      : m_shape(shape), m_blockSize(blockSize), m_keptRotations(keptRotations) {}

  void add(const Piece& piece) {
    const std::size_t each = std::max<std::size_t>(1, partialBytes(m_shape, piece.run));
    const auto most =
        static_cast<std::int32_t>(std::clamp<std::size_t>(kMostPartialBytes / each, 1, 1U << 20U));
    for (std::int32_t row = 0; row < piece.run.rowCount; row += most) {
      Piece part{.run = rowsOf(piece.run, row, std::min(most, piece.run.rowCount - row)), .mass = piece.mass};
      const std::size_t bytes = each * static_cast<std::size_t>(part.run.rowCount);
      if (m_bytes + bytes > kMostPartialBytes) close();
      m_bytes += bytes;
      m_parts.push_back(std::move(part));
    }
  }

  std::vector<DecodeWork> take() {
    close();
    return std::move(m_works);
  }

 private:
  void close() {
    if (m_parts.empty()) return;
    DecodeWork work;
    work.firstRow = m_parts.front().run.firstRow;
    work.rows = m_parts.back().run.firstRow + m_parts.back().run.rowCount - work.firstRow;
    std::vector<RowRun> runs;
    std::vector<std::size_t> entries;
    for (Piece& part : m_parts) {
      part.run.firstRow -= work.firstRow;
      if (part.mass) entries.push_back(*part.mass);
      runs.push_back(std::move(part.run));
    }
    work.plan = planDecode(runs, work.rows, kChunkKeys, m_shape.queryHeads, m_blockSize, m_keptRotations);
    for (std::size_t i = 0; i < entries.size(); ++i)
      work.masses.push_back({.entry = entries[i], .mass = work.plan.masses[i]});
    m_works.push_back(std::move(work));
    m_parts.clear();
    m_bytes = 0;
  }

  const compute::AttentionShape& m_shape;
  std::int32_t m_blockSize;
  std::int64_t m_keptRotations;
  std::vector<Piece> m_parts;
  std::size_t m_bytes = 0;
  std::vector<DecodeWork> m_works;
};

/// Returns the number of keys per range for the work of few rows. Each multiprocessor then gets two blocks.
/// Returns 0 if there are enough rows for the GPU or few keys.
std::int32_t splitKeysOf(const std::vector<RowRun>& runs, std::int32_t group, std::int32_t keyHeads,
                         int multiprocessors) {
  std::int64_t blocks = 0;
  std::int64_t mostKeys = 0;
  for (const RowRun& run : runs) {
    const std::int64_t pairs = std::int64_t{run.rowCount} * group;
    blocks += (pairs + kPrefillTilePairs - 1) / kPrefillTilePairs * keyHeads;
    std::int64_t keyCount = 0;
    for (const SegmentKeys& keys : run.keys) keyCount += keyCountOf(run, keys);
    mostKeys = std::max(mostKeys, keyCount);
  }
  if (blocks >= multiprocessors || mostKeys < 2 * kLeastSplitKeys) return 0;
  const std::int64_t parts = (2 * std::int64_t{multiprocessors} + blocks - 1) / blocks;
  const std::int64_t tiles = (mostKeys / parts + kPrefillTileKeys - 1) / kPrefillTileKeys;
  return static_cast<std::int32_t>(std::max<std::int64_t>(kLeastSplitKeys, tiles * kPrefillTileKeys));
}

}  // namespace

TensorAttention tensorAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                                std::size_t sharedBytes) {
  const bool isFloat = store.type == compute::DType::F32;
  const int headSize = paddedHeadSize(store.headSize);
  const int group = std::clamp(shape.queryHeads / std::max(1, shape.keyHeads), 1, kMostGroup);
  const bool isCompiled = isForTensorCores(isFloat, headSize);
  // The shared memory always includes room for the mass. A request for the mass therefore changes no result.
  const TensorAttention found{
      .ofMany = isCompiled && prefillSharedBytes(headSize) <= sharedBytes,
      .ofSingle = isCompiled && tensorDecodeSharedBytes(headSize, group, kChunkKeys) <= sharedBytes};
  const std::size_t least = decodeSharedBytes(
      group, headSize, static_cast<std::size_t>(headSize) * compute::sizeOf(store.type), kChunkKeys);
  if (found.ofSingle || least <= sharedBytes) return found;
  throw Failure(errorAt("attention on a GPU",
                        "heads of " + std::to_string(store.headSize) + " in " + compute::nameOf(store.type) +
                            ", " + std::to_string(group) +
                            /*id:query-heads-to-a-key-head*/ " query heads per key head, which need " +
                            std::to_string(least) + " bytes of shared memory",
                        "at most the " + std::to_string(sharedBytes) +
                            /*id:shared-memory-of-a-card*/ " that a thread block of the GPU can have"));
}

AttentionWork planAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                            const compute::PassInputs& inputs, bool observed, const AttentionMode& mode) {
  const std::int32_t group = shape.queryHeads / std::max(1, shape.keyHeads);
  const bool isTensor = tensorAttention(shape, store, mode.sharedBytes).ofMany;
  Decodes decodes(shape, store.blockSize, mode.keptRotations);
  std::vector<RowRun> many;
  for (Piece& piece : piecesOf(shape, inputs, store, observed)) {
    if (piece.run.mostBlocks > 0) {
      decodes.add(piece);
    } else if (isTensor && mode.exact) {
      if (piece.mass) decodes.add(piece);
      many.push_back(std::move(piece.run));
    } else if (isTensor && !piece.mass && piece.run.rowCount > 1 && piece.run.rowCount * group >= kFewPairs) {
      many.push_back(std::move(piece.run));
    } else {
      decodes.add(piece);
    }
  }
  AttentionWork work;
  work.decodes = decodes.take();
  if (many.empty()) return work;
  const auto rows = static_cast<std::int32_t>(inputs.tokens.size());
  const std::int32_t splitKeys =
      mode.exact ? kSplitKeys : splitKeysOf(many, group, shape.keyHeads, mode.multiprocessors);
  if (splitKeys == 0) {
    work.prefill = planPrefill(many, rows, group, mode.keptRotations);
    return work;
  }
  const std::int64_t pairBytes =
      (std::int64_t{paddedHeadSize(shape.headSize)} + 2) * shape.keyHeads * std::int64_t{sizeof(float)};
  work.split = planSplit(many, rows, group, static_cast<std::int64_t>(kMostPartialBytes) / pairBytes,
                         splitKeys, mode.keptRotations);
  return work;
}

}  // namespace spanscope::cuda
