// SPDX-License-Identifier: GPL-3.0-or-later
// The GPU backend. Open this file to make or register the backend.
#pragma once

#include "engine/compute/backends.h"
#include "kernels/cuda/backend/device_work.h"

#include <memory>

namespace spanscope::cuda {

struct CudaOptions {
  int device = 0;
  bool exact = false;  ///< rows must be bit-equal
  DeviceWorkOptions work = {};
};
/// Throws Failure if there is no such GPU, or if the GPU is too old.
std::unique_ptr<compute::Backend> makeCudaBackend(const CudaOptions& options);

/// NVIDIA GPUs with compute capability 8.0 or higher.
compute::BackendKind cudaBackendKind();

}  // namespace spanscope::cuda
