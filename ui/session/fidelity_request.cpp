// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/fidelity_request.h"

#include "ui/session/attention_replay.h"
#include "ui/session/run_list.h"
#include "ui/session/view_input.h"

#include <variant>

namespace spanscope::ui {

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
  if (run.trace) {
    const RequestEvents* events = run.trace->request(request);
    if (events != nullptr && !events->of<trace::FidelityMeasured>().empty())
      return std::get_if<trace::FidelityMeasured>(
          &run.trace->event(events->of<trace::FidelityMeasured>().back()).payload);
  }
  if (run.record == nullptr) return nullptr;
  const auto found = run.record->fidelity.find(request);
  return found == run.record->fidelity.end() ? nullptr : found->second.get();
}

}  // namespace spanscope::ui
