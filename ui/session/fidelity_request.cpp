// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/fidelity_request.h"

#include "ui/session/attention_replay.h"
#include "ui/session/run_list.h"
#include "ui/session/run_record.h"
#include "ui/session/view_input.h"

#include <map>
#include <memory>
#include <variant>

namespace spanscope::ui {
namespace {

/// From the run's events, or if they are gone, from its record.
template <class Measured>
const Measured* lastMeasured(const ListedRun& run, RequestId request,
                             std::map<RequestId, std::shared_ptr<const Measured>> RunRecord::*recorded) {
  if (run.trace) {
    const RequestEvents* events = run.trace->request(request);
    if (events != nullptr && !events->of<Measured>().empty())
      return std::get_if<Measured>(&run.trace->event(events->of<Measured>().back()).payload);
  }
  if (run.record == nullptr) return nullptr;
  const auto& all = run.record->*recorded;
  const auto found = all.find(request);
  return found == all.end() ? nullptr : found->second.get();
}

}  // namespace

QString fidelityObstacle(const ViewInput& input, RequestId request) {
  return replayObstacle(input, {.request = request});
}

std::vector<RequestId> measurableRequests(const ViewInput& input, RunId run) {
  std::vector<RequestId> requests;
  const trace::Progress& progress = input.state().progress();
  const auto found = progress.runs.find(run);
  if (found == progress.runs.end()) return requests;
  for (const RequestId request : found->second.requests) {
    if (fidelityObstacle(input, request).isEmpty()) requests.push_back(request);
  }
  return requests;
}

const trace::FidelityMeasured* fidelityOf(const ListedRun& run, RequestId request) {
  return lastMeasured<trace::FidelityMeasured>(run, request, &RunRecord::fidelity);
}

const trace::ArithmeticMeasured* arithmeticOf(const ListedRun& run, RequestId request) {
  return lastMeasured<trace::ArithmeticMeasured>(run, request, &RunRecord::arithmetic);
}

}  // namespace spanscope::ui
