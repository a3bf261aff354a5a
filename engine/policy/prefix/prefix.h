// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// What stock servers do: a prompt is one segment with plain causal attention, and the longest prefix that
/// was computed before is reused.
extern const Policy kPrefix;

}  // namespace spanscope::policy
