// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/run/run_options.h"

#include <vector>

namespace spanscope::workbench {

/// What augments found, and what is said of it, as a run tells it to the trace.
std::vector<run::RetrievalReport> retrievalReports(const std::vector<retrieve::Retrieved>& retrieved,
                                                   const std::vector<query::Diagnostic>& diagnostics);

}  // namespace spanscope::workbench
