// SPDX-License-Identifier: GPL-3.0-or-later
// Lists all reuse policies and describes their results. Open this file to add a policy.
#pragma once

#include "engine/policy/choice.h"
#include "engine/policy/policy.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::policy {

/// Returns all policies in display order. The first policy is the default.
std::span<const Policy* const> policies();

const Policy& standardPolicy();

/// Returns the first policy that does not need a checkpoint trained for block attention.
const Policy& policyForAnyCheckpoint();

/// Returns the warning of a run whose policy needs block attention. The warning is for checkpoints that may
/// not be trained for block attention.
std::string untrainedAdvice();

/// Returns what a policy's result matches on a device. On some devices, the bits of a row depend on other
/// rows of the forward pass (see compute::DeviceInfo::rowsAreBitEqual). On such a device, nothing gets a
/// check mark. Reused values are only close to recomputed values there.
std::string exactnessOn(const Choice& choice, bool rowsAreBitEqual);

/// Returns the warning of a run on a device whose rows are not bit-equal.
std::string closeDeviceAdvice();

/// Returns the policy with this name, or nullptr. `name` has no values in parentheses.
const Policy* findPolicy(std::string_view name);

/// Returns the names of all policies, in display order.
std::vector<std::string> policyNames();

/// The default method of servers. A prompt is one segment with plain causal attention. The longest prefix
/// that was computed before is reused.
extern const Policy kPrefix;

/// Block attention with shared context: the children of a plus also attend to the prompt before their plus.
/// The block keys of a child contain everything that the child attends to. A block of a child is therefore a
/// hit only after the same prompt. The distance between the start positions of prompt and child must be the
/// same, too. A subquery result is a conversation of its own and attends only to itself.
extern const Policy kSharedPrefix;

/// Block attention. Each child of a plus is a segment that attends only to itself and is reused at any
/// position. Everything after the plus attends to all children.
extern const Policy kSpans;

/// For study: block attention with all children of a plus at the start position of the first child. A cache
/// that reuses keys without rotation to the child's own position has the same result. Later tokens keep their
/// usual position. A comparison with `spans` shows the value of relocation: 0.7 to 3.3 points in the
/// Block-Attention paper (arXiv 2409.15355, Table 1).
extern const Policy kSpansNoReposition;

/// Quest (arXiv 2406.10774): the prompt is computed as under `spans`. Each generated token then reads only b
/// blocks, in each layer and for each key head. The chosen blocks have the highest upper bounds of the score.
/// The min and max keys of a block give the bound. The first and the last block are always read.
extern const Policy kSparse;

}  // namespace spanscope::policy
