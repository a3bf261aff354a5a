// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/engine_jobs.h"

#include "engine/base/error.h"
#include "engine/jobs/job.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/speed_records.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/index_progress.h"
#include "ui/session/job_estimate.h"
#include "ui/session/run_plan.h"
#include "ui/window/workspace.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace spanscope::ui {
namespace {

using workbench::JobState;

/// Replaces the augments of a query by the retrieved texts, on the engine's thread.
query::Node retrieved(workbench::RetrievalRequest& request, workbench::JobContext& place,
                      const retrieve::Watch& watch) {
  workbench::PipelineResult found = workbench::runPipeline(
      place.retrieval().input(request, place.model(), watch), workbench::Stage::Retrieve);
  if (!found.isReached()) throw std::runtime_error(firstProblem(found).toStdString());
  return found.takeQuery();
}

/// Reads a job's input from the current document, and completes the job's arguments. Returns the reason if
/// this fails. Otherwise the text is empty, and `input` has the data.
QString takeInput(Workspace& workspace, const jobs::JobRow& row, const Asker& asker, jobs::JobCall& call,
                  jobs::JobInput& input) {
  const DocumentModel& model = *workspace.current()->model;
  input.settings = model.document().settings;
  input.plan = document::planOptionsOf(input.settings);
  input.title = model.title().toStdString();
  input.paces = workspace.paces();
  if (row.takesQuery(call.arguments)) {
    PreparedQuery prepared;
    if (QString problem = workspace.runs().prepare(document::kNoNode, asker, prepared); !problem.isEmpty())
      return problem;
    input.query = std::move(prepared.query);
    if (prepared.retrieval) {
      input.retrieve = [retrieval = std::make_shared<workbench::RetrievalRequest>(*prepared.retrieval)](
                           workbench::JobContext& place, const retrieve::Watch& watch) {
        return retrieved(*retrieval, place, watch);
      };
    }
  }
  try {
    call.arguments = row.completed(call.arguments, input);
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

/// Why no job of this scope can start; empty: a job can start.
QString measuringRefusal(Workspace& workspace, jobs::Scope scope) {
  if (scope == jobs::Scope::Document) return workspace.runs().measuringRefusal();
  if (workspace.current() == nullptr) return tr("No query is open.");
  if (workspace.engine().isMeasuring(EngineJob::kProgram))
    return tr("An experiment is running. Stop the experiment first.");
  return {};
}

using Read = std::function<std::string(const std::string& name)>;

QString startMeasuring(Workspace& workspace, const jobs::JobRow& row, jobs::JobCall call, const Asker& asker,
                       const Read& read) {
  if (QString problem = measuringRefusal(workspace, row.scope); !problem.isEmpty()) return problem;
  if (const char* reason = row.unavailableReason(call.arguments, {}); reason != nullptr)
    return jobText(reason);
  jobs::JobInput input;
  if (QString problem = takeInput(workspace, row, asker, call, input); !problem.isEmpty()) return problem;
  input.read = read;
  const std::shared_ptr<jobs::RecordedJob> job = row.make(call.arguments, std::move(input));
  const bool isOfProgram = row.scope == jobs::Scope::Program;
  const std::uint32_t tab = isOfProgram ? EngineJob::kProgram : workspace.current()->id;
  const auto changed = [&workspace, tab, job, call](JobState state, const QString& problem) {
    if (AskedJobs* asked = workspace.measured(tab))
      (*asked)[call.kind] = {.call = call,
                             .job = {.state = state,
                                     .problem = problem,
                                     .secondsLeft = job->secondsLeft(),
                                     .result = job->resultSoFar()}};
  };
  const auto activity = [job] {
    const auto indexing = job->indexing();
    return indexing ? progressText(*indexing) : eventText(job->activity());
  };
  QString refused = workspace.submit({.work = job,
                                      .tab = tab,
                                      .activity = activity,
                                      .changed = changed,
                                      .measures = true,
                                      .showsProblem = true});
  if (refused.isEmpty()) changed(JobState::Waiting, {});
  return refused;
}

QString startAnswerJob(Workspace& workspace, const jobs::JobCall& call) {
  if (QString problem = jobReason(workspace.input(), call); !problem.isEmpty()) return problem;
  const std::shared_ptr<jobs::RecordedJob> job = jobOf(workspace.input(), call);
  const std::uint32_t tab = workspace.current()->id;
  const auto changed = [&workspace, tab, job](JobState state, const QString&) {
    OpenDocument* document = workspace.find(tab);
    if (document == nullptr || !document->job) return;
    document->job->share = job->share();
    if (!workbench::hasEnded(state)) return;
    document->job.reset();
    // The result is shown at the current position of the scrubber, where the user requested it.
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

}  // namespace

QString startJob(Workspace& workspace, const jobs::JobCall& call, const Asker& asker, const Read& read) {
  const jobs::JobRow* row = jobs::findJob(call.kind);
  const bool measures = row != nullptr && row->scope != jobs::Scope::Answer;
  return measures ? startMeasuring(workspace, *row, call, asker, read) : startAnswerJob(workspace, call);
}

void estimateJob(Workspace& workspace, const jobs::JobCall& asked) {
  using State = AskedEstimate::State;
  const jobs::JobRow* row = jobs::findJob(asked.kind);
  if (row == nullptr || workspace.current() == nullptr) return;
  if (workspace.engine().isBusy()) return workspace.setEstimate({.call = asked, .state = State::Waits});
  if (workspace.engine().model().directory.empty() ||
      workspace.engine().model().directory != Workspace::runsOn(*workspace.current()))
    return workspace.setEstimate({.call = asked, .state = State::NotLoaded});
  jobs::JobCall call = asked;
  jobs::JobInput input;
  // The user answers questions only when the job starts.
  if (!takeInput(workspace, *row, {}, call, input).isEmpty())
    return workspace.setEstimate({.call = asked, .state = State::Unknown});
  constexpr std::uint32_t kEstimates = 1;
  const auto work = std::make_shared<jobs::EstimateJob>(input.settings, std::move(call),
                                                        workspace.paces()->find(input.settings));
  const auto changed = [&workspace, work, asked](JobState state, const QString&) {
    if (!workbench::hasEnded(state)) return;
    AskedEstimate estimate{.call = asked, .state = State::Unknown};
    if (state == JobState::Stopped) estimate.state = State::Waits;
    if (state == JobState::Finished && work->estimate()) {
      estimate.state = State::Counted;
      estimate.seconds = work->estimate()->seconds;
    }
    // A newer estimate may have been requested meanwhile.
    const std::shared_ptr<const AskedEstimate>& now = workspace.estimate();
    if (now && now->call == asked) workspace.setEstimate(std::move(estimate));
  };
  workspace.setEstimate({.call = asked, .state = State::Waits});
  workspace.engine().submit({.work = work, .changed = changed, .givesWay = true, .aside = kEstimates});
}

}  // namespace spanscope::ui
