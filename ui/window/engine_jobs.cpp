// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/engine_jobs.h"

#include "engine/base/error.h"
#include "engine/experiment/own_documents.h"
#include "engine/experiment/token_amount.h"
#include "engine/jobs/job.h"
#include "engine/workbench/service/benchmark_job.h"
#include "engine/workbench/service/estimate_job.h"
#include "engine/workbench/service/experiment_job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/policy_comparison_job.h"
#include "engine/workbench/speed_records.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/experiment_estimate.h"
#include "ui/session/experiment_run.h"
#include "ui/session/index_progress.h"
#include "ui/session/policy_comparison.h"
#include "ui/session/run_plan.h"
#include "ui/window/workspace.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

using workbench::JobState;

/// A query whose augments are replaced by what they find, on the engine's thread.
query::Node retrieved(workbench::RetrievalRequest& request, workbench::JobContext& place,
                      const retrieve::Watch& watch) {
  workbench::PipelineResult found = workbench::runPipeline(
      place.retrieval().input(request, place.model(), watch), workbench::Stage::Retrieve);
  if (!found.isReached()) throw std::runtime_error(firstProblem(found).toStdString());
  return found.takeQuery();
}

/// The query of the current document, and how its augments are replaced where it has some.
struct QueryToMeasure {
  query::Node query;
  std::function<query::Node(workbench::JobContext& place, const retrieve::Watch& watch)> retrieve;
};

/// Returns why there is none, in words; nothing where `found` holds it.
QString findQuery(Workspace& workspace, const Asker& asker, QueryToMeasure& found) {
  PreparedQuery prepared;
  if (QString problem = workspace.runs().prepare(document::kNoNode, asker, prepared); !problem.isEmpty())
    return problem;
  found.query = std::move(prepared.query);
  if (prepared.retrieval) {
    found.retrieve = [retrieval = std::make_shared<workbench::RetrievalRequest>(*prepared.retrieval)](
                         workbench::JobContext& place, const retrieve::Watch& watch) {
      return retrieved(*retrieval, place, watch);
    };
  }
  return {};
}

/// Documents and question of a query without augments. `usualTokens`: what the settings say of answers
/// without a limit of their own.
std::shared_ptr<const experiment::OwnDocuments> documentsOf(query::Node query, const std::string& title,
                                                            std::int32_t usualTokens) {
  if (auto* generate = query.as<query::Generate>(); generate != nullptr) {
    auto& most = generate->settings.maxTokens;
    const auto* given = std::get_if<std::int32_t>(&most);
    if ((given == nullptr || *given <= 0) && usualTokens > 0) most = usualTokens;
  }
  return std::make_shared<const experiment::OwnDocuments>(std::move(query), title);
}

/// Has an experiment run on documents and question of the current document: `wish` gets them, or `find`,
/// where an augment finds them when it runs. Returns why not, in words.
QString takeDocuments(Workspace& workspace, const Asker& asker, experiment::ExperimentRequest& request,
                      workbench::ExperimentJob::FindDocuments& find) {
  QueryToMeasure found;
  if (QString problem = findQuery(workspace, asker, found); !problem.isEmpty()) return problem;
  const DocumentModel& model = *workspace.current()->model;
  const std::string title = model.title().toStdString();
  const std::int32_t usual = model.document().settings.maxTokens;
  try {
    if (found.retrieve) {
      experiment::countDocuments(found.query);
      find = [retrieve = std::move(found.retrieve), title, usual](workbench::JobContext& place,
                                                                  const retrieve::Watch& watch) {
        return documentsOf(retrieve(place, watch), title, usual);
      };
      return {};
    }
    request.own = documentsOf(std::move(found.query), title, usual);
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

/// Submits a measurement of the current document, which keeps what is known of it. `now`: what was measured
/// so far.
template <class Job, class Measured>
QString measure(Workspace& workspace, const std::shared_ptr<Job>& work, Measured (Job::*now)() const,
                std::shared_ptr<const Measured> OpenDocument::*kept) {
  const std::uint32_t tab = workspace.current()->id;
  const auto activity = [work, now] {
    const auto indexing = work->indexing();
    return indexing ? progressText(*indexing) : progressText(((*work).*now)());
  };
  const auto changed = [&workspace, tab, work, now, kept](JobState state, const QString& problem) {
    OpenDocument* own = workspace.find(tab);
    if (own == nullptr) return;
    Measured measured = ((*work).*now)();
    measured.state = state;
    measured.problem = problem.toStdString();
    own->*kept = std::make_shared<const Measured>(std::move(measured));
  };
  QString refused = workspace.submit({.work = work,
                                      .tab = tab,
                                      .activity = activity,
                                      .changed = changed,
                                      .measures = true,
                                      .showsProblem = true});
  if (refused.isEmpty()) changed(JobState::Waiting, {});
  return refused;
}

}  // namespace

QString startJob(Workspace& workspace, const jobs::JobCall& call) {
  if (QString problem = jobReason(workspace.input(), call); !problem.isEmpty()) return problem;
  const std::shared_ptr<jobs::RecordedJob> job = jobOf(workspace.input(), call);
  const std::uint32_t tab = workspace.current()->id;
  const auto changed = [&workspace, tab, job](JobState state, const QString&) {
    OpenDocument* document = workspace.find(tab);
    if (document == nullptr || !document->job) return;
    document->job->share = job->share();
    if (!workbench::hasEnded(state)) return;
    document->job.reset();
    // The user asked for the result where the scrubber is.
    document->results = document->source->trace()->size();
  };
  std::optional<RunningJob>& running = workspace.current()->job;
  const std::optional<RunningJob> before = running;
  running = {.call = call};
  QString refused = workspace.submit({.work = job,
                                      .tab = tab,
                                      .activity = [job] { return eventText(job->activity()); },
                                      .changed = changed});
  if (!refused.isEmpty()) running = before;
  return refused;
}

QString startBenchmark(Workspace& workspace, const BenchmarkRequest& request, const Asker& asker) {
  if (QString problem = workspace.runs().measuringRefusal(); !problem.isEmpty()) return problem;
  const document::Document& document = workspace.current()->model->document();
  workbench::BenchmarkRequest request{.kind = request.kind,
                                      .repeats = std::clamp(request.repeats, 1, kMostRepeats),
                                      .settings = document.settings,
                                      .subject = benchmarkSubject(document, request.kind),
                                      .query = {}};
  if (request.kind == BenchmarkKind::Query) {
    QueryToMeasure found;
    if (QString problem = findQuery(workspace, asker, found); !problem.isEmpty()) return problem;
    request.query = std::move(found.query);
    request.retrieve = std::move(found.retrieve);
  }
  return measure(workspace, std::make_shared<workbench::BenchmarkJob>(std::move(request)),
                 &workbench::BenchmarkJob::benchmark, &OpenDocument::benchmark);
}

QString startPolicyComparison(Workspace& workspace, const std::vector<std::string>& policies,
                              const Asker& asker) {
  if (QString problem = workspace.runs().measuringRefusal(); !problem.isEmpty()) return problem;
  if (policies.empty()) return tr("No policy is chosen.");
  const document::Document& document = workspace.current()->model->document();
  QueryToMeasure found;
  if (QString problem = findQuery(workspace, asker, found); !problem.isEmpty()) return problem;
  const auto work = std::make_shared<workbench::PolicyComparisonJob>(
      workbench::PolicyComparisonRequest{.policies = policies,
                                         .settings = document.settings,
                                         .subject = workbench::comparisonSubject(document),
                                         .query = std::move(found.query),
                                         .retrieve = std::move(found.retrieve)});
  return measure(workspace, work, &workbench::PolicyComparisonJob::comparison, &OpenDocument::policies);
}

QString startExperiment(Workspace& workspace, const experiment::ExperimentRequest& request,
                        const Asker& asker) {
  if (workspace.current() == nullptr) return tr("No query is open.");
  if (workspace.engine().isMeasuring(EngineJob::kProgram))
    return tr("An experiment is running. Stop it first.");
  experiment::ExperimentRequest whole = request;
  workbench::ExperimentJob::FindDocuments find;
  if (request.source == experiment::DocumentSource::Own) {
    if (QString problem = takeDocuments(workspace, asker, whole, find); !problem.isEmpty()) return problem;
  }
  try {
    whole = experiment::completed(std::move(whole));
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  const auto work = std::make_shared<workbench::ExperimentJob>(
      workspace.current()->model->document().settings, std::move(whole), workspace.paces(), std::move(find));
  const auto activity = [work] {
    if (const auto indexing = work->indexing()) return progressText(*indexing);
    return tr("Experiment: %1 %").arg(static_cast<int>(100 * work->result().progress()));
  };
  const auto changed = [&workspace, work](JobState state, const QString& problem) {
    workspace.setExperiment(std::make_shared<const ExperimentRun>(
        ExperimentRun{.state = state, .result = work->result(), .problem = problem}));
  };
  QString refused = workspace.submit(
      {.work = work, .activity = activity, .changed = changed, .measures = true, .showsProblem = true});
  if (refused.isEmpty()) changed(JobState::Waiting, {});
  return refused;
}

void estimateExperiment(Workspace& workspace, const QString& request) {
  using State = ExperimentEstimate::State;
  const std::optional<experiment::ExperimentRequest> wanted = readExperimentRequest(request);
  if (workspace.current() == nullptr || !wanted) return;
  if (workspace.engine().isBusy()) return workspace.setEstimate({.request = request, .state = State::Waits});
  if (workspace.engine().model().directory.empty() ||
      workspace.engine().model().directory != Workspace::runsOn(*workspace.current()))
    return workspace.setEstimate({.request = request, .state = State::NotLoaded});
  experiment::ExperimentRequest whole = *wanted;
  bool canBeCounted = experiment::furtherModels(whole).empty();
  workbench::ExperimentJob::FindDocuments find;
  // Questions are asked of a person when it is carried out.
  if (canBeCounted && whole.source == experiment::DocumentSource::Own)
    canBeCounted = takeDocuments(workspace, {}, whole, find).isEmpty() && !find;
  if (!canBeCounted) return workspace.setEstimate({.request = request, .state = State::Unknown});
  constexpr std::uint32_t kEstimates = 1;
  const workbench::RunSettings settings = workspace.current()->model->document().settings;
  const auto work = std::make_shared<workbench::EstimateJob>(settings, std::move(whole));
  const auto changed = [&workspace, work, request, settings](JobState state, const QString&) {
    if (!workbench::hasEnded(state)) return;
    ExperimentEstimate estimate{.request = request, .state = State::Unknown};
    if (state == JobState::Stopped) estimate.state = State::Waits;
    if (state == JobState::Finished && work->amount()) {
      estimate.state = State::Counted;
      if (const auto pace = workspace.paces()->find(settings))
        estimate.seconds = experiment::secondsFor(*work->amount(), *pace);
    }
    // A newer question may have been asked meanwhile.
    const std::shared_ptr<const ExperimentEstimate>& asked = workspace.input().estimate;
    if (asked && asked->request == request) workspace.setEstimate(std::move(estimate));
  };
  workspace.setEstimate({.request = request, .state = State::Waits});
  workspace.engine().submit({.work = work, .changed = changed, .givesWay = true, .aside = kEstimates});
}

}  // namespace spanscope::ui
