// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Block attention in which the children of a plus also see the prompt before their plus, as the agents of
/// one prompt do. What the children see is part of their identity: they are found again behind the same
/// prompt at the same distance. A closure is a conversation of its own and sees itself alone.
extern const Policy kSharedPrefix;

}  // namespace spanscope::policy
