// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/backends.h"

#include "kernels/cpu/cpu_backend.h"

namespace spanscope {

compute::Backends programBackends() {
  return compute::Backends(
      {compute::absentKind("cuda", "not built into this program"), cpu::cpuBackendKind()});
}

}  // namespace spanscope
