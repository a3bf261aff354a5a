// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/run/whole_runs/run_case.h"

#include <functional>

namespace spanscope::test {

/// Makes a failing case smaller: it leaves out runs, resets settings to the usual values and cuts trees. It
/// keeps a step only if `stillFails` says that the smaller case still fails. It asks at most `tries` times.
RunCase smallerCase(RunCase failing, const std::function<bool(const RunCase&)>& stillFails, int tries = 600);

}  // namespace spanscope::test
