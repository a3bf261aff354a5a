// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

#include <filesystem>

namespace spanscope {

/// The backends that the programs, benchmarks and tests have, in the order in which they are preferred. The
/// only place that names them. `cudaLibrary`: as cudaKind() takes it.
compute::Backends programBackends(const std::filesystem::path& cudaLibrary = {});

}  // namespace spanscope
