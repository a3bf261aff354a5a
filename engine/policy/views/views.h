// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Hogwild! (arXiv 2504.06261) and AsyncReasoning (arXiv 2512.10931): the generates of one plus that do not
/// need each other run in step, over one set of keys and values. Each reads its own prompt, then what the
/// others have written, including their tokens of the same step, then its own reply. A prompt is computed as
/// under `spans`. A single generate is exactly `spans`. Among several, each reply depends on all replies.
extern const Policy kViews;

}  // namespace spanscope::policy
