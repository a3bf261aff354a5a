// SPDX-License-Identifier: GPL-3.0-or-later
// For programs that are linked with this instead of kernels/backends.cpp.
#include "kernels/backends.h"
#include "kernels/cuda/backend/cuda_backend.h"

namespace spanscope {

compute::Backends programBackends(const std::filesystem::path& /*cudaLibrary*/) {
  return compute::Backends({cuda::cudaBackendKind()});
}

}  // namespace spanscope
