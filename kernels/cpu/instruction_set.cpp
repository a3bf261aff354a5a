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
};
// Highway has no set for processors with tiles, see fast/low_precision.cpp.
constexpr std::array kSets = {Named{"AMX", HWY_AVX3 | HWY_AVX3_DL},
                              Named{"AVX-512", HWY_AVX3},
                              Named{"AVX2", HWY_AVX2},
                              Named{"SSE4", HWY_SSE4},
                              Named{"NEON", HWY_NEON},
                              Named{"scalar", HWY_SCALAR}};

}  // namespace

void useInstructionSet(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  std::int64_t there = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_SCALAR;
  if (lowPrecision().byteDots == ByteDots::Amx) there |= HWY_AVX3_DL;
  std::string names;
  for (const Named& set : kSets) {
    if ((there & set.target) != set.target) continue;
    if (name == set.name) {
      hwy::SetSupportedTargetsForTest(set.target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(set.name);
  }
  throw Failure(Error{"", "instruction set", '"' + std::string(name) + '"', "one that is here: " + names});
}

}  // namespace spanscope::cpu
