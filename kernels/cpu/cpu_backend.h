// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cpu {

/// The row "cpu" of the registry of backends. It computes in f32 on the best instruction set of this machine;
/// weights stay bf16 where the checkpoint has bf16.
///
/// Rows get the same bits whatever is computed beside them, on any number of threads and wherever their
/// blocks lie; other instruction sets give other bits, which `numericRevision` says. One operation at a time:
/// callers on several threads must take turns. Throws Failure where memory cannot be had or shapes make no
/// sense.
compute::BackendKind cpuBackendKind();

}  // namespace spanscope::cpu
