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

/// What stock servers do: a prompt is one segment with plain causal attention, and the longest prefix that
/// was computed before is reused.
extern const Policy kPrefix;

/// Block attention in which the children of a plus also see the prompt before their plus, as the agents of
/// one prompt do. What the children see is part of their identity: they are found again behind the same
/// prompt at the same distance. A closure is a conversation of its own and sees itself alone.
extern const Policy kSharedPrefix;

/// Block attention: each child of a plus is a segment that sees only itself and is reused wherever it stands;
/// what follows sees all of them.
extern const Policy kSpans;

/// For study: block attention in which all children of a plus stand at one position, that of the first child,
/// as if each had been cached without its place. What follows stands where it always does. Compared with
/// `spans`, this shows what relocation is worth: 0.7 to 3.3 points in the Block-Attention paper (arXiv
/// 2409.15355, Table 1).
extern const Policy kSpansNoReposition;

/// Quest (arXiv 2406.10774): the prompt is computed as under `spans`. Each generated token then reads, in
/// each layer and for each key head, only the b blocks in which its queries could score most. Bounds of the
/// keys of each block decide which blocks these are. The first and the last block are always among them.
extern const Policy kSparse;

}  // namespace spanscope::policy
