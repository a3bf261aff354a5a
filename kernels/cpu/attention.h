// SPDX-License-Identifier: GPL-3.0-or-later
// Computes attention of query rows to key ranges. Open this file to change the attention operation of the
// CPU.
//
// The query vector of a row and head is rotated once per range, by its distance from the range's start. A
// range is divided into stretches of consecutive keys, and a stretch into tiles. Stretches and tiles are
// counted from position 0 of the segment. A tile updates a running maximum and sum. The result of a stretch
// is merged into the results of earlier stretches. One thread may process all stretches, or several threads
// may share them.
//
// Each score is one chain of multiply-adds over the head. Each sum of values is one chain over the keys that
// the row can attend to. If a row reads only some blocks, the tiles leave out the other blocks. The
// arithmetic of a row does not depend on other rows or on their number. The arithmetic does not depend on the
// places of the row's blocks.
#pragma once

#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/tensor.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace spanscope::cpu {

/// One attention operation. Strides are in elements.
struct AttentionJob {
  const CpuAttentionPlan* plan = nullptr;
  const CpuKvStore* store = nullptr;
  const RowKernels* rows = nullptr;
  const std::stop_token* stop = nullptr;
  std::int32_t layer = 0;
  const float* queries = nullptr;  ///< [rows][queryHeads · headSize]
  float* out = nullptr;            ///< [rows][queryHeads · headSize]
  const float* sinks = nullptr;    ///< [queryHeads] or null; see Backend::attend()
  float* weightScale = nullptr;  ///< maximum score and 1 / sum, for the mass, as [rows][queryHeads][2]; null:
                                 ///< not needed.
  /// Results of stretches, as a join's tasks write them: [results][resultFloats].
  float* results = nullptr;
  std::int64_t resultFloats = 0;
  std::int64_t* remaining = nullptr;  ///< unfinished tasks of each join; atomic
};

/// Attention mass of one run and one key head.
struct MassTask {
  std::uint32_t run = 0;
  std::int32_t keyHead = 0;
  std::int64_t keySpan = 0;    ///< number of keys in a stretch
  std::int64_t keyBlocks = 0;  ///< number of stretches in all ranges together
  std::int64_t ranges = 0;
  double* sums = nullptr;       ///< [heads of the group][keyBlocks], initially zeros
  double* firstSums = nullptr;  ///< [heads of the group][ranges], initially zeros
};

/// The functions for one instruction set.
struct AttentionKernels {
  /// Returns the number of floats of scratch memory for a task.
  std::int64_t (*scratchFloats)(std::int64_t queries, std::int64_t headSize) = nullptr;
  /// Returns the number of floats of a stretch's result.
  std::int64_t (*resultFloats)(std::int64_t queries, std::int64_t headSize) = nullptr;
  void (*attend)(const AttentionJob& job, const AttentionTask& task, float* scratch) = nullptr;
  void (*mass)(const AttentionJob& job, const MassTask& task, float* scratch) = nullptr;
};

/// Returns the kernels for the best instruction set of this machine.
AttentionKernels attentionKernels();

/// The attention operation, with its scratch memory.
class Attention {
 public:
  Attention() : m_kernels(attentionKernels()) {}

  void run(Executor& executor, const RowKernels& rows, const CpuAttentionPlan& plan, const CpuTensor& queries,
           const CpuKvStore& store, std::int32_t layer, CpuTensor& out, const float* sinks,
           const compute::MassRequest* request, std::vector<compute::RunMass>* mass);

 private:
  void runMass(Executor& executor, const AttentionJob& job, const compute::MassRequest& request,
               std::vector<compute::RunMass>& mass);

  AttentionKernels m_kernels;
  AlignedBuffer m_scratch;
  AlignedBuffer m_weightScale;
  AlignedBuffer m_results;
  std::vector<std::int64_t> m_remaining;
  std::int64_t m_scratchFloats = 0;
};

}  // namespace spanscope::cpu
