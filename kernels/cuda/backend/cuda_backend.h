// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"
#include "kernels/cuda/backend/card_work.h"

#include <memory>

namespace spanscope::cuda {

struct CudaOptions {
  int device = 0;
  bool exact = false;  ///< rows are bit-equal
  CardWorkOptions work = {};
};
/// Throws Failure where there is no such card, or one that is too old.
std::unique_ptr<compute::Backend> makeCudaBackend(const CudaOptions& options);

/// Cards of NVIDIA, from compute capability 8.0 on.
compute::BackendKind cudaBackendKind();

}  // namespace spanscope::cuda
