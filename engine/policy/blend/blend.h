// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// CacheBlend (arXiv 2405.16444): documents are found as they were computed by themselves. The tokens whose
/// keys (or values) deviate most from a full prefill are computed again in full view. The layers before the
/// check layer compute all tokens. From the check layer on, only the chosen tokens are computed, each in view
/// of the prompt up to its own place.
extern const Policy kBlend;

}  // namespace spanscope::policy
