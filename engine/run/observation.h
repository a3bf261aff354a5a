// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the attention events of the trace from the backend's sums of attention weights. Open this file to
// record attention in another form.
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

/// A query run for which a pass computes attention mass. It is a section of one query block of one request.
struct ObservedRun {
  std::uint32_t run = 0;       ///< index of the query run in the pass
  std::size_t part = 0;        ///< index of the entry in the pass's list of parts for these rows
  std::int32_t begin = 0;      ///< first position in the segment
  std::int32_t count = 0;      ///< rows
  std::int32_t keySpan = 0;    ///< as in compute::MassRequest
  bool tellsParts = false;     ///< attention to the sections of the prompt is reported
  bool onlyForParts = false;   ///< single keys are requested only for sections; the report is by key block
  bool joinsPrevious = false;  ///< shares an event with the run before it, which has the same query block
  std::int32_t reply = -1;  ///< index of the answer's token that is sampled from this single row; −1: none
};

/// One observed run, or two consecutive runs of one query block.
struct ObservedRows {
  ObservedRun rows;        ///< the first run, but with the rows of both
  std::size_t first = 0;   ///< index of the first run in the list of observed runs
  std::size_t number = 1;  ///< number of runs
};

/// The place of a query block, and what its rows attend to.
struct QueryPlace {
  std::uint32_t segment = 0;
  std::span<const std::uint32_t> sees;  ///< segments that the rows attend to before their own segment
  std::int32_t blockSize = 0;
  const layout::SpanTable* table = nullptr;  ///< never null
};

/// Whether `segment`, or a segment that it attends to, has tokens of more than one section.
bool seesSeveralParts(const layout::SpanTable& table, std::uint32_t segment);

/// Returns the attention of a row to each section of the prompt, by layer and head. A token is sampled from
/// the row. Attention to single keys must have been requested. Reports the layers of `mass` that are in
/// `layers`.
trace::PartAttention partAttention(const QueryPlace& place, const ObservedRows& observed,
                                   std::span<const std::int32_t> layers,
                                   std::span<const model::LayerMass> mass);

/// Adds up the mass of single keys to key blocks.
compute::RunMass byBlock(const compute::RunMass& run, std::int32_t blockSize);

/// Returns the attention of the rows to each segment, by layer and head. Reports the layers of `mass` that
/// are in `layers`. With `singleRow`, the rows are one row, and the event names that row.
trace::SegmentAttention segmentAttention(const QueryPlace& place, const ObservedRows& observed,
                                         bool singleRow, std::span<const std::int32_t> layers,
                                         std::span<const model::LayerMass> mass);

/// Returns the attention of the rows to key blocks, as the mean over these layers and all heads.
trace::AttentionMass meanMass(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                              std::span<const std::int32_t> layers, std::span<const model::LayerMass> mass);

/// Returns the attention of the rows to key blocks, at one layer by head. `singleRow`: the rows are one
/// requested row.
trace::AttentionMass massEvent(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                               std::int32_t heads, const model::LayerMass& mass);

/// Returns the attention mass of one row by segment of the table, as the mean over heads and over `layers`.
/// `part` and `local` choose the row. Empty if the row was not observed alone. Only runs of a single row are.
std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers);

}  // namespace spanscope::run
