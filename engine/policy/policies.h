// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/choice.h"
#include "engine/policy/policy.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::policy {

/// All policies, in the order in which they are offered. The first is the standard policy.
std::span<const Policy* const> policies();

const Policy& standardPolicy();

/// The first policy that is as accurate as the checkpoint itself, whatever the checkpoint was trained for.
const Policy& policyForAnyCheckpoint();

/// What a run says in the trace if its policy wants a checkpoint trained for block attention, and the
/// checkpoint does not say that it was.
std::string untrainedAdvice();

/// What a policy is exact against on a device. If the bits of a row depend on what is computed beside it (see
/// compute::DeviceInfo::rowsAreBitEqual), nothing is ticked off: reused values are then only close to values
/// that are computed again.
std::string exactnessOn(const Choice& choice, bool rowsAreBitEqual);

/// What a run says in the trace on a device whose rows are not bit-equal.
std::string closeDeviceAdvice();

/// The policy of that name; nullptr if there is none. `name` has no values in brackets.
const Policy* findPolicy(std::string_view name);

/// The names of all policies, in their order.
std::vector<std::string> policyNames();

}  // namespace spanscope::policy
