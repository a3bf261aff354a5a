// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/run_starter.h"

#include "engine/base/problem_sentence.h"
#include "engine/plan/planner.h"
#include "engine/remote/http/http_client.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/run_job.h"
#include "ui/document/unread_text.h"
#include "ui/session/index_progress.h"
#include "ui/session/run_plan.h"
#include "ui/session/run_request.h"
#include "ui/window/workspace.h"

#include <QDateTime>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {

RunStarter::RunStarter(Workspace& workspace, const Predictions& predictions)
    : m_workspace(workspace), m_predictions(predictions) {}

QString RunStarter::refusal() const {
  const OpenDocument* current = m_workspace.current();
  if (current == nullptr) return tr("No query is open.");
  if (!current->source->takesRuns())
    return tr("This is a recorded run. Open its query in a new tab to run the query.");
  if (m_workspace.engine().isBusy(current->id)) return tr("A query is running. Stop the query first.");
  UnreadText& unread = UnreadText::of(*current->model);
  unread.settle();
  return unread.refusal();
}

QString RunStarter::measuringRefusal() const {
  if (QString problem = refusal(); !problem.isEmpty()) return problem;
  if (m_workspace.engine().isMeasuring(m_workspace.current()->id))
    return tr("A measurement is running. Stop the measurement first.");
  return {};
}

QString RunStarter::prepare(document::NodeId top, const Asker& asker, PreparedQuery& prepared) const {
  const document::Document& document = m_workspace.current()->model->document();
  if (document.root() == document::kNoNode)
    return tr("The query is empty. Add a node on the canvas first%1.")
        .arg(m_workspace.input().keyHint(QStringLiteral("node.add")));

  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen, top);
  if (!taken.query) {
    const std::size_t count = taken.incomplete.size();
    return count == 1 ? tr("The query is incomplete: a node has no input.")
                      : tr("The query is incomplete: %1 nodes have no input.").arg(count);
  }
  const QString beside = m_workspace.documentPath().value_or(QString());
  RunInputs inputs(beside, asker);
  workbench::PipelineResult resolved = workbench::runPipeline({.source = std::move(*taken.query),
                                                               .parameters = document.parameters,
                                                               .declarations = document.declarations,
                                                               .surroundings = &inputs},
                                                              workbench::Stage::Sugar);
  if (!resolved.isReached()) return firstProblem(resolved);
  prepared.query = resolved.takeQuery();
  prepared.paths = std::move(taken.paths);
  if (!retrieve::hasAugment(prepared.query)) return {};
  // Indexing may take long, so the engine does it. The plan depends on the retrieved texts, so the engine
  // also plans.
  workbench::RetrievalRequest& retrieval = prepared.retrieval.emplace();
  retrieval.query = prepared.query;
  retrieval.options = document::retrievalOptionsOf(document.settings);
  retrieval.options.choices = document::passageChoicesOf(document, prepared.paths);
  retrieval.files = std::make_shared<RunInputs>(beside, Asker());
  retrieval.planOptions = document::planOptionsOf(document.settings);
  return findEmbeddings(prepared.query, retrieval);
}

std::vector<Problem> RunStarter::problems(document::NodeId top) {
  const ViewInput& input = m_workspace.input();
  DocumentModel& model = *m_workspace.model();
  // Only a prediction for the current document can refuse a run.
  const DocumentPrediction* const prediction =
      m_predictions.isPending() ? nullptr : input.prediction.newest.get();
  return withUnread(UnreadText::of(model),
                    m_finder.find(model.document(), input.tokenizer, input.tokenCounts, input.devices.get(),
                                  m_workspace.documentPath(), top, prediction));
}

QString RunStarter::start(document::NodeId top, const Asker& asker) {
  if (QString problem = refusal(); !problem.isEmpty()) return problem;
  OpenDocument& current = *m_workspace.current();
  const document::Document& document = current.model->document();
  // For an empty query, the message of prepare() has the key that adds a node.
  if (document.root() != document::kNoNode) {
    if (QString problem = refusalOf(problems(top)); !problem.isEmpty()) return problem;
  }
  PreparedQuery prepared;
  if (QString problem = prepare(top, asker, prepared); !problem.isEmpty()) return problem;
  std::map<NodePath, std::string> serverOf = serversOf(document, prepared.paths);
  if (goesToServers(document.settings, serverOf))
    return m_workspace.serverRuns().run(current, std::move(prepared), std::move(serverOf),
                                        [this](EngineJob job) { return m_workspace.submit(std::move(job)); });
  return startHere(current, std::move(prepared));
}

QString RunStarter::startHere(OpenDocument& document, PreparedQuery prepared) {
  RunTraces& traces = m_workspace.traces();
  const DocumentModel& model = *document.model;
  const document::RunSettings& settings = model.document().settings;
  RunRequest request;
  request.settings = settings;
  request.retrieval = std::move(prepared.retrieval);
  if (!request.retrieval) {
    RunPlan planned = planRun({.source = std::move(prepared.query),
                               .from = workbench::Stage::Plan,
                               .plan = document::planOptionsOf(settings)});
    if (!planned.plan) return planned.problem;
    request.plan = std::move(*planned.plan);
    request.explain = std::move(planned.explain);
    request.queryJson = std::move(planned.queryJson);
  }
  // The number of requests is known only after retrieval.
  constexpr std::uint32_t kMany = 4096;
  const auto requests = request.retrieval ? kMany : static_cast<std::uint32_t>(request.plan.steps.size());
  if (const std::optional<RunNumbers> numbers = traces.reserve(requests)) {
    request.lastRun = numbers->run;
    request.lastRequest = numbers->request;
  }
  const std::shared_ptr<workbench::RunJob> work = makeRunJob(std::move(request));
  const std::uint32_t tab = document.id;
  EngineJob job{.work = work, .tab = tab};
  job.activity = [work] {
    const auto indexing = work->indexing();
    return indexing ? progressText(*indexing) : QString();
  };
  job.changed = [this, work, tab](workbench::JobState state, const QString& failure) {
    if (!workbench::hasEnded(state)) return;
    m_workspace.noteSpeed(*work);
    m_workspace.traces().forget(work);
    if (OpenDocument* own = m_workspace.find(tab)) own->failure = failure;
  };
  // The record must exist before the engine sends events of the run.
  traces.expect(work, {.tab = tab,
                       .document = model.title(),
                       .path = model.filePath(),
                       .model = QString::fromStdString(workbench::modelNameOf(settings)),
                       .settings = settings,
                       .startedAt = QDateTime::currentMSecsSinceEpoch(),
                       .paths = std::move(prepared.paths)});
  m_lastSettings = settings;
  traces.keepFor(settings);
  document.failure.clear();
  if (document.source == traces.live()) {
    document.chosen = 0;
    document.following = true;
    forgetSelection(document);
  }
  QString problem = m_workspace.submit(std::move(job));
  if (!problem.isEmpty()) traces.forget(work);
  return problem;
}

QString RunStarter::findEmbeddings(const query::Node& query, workbench::RetrievalRequest& request) const {
  const document::RunSettings& settings = m_workspace.model()->document().settings;
  // The server is set even if no texts are sent, because an augment may name its model.
  request.embeddings = workbench::embeddingsServerOf(settings);
  if (!workbench::asksServer(query, settings)) return {};
  remote::EmbeddingsServer& server = *request.embeddings;
  const auto address = remote::readServerAddress(server.url);
  if (const auto* problem = std::get_if<Error>(&address)) {
    return tr("The address of the embeddings server is wrong. %1 See Retrieval in the settings.")
        .arg(QString::fromStdString(withPeriod(problemSentence(problem->found, problem->expected))));
  }
  if (server.model.empty())
    return tr(/*id:embeddings-model-missing*/
              "Embeddings come from a server, but the name of its model is missing. See "
              "Retrieval in the settings.");
  const QString endpoint = QString::fromStdString(remote::endpointOf(server));
  if (!std::get<remote::ServerAddress>(address).isLoopback && !(m_consent && m_consent(endpoint)))
    return tr("The query did not run, and nothing was sent to %1.").arg(endpoint);
  server.key = qEnvironmentVariable("SPANSCOPE_EMBEDDINGS_KEY").toStdString();
  return {};
}

}  // namespace spanscope::ui
