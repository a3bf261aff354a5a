// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Block attention: each child of a plus is a segment that sees only itself and is reused wherever it stands;
/// what follows sees all of them.
extern const Policy kSpans;

}  // namespace spanscope::policy
