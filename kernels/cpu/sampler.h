// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/sampling.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/sampling_kernels.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// Memory for sampling one row after the other.
struct SamplingWorkspace {
  /// For rows of `logits` logits; `candidates`: with memory for filtering tokens. Throws Failure if it cannot
  /// be allocated.
  void reserve(std::size_t logits, bool candidates);

  AlignedBuffer sums;     ///< sums of weights, one per block of kSumBlock logits
  AlignedBuffer block;    ///< the weights of one such block
  AlignedBuffer logits;   ///< logits of the candidates, ordered by id; the next members describe the
                          ///< candidates too
  AlignedBuffer ids;      ///< i32
  AlignedBuffer weights;  ///< u64
  AlignedBuffer bins;     ///< i32
  AlignedBuffer active;   ///< u32: the places of candidates between which a selection still has to decide
};

/// Draws tokens exactly as compute::sampleRow does, but without sorting. The executor's threads work on
/// several rows at the same time. The time for a row is proportional to its number of logits.
class Sampler {
 public:
  /// Throws Failure as compute::checkRow() does, or if memory cannot be allocated.
  void run(Executor& executor, std::span<const compute::SamplingRow> rows,
           std::span<compute::SampledToken> tokens);

 private:
  SamplingKernels m_kernels = samplingKernels();
  std::vector<SamplingWorkspace> m_workspaces;  ///< by thread
};

}  // namespace spanscope::cpu
