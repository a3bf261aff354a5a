// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"
#include "kernels/cpu/cpu_backend.h"

namespace spanscope::test {

/// What the programs have on every machine.
inline compute::Backends cpuBackends() {
  return compute::Backends({cpu::cpuBackendKind()});
}

}  // namespace spanscope::test
