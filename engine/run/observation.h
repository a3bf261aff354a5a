// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the attention events of the trace from the backend's sums of attention weights.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"
#include "engine/run/attention_limit.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::run {

/// A query run for which a pass computes attention mass. It is a part of one query block of one request.
struct ObservedRun {
  std::uint32_t run = 0;       ///< index of the query run in the pass
  std::size_t part = 0;        ///< index of the pass's part that the rows belong to
  std::int32_t begin = 0;      ///< first local token
  std::int32_t count = 0;      ///< rows
  std::int32_t keySpan = 0;    ///< as in compute::MassRequest
  bool tellsParts = false;     ///< attention on parts of segments is told
  bool onlyForParts = false;   ///< single keys are asked for only to tell parts; else key blocks are told
  bool joinsPrevious = false;  ///< shares an event with the run before it, which is of the same query block
  std::int32_t reply = -1;     ///< index of the reply's token that is drawn from this single row; −1: none
};

/// One observed run, or two that follow each other and belong to one query block.
struct ObservedRows {
  ObservedRun rows;        ///< the first run, but with the rows of both
  std::size_t first = 0;   ///< index of the first run in the list of observed runs
  std::size_t number = 1;  ///< number of runs
};

/// Where a query block stands, and what its rows see.
struct QueryPlace {
  std::uint32_t segment = 0;
  std::span<const std::uint32_t> sees;  ///< segments that the rows see before their own segment
  std::int32_t blockSize = 0;
  const layout::SpanTable* table = nullptr;  ///< never null
};

/// Whether a segment that rows of `segment` see, or `segment` itself, holds tokens of more than one part.
bool seesSeveralParts(const layout::SpanTable& table, std::uint32_t segment);

/// Attention of a row from which a token is drawn to each part of the prompt, by layer and head. Attention on
/// single keys must have been asked for. Reports those layers of `mass` that are in `layers`.
trace::PartAttention partAttention(const QueryPlace& place, const ObservedRows& observed,
                                   std::span<const std::int32_t> layers,
                                   std::span<const model::LayerMass> mass);

/// Adds single keys up to key blocks.
compute::RunMass byBlock(const compute::RunMass& run, std::int32_t blockSize);

/// Attention of the rows to each segment, by layer and head. Reports those layers of `mass` that are in
/// `layers`. `singleRow`: if the rows are one row, the event names that row.
trace::SegmentAttention segmentAttention(const QueryPlace& place, const ObservedRows& observed,
                                         bool singleRow, std::span<const std::int32_t> layers,
                                         std::span<const model::LayerMass> mass);

/// Attention of the rows on key blocks, as the mean over these layers and all heads.
trace::AttentionMass meanMass(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                              std::span<const std::int32_t> layers, std::span<const model::LayerMass> mass);

/// Attention of the rows on key blocks, at one layer by head. `singleRow`: the rows are one that was asked
/// for.
trace::AttentionMass massEvent(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                               std::int32_t heads, const model::LayerMass& mass);

/// Attention mass of local token `local` of part `part`, per segment of the request's span table: mean over
/// heads and over `layers`. Empty if the row was not observed alone, which only single-row runs are.
std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers);

}  // namespace spanscope::run
