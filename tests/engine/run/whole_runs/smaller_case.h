// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/run/whole_runs/run_case.h"

#include <functional>

namespace spanscope::test {

/// A case made smaller for as long as `stillFails` says so of what is left: runs are left out, settings put
/// to the ordinary, trees cut. It is asked at most `tries` times.
RunCase smallerCase(RunCase failing, const std::function<bool(const RunCase&)>& stillFails, int tries = 600);

}  // namespace spanscope::test
