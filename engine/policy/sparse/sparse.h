// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Quest (arXiv 2406.10774): the prompt is computed as under `spans`. Each generated token then reads, in
/// each layer and for each key head, only the b blocks in which its queries could score most. Bounds of the
/// keys of each block decide which blocks these are. The first and the last block are always among them.
extern const Policy kSparse;

}  // namespace spanscope::policy
