// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of a finished answer, measured when a person asks for it: why it cannot be measured now, and what
// was found.
#pragma once

#include "engine/base/ids.h"

#include <QString>

#include <vector>

namespace spanscope::trace {
struct FidelityMeasured;
}

namespace spanscope::ui {

struct ListedRun;
struct ViewInput;

/// Why the fidelity of this answer cannot be measured now, a sentence; empty: it can.
QString fidelityObstacle(const ViewInput& input, RequestId request);

/// The requests of a run in the trace that is shown whose answers can be measured, in their order.
std::vector<RequestId> measurableRequests(const ViewInput& input, RunId run);

/// What was measured of an answer last, whenever that was; nullptr: nothing.
const trace::FidelityMeasured* fidelityOf(const ListedRun& run, RequestId request);

}  // namespace spanscope::ui
