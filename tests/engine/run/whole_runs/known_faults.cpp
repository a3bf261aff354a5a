// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/known_faults.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace spanscope::test {
namespace {

bool isUnder(const QueryRun& run, std::string_view policy) {
  return run.policy.policy().name == policy;
}

bool isForecast(const Difference& difference) {
  return difference.subject == Subject::Forecast;
}

constexpr std::array<KnownFault, 3> kKnownFaults{
    {{.name = "forecasts of why a block was not found",
      .covers =
          [](const RunCase& /*all*/, const Difference& difference) {
            return isForecast(difference) && difference.text.find("another reason") != std::string::npos;
          }},
     {.name = "figures of a team whose cache was emptied",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            const QueryRun& run = all.runs[difference.run];
            return difference.subject == Subject::Trace && isUnder(run, "views") && run.emptyEvery > 0;
          }},
     {.name = "attention that blend recorded before its cache was emptied",
      .covers = [](const RunCase& all, const Difference& difference) {
        const QueryRun& run = all.runs[difference.run];
        return difference.subject == Subject::Replay && isUnder(run, "blend") && run.emptyEvery > 0;
      }}}};

}  // namespace

std::span<const KnownFault> knownFaults() {
  return kKnownFaults;
}

const KnownFault* findKnownFault(const RunCase& all, const Difference& difference) {
  const auto known = knownFaults();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& fault) { return fault.covers(all, difference); });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace spanscope::test
