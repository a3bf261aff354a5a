// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Hogwild! (arXiv 2504.06261) and AsyncReasoning (arXiv 2512.10931): the generates of one plus that need
/// nothing of each other run in step, over one set of keys and values; each reads its own prompt, then what
/// the others have written, that of the same step included, then its own reply. A prompt is computed as spans
/// has it. One generate by itself is exactly that; of several each reply depends on all.
extern const Policy kViews;

}  // namespace spanscope::policy
