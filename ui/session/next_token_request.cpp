// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/next_token_request.h"

#include "engine/experiment/fidelity.h"
#include "ui/session/attention_replay.h"
#include "ui/session/view_input.h"
#include "ui/words/tr.h"

#include <map>
#include <optional>
#include <utility>

namespace spanscope::ui {

QString policyOf(const ViewInput& input, RequestId request) {
  const trace::Progress& progress = input.state().progress();
  const auto found = progress.requests.find(request);
  if (found == progress.requests.end()) return {};
  const auto run = progress.runs.find(found->second.run);
  return run == progress.runs.end() ? QString() : QString::fromStdString(run->second.policy);
}

std::vector<RequestId> otherPolicies(const ViewInput& input, RequestId request) {
  const trace::Progress& progress = input.state().progress();
  const auto own = progress.requests.find(request);
  if (own == progress.requests.end()) return {};
  const std::vector<TokenId> tokens =
      experiment::visibleTokens({own->second.segments.begin(), own->second.segments.end()});
  std::map<QString, RequestId> newest;
  for (const auto& [id, other] : progress.requests) {
    if (id == request || other.segments.empty()) continue;
    const QString policy = policyOf(input, id);
    const RequestEvents* events = input.trace->request(id);
    // A reply that was written with others cannot be replaced by another one.
    const bool isInTeam = events != nullptr && !events->of<trace::TeamFormed>().empty();
    if (isInTeam || policy == policyOf(input, request)) continue;
    if (experiment::visibleTokens({other.segments.begin(), other.segments.end()}) == tokens)
      newest[policy] = id;
  }
  std::vector<RequestId> others;
  for (const auto& [policy, id] : newest) others.push_back(id);
  return others;
}

QString nextTokenObstacle(const ViewInput& input, const NextTokenChoice& choice) {
  if (QString problem = replayObstacle(input, {.request = choice.request}); !problem.isEmpty())
    return problem;
  return choice.other == 0 ? QString() : replayObstacle(input, {.request = choice.other});
}

std::shared_ptr<workbench::NextTokenWork> nextTokenWork(const ViewInput& input,
                                                        const NextTokenChoice& choice) {
  run::FinishedReply own = finishedReply(input, choice.request);
  std::optional<run::FinishedReply> other;
  if (choice.other != 0) {
    other = finishedReply(input, choice.other);
    other->tokens = own.tokens;
  }
  return std::make_shared<workbench::NextTokenWork>(std::move(own), std::move(other));
}

}  // namespace spanscope::ui
