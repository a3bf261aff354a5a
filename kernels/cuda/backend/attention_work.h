// SPDX-License-Identifier: GPL-3.0-or-later
// The attention of a pass as lists of launches: single rows and rows whose mass is asked for by the kernel
// that cuts keys, many rows by the one on tensor cores. Where rows have to be bit-equal, the store chooses:
// all rows by one kernel on tensor cores, or all by the one that cuts keys. Rows that may not read all blocks
// go by the latter everywhere.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/attention/prefill_plan.h"
#include "kernels/cuda/attention/split_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Where the mass of some rows of a run goes.
struct MassPlace {
  std::size_t entry = 0;  ///< of the mass that was asked for
  MassEntry mass;
};

/// Rows firstRow … firstRow + rows − 1 of the pass; the plan counts from the first of them. Rows between them
/// that it knows nothing of get 0: launches on tensor cores come after it.
struct DecodeWork {
  DecodePlan plan;
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;
  std::vector<MassPlace> masses;
};

struct AttentionWork {
  std::vector<DecodeWork> decodes;
  PrefillPlan prefill;  ///< without items: nothing for it
  /// Of all rows: what others computed of them comes before it and counts for their mass alone. Without
  /// tiles: nothing for it.
  SplitPlan split;
};

/// Rows whose local indices do not follow each other are runs of their own, and rows whose partial results
/// take too much memory are launched one after the other. `observed`: with the mass that the inputs ask for.
/// `exact`: rows are bit-equal.
AttentionWork planAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                            const compute::PassInputs& inputs, bool observed, bool exact);

}  // namespace spanscope::cuda
