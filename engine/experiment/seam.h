// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace spanscope::experiment {

/// The place between two measured pieces. Whoever measures calls it there, on the measuring thread, and
/// others may use the machine until it returns. It may be empty. It must not throw, and it leaves the
/// measured sessions as they are.
using Seam = std::function<void()>;

inline void pass(const Seam& seam) {
  if (seam) seam();
}

}  // namespace spanscope::experiment
