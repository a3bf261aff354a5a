// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/attention/block_choice.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/attention/split_attention.h"
#include "kernels/cuda/attention/tensor_decode.h"
#include "kernels/cuda/pool/pool_kernels.h"
#include "kernels/cuda/product/exact_product.h"
#include "kernels/cuda/product/few_row_product.h"
#include "kernels/cuda/rows/row_kernels.h"
#include "kernels/cuda/sampling/sample.h"

#include <vector>

namespace spanscope::testing {

/// The resources that each kernel of kernels/cuda may use.
inline std::vector<cuda::KernelBudget> kernelBudgets() {
  std::vector<cuda::KernelBudget> budgets{cuda::kBiasRowsBudget,
                                          cuda::kBlockBoundBudget,
                                          cuda::kBlockChoiceBudget,
                                          cuda::kBlockCopiesBudget,
                                          cuda::kDecodeBudget,
                                          cuda::kEmbedBudget,
                                          cuda::kExactProductBudget,
                                          cuda::kGatedActivationBudget,
                                          cuda::kGatherRowsBudget,
                                          cuda::kKeyBoundBudget,
                                          cuda::kKeyValueDeviationBudget,
                                          cuda::kKeyValueWriteBudget,
                                          cuda::kMassBudget,
                                          cuda::kMergeBudget,
                                          cuda::kRmsNormBudget,
                                          cuda::kSampleBudget,
                                          cuda::kScaledSumBudget,
                                          cuda::kSoftCapBudget,
                                          cuda::kSplitMergeBudget,
                                          cuda::kTakeColumnsBudget};
  budgets.insert(budgets.end(), std::begin(cuda::kFewRowBudgets), std::end(cuda::kFewRowBudgets));
  budgets.insert(budgets.end(), std::begin(cuda::kPrefillBudgets), std::end(cuda::kPrefillBudgets));
  budgets.insert(budgets.end(), std::begin(cuda::kSplitBudgets), std::end(cuda::kSplitBudgets));
  budgets.insert(budgets.end(), std::begin(cuda::kTensorDecodeBudgets), std::end(cuda::kTensorDecodeBudgets));
  return budgets;
}

}  // namespace spanscope::testing
