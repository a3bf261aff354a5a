// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::compute {

inline constexpr int kMostThreads = 1024;  ///< of the host, including the caller's

}  // namespace spanscope::compute
