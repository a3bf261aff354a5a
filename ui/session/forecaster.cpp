// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/forecaster.h"

#include "engine/base/error.h"
#include "engine/layout/message_renderer.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/run/plan_progress.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <exception>
#include <set>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

/// Plans what can be planned ahead; says in `forecast` why not. The plan is the run's, but for the trees.
void planAhead(const ForecastRequest& request, Forecast& forecast) {
  workbench::PipelineInput input{.source = request.query,
                                 .parameters = request.parameters,
                                 .declarations = request.declarations,
                                 .surroundings = request.surroundings.get(),
                                 .endsAtAsk = true,
                                 .endsAtAugment = true,
                                 .plan = document::planOptionsOf(request.settings)};
  input.plan.recordTrees = true;
  workbench::PipelineResult made = workbench::runPipeline(std::move(input));
  switch (made.end) {
    case workbench::PipelineEnd::Reached:
      forecast.gap = made.plan->steps.empty() ? ForecastGap::Nothing : ForecastGap::None;
      forecast.queryJson = query::writeCanonical(*made.queryAfter(workbench::Stage::Plan));
      forecast.plan = std::move(made.plan);
      break;
    case workbench::PipelineEnd::Asks:
      forecast.gap = ForecastGap::Asks;
      break;
    case workbench::PipelineEnd::Retrieves:
      forecast.gap = ForecastGap::Retrieves;
      break;
    case workbench::PipelineEnd::Problem:
    case workbench::PipelineEnd::Stopped:
      forecast.gap = ForecastGap::Problem;
      forecast.problem = made.diagnostics.front().located({});
      break;
  }
}

/// A prompt that is too long has a length all the same, and texts in it.
void layOutUnfit(const run::RunOptions& options, const workbench::ModelBundle& model,
                 const std::stop_token& stop, Forecast& forecast) {
  layout::MessageRenderer renderer(*model.tokenizer, *model.chat);
  renderer.useLayout(options.layout, forecast.blockSize);
  renderer.useLimits({.stop = stop});
  const std::vector<layout::StepOutput> outputs(forecast.plan->steps.size());
  std::set<StepIndex> predicted;
  for (const run::StepPrediction& step : forecast.present.steps) predicted.insert(step.step);
  for (StepIndex i = 0; i < forecast.plan->steps.size() && !stop.stop_requested(); ++i) {
    const plan::Step& step = forecast.plan->steps[i];
    if (!predicted.contains(i) && step.needs.empty())
      forecast.unfit.emplace_back(i, options.policy.layOut(step, outputs, renderer));
  }
}

}  // namespace

std::optional<Forecast> Forecaster::forecast(const ForecastRequest& request, const run::Session* session,
                                             const workbench::ModelBundle* loaded,
                                             const std::stop_token& stop) {
  if (stop.stop_requested()) return std::nullopt;
  Forecast forecast;
  forecast.id = request.id;
  forecast.model = request.settings.model;
  forecast.policy = request.settings.policy;
  forecast.layout = request.settings.layout;
  forecast.paths = request.paths;
  forecast.blockSize = request.settings.blockSize;
  forecast.startsEmpty = session == nullptr;
  try {
    planAhead(request, forecast);
    if (!forecast.isKnown()) return forecast;
    const run::RunOptions options = workbench::runOptionsOf(request.settings);
    const workbench::ModelBundle& model = openModel(request.settings, loaded, forecast);
    const run::SessionConfig config = workbench::sessionConfigOf(request.settings);
    // An empty cache has nothing on the disk either.
    run::SessionConfig withoutDisk = config;
    withoutDisk.store.diskBytes = 0;
    const auto predictAnew = [&](const run::SessionConfig& anew) {
      run::Predictor predictor(anew, model.config, *model.tokenizer, *model.chat);
      return predictor.predict(*forecast.plan, options, stop);
    };
    forecast.empty = predictAnew(withoutDisk);
    const auto fit = run::planFit(forecast.empty, withoutDisk, predictAnew);
    if (!fit) return std::nullopt;
    forecast.fit = *fit;
    if (session != nullptr) {
      forecast.present = session->predictor()->predict(*forecast.plan, options, stop);
    } else {
      forecast.present = config.store.usesDisk() ? predictAnew(config) : forecast.empty;
    }
    if (forecast.fit.error) layOutUnfit(options, model, stop, forecast);
    if (request.comparesLayouts && !forecast.empty.stopped && !forecast.present.stopped) {
      forecast.layouts = experiment::compareLayouts(
          *forecast.plan, options, workbench::sessionConfigOf(request.settings), model.config,
          *model.tokenizer, *model.chat, experiment::kComparedBlockSizes, stop);
      if (!forecast.layouts) return std::nullopt;
    }
  } catch (const std::exception& failure) {
    forecast.gap = ForecastGap::Problem;
    forecast.problem = failure.what();
  }
  if (forecast.empty.stopped || forecast.present.stopped) return std::nullopt;
  return forecast;
}

const workbench::ModelBundle& Forecaster::openModel(const document::RunSettings& settings,
                                                    const workbench::ModelBundle* loaded,
                                                    Forecast& forecast) {
  try {
    return describe(settings, loaded);
  } catch (const Failure& failure) {
    forecast.modelError = failure.error();
    throw;
  }
}

const workbench::ModelBundle& Forecaster::describe(const document::RunSettings& settings,
                                                   const workbench::ModelBundle* loaded) {
  const checkpoint::Checkpoint checkpoint = workbench::modelDirectoryOf(settings);
  const text::ChatTemplate* const chat = workbench::templateOf(settings.chatTemplate);
  const auto isIt = [&](const workbench::ModelBundle& model) {
    return model.checkpoint == checkpoint && model.context == settings.context &&
           (chat == nullptr ? !model.chatIsChosen : model.chat == chat);
  };
  if (loaded != nullptr && isIt(*loaded)) return *loaded;
  // Its weights are not needed, and reading them would take the place of the model that is loaded.
  if (!m_described || !isIt(*m_described)) {
    m_described.reset();
    m_described = workbench::describeModel(checkpoint, chat, settings.context);
  }
  return *m_described;
}

}  // namespace spanscope::ui
