// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace spanscope::cuda {

/// The driver's version in a line of /proc/driver/nvidia/version, "580.65.06"; empty if the line has none.
std::string driverReleaseIn(std::string_view line);

}  // namespace spanscope::cuda
