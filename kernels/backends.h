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

/// NVIDIA cards. A separate library computes on them. It is opened when the kind is first needed, so that the
/// same program runs without a driver. The library states everything about the kind. If the library or a
/// driver is missing, the only device of the kind says so. `library`: the file of the library; empty: the
/// library beside the program, or where it is installed.
compute::KindEntry cudaKind(const std::filesystem::path& library = {});

/// Version of the interface between the library and the code that opens it. It changes with every change of
/// what they exchange.
inline constexpr int kCudaLibraryVersion = 5;
inline constexpr const char* kCudaLibraryName = "libspanscope_cuda.so";
inline constexpr const char* kCudaLibraryEntry = "spanscopeCudaKind";
/// The library's entry: fills in the kind. False if the version differs.
using CudaLibraryEntry = bool (*)(int version, compute::BackendKind* kind);

}  // namespace spanscope
