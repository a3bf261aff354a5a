// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/backends.h"

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda_library.h"

namespace spanscope {

compute::Backends programBackends() {
  return compute::Backends({cudaKind(), cpu::cpuBackendKind()});
}

}  // namespace spanscope
