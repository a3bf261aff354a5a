// SPDX-License-Identifier: GPL-3.0-or-later
// The entry point that a program finds in the library.
#include "kernels/backends.h"
#include "kernels/cuda/backend/cuda_backend.h"

extern "C" __attribute__((visibility("default"))) bool spanscopeCudaKind(
    int version, spanscope::compute::BackendKind* kind) {
  if (version != spanscope::kCudaLibraryVersion) return false;
  *kind = spanscope::cuda::cudaBackendKind();
  return true;
}
