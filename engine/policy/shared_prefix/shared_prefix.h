// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Block attention whose children of a plus also see the prompt before their plus, as the agents of one
/// prompt do. What they see is part of their identity: they are found again behind the same prompt, as far
/// from it. A closure, which is a conversation of its own, sees itself alone.
extern const Policy kSharedPrefix;

}  // namespace spanscope::policy
