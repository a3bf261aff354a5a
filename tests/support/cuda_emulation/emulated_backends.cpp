// SPDX-License-Identifier: GPL-3.0-or-later
// For programs that are linked with this instead of kernels/backends.cpp.
#include "kernels/backends.h"
#include "kernels/cuda/backend/card_memory.h"
#include "kernels/cuda/backend/cuda_backend.h"

#include <utility>

namespace spanscope {

compute::Backends programBackends() {
  compute::BackendKind kind = cuda::cudaBackendKind();
  kind.memory = cuda::cardMemoryRules;
  return compute::Backends({std::move(kind)});
}

}  // namespace spanscope
