// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <filesystem>

namespace spanscope {

/// NVIDIA cards, computed on by a library of its own, which is opened when the kind is first asked for: the
/// same program runs where there is no driver. The kind is the one that the library states, whole. Where the
/// library or a driver is missing, the one device says so. `library`: its file; empty: the one that is found
/// beside the program, or where it is installed.
compute::KindEntry cudaKind(const std::filesystem::path& library = {});

/// What the library and whoever opens it have to agree on; changed with what they hand each other.
inline constexpr int kCudaLibraryVersion = 5;
inline constexpr const char* kCudaLibraryName = "libspanscope_cuda.so";
inline constexpr const char* kCudaLibraryEntry = "spanscopeCudaKind";
/// The entry: fills the kind, unless it is of another version.
using CudaLibraryEntry = bool (*)(int version, compute::BackendKind* kind);

}  // namespace spanscope
