// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the hook for other work between two measurements. Open this file before you write a measuring loop.
#pragma once

#include <functional>

namespace spanscope::experiment {

/// A function that the measuring code calls between two measured steps, on its own thread. Other code may use
/// the machine until the function returns. The function may be empty. The function must not throw, and must
/// not change the measured sessions.
using PauseHook = std::function<void()>;

inline void pass(const PauseHook& seam) {
  if (seam) seam();
}

}  // namespace spanscope::experiment
