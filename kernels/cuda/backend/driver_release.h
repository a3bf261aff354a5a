// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the version of the NVIDIA driver. Open this file when the version is reported as unknown.
#pragma once

#include <string>
#include <string_view>

namespace spanscope::cuda {

/// Returns the driver's version in a line of /proc/driver/nvidia/version, "580.65.06". Empty if the line has
/// none.
std::string driverReleaseIn(std::string_view line);

}  // namespace spanscope::cuda
