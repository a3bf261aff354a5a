// SPDX-License-Identifier: GPL-3.0-or-later
// The attention of a pass as lists of launches: single rows and rows whose mass is asked for by the kernels
// that take rows one by one, many rows by those on tensor cores, cut over their keys where they are too few
// for the card. Where rows have to be bit-equal, the store chooses: all rows by one kernel on tensor cores,
// or all one by one. Rows that may not read all blocks go one by one everywhere.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/attention/prefill_plan.h"
#include "kernels/cuda/attention/split_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Partial results of one launch; those of others lie in the same memory.
inline constexpr std::size_t kMostPartialBytes = std::size_t{128} << 20U;

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
  /// Instead of it. Where rows have to be bit-equal, of all rows: what others computed of them comes before
  /// it and counts for their mass alone. Without tiles: nothing for it.
  SplitPlan split;
};

/// What a block can have on every card from compute capability 8.0 on.
inline constexpr std::size_t kLeastSharedBytes = std::size_t{99} << 10U;

/// What the plan depends on beside the pass.
struct AttentionMode {
  bool exact = false;                           ///< rows are bit-equal
  int multiprocessors = 1;                      ///< of the card
  std::int64_t keptRotations = 0;               ///< as Rotations::close takes it
  std::size_t sharedBytes = kLeastSharedBytes;  ///< of a block of the card, at most
};

/// Where tensor cores attend: where the kernels are compiled for the heads of a store, and a block of the
/// card can have the shared memory that they take.
struct TensorAttention {
  bool ofMany = false;    ///< rows together
  bool ofSingle = false;  ///< rows one by one, with their mass or without
};
/// Throws Failure where the card has too little for the kernel without tensor cores too.
TensorAttention tensorAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                                std::size_t sharedBytes);

/// Rows whose partial results take too much memory are launched one after the other. `observed`: with the
/// mass that the inputs ask for. Throws as tensorAttention().
AttentionWork planAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                            const compute::PassInputs& inputs, bool observed, const AttentionMode& mode);

}  // namespace spanscope::cuda
