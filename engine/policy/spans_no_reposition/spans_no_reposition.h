// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// For study: block attention in which all children of a plus stand at one position, that of the first child,
/// as if each had been cached without its place. What follows stands where it always does. Compared with
/// `spans`, this shows what relocation is worth: 0.7 to 3.3 points in the Block-Attention paper (arXiv
/// 2409.15355, Table 1).
extern const Policy kSpansNoReposition;

}  // namespace spanscope::policy
