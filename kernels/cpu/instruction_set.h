// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace spanscope::cpu {

/// Has all kernels use this instruction set in place of the best of the processor: "AMX" (AVX-512
/// and tile registers), "AVX-512", "AVX-VNNI" (AVX2 and its instructions for bytes), "AVX2", "SSE4", "NEON"
/// or "scalar". It is a choice of the whole program, for comparisons; make it before any backend. Throws
/// Failure for other names, and for what the processor or this program does not have.
void useInstructionSet(std::string_view name);

}  // namespace spanscope::cpu
