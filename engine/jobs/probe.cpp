// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/probe.h"

#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/speed_records.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

namespace spanscope::jobs {
namespace {

/// The bundled model is small, so its share of the time is small, too.
constexpr double kBundledShare = 0.05;

std::vector<std::string> policiesOf(const ProbeChoice& choice) {
  return choice.policies.empty() ? experiment::probedPolicies() : choice.policies;
}

OwnQuery ownQuery(query::Node query, const std::string& title) {
  // The constructor checks the query.
  return *ownQueryOf(std::make_shared<const experiment::OwnDocuments>(std::move(query), title));
}

std::vector<experiment::ProbeQuestion> questionsOf(const ProbeChoice& choice) {
  std::vector<experiment::ProbeQuestion> questions = experiment::builtInQuestions();
  if (choice.own) {
    for (experiment::ProbeQuestion& question : experiment::ownQuestions(*ownDocumentsOf(choice.own)))
      questions.push_back(std::move(question));
  }
  return questions;
}

/// Whether the settings choose the bundled model itself.
bool isBundled(const workbench::RunSettings& settings) {
  if (!settings.adapter.empty()) return false;
  if (settings.model.empty()) return true;
  std::error_code error;
  return std::filesystem::equivalent(settings.model, workbench::bundledModelDirectory(), error);
}

bool isSoundModel(const experiment::ProbedModel& model, std::size_t policies) {
  return std::ranges::all_of(model.questions, [policies](const experiment::ProbedQuestion& question) {
    return question.samples.size() <= policies &&
           std::ranges::all_of(question.samples, [](const experiment::ProbeSample& sample) {
             return std::isfinite(sample.divergence) && std::isfinite(sample.mostDivergence) &&
                    std::isfinite(sample.seconds) && sample.agreeing <= sample.tokens;
           });
  });
}

/// Counts what the probe computes. If the count is not possible, the remaining time follows from the finished
/// questions.
void count(const experiment::ExperimentModel& model, std::span<const experiment::ProbeQuestion> questions,
           std::span<const std::string> policies, Measurement& at) {
  std::vector<experiment::TokenAmount> steps;
  try {
    steps = experiment::countProbe(model, questions, policies, at.stop());
  } catch (const Failure&) {
    return;  // the measurement reports the error
  }
  const std::shared_ptr<workbench::SpeedRecords>& paces = at.input().paces;
  const std::optional<experiment::SpeedSample> pace = paces ? paces->find(at.input().settings) : std::nullopt;
  JobEstimate estimate{.amount = steps.back()};
  std::optional<double> known;
  if (pace) estimate.seconds = experiment::secondsFor(estimate.amount, *pace);
  if (estimate.seconds) known = (estimate.seconds->least + estimate.seconds->most) / 2;
  at.clock().expect(experiment::RemainingTime(steps, pace.value_or(experiment::SpeedSample())), known);
  at.setEstimate(estimate);
}

void measureBundled(Probe& probe, std::span<const experiment::ProbeQuestion> questions, Measurement& at) {
  try {
    workbench::RunSettings settings = at.input().settings;
    const workbench::RunSettings usual;
    settings.model.clear();
    settings.adapter.clear();
    settings.chatTemplate = usual.chatTemplate;
    settings.templateVariables.clear();
    settings.context = 0;
    workbench::ModelBundle bundle = at.place().loadBeside(settings, at.stop());
    experiment::ExperimentModel model = workbench::experimentModelOf(bundle, at.place().configFor(settings));
    model.seam = [&at] { at.pass(); };
    experiment::SpeedSample pace;
    experiment::probeModel(
        probe.bundled.emplace(), model, questions, probe.choice.policies, pace, [&at] { at.report(); },
        at.stop());
  } catch (const std::exception& failure) {
    if (at.stop().stop_requested()) throw;
    probe.bundled.reset();
    probe.bundledProblem = failure.what();
  }
}

}  // namespace

double Probe::progress() const {
  if (samples == 0) return 0;
  const auto all = static_cast<double>(samples);
  const double own = static_cast<double>(model.samples()) / all;
  if (!measuresBundled) return own;
  const double other =
      bundledProblem.empty() ? (bundled ? static_cast<double>(bundled->samples()) / all : 0.0) : 1.0;
  return (1 - kBundledShare) * own + kBundledShare * other;
}

std::vector<experiment::ProbeRow> Probe::bundledRows() const {
  return bundled ? experiment::probeRows(*bundled, choice.policies) : std::vector<experiment::ProbeRow>();
}

std::vector<std::string> Probe::sentences() const {
  std::vector<std::string> sentences = experiment::probeSentences(model, rows(), bundledRows());
  if (!bundledProblem.empty())
    sentences.push_back("The bundled model could not be measured: " + bundledProblem);
  return sentences;
}

experiment::HeatChart Probe::chart() const {
  return experiment::probeChart(model, bundled ? &*bundled : nullptr, choice.policies);
}

ProbeChoice ProbeJob::completed(ProbeChoice choice, const JobInput& input) {
  choice.policies = policiesOf(choice);
  choice.model = input.settings.model;
  choice.adapter = input.settings.adapter;
  if (takesQuery(choice)) {
    if (input.retrieve)
      experiment::countDocuments(input.query);
    else
      choice.own = ownQuery(input.query, input.title);
  }
  return choice;
}

bool ProbeJob::isSound(const Probe& probe) {
  const std::size_t policies = probe.choice.policies.size();
  try {
    (void)ownDocumentsOf(probe.choice.own);
  } catch (const Failure&) {
    return false;
  }
  return isSoundModel(probe.model, policies) && (!probe.bundled || isSoundModel(*probe.bundled, policies));
}

std::optional<experiment::TokenAmount> ProbeJob::amount(const ProbeChoice& choice,
                                                        const EstimateFacts& facts) {
  if (facts.model == nullptr || takesQuery(choice)) return std::nullopt;
  return experiment::countProbe(*facts.model, questionsOf(choice), policiesOf(choice), facts.stop).back();
}

trace::EventWords ProbeJob::activity(const Probe& probe) {
  if (probe.samples == 0) return {forTranslation("Events", "Probe: preparing"), {}};
  return {forTranslation("Events", "Probe: %1 %"), {static_cast<std::uint32_t>(100 * probe.progress())}};
}

void ProbeJob::measure(Probe& probe, const ProbeChoice& /*choice*/, Measurement& at) {
  const JobInput& input = at.input();
  probe.choice.policies = policiesOf(probe.choice);
  // An augment found the documents.
  if (takesQuery(probe.choice)) probe.choice.own = ownQuery(at.query(), input.title);
  const std::vector<experiment::ProbeQuestion> questions = questionsOf(probe.choice);
  experiment::ExperimentModel model =
      workbench::experimentModelOf(at.model(), at.place().configFor(input.settings));
  model.seam = [&at] { at.pass(); };
  probe.model.name = model.name;
  probe.samples = questions.size() * probe.choice.policies.size();
  probe.measuresBundled = !isBundled(input.settings);
  count(model, questions, probe.choice.policies, at);
  at.report();
  at.clock().begin();
  experiment::SpeedSample pace;
  const std::shared_ptr<void> noted(nullptr, [&](void*) {
    if (input.paces) input.paces->note(input.settings, pace);
  });
  experiment::probeModel(
      probe.model, model, questions, probe.choice.policies, pace, [&at] { at.report(); }, at.stop());
  if (probe.measuresBundled) measureBundled(probe, questions, at);
}

}  // namespace spanscope::jobs
