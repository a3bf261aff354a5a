// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// The factor on the scores of a row, in powers of 2: its own where rows have their own (`rowScales` of
/// attention's arguments), else that of all.
template <class Arguments>
SPANSCOPE_DEVICE float powerScaleOf(const Arguments& arguments, int row) {
  return (arguments.rowScales == nullptr ? arguments.scale : arguments.rowScales[row]) * kLog2E;
}

}  // namespace spanscope::cuda
