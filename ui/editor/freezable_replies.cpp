// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/freezable_replies.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <variant>

namespace spanscope::ui {
namespace {

using document::NodeId;
using document::NodePaths;

/// The steps of the node that only serve another of its steps. Attention locality makes several judges of
/// one, and only the reply of the last judge is the node's.
std::set<StepIndex> innerSteps(const trace::RunState& run, const NodePaths& paths, NodeId node) {
  std::set<StepIndex> own;
  for (const trace::PlannedStep& step : run.plan->steps) {
    if (paths.nodeOf(step.node) == node) own.insert(step.step);
  }
  std::set<StepIndex> inner;
  for (const trace::PlannedStep& step : run.plan->steps) {
    if (own.count(step.step) == 0) continue;
    for (const StepIndex need : step.needs) {
      if (own.count(need) != 0) inner.insert(need);
    }
  }
  return inner;
}

/// The number of replies that the node gave each time it ran, from the run's query; 0: not known.
std::size_t repliesEachTime(const trace::RunState& run, const NodePath& path) {
  const query::ParseResult read = query::parseJson(*run.queryJson);
  const query::Node* then = read.query ? query::nodeAt(*read.query, path) : nullptr;
  if (then == nullptr) return 0;
  if (const std::vector<std::string>* inputs = query::inputsOf(*then)) return inputs->size();
  const query::Times* times = query::countOf(*then);
  const auto* count = times == nullptr ? nullptr : std::get_if<std::uint8_t>(times);
  return count == nullptr ? 0 : *count;
}

bool isWhole(const trace::RequestState& request) {
  return request.outcome &&
         (*request.outcome == trace::StepOutcome::EndToken || trace::endedByLimit(*request.outcome));
}

}  // namespace

FreezableReplies freezableReplies(const ViewInput& input, NodeId node, const NodeStatus& shown) {
  if (document::mostReplies(input.document->at(node).own) == 1) return {{shown.answer}, {}};
  const trace::Progress& progress = input.state().progress();
  const auto request = progress.requests.find(shown.request);
  const auto run =
      request == progress.requests.end() ? progress.runs.end() : progress.runs.find(request->second.run);
  const auto paths = run == progress.runs.end() ? input.paths.end() : input.paths.find(run->first);
  if (paths == input.paths.end()) return {{}, tr("There are no answers to freeze: run the query first.")};

  const std::set<StepIndex> inner = innerSteps(run->second, paths->second, node);
  std::map<std::uint32_t, const trace::RequestState*> byCopy;
  for (const RequestId id : run->second.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end() || paths->second.nodeOf(found->second.node) != node) continue;
    if (inner.count(found->second.step) == 0) byCopy[found->second.copy] = &found->second;
  }
  const std::size_t each = repliesEachTime(run->second, request->second.node);
  const auto before = std::distance(byCopy.begin(), byCopy.lower_bound(shown.copy));
  const std::size_t first = each == 0 ? 0 : static_cast<std::size_t>(before) / each * each;

  FreezableReplies result;
  std::size_t index = 0;
  for (const auto& [copy, reply] : byCopy) {
    if (index++ < first || index > first + each) continue;
    if (isWhole(*reply)) result.replies.push_back(reply->text);
  }
  if (each == 0 || result.replies.size() != each) {
    const std::size_t missing = each - std::min(each, result.replies.size());
    result.replies.clear();
    result.problem =
        tr("%1 of its %2 answers have not been given: run the query first.").arg(missing).arg(each);
  }
  return result;
}

}  // namespace spanscope::ui
