// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <memory>

namespace spanscope::cpu {

/// Computes in f32 on the best instruction set of this machine. Weights stay bf16 where the checkpoint has
/// bf16.
///
/// Rows get the same bits whatever is computed beside them, on any number of threads and wherever their
/// blocks lie; other instruction sets give other bits, which `numericRevision` says. One operation at a time:
/// callers on several threads must take turns. Throws Failure where memory cannot be had or shapes make no
/// sense.
std::unique_ptr<compute::Backend> makeCpuBackend(const compute::BackendOptions& options = {});

/// Its entry in the registry of backends: "cpu".
compute::BackendKind cpuBackendKind();

}  // namespace spanscope::cpu
