// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/forecaster.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/query/node_walk.h"
#include "engine/run/predictor.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/run_options.h"

#include <exception>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

using Diagnostics = std::vector<query::Diagnostic>;

bool holds(const query::Node& query, query::ResolvedBy resolver) {
  return query::anyNode(
      query, [resolver](const query::Node& node) { return query::infoOf(node).resolvedBy == resolver; });
}

/// Plans what can be planned ahead; says in `forecast` why not. The plan is the run's, but for the trees.
void planAhead(const ForecastRequest& request, Forecast& forecast) {
  const auto fail = [&forecast](std::string problem) {
    forecast.gap = ForecastGap::Problem;
    forecast.problem = std::move(problem);
  };
  auto resolved = query::resolveParameters(request.query, request.declarations, request.parameters);
  if (const auto* problems = std::get_if<Diagnostics>(&resolved)) return fail(problems->front().located({}));
  const auto& withValues = std::get<query::Node>(resolved);
  if (holds(withValues, query::ResolvedBy::Person)) {
    forecast.gap = ForecastGap::Asks;
    return;
  }
  if (holds(withValues, query::ResolvedBy::Retrieval)) {
    forecast.gap = ForecastGap::Retrieves;
    return;
  }
  auto whole = query::resolveSugar(withValues, *request.surroundings);
  if (const auto* problems = std::get_if<Diagnostics>(&whole)) return fail(problems->front().located({}));
  const auto& query = std::get<query::Node>(whole);

  plan::PlanOptions options = document::planOptionsOf(request.settings);
  options.recordTrees = true;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) return fail(planned.problems.front().message());
  forecast.queryJson = query::writeCanonical(query);
  forecast.gap = planned.plan->steps.empty() ? ForecastGap::Nothing : ForecastGap::None;
  forecast.plan = std::move(planned.plan);
}

}  // namespace

std::optional<Forecast> Forecaster::forecast(const ForecastRequest& request, const run::Session* session,
                                             const workbench::ModelBundle* loaded,
                                             const std::stop_token& stop) {
  if (stop.stop_requested()) return std::nullopt;
  Forecast forecast;
  forecast.id = request.id;
  forecast.policy = request.settings.policy;
  forecast.paths = request.paths;
  forecast.blockSize = request.settings.blockSize;
  forecast.startsEmpty = session == nullptr;
  try {
    planAhead(request, forecast);
    if (!forecast.isKnown()) return forecast;
    const run::RunOptions options = workbench::runOptionsOf(request.settings);
    const workbench::ModelBundle& model = describe(request.settings, loaded);
    run::Predictor empty(workbench::sessionConfigOf(request.settings), model.config, *model.tokenizer,
                         *model.chat);
    forecast.empty = empty.predict(*forecast.plan, options, stop);
    forecast.present =
        session == nullptr ? forecast.empty : session->predictor()->predict(*forecast.plan, options, stop);
  } catch (const std::exception& failure) {
    forecast.gap = ForecastGap::Problem;
    forecast.problem = failure.what();
  }
  if (forecast.empty.stopped || forecast.present.stopped) return std::nullopt;
  return forecast;
}

const workbench::ModelBundle& Forecaster::describe(const document::RunSettings& settings,
                                                   const workbench::ModelBundle* loaded) {
  const std::filesystem::path directory = workbench::modelDirectoryOf(settings);
  if (loaded != nullptr && loaded->directory == directory) return *loaded;
  // Its weights are not needed, and reading them would take the place of the model that is loaded.
  if (!m_described || m_described->directory != directory) {
    m_described.reset();
    m_described = workbench::describeModel(directory);
  }
  return *m_described;
}

}  // namespace spanscope::ui
