// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>

namespace spanscope::plan {

/// The seed of one step: the three numbers, each mixed in by the finalizer of SplitMix64. The same on every
/// machine and in every version, so that a run can be repeated.
std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy);

}  // namespace spanscope::plan
