// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the attention of a forward pass into lists of launches. Open this file to change which kernel
// computes which rows. The rules are:
// - Single rows, and rows whose mass is needed, use the kernels for separate rows.
// - Many rows use the kernels on tensor cores. With too few rows for the GPU, these kernels also divide the
//   work along the keys.
// - If rows must be bit-equal, the store decides. Either one kernel on tensor cores processes all rows, or
//   all rows are processed separately.
// - Rows that may not read all blocks are always processed separately.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/attention/prefill_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Max bytes for the partial results of one launch. All launches use the same memory.
inline constexpr std::size_t kMostPartialBytes = std::size_t{128} << 20U;

/// Where the mass of some rows of a run is stored.
struct MassPlace {
  std::size_t entry = 0;  ///< index among the requested masses
  MassEntry mass;
};

/// The rows firstRow … firstRow + rows − 1 of the forward pass. The plan counts from the first of these rows.
/// The launch writes 0 for rows of the range that are not in the plan. Launches on tensor cores compute such
/// rows, and therefore come later.
struct DecodeWork {
  DecodePlan plan;
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;
  std::vector<MassPlace> masses;
};

struct AttentionWork {
  std::vector<DecodeWork> decodes;
  PrefillPlan prefill;  ///< without items, this plan is not used
  /// Replaces `prefill`. If rows must be bit-equal, this plan contains all rows. Other launches for these
  /// rows run earlier, and only the mass of these launches counts. Without tiles, this plan is not used.
  SplitPlan split;
};

/// Shared memory of a thread block on every GPU from compute capability 8.0 on.
inline constexpr std::size_t kLeastSharedBytes = std::size_t{99} << 10U;

/// The inputs of the plan besides the forward pass.
struct AttentionMode {
  bool exact = false;                           ///< rows must be bit-equal
  int multiprocessors = 1;                      ///< of the GPU
  std::int64_t keptRotations = 0;               ///< as for Rotations::close()
  std::size_t sharedBytes = kLeastSharedBytes;  ///< max for one thread block of the GPU
};

/// The attention operations that use tensor cores. The kernels must be compiled for the store's heads. A
/// thread block of the GPU must be able to have the necessary shared memory.
struct TensorAttention {
  bool ofMany = false;    ///< for many rows together
  bool ofSingle = false;  ///< for separate rows, with or without their mass
};
/// Throws Failure if the GPU has too little shared memory even for the kernel without tensor cores.
TensorAttention tensorAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                                std::size_t sharedBytes);

/// Plans the attention of a forward pass. If the partial results of all rows take too much memory, the rows
/// have several launches. `observed`: whether to plan the mass that the inputs request. Throws like
/// tensorAttention().
AttentionWork planAttention(const compute::AttentionShape& shape, const compute::KvShape& store,
                            const compute::PassInputs& inputs, bool observed, const AttentionMode& mode);

}  // namespace spanscope::cuda
