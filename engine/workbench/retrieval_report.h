// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/run/run_options.h"

#include <vector>

namespace spanscope::workbench {

/// The results of augments and the remarks about them, in the form in which a run reports them to the trace.
std::vector<run::RetrievalReport> retrievalReports(const std::vector<retrieve::Retrieved>& retrieved,
                                                   const std::vector<query::Diagnostic>& diagnostics);

}  // namespace spanscope::workbench
