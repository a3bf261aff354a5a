// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/remote_request.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/run_work.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

using workbench::RunWork;

RunWork::Prepared preparedFor(const exports::ChatRequest& request, const document::RunSettings& settings) {
  plan::PlanOptions options;
  options.seed = request.seed.value_or(0);
  plan::PlanResult planned = plan::makePlan(workbench::queryOf(request), options);
  if (!planned.plan) throw Failure(planned.problems.front());
  run::RunOptions run = workbench::runOptionsOf(settings);
  run.seed = request.seed.value_or(0);
  return {.plan = std::make_shared<const plan::Plan>(std::move(*planned.plan)), .options = std::move(run)};
}

remote::RemoteStep stepOf(const run::StepResult& found) {
  remote::RemoteStep step;
  step.answer.text = found.text;
  step.answer.finish = trace::endedByLimit(found.outcome) ? "length" : "stop";
  step.answer.promptTokens = found.metrics.promptTokens;
  step.answer.cachedTokens = found.metrics.cachedTokens;
  step.answer.generatedTokens = found.metrics.generatedTokens;
  step.cached = {.state = found.metrics.cachedTokens > 0 ? remote::CachedState::Found
                                                         : remote::CachedState::MeasuredZero,
                 .tokens = found.metrics.cachedTokens};
  step.timeToFirstToken = found.metrics.timeToFirstToken;
  const auto later = static_cast<double>(std::max<std::int64_t>(0, found.metrics.generatedTokens - 1));
  step.timeToLastText = found.metrics.timeToFirstToken + later * found.metrics.interTokenLatency;
  return step;
}

}  // namespace

std::map<NodePath, std::string> serversOf(const document::Document& document,
                                          const document::NodePaths& paths) {
  std::map<NodePath, std::string> servers;
  for (const auto& [path, id] : paths.byPath) {
    const document::DocumentNode* node = document.find(id);
    if (node != nullptr && !node->server.empty()) servers.emplace(path, node->server);
  }
  return servers;
}

bool goesToServers(const document::RunSettings& settings, const std::map<NodePath, std::string>& serverOf) {
  return !askedServers(settings, serverOf).empty();
}

bool goesOnlyToServers(const document::Document& document) {
  const std::vector<document::NodeId> ids = document.ids();
  return document.settings.runsOnServer() && std::none_of(ids.begin(), ids.end(), [&](document::NodeId id) {
           return document.at(id).server == document::kEmbedded;
         });
}

std::vector<std::string> askedServers(const document::RunSettings& settings,
                                      const std::map<NodePath, std::string>& serverOf) {
  std::set<std::string> names;
  if (settings.runsOnServer()) names.insert(settings.server);
  for (const auto& [path, name] : serverOf) {
    if (name != document::kEmbedded) names.insert(name);
  }
  return {names.begin(), names.end()};
}

remote::LocalAnswer answerHere(WorkSubmitter submit, const document::RunSettings& settings, RunId lastRun) {
  return [submit = std::move(submit), settings, lastRun](const exports::ChatRequest& request,
                                                         const std::stop_token& stop) {
    const auto work = std::make_shared<RunWork>(
        settings,
        RunWork::Preparation{
            .prepare = [&](workbench::Workplace&,
                           const retrieve::Watch&) { return preparedFor(request, settings); }},
        lastRun);
    workbench::WorkHandle handle = submit(work);
    {
      const std::stop_callback ends(stop, [&handle] { handle.stop(); });
      handle.wait();
    }
    handle.rethrow();
    remote::RemoteStep step;
    if (work->result() && !work->result()->steps.empty()) step = stepOf(work->result()->steps.front());
    if (!work->result() || work->result()->outcome != trace::RunOutcome::Finished)
      step.brokenBy = "a request to stop";
    return step;
  };
}

}  // namespace spanscope::ui
