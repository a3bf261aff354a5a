// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_request.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/trace/event.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/retrieval.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/run_plan.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

using workbench::JobContext;
using workbench::RunJob;

std::vector<std::int32_t> observedLayers(const document::RunSettings& settings, std::int32_t count) {
  std::vector<std::int32_t> layers;
  for (const std::int32_t layer : settings.layers) {
    if (layer >= 0 && layer < count) layers.push_back(layer);
  }
  if (settings.layers.empty()) {
    layers.resize(static_cast<std::size_t>(count));
    std::iota(layers.begin(), layers.end(), 0);
  }
  return layers;
}

/// Makes the plan of a request that retrieves.
void retrieveFor(RunRequest& request, run::RunOptions& options, JobContext& place,
                 const retrieve::Watch& watch) {
  RunPlan planned = planRun(place.retrieval().input(*request.retrieval, place.model(), watch));
  if (!planned.plan) throw std::runtime_error(planned.problem.toStdString());
  request.plan = std::move(*planned.plan);
  request.explain = std::move(planned.explain);
  request.queryJson = std::move(planned.queryJson);
  options.retrieved = workbench::retrievalReports(planned.made.retrieved, planned.made.diagnostics);
}

RunJob::Prepared prepareRun(RunRequest& request, JobContext& place, const retrieve::Watch& watch) {
  run::RunOptions options = shownRunOptions(request.settings, place.model()->config.layers);
  if (request.retrieval) retrieveFor(request, options, place, watch);
  options.queryJson = request.queryJson;
  options.explain = request.explain;
  return {.plan = std::make_shared<const plan::Plan>(std::move(request.plan)), .options = std::move(options)};
}

}  // namespace

run::RunOptions shownRunOptions(const document::RunSettings& settings, std::int32_t layers) {
  run::RunOptions options = workbench::runOptionsOf(settings);
  options.attentionDetail = workbench::attentionDetailOf(settings.attention);
  options.observeRows = settings.observeRows;
  options.attentionBytes = std::uint64_t(settings.attentionMebibytes) << 20;
  if (settings.observe) options.observedLayers = observedLayers(settings, layers);
  return options;
}

std::shared_ptr<RunJob> makeRunJob(RunRequest asked) {
  const document::RunSettings settings = asked.settings;
  const RunId lastRun = asked.lastRun;
  const RequestId lastRequest = asked.lastRequest;
  const auto request = std::make_shared<RunRequest>(std::move(asked));
  RunJob::Preparation preparation{
      .prepare = [request](JobContext& place,
                           const retrieve::Watch& watch) { return prepareRun(*request, place, watch); },
      .takesLong = request->retrieval.has_value()};
  return std::make_shared<RunJob>(settings, std::move(preparation), lastRun, lastRequest);
}

namespace {

using workbench::RunJob;

RunJob::Prepared preparedFor(const exports::ChatRequest& request, const document::RunSettings& settings) {
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

/// Passes the text and the progress of a step from the thread that computes it to the thread that waits for
/// it.
class StepFeed {
 public:
  void take(const trace::Event& event) {
    const std::lock_guard lock(m_mutex);
    if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload)) {
      m_text += token->text;
    } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
      if (admitted->resumed) return;
      m_prompt = {.total = admitted->promptTokens,
                  .cached = admitted->cachedTokens,
                  .processed = admitted->cachedTokens};
      m_request = event.request;
      m_hasMoved = true;
    } else if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
      for (const trace::BatchEntry& entry : pass->entries) {
        if (entry.request != m_request || entry.decode || entry.repeated) continue;
        // Policies may compute token positions a second time.
        m_prompt.processed = std::min(m_prompt.total, m_prompt.processed + entry.count);
        m_hasMoved = true;
      }
    }
  }
  /// Reports the progress and the text since the last call.
  void report(const remote::LocalWatch& watch) {
    std::string text;
    std::optional<remote::PromptProgress> prompt;
    {
      const std::lock_guard lock(m_mutex);
      text.swap(m_text);
      if (std::exchange(m_hasMoved, false)) prompt = m_prompt;
    }
    if (prompt) watch.prompt(*prompt);
    if (!text.empty()) watch.text(text);
  }

 private:
  std::mutex m_mutex;
  RequestId m_request = 0;
  remote::PromptProgress m_prompt;
  bool m_hasMoved = false;
  std::string m_text;
};

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

std::vector<std::string> askedServers(const document::RunSettings& settings,
                                      const std::map<NodePath, std::string>& serverOf) {
  std::set<std::string> names;
  if (settings.runsOnServer()) names.insert(settings.server);
  for (const auto& [path, name] : serverOf) {
    if (name != document::kEmbedded) names.insert(name);
  }
  return {names.begin(), names.end()};
}

remote::LocalAnswer answerHere(JobSubmitter submit, const document::RunSettings& settings, RunId lastRun) {
  return
      [submit = std::move(submit), settings, lastRun](
          const exports::ChatRequest& request, const remote::LocalWatch& watch, const std::stop_token& stop) {
        const auto work = std::make_shared<RunJob>(
            settings,
            RunJob::Preparation{
                .prepare = [&](workbench::JobContext&,
                               const retrieve::Watch&) { return preparedFor(request, settings); }},
            lastRun);
        // The job may outlive this call by a moment.
        const auto feed = std::make_shared<StepFeed>();
        work->listen([feed](const trace::Event& event) { feed->take(event); });
        workbench::JobHandle handle = submit(work);
        {
          constexpr std::chrono::milliseconds kOften(20);
          const std::stop_callback ends(stop, [&handle] { handle.stop(); });
          while (!handle.waitFor(kOften)) feed->report(watch);
          feed->report(watch);
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
