// SPDX-License-Identifier: GPL-3.0-or-later
// Returns the factor on the scores of a row, and bounds scores. Open this file to change position scaling or
// soft caps on the GPU.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/soft_cap.h"

namespace spanscope::cuda {

/// Returns the factor on the scores of a row, in powers of 2. If rows have separate factors (`rowScales` of
/// attention's arguments), returns the factor of this row. Otherwise returns the common factor.
template <class Arguments>
SPANSCOPE_DEVICE float powerScaleOf(const Arguments& arguments, int row) {
  return (arguments.rowScales == nullptr ? arguments.scale : arguments.rowScales[row]) * kLog2E;
}

/// Returns a score with the soft cap of attention's arguments, if they have one. Scores are in powers of 2.
template <class Arguments>
SPANSCOPE_DEVICE float cappedOf(const Arguments& arguments, float score) {
  return arguments.softCap > 0 ? softCapped(score, arguments.softCap * kLog2E) : score;
}

}  // namespace spanscope::cuda
