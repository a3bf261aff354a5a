// SPDX-License-Identifier: GPL-3.0-or-later
// Returns the factor on the scores of a row. Open this file to change position scaling on the GPU.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// Returns the factor on the scores of a row, in powers of 2. It is the row's own factor if rows have their
/// own (`rowScales` of attention's arguments). Otherwise it is the common factor.
template <class Arguments>
SPANSCOPE_DEVICE float powerScaleOf(const Arguments& arguments, int row) {
  return (arguments.rowScales == nullptr ? arguments.scale : arguments.rowScales[row]) * kLog2E;
}

}  // namespace spanscope::cuda
