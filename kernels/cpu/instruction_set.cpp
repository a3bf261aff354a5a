// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/instruction_set.h"

#include "engine/base/error.h"
#include "hwy/highway.h"
#include "kernels/cpu/fast/low_precision.h"

#include <array>
#include <cstdint>
#include <string>

namespace spanscope::cpu {
namespace {

struct Named {
  const char* name;
  std::int64_t target;
  /// Of a set that Highway does not know, see fast/low_precision.cpp: how it is known.
  ByteDots dots = ByteDots::None;
};
constexpr std::array kSets = {Named{"AMX", HWY_AVX3 | HWY_AVX3_DL, ByteDots::Amx},
                              Named{"AVX-512", HWY_AVX3},
                              Named{"AVX-VNNI", HWY_AVX2 | HWY_SSSE3, ByteDots::AvxVnni},
                              Named{"AVX2", HWY_AVX2},
                              Named{"SSE4", HWY_SSE4},
                              Named{"NEON", HWY_NEON},
                              Named{"scalar", HWY_SCALAR}};

void use(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Leaves the set in use if it is there, and else all.
bool tryToUse(const Named& set) {
  use(0);
  const std::int64_t there = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_SCALAR;
  // Kernels for the first of its sets are those that are used.
  const std::int64_t first = set.target & HWY_TARGETS;
  if (first == 0 ? set.target != HWY_SCALAR : (there & first) != first) return false;
  use(set.target);
  if (set.dots == ByteDots::None || lowPrecision().byteDots == set.dots) return true;
  use(0);
  return false;
}

}  // namespace

void useInstructionSet(std::string_view name) {
  std::string names;
  for (const Named& set : kSets) {
    if (!tryToUse(set)) continue;
    if (name == set.name) return;
    names += (names.empty() ? "" : ", ") + std::string(set.name);
  }
  use(0);
  throw Failure(Error{"", "instruction set", '"' + std::string(name) + '"', "one that is here: " + names});
}

}  // namespace spanscope::cpu
