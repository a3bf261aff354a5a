// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/seed.h"

#include "engine/base/hash.h"

namespace spanscope::plan {

std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy) {
  return mixBits(mixBits(mixBits(planSeed) ^ step) ^ copy);
}

}  // namespace spanscope::plan
