// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_request.h"

#include "engine/workbench/model_bundle.h"
#include "engine/workbench/retrieval.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/run_plan.h"

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

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

}  // namespace spanscope::ui
