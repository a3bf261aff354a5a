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

/// Memory in which one row after the other is sampled.
struct SamplingWorkspace {
  /// For rows of `logits`, with candidates where tokens are filtered. Throws Failure if it cannot be had.
  void reserve(std::size_t logits, bool candidates);

  AlignedBuffer sums;     ///< of weights, by kSumBlock logits
  AlignedBuffer block;    ///< the weights of one such block
  AlignedBuffer logits;   ///< of the candidates, by id; they are what follows
  AlignedBuffer ids;      ///< i32
  AlignedBuffer weights;  ///< u64
  AlignedBuffer bins;     ///< i32
  AlignedBuffer active;   ///< u32: places among the candidates between which a selection has to decide
};

/// Draws tokens as compute::sampleRow does, bit for bit, but without sorting: rows side by side on the
/// threads of the executor, each in time proportional to its logits.
class Sampler {
 public:
  /// Throws Failure as compute::checkRow does, or if memory cannot be had.
  void run(Executor& executor, std::span<const compute::SamplingRow> rows,
           std::span<compute::SampledToken> tokens);

 private:
  SamplingKernels m_kernels = samplingKernels();
  std::vector<SamplingWorkspace> m_workspaces;  ///< by thread
};

}  // namespace spanscope::cpu
