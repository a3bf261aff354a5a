// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <string_view>

namespace spanscope::cpu {

/// The entry "cpu" in the registry of backends. It computes in f32 with the best instruction set of this
/// machine. Weights stay bf16 if the checkpoint has bf16.
///
/// A row gets the same bits whatever is computed beside it, with any number of threads, and wherever its
/// blocks lie. Another instruction set gives other bits; `numericRevision` names the instruction set. Only
/// one operation runs at a time: callers on several threads must take turns. Throws Failure if memory cannot
/// be allocated or shapes make no sense.
compute::BackendKind cpuBackendKind();

/// Has all kernels use this instruction set in place of the best of the processor: "AMX" (AVX-512
/// and tile registers), "AVX-512", "AVX-VNNI" (AVX2 and its instructions for bytes), "AVX2", "SSE4", "NEON"
/// or "scalar". It is a choice of the whole program, for comparisons; make it before any backend. Throws
/// Failure for other names, and for what the processor or this program does not have.
void useInstructionSet(std::string_view name);

}  // namespace spanscope::cpu
