// SPDX-License-Identifier: GPL-3.0-or-later
// A person can ask for the fidelity of a finished answer to be measured. This file says why it cannot be
// measured now, and what was measured.
#pragma once

#include "engine/base/ids.h"

#include <QString>

#include <vector>

namespace spanscope::trace {
struct ArithmeticMeasured;
struct FidelityMeasured;
}

namespace spanscope::ui {

struct ListedRun;
struct ViewInput;

/// Why the fidelity of this answer cannot be measured now, as a sentence. Empty if it can.
QString fidelityObstacle(const ViewInput& input, RequestId request);

/// The requests of a run whose answers can be measured now, in the run's order. The run belongs to the shown
/// trace.
std::vector<RequestId> measurableRequests(const ViewInput& input, RunId run);

/// The last measurement of an answer, however old; nullptr if there is none.
const trace::FidelityMeasured* fidelityOf(const ListedRun& run, RequestId request);
/// The same of the arithmetic it was computed in, held against f32.
const trace::ArithmeticMeasured* arithmeticOf(const ListedRun& run, RequestId request);

}  // namespace spanscope::ui
