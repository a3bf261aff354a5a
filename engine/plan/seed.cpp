// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/seed.h"

namespace spanscope::plan {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy) {
  return mix(mix(mix(planSeed) ^ step) ^ copy);
}

}  // namespace spanscope::plan
