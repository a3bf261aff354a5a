// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU backend. Open this file to register the backend or to choose an instruction set.
#pragma once

#include "engine/compute/backends.h"

#include <string_view>

namespace spanscope::cpu {

/// The entry "cpu" in the registry of backends. The backend computes in f32 with the best instruction set of
/// this machine. Weights stay bf16 if the checkpoint has bf16.
///
/// A row gets the same bits for any other rows, any number of threads, and any places of its blocks. Another
/// instruction set gives other bits. `numericRevision` names the instruction set. Only one operation runs at
/// a time. Callers on several threads must take turns. Throws Failure if memory cannot be allocated or shapes
/// are invalid.
compute::BackendKind cpuBackendKind();

/// Sets the instruction set of all kernels in the whole program, for comparisons. Call this function before
/// making any backend. Throws Failure for other names, and for sets that the processor or this program lacks.
/// The names are:
/// - "AMX" (AVX-512 and tile registers) and "AVX-512";
/// - "AVX-VNNI" (AVX2 and its instructions for bytes) and "AVX2";
/// - "SSE4", "NEON" and "scalar".
void useInstructionSet(std::string_view name);

}  // namespace spanscope::cpu
