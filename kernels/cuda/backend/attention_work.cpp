// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/attention_work.h"

#include "kernels/cuda/backend/card_key_value_store.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spanscope::cuda {
namespace {

/// Keys that are summed together: fixed, so that a row's result depends on its keys alone.
constexpr std::int32_t kChunkKeys = 256;
/// Partial results of one launch.
constexpr std::size_t kMostPartialBytes = std::size_t{128} << 20U;
/// Pairs of a row and a head of a group with which tensor cores are worth their set-up.
constexpr std::int32_t kFewPairs = 16;

bool hasTensorCores(const compute::KvShape& store) {
  if (store.type != compute::DType::BF16) return false;
  for (const int headSize : {32, 64, 80, 96, 128, 256}) {
    if (store.headSize == headSize) return true;
  }
  return false;
}

/// Rows of a run whose local indices follow each other.
struct Piece {
  RowRun run;
  std::optional<std::size_t> mass;  ///< entry of the mass that was asked for
};

std::vector<Piece> piecesOf(const compute::PassInputs& inputs, const compute::KvShape& store, bool observed) {
  std::vector<std::optional<std::size_t>> entries(inputs.runs.size());
  if (observed) {
    for (std::size_t i = 0; i < inputs.mass.runs.size(); ++i) entries[inputs.mass.runs[i]] = i;
  }
  std::vector<Piece> pieces;
  for (std::size_t r = 0; r < inputs.runs.size(); ++r) {
    const compute::QueryRun& run = inputs.runs[r];
    RowRun shared{.base = run.base, .keys = {}};
    shared.mostBlocks = run.mostBlocks;
    for (const compute::KeyRange& keys : run.keys) {
      shared.keys.push_back({.blocks = {keys.blocks.begin(), keys.blocks.end()},
                             .begin = keys.begin,
                             .end = keys.end,
                             .base = keys.base,
                             .causal = keys.causal});
    }
    if (entries[r]) shared.massSpan = inputs.mass.keySpan(*entries[r], store.blockSize);
    const auto localOf = [&](std::int32_t row) {
      return inputs.localIndices[static_cast<std::size_t>(run.firstRow + row)];
    };
    for (std::int32_t row = 0; row < run.rowCount;) {
      std::int32_t end = row + 1;
      while (end < run.rowCount && localOf(end) == localOf(end - 1) + 1) ++end;
      Piece piece{.run = shared, .mass = entries[r]};
      piece.run.firstRow = static_cast<std::int32_t>(run.firstRow) + row;
      piece.run.rowCount = end - row;
      piece.run.firstLocal = localOf(row);
      pieces.push_back(std::move(piece));
      row = end;
    }
  }
  return pieces;
}

/// Of one row.
std::size_t partialBytes(const compute::AttentionShape& shape, const RowRun& run) {
  std::size_t items = 0;
  for (const SegmentKeys& keys : run.keys)
    items += static_cast<std::size_t>((keys.end - keys.begin + kChunkKeys - 1) / kChunkKeys) + 1;
  std::size_t floats = static_cast<std::size_t>(paddedHeadSize(shape.headSize)) + 2;
  if (run.massSpan != RowRun::kNoMass) floats += static_cast<std::size_t>(kChunkKeys / run.massSpan) + 3;
  return items * floats * sizeof(float) * static_cast<std::size_t>(shape.queryHeads);
}

/// Collects pieces into launches.
class Decodes {
 public:
  Decodes(const compute::AttentionShape& shape, std::int32_t blockSize)
      : m_shape(shape), m_blockSize(blockSize) {}

  void add(const Piece& piece) {
    const std::size_t each = std::max<std::size_t>(1, partialBytes(m_shape, piece.run));
    const auto most =
        static_cast<std::int32_t>(std::clamp<std::size_t>(kMostPartialBytes / each, 1, 1U << 20U));
    for (std::int32_t row = 0; row < piece.run.rowCount; row += most) {
      Piece part = piece;
      part.run.firstRow += row;
      part.run.firstLocal += row;
      part.run.rowCount = std::min(most, piece.run.rowCount - row);
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
    work.plan = planDecode(runs, work.rows, kChunkKeys, m_shape.queryHeads, m_blockSize);
    for (std::size_t i = 0; i < entries.size(); ++i)
      work.masses.push_back({.entry = entries[i], .mass = work.plan.masses[i]});
    m_works.push_back(std::move(work));
    m_parts.clear();
    m_bytes = 0;
  }

  const compute::AttentionShape& m_shape;
  std::int32_t m_blockSize;
  std::vector<Piece> m_parts;
  std::size_t m_bytes = 0;
  std::vector<DecodeWork> m_works;
};

}  // namespace

AttentionWork planAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                            const compute::PassInputs& inputs, bool observed, bool exact) {
  const std::int32_t group = shape.queryHeads / std::max(1, shape.keyHeads);
  const bool isTensor = hasTensorCores(store);
  Decodes decodes(shape, store.blockSize);
  std::vector<RowRun> many;
  for (Piece& piece : piecesOf(inputs, store, observed)) {
    if (piece.run.mostBlocks > 0) {
      decodes.add(piece);
    } else if (isTensor && exact) {
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
  if (exact) {
    const std::int64_t pairBytes =
        (std::int64_t{shape.headSize} + 2) * shape.keyHeads * std::int64_t{sizeof(float)};
    work.split = planSplit(many, rows, group, static_cast<std::int64_t>(kMostPartialBytes) / pairBytes);
  } else {
    work.prefill = planPrefill(many, rows, group);
  }
  return work;
}

}  // namespace spanscope::cuda
