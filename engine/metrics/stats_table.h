// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/report.h"

#include <string>

namespace spanscope::metrics {

/// The sums over a trace as a table of two columns, a line each, ending with a line end.
std::string statsTable(const trace::TraceStats& stats);

}  // namespace spanscope::metrics
