// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope {

/// NVIDIA cards, computed on by a library of its own, which is opened when devices are first asked for: the
/// same program runs where there is no driver. Where the library or a driver is missing, the one device says
/// so.
compute::BackendKind cudaKind();

/// What the library and whoever opens it have to agree on; changed with what they hand each other.
inline constexpr int kCudaLibraryVersion = 4;
inline constexpr const char* kCudaLibraryName = "libspanscope_cuda.so";
inline constexpr const char* kCudaLibraryEntry = "spanscopeCudaKind";
/// The entry: fills the kind, unless it is of another version.
using CudaLibraryEntry = bool (*)(int version, compute::BackendKind* kind);

}  // namespace spanscope
