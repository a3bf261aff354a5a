// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <filesystem>

namespace spanscope {

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
