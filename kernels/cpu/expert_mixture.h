// SPDX-License-Identifier: GPL-3.0-or-later
// Computes mixtures of experts. Open this file to change how rows are grouped by expert.
//
// The rows of an expert are multiplied together, so that its weights are read once for all these rows. Each
// product depends on its row only (see matmul.h), and the sum over a row's experts has a fixed order. The
// bits of a row therefore do not depend on other rows.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/experts.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// The inputs of Backend::mixExperts().
struct ExpertInputs {
  const CpuTensor& x;
  const CpuTensor& scores;
  std::span<const compute::ExpertWeights> experts;
  compute::ExpertChoice choice;
  compute::Activation activation = compute::Activation::Silu;
};

/// The operation, with its scratch memory.
class ExpertMixture {
 public:
  /// Throws Failure if the scores or the choice do not fit the experts.
  void run(Executor& executor, Matmul& matmul, const RowKernels& rows, const ExpertInputs& inputs,
           CpuTensor& out);

 private:
  void runRows(Executor& executor, Matmul& matmul, const RowKernels& rows, const ExpertInputs& inputs,
               std::int64_t first, std::int64_t count, CpuTensor& out);

  // A slot is a pair of a row and an expert. Slots are ordered by expert, then by row.
  std::vector<compute::ChosenExpert> m_chosen;  ///< [rows][used]
  std::vector<std::int64_t> m_firstSlots;       ///< by expert, and the end
  std::vector<std::int64_t> m_slots;            ///< [rows][used]: the slot of each choice
  std::vector<RowProduct> m_products;
  CpuTensor m_gathered, m_gate, m_up, m_mixed;  ///< by slot
};

}  // namespace spanscope::cpu
