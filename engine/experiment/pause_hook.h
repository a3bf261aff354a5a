// SPDX-License-Identifier: GPL-3.0-or-later
// The place for other work between two measurements. Open this file before you write a measuring loop.
#pragma once

#include <functional>

namespace spanscope::experiment {

/// The place between two measured pieces. The measuring code calls it on its own thread. Other code may use
/// the machine until it returns. It may be empty. It must not throw, and does not change the measured
/// sessions.
using PauseHook = std::function<void()>;

inline void pass(const PauseHook& seam) {
  if (seam) seam();
}

}  // namespace spanscope::experiment
