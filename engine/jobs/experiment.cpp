// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/experiment.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/query/json/json.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/speed_records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::jobs {
namespace {

using experiment::ExperimentRequest;
using experiment::ExperimentResult;

/// Documents and question of a query without augments.
std::shared_ptr<const experiment::OwnDocuments> documentsOf(query::Node query, const JobInput& input) {
  if (auto* generate = query.as<query::Generate>(); generate != nullptr) {
    auto& most = generate->settings.maxTokens;
    const auto* given = std::get_if<std::int32_t>(&most);
    if ((given == nullptr || *given <= 0) && input.settings.maxTokens > 0) most = input.settings.maxTokens;
  }
  return std::make_shared<const experiment::OwnDocuments>(std::move(query), input.title);
}

/// Counts what the experiment computes. If the count is not possible, the remaining time follows from the
/// finished steps alone.
void count(const ExperimentRequest& request, experiment::ExperimentModel model, Measurement& at) {
  experiment::ExperimentAmount amount;
  try {
    amount = experiment::countExperiment(request, std::move(model), at.stop());
  } catch (const Failure&) {
    return;  // the measurement reports the error
  }
  const std::shared_ptr<workbench::SpeedRecords>& paces = at.input().paces;
  const std::optional<experiment::SpeedSample> pace = paces ? paces->find(at.input().settings) : std::nullopt;
  JobEstimate estimate{.amount = amount.total};
  if (pace) estimate.seconds = experiment::secondsFor(amount.total, *pace);
  std::optional<double> known;
  if (estimate.seconds && experiment::roundedSpan(*estimate.seconds).isOne())
    known = (estimate.seconds->least + estimate.seconds->most) / 2;
  at.clock().expect(experiment::RemainingTime(amount.steps, pace.value_or(experiment::SpeedSample())), known);
  at.setEstimate(estimate);
}

bool isSoundPoint(const experiment::ExperimentPoint& point, std::size_t measures) {
  const auto isFinite = [](double value) { return std::isfinite(value); };
  return isFinite(point.x) && isFinite(point.y) && point.samples.size() == measures &&
         std::all_of(point.samples.begin(), point.samples.end(), [&](const std::vector<double>& samples) {
           return std::all_of(samples.begin(), samples.end(), isFinite);
         });
}

}  // namespace

std::optional<OwnQuery> ownQueryOf(const std::shared_ptr<const experiment::OwnDocuments>& documents) {
  if (!documents) return std::nullopt;
  return OwnQuery{.query = query::writeCanonical(documents->whole()), .name = documents->name()};
}

std::shared_ptr<const experiment::OwnDocuments> ownDocumentsOf(const std::optional<OwnQuery>& own) {
  if (!own) return nullptr;
  query::ParseResult parsed = query::parseJson(own->query);
  if (!parsed.query) throw Failure(errorAt("own", "no query", "a query with documents"));
  return std::make_shared<const experiment::OwnDocuments>(std::move(*parsed.query), own->name);
}

ExperimentRequest ExperimentJob::completed(ExperimentRequest request, const JobInput& input) {
  if (takesQuery(request) && !request.own) {
    if (input.retrieve)
      experiment::countDocuments(input.query);
    else
      request.own = documentsOf(input.query, input);
  }
  return experiment::completed(std::move(request));
}

bool ExperimentJob::isSound(const ExperimentResult& result) {
  const experiment::Experiment* const one = experiment::findExperiment(result.request.experiment);
  if (one == nullptr || result.done > result.total) return false;
  try {
    experiment::completed(result.request);
  } catch (const Failure&) {
    return false;
  }
  return std::all_of(
      result.points.begin(), result.points.end(),
      [one](const experiment::ExperimentPoint& point) { return isSoundPoint(point, one->measures.size()); });
}

std::optional<experiment::TokenAmount> ExperimentJob::amount(const ExperimentRequest& request,
                                                             const EstimateFacts& facts) {
  if (facts.model == nullptr || !experiment::furtherModels(request).empty()) return std::nullopt;
  if (takesQuery(request) && !request.own) return std::nullopt;
  return experiment::countExperiment(request, *facts.model, facts.stop).total;
}

ExperimentResult ExperimentJob::begun(const ExperimentRequest& request) {
  ExperimentResult result;
  result.request = request;
  return result;
}

trace::EventWords ExperimentJob::activity(const ExperimentResult& result) {
  return {forTranslation("Events", "Experiment: %1 %"),
          {static_cast<std::uint32_t>(100 * result.progress())}};
}

void ExperimentJob::measure(ExperimentResult& result, const ExperimentRequest& /*request*/, Measurement& at) {
  const JobInput& input = at.input();
  // An augment found the documents.
  if (takesQuery(result.request) && !result.request.own)
    result.request = experiment::withDocuments(std::move(result.request), documentsOf(at.query(), input));
  const std::vector<std::string> further = experiment::furtherModels(result.request);
  std::optional<workbench::ModelBundle> other;
  const auto modelOf = [&](std::size_t index) {
    workbench::RunSettings settings = input.settings;
    if (index > 0) {
      settings.model = further[index - 1];
      other.reset();
      other.emplace(at.place().loadBeside(settings, at.stop()));
    }
    experiment::ExperimentModel model =
        workbench::experimentModelOf(index == 0 ? at.model() : *other, at.place().configFor(settings));
    model.seam = [&at] { at.pass(); };
    return model;
  };
  if (further.empty()) count(result.request, modelOf(0), at);
  at.clock().begin();
  workbench::ProgressPause pause;
  const auto report = [&](const ExperimentResult&) {
    if (pause.isOver()) at.report();
  };
  const std::shared_ptr<void> noted(nullptr, [&](void*) {
    if (input.paces && further.empty()) input.paces->note(input.settings, result.pace);
  });
  experiment::runOnModels(result, 1 + further.size(), modelOf, report, at.stop());
}

}  // namespace spanscope::jobs
