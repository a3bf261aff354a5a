// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a test on each instruction set that this machine has and for which the kernels are compiled.
#pragma once

#include "hwy/targets.h"
#include "kernels/cpu/fast/low_precision.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::testing {

/// The available instruction sets, the best first. The last needs no vectors at all.
inline std::vector<std::int64_t> availableInstructionSets() {
  std::vector<std::int64_t> available;
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON}) {
    if ((supported & target) != 0) available.push_back(target);
  }
  available.push_back(HWY_SCALAR);
  return available;
}

// As fast/low_precision.cpp knows them.
inline constexpr std::int64_t kAmx = HWY_AVX3 | HWY_AVX3_DL;
inline constexpr std::int64_t kAvxVnni = HWY_AVX2 | HWY_SSSE3;

/// The name of the instruction set for the user.
inline std::string shownName(std::int64_t target) {
  if (target == kAmx) return "AMX";
  if (target == kAvxVnni) return "AVX-VNNI";
  return target == HWY_AVX3 ? "AVX-512" : hwy::TargetName(target);
}

/// While an object of this class exists, new backends use one instruction set.
class UseInstructionSet {
 public:
  explicit UseInstructionSet(std::int64_t target) { set(target); }
  ~UseInstructionSet() { set(0); }
  UseInstructionSet(const UseInstructionSet&) = delete;
  UseInstructionSet& operator=(const UseInstructionSet&) = delete;

 private:
  static void set(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// The instruction sets among which fast products differ, those that Highway does not know last.
inline std::vector<std::int64_t> fastInstructionSets() {
  std::vector<std::int64_t> sets = availableInstructionSets();
  const auto addIf = [&sets](std::int64_t base, std::int64_t target, cpu::ByteDots dots) {
    if (std::find(sets.begin(), sets.end(), base) == sets.end()) return;
    const UseInstructionSet use(target);
    if (cpu::lowPrecision().byteDots == dots) sets.push_back(target);
  };
  addIf(HWY_AVX3, kAmx, cpu::ByteDots::Amx);
  addIf(HWY_AVX2, kAvxVnni, cpu::ByteDots::AvxVnni);
  return sets;
}

/// Whether a multiply-add rounds only once with this instruction set.
inline bool hasFusedMultiplyAdd(std::int64_t target) {
  return target != HWY_SSE4 && target != HWY_SCALAR;
}

}  // namespace spanscope::testing
