// SPDX-License-Identifier: GPL-3.0-or-later
// From the backend's sums of attention weights to what the trace says about attention.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::run {

/// The attention of longer prompts is recorded for key blocks only: single keys take memory that grows with
/// the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// A query run of a pass whose attention mass was asked for: part of one query block of one request.
struct ObservedRun {
  std::uint32_t run = 0;       ///< index of the query run in the pass
  std::size_t part = 0;        ///< which request's rows
  std::int32_t begin = 0;      ///< first local token
  std::int32_t count = 0;      ///< rows
  std::int32_t keySpan = 0;    ///< as in compute::MassRequest
  bool joinsPrevious = false;  ///< what is told of it is told with the run before it, of the same query block
};

/// `sees`: the segments the rows see before their own `segment`. `singleRow`: the run is one row that was
/// asked for.
trace::AttentionMass massEvent(std::int32_t layer, std::uint32_t segment, std::span<const std::uint32_t> sees,
                               const ObservedRun& observed, std::int32_t blockSize, bool singleRow,
                               std::int32_t heads, const compute::RunMass& mass);

/// Attention mass of local token `local` of part `part`, per segment of the request's span table: mean over
/// heads and over `layers`. Empty if the row was not observed alone, which only single-row runs are.
std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers);

}  // namespace spanscope::run
