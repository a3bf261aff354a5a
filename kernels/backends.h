// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <filesystem>

namespace spanscope {

/// The backends of the programs, benchmarks and tests, the most preferred first. No other place names them.
/// `cudaLibrary`: as for cudaKind().
compute::Backends programBackends(const std::filesystem::path& cudaLibrary = {});

/// What SPANSCOPE_INSTRUCTION_SET in the environment says, if anything, holds for the processor's kernels;
/// see cpu::useInstructionSet(). The mains call this before anything else is done with backends. Throws
/// Failure.
void useInstructionSetOfEnvironment();

}  // namespace spanscope
