// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Quest (arXiv 2406.10774): the prompt is computed as spans has it; each generated token then reads, in each
/// layer and for each key head, only the b blocks in which its queries could score most, judged by bounds of
/// the keys of each block, the first and the last block always among them.
extern const Policy kSparse;

}  // namespace spanscope::policy
