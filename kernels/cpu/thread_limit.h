// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::cpu {

/// Most threads of a backend; more are not started.
inline constexpr int kMostThreads = 1024;

}  // namespace spanscope::cpu
