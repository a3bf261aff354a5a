// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/document_predictor.h"

#include "engine/base/error.h"
#include "engine/layout/message_renderer.h"
#include "engine/query/json/json.h"
#include "engine/run/drive_plan.h"
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

/// Plans the query without running it. Without a plan, `prediction` has the reason. The plan equals the plan
/// of the run, but also records the trees.
void planAhead(const PredictionRequest& request, DocumentPrediction& prediction) {
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
      prediction.gap = made.plan->steps.empty() ? PredictionGap::Nothing : PredictionGap::None;
      prediction.queryJson = query::writeCanonical(*made.queryAfter(workbench::Stage::Plan));
      prediction.plan = std::move(made.plan);
      break;
    case workbench::PipelineEnd::Asks:
      prediction.gap = PredictionGap::Asks;
      break;
    case workbench::PipelineEnd::Retrieves:
      prediction.gap = PredictionGap::Retrieves;
      break;
    case workbench::PipelineEnd::Problem:
    case workbench::PipelineEnd::Stopped:
      prediction.gap = PredictionGap::Problem;
      prediction.problem = made.diagnostics.front().located({});
      break;
  }
}

/// Lays out the prompts that are too long, so that their lengths and texts are known.
void layOutUnfit(const run::RunOptions& options, const workbench::ModelBundle& model,
                 const std::stop_token& stop, DocumentPrediction& prediction) {
  layout::MessageRenderer renderer(*model.tokenizer, *model.chat);
  renderer.useLayout(options.layout, prediction.blockSize);
  renderer.useLimits({.stop = stop});
  const std::vector<layout::StepOutput> outputs(prediction.plan->steps.size());
  std::set<StepIndex> predicted;
  for (const run::StepPrediction& step : prediction.present.steps) predicted.insert(step.step);
  for (StepIndex i = 0; i < prediction.plan->steps.size() && !stop.stop_requested(); ++i) {
    const plan::Step& step = prediction.plan->steps[i];
    if (!predicted.contains(i) && step.needs.empty())
      prediction.unfit.emplace_back(i, options.policy.layOut(step, outputs, renderer));
  }
}

/// Finds damaged weights before a run if this takes less than about a second. Larger weights are read when
/// the model is loaded.
void readSmallWeights(const checkpoint::Checkpoint& checkpoint) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30U;
  std::uintmax_t bytes = 0;
  for (const std::filesystem::path& file : checkpoint.files()) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(file, ignored);
    if (!ignored) bytes += size;
  }
  if (bytes <= kMostBytes) workbench::inspectTensors(checkpoint, workbench::CheckDepth::Weights);
}

}  // namespace

std::optional<DocumentPrediction> DocumentPredictor::predict(const PredictionRequest& request,
                                                             const run::Session* session,
                                                             const workbench::ModelBundle* loaded,
                                                             const std::stop_token& stop) {
  if (stop.stop_requested()) return std::nullopt;
  DocumentPrediction prediction;
  prediction.id = request.id;
  prediction.model = request.settings.model;
  prediction.policy = request.settings.policy;
  prediction.layout = request.settings.layout;
  prediction.paths = request.paths;
  prediction.blockSize = request.settings.blockSize;
  prediction.startsEmpty = session == nullptr;
  try {
    planAhead(request, prediction);
    if (!prediction.isKnown()) return prediction;
    const run::RunOptions options = workbench::runOptionsOf(request.settings);
    const workbench::ModelBundle& model = openModel(request.settings, loaded, prediction);
    const run::SessionConfig config = workbench::sessionConfigOf(request.settings);
    // An empty cache has no blocks on the disk either.
    run::SessionConfig withoutDisk = config;
    withoutDisk.store.diskBytes = 0;
    const auto predictAgain = [&](const run::SessionConfig& changed) {
      run::Predictor predictor(changed, model.config, *model.tokenizer, *model.chat);
      return predictor.predict(*prediction.plan, options, stop);
    };
    prediction.empty = predictAgain(withoutDisk);
    const auto fit = run::planFit(prediction.empty, withoutDisk, predictAgain);
    if (!fit) return std::nullopt;
    prediction.fit = *fit;
    if (session != nullptr) {
      prediction.present = session->predictor()->predict(*prediction.plan, options, stop);
    } else {
      prediction.present = config.store.usesDisk() ? predictAgain(config) : prediction.empty;
    }
    if (prediction.fit.error) layOutUnfit(options, model, stop, prediction);
    if (request.comparesLayouts && !prediction.empty.stopped && !prediction.present.stopped) {
      prediction.layouts = experiment::compareLayouts(
          *prediction.plan, options, workbench::sessionConfigOf(request.settings), model.config,
          *model.tokenizer, *model.chat, experiment::kComparedBlockSizes, stop);
      if (!prediction.layouts) return std::nullopt;
    }
  } catch (const std::exception& failure) {
    prediction.gap = PredictionGap::Problem;
    prediction.problem = failure.what();
  }
  if (prediction.empty.stopped || prediction.present.stopped) return std::nullopt;
  return prediction;
}

const workbench::ModelBundle& DocumentPredictor::openModel(const document::RunSettings& settings,
                                                           const workbench::ModelBundle* loaded,
                                                           DocumentPrediction& prediction) {
  try {
    return describe(settings, loaded);
  } catch (const Failure& failure) {
    prediction.modelError = failure.error();
    throw;
  }
}

const workbench::ModelBundle& DocumentPredictor::describe(const document::RunSettings& settings,
                                                          const workbench::ModelBundle* loaded) {
  const checkpoint::Checkpoint checkpoint = workbench::modelDirectoryOf(settings);
  const text::ChatTemplate* const chat = workbench::chosenTemplateOf(settings);
  const auto isIt = [&](const workbench::ModelBundle& model) {
    return model.checkpoint == checkpoint && model.context == settings.context &&
           (chat == nullptr ? !model.chatIsChosen : model.chat == chat);
  };
  if (loaded != nullptr && isIt(*loaded)) return *loaded;
  // Only the description is read. Loading the weights would replace the loaded model.
  if (!m_described || !isIt(*m_described)) {
    m_described.reset();
    readSmallWeights(checkpoint);
    m_described = workbench::describeModel(checkpoint, chat, settings.context);
  }
  return *m_described;
}

}  // namespace spanscope::ui
