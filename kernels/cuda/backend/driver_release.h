// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace spanscope::cuda {

/// The version that a line of /proc/driver/nvidia/version names, "580.65.06"; empty where it names none.
std::string driverReleaseIn(std::string_view line);

}  // namespace spanscope::cuda
