// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the prompt of a request: what a person reads, where segments are what the cache sees.
#pragma once

#include "engine/trace/prompt_parts.h"
#include "ui/session/view_input.h"

namespace spanscope::ui {

/// The parts as the first `input.position` events tell them; without parts if the request has no span table
/// yet.
trace::PromptParts promptParts(const ViewInput& input, RequestId request);

}  // namespace spanscope::ui
