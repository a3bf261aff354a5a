// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Block attention with linked documents. Of each run of tokens that was computed by itself, the first n
/// tokens are computed once more, in view of everything before them. They are read in place of the original
/// tokens. EPIC's LegoLink does this (arXiv 2410.15332, n = 16), because every document that is computed by
/// itself grows an attention sink at its beginning.
extern const Policy kLink;

}  // namespace spanscope::policy
