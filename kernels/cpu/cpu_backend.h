// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cpu {

/// The entry "cpu" in the registry of backends. It computes in f32 with the best instruction set of this
/// machine. Weights stay bf16 if the checkpoint has bf16.
///
/// A row gets the same bits whatever is computed beside it, with any number of threads, and wherever its
/// blocks lie. Another instruction set gives other bits; `numericRevision` names the instruction set. Only
/// one operation runs at a time: callers on several threads must take turns. Throws Failure if memory cannot
/// be allocated or shapes make no sense.
compute::BackendKind cpuBackendKind();

}  // namespace spanscope::cpu
