// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Block attention whose documents are linked: of each run of tokens that was computed by itself, the first n
/// are computed once more, in view of everything before them, and read in place of the others. That is what
/// EPIC's LegoLink does (arXiv 2410.15332, n = 16) against the sink that every document by itself grows at
/// its beginning.
extern const Policy kLink;

}  // namespace spanscope::policy
