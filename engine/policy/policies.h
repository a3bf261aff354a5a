// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/choice.h"
#include "engine/policy/policy.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::policy {

/// All policies, in the order in which they are offered; the first is the standard one.
std::span<const Policy* const> policies();

const Policy& standardPolicy();

/// The first that is as accurate as the checkpoint on any of them.
const Policy& policyForAnyCheckpoint();

/// What a run says, in the trace, where its policy wants a checkpoint trained for block attention and this
/// one does not say that it was.
std::string untrainedAdvice();

/// What a policy is exact against on a device: nothing is ticked off where the bits of a row depend on what
/// is computed beside it (compute::DeviceInfo::rowsAreBitEqual), since what is reused is only close to what
/// would be computed again.
std::string exactnessOn(const Choice& choice, bool rowsAreBitEqual);

/// What a run says, in the trace, on such a device.
std::string closeDeviceAdvice();

/// The policy of that name, without values; nullptr if there is none.
const Policy* findPolicy(std::string_view name);

/// The names of all policies, in their order.
std::vector<std::string> policyNames();

}  // namespace spanscope::policy
