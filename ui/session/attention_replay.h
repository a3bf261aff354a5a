// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of a finished answer that is computed again when a person asks for it: what the engine is asked
// for, and why it cannot be asked now.
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

/// What is to be computed again: every row of an answer, in one layer.
struct ReplayChoice {
  RequestId request = 0;
  std::int32_t layer = 0;
  std::int32_t head = -1;  ///< −1: all
  bool operator==(const ReplayChoice&) const = default;
};

/// What of this goes on in the window, for all of its views.
struct ReplayState {
  TraceOrigin origin = TraceOrigin::Unknown;
  bool engineIsBusy = false;            ///< with a run or with `running`
  std::optional<ReplayChoice> running;  ///< is being computed
  std::optional<ReplayChoice> failed;   ///< the last one, where it could not be
  QString problem;                      ///< why
  std::size_t ended = 0;                ///< how many there were
  std::vector<RequestId> measuring;     ///< answers whose fidelity is being measured
  std::vector<RequestId> unmeasured;    ///< those of the last time, where they could not be
  QString fidelityProblem;              ///< why
  bool operator==(const ReplayState&) const = default;
};

/// Why nothing that was computed under a policy, as a trace writes it, can be computed again, a sentence;
/// empty: it can.
QString policyObstacle(const std::string& policy);

/// Why the answer cannot be computed again now, a sentence; empty: it can.
QString replayObstacle(const ViewInput& input, const ReplayChoice& choice);

/// An answer as the engine takes it. Only where there is no obstacle.
run::FinishedReply finishedReply(const ViewInput& input, RequestId request);

/// As the engine takes it, by key token unless that would be more than one replay gives. Only where there is
/// no obstacle.
run::AttentionReplayRequest replayRequest(const ViewInput& input, const ReplayChoice& choice);

/// "layer 12, head 3", "layer 12, all heads"
QString layerAndHead(std::int32_t layer, std::int32_t head);

}  // namespace spanscope::ui
