// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a request's prompt. The user reads sections, while the cache uses segments.
#pragma once

#include "engine/trace/prompt_parts.h"
#include "ui/session/view_input.h"

namespace spanscope::ui {

/// Returns the sections that the first `input.position` events report. Returns no sections if the request has
/// no span table yet.
trace::PromptParts promptParts(const ViewInput& input, RequestId request);

}  // namespace spanscope::ui
