// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the backends of the programs. Open this file to add a backend.
#pragma once

#include "engine/compute/backends.h"

#include <filesystem>

namespace spanscope {

/// Returns the backends of the programs, benchmarks and tests, the preferred one first. No other code names
/// the backends. `cudaLibrary`: as for cudaKind().
compute::Backends programBackends(const std::filesystem::path& cudaLibrary = {});

/// Sets the instruction set of the processor's kernels from SPANSCOPE_INSTRUCTION_SET in the environment, if
/// given; see cpu::useInstructionSet(). The mains call this before other work with backends. Throws Failure.
void useInstructionSetOfEnvironment();

/// Returns the kind of NVIDIA GPUs. A separate library computes on NVIDIA GPUs. The library is opened at its
/// first use, so that the same program runs without a driver. The library describes the kind. If the library
/// or a driver is missing, the only device of the kind reports this. `library` is the file of the library.
/// Empty: the library beside the program, or where it is installed.
compute::KindEntry cudaKind(const std::filesystem::path& library = {});

/// Version of the interface between the library and the code that opens it. Each change of the interface
/// changes the version.
inline constexpr int kCudaLibraryVersion = 5;
inline constexpr const char* kCudaLibraryName = "libspanscope_cuda.so";
inline constexpr const char* kCudaLibraryEntry = "spanscopeCudaKind";
/// The library's entry fills in the kind. Returns false if the version differs.
using CudaLibraryEntry = bool (*)(int version, compute::BackendKind* kind);

}  // namespace spanscope
