// SPDX-License-Identifier: GPL-3.0-or-later
// Returns the factor on the scores of a row. Open this file to change position scaling on the GPU.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// Returns the factor on the scores of a row, in powers of 2. If rows have separate factors (`rowScales` of
/// attention's arguments), returns the factor of this row. Otherwise returns the common factor.
template <class Arguments>
SPANSCOPE_DEVICE float powerScaleOf(const Arguments& arguments, int row) {
  return (arguments.rowScales == nullptr ? arguments.scale : arguments.rowScales[row]) * kLog2E;
}

}  // namespace spanscope::cuda
