// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cuda {

/// Cards of NVIDIA, from compute capability 8.0 on.
compute::BackendKind cudaBackendKind();

}  // namespace spanscope::cuda
