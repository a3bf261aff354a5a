// SPDX-License-Identifier: GPL-3.0-or-later
// How a document's query is planned. Runs and checks use the same options.
#pragma once

#include "engine/plan/planner.h"
#include "engine/workbench/document/document.h"

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings);

}  // namespace spanscope::document
