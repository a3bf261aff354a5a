// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison of policies with fixed figures, so that views always say the same of it.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/session/measure_requests.h"

namespace spanscope::test {

/// spans, prefix, link(16) and one that failed. The answer of spans has one token that a full prefill would
/// not choose; prefix is exact.
ui::PolicyComparison samplePolicies(const document::Document& document);

}  // namespace spanscope::test
