// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/turn_request.h"

#include "engine/policy/choice.h"
#include "ui/session/attention_replay.h"
#include "ui/session/view_input.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {

QString turnObstacle(const ViewInput& input, const TurnChoice& choice) {
  if (QString problem = replayObstacle(input, {.request = choice.request}); !problem.isEmpty())
    return problem;
  const trace::RequestState& request = input.state().progress().requests.find(choice.request)->second;
  const RequestEvents* events = input.trace->request(choice.request);
  const bool isInTeam = events != nullptr && !events->of<trace::TeamFormed>().empty();
  const bool hasStored = std::any_of(request.segments.begin(), request.segments.end(),
                                     [](const trace::SegmentInfo& segment) { return segment.hidden; });
  const std::optional<policy::Choice> policy =
      policy::findChoice(input.state().progress().runs.find(request.run)->second.policy);
  const layout::SpanTable some{.segments = {layout::Segment{}}};
  if (isInTeam || hasStored || !policy || policy->planRows(some, false).reply != nullptr)
    return tr(
        "Under this policy some rows are computed in a way of their own: choose spans or prefix, and "
        "run the query again.");
  if (!trace::isSeen(trace::WhoSees(request.segments).sight(choice.query, choice.key)))
    return tr("The query does not see the key: choose another pair.");
  return {};
}

}  // namespace spanscope::ui
