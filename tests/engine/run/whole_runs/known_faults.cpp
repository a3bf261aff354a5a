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

/// Whether it holds for the run in which something differed, or for one that was predicted with it.
template <class Is>
bool anyPredicted(const RunCase& all, const Difference& difference, Is is) {
  for (std::size_t i = difference.run + 1; i-- > 0;) {
    if (is(all.runs[i])) return true;
    if (!all.runs[i].isPredictedAhead) return false;
  }
  return false;
}

constexpr std::array<KnownFault, 8> kKnownFaults{
    {{.name = "forecasts of why a block was not found",
      .covers =
          [](const RunCase& /*all*/, const Difference& difference) {
            return isForecast(difference) && difference.text.find("another reason") != std::string::npos;
          }},
     {.name = "forecasts with pads and marks",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            return isForecast(difference) && anyPredicted(all, difference, [](const QueryRun& run) {
                     return run.layout != layout::Layout::Exact;
                   });
          }},
     {.name = "forecasts with tiers",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            return isForecast(difference) && all.warm.tiers != Tiers::None;
          }},
     {.name = "forecasts under link, views and blend",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            return isForecast(difference) && anyPredicted(all, difference, [](const QueryRun& run) {
                     return isUnder(run, "link") || isUnder(run, "views") || isUnder(run, "blend");
                   });
          }},
     {.name = "blend with reused outputs",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            const QueryRun& run = all.runs[difference.run];
            return isUnder(run, "blend") && run.outputForm == plan::OutputForm::Reused;
          }},
     {.name = "blend in a layer that is not there",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            return isUnder(all.runs[difference.run], "blend") && difference.subject == Subject::Exception;
          }},
     {.name = "views with an emptied cache",
      .covers =
          [](const RunCase& all, const Difference& difference) {
            const QueryRun& run = all.runs[difference.run];
            return isUnder(run, "views") && run.emptyEvery > 0;
          }},
     {.name = "teams that do not fit the pool",
      .covers = [](const RunCase& all, const Difference& difference) {
        return isUnder(all.runs[difference.run], "views") && difference.subject == Subject::Outcome;
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
