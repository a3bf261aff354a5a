// SPDX-License-Identifier: GPL-3.0-or-later
// A person can ask for the attention of a finished answer to be computed again. This file says what the
// engine is asked for, and why it cannot be asked now.
#pragma once

#include "engine/base/ids.h"
#include "engine/run/finished_reply.h"
#include "ui/session/trace_source.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {
struct AttentionReplayRequest;
}

namespace spanscope::ui {

struct ViewInput;

/// What to compute again: every row of an answer, in one layer.
struct ReplayChoice {
  RequestId request = 0;
  std::int32_t layer = 0;
  std::int32_t head = -1;  ///< −1: all heads
  bool operator==(const ReplayChoice&) const = default;
};

/// The replays and fidelity measurements of the window, for all of its views.
struct ReplayState {
  TraceOrigin origin = TraceOrigin::Unknown;
  bool engineIsBusy = false;            ///< with a run or with `running`
  std::optional<ReplayChoice> running;  ///< the replay that is being computed
  std::optional<ReplayChoice> failed;   ///< the last replay, if it failed
  QString problem;                      ///< why `failed` failed
  std::size_t ended = 0;                ///< how many replays have ended
  std::vector<RequestId> measuring;     ///< answers whose fidelity is being measured
  double measuredShare = 0;             ///< how much of that is done, from 0 to 1
  /// Answers of the last measurement whose fidelity could not be measured.
  std::vector<RequestId> unmeasured;
  QString fidelityProblem;  ///< why they could not be measured
  bool operator==(const ReplayState&) const = default;
};

/// Why an answer cannot be computed again under this policy (named as in a trace), as a sentence. Empty if it
/// can.
QString policyObstacle(const std::string& policy);

/// Why the answer cannot be computed again now, as a sentence. Empty if it can.
QString replayObstacle(const ViewInput& input, const ReplayChoice& choice);

/// The answer in the form that the engine takes. Call it only if replayObstacle() is empty.
run::FinishedReply finishedReply(const ViewInput& input, RequestId request);

/// The request in the form that the engine takes. It asks for one value per key token, unless that would
/// exceed what one replay may return (run::kReplayBytes). Call it only if replayObstacle() is empty.
run::AttentionReplayRequest replayRequest(const ViewInput& input, const ReplayChoice& choice);

/// "layer 12, head 3", "layer 12, all heads"
QString layerAndHead(std::int32_t layer, std::int32_t head);

}  // namespace spanscope::ui
