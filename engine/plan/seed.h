// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>

namespace spanscope::plan {

/// The seed of one step. The finalizer of SplitMix64 mixes in each of the three numbers. The seed is the same
/// on every machine and in every version, so that a run can be repeated.
std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy);

}  // namespace spanscope::plan
