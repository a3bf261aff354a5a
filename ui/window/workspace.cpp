// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/workspace.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/query/surroundings.h"
#include "engine/remote/server_address.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/document/retrieval_options.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pace_book.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/run_work.h"
#include "ui/session/example_texts.h"
#include "ui/session/experiment_estimate.h"
#include "ui/session/experiment_run.h"
#include "ui/session/index_progress.h"
#include "ui/session/load_comparison.h"
#include "ui/session/run_list.h"
#include "ui/session/run_plan.h"
#include "ui/session/run_request.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QPointer>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kFrame = 16;   // milliseconds: 60 times a second
constexpr int kPause = 150;  // milliseconds after which a person who types has paused

std::uint64_t keptBytesOf(const document::RunSettings& settings) {
  return std::uint64_t(settings.keptMebibytes) << 20;
}

/// Nothing of a trace that the tab no longer shows is selected any more.
void forgetSelection(OpenDocument& document) {
  document.selection.request.reset();
  document.selection.block.reset();
  document.selection.token.reset();
  document.selection.physical = kNullBlock;
}

}  // namespace

Workspace::Workspace(compute::Backends backends, QObject* parent)
    : QObject(parent),
      m_modelSearch(backends),
      m_engine(std::move(backends)),
      m_paces(std::make_shared<workbench::PaceBook>()),
      m_keptBytes(keptBytesOf({})) {
  m_input.document = std::make_shared<const document::Document>();
  m_input.trace = m_live->trace();
  m_frame.setInterval(kFrame);
  m_frame.setSingleShot(true);
  m_frame.setTimerType(Qt::PreciseTimer);
  connect(&m_frame, &QTimer::timeout, this, &Workspace::update);
  m_typing.setSingleShot(true);
  m_typing.setInterval(kPause);
  connect(&m_typing, &QTimer::timeout, this, [this] {
    const std::shared_ptr<const SegmentIdentities> before = m_input.identities;
    readIdentitiesAnew();
    if (m_input.identities != before) Q_EMIT inputChanged();
  });
  connect(&m_engine, &EngineHost::stateChanged, this, &Workspace::invalidate);
  connect(&m_engine, &EngineHost::modelChanged, this, [this] {
    m_input.estimate.reset();
    m_paceIsOld = true;
    invalidate();
  });
  connect(&m_engine, &EngineHost::devicesFound, this, &Workspace::invalidate);
  connect(&m_forecasts, &Forecasts::changed, this, &Workspace::invalidate);
  connect(&m_engine, &EngineHost::sessionStarted, this, &Workspace::endSession);
  connect(&m_engine, &EngineHost::tokenizerRead, this,
          [this](const std::string& directory, const std::shared_ptr<const text::Tokenizer>& tokenizer) {
            m_tokenizers[directory] = tokenizer;
            invalidate();
          });
  connect(&m_engine, &EngineHost::preparingFailed, this,
          [this](const QString& problem) { Q_EMIT workEnded(problem, EngineJob::kProgram); });
  connect(&m_engine, &EngineHost::workEnded, this, &Workspace::workEnded);
}

Workspace::~Workspace() {
  m_engine.disconnect(this);
}

/// What was drained so far belongs to a session that has ended. Its runs stay, and what shows one goes on
/// showing it.
void Workspace::endSession() {
  const std::shared_ptr<LiveSource> live = std::exchange(m_live, std::make_shared<LiveSource>());
  const auto ended = std::make_shared<const EndedSource>(live->trace());
  const auto& runs = ended->trace()->newest().progress().runs;
  for (const auto& document : m_documents) {
    if (document->source != live) continue;
    const bool hasRun = std::any_of(document->paths.begin(), document->paths.end(),
                                    [&runs](const auto& run) { return runs.contains(run.first); });
    if (hasRun)
      document->source = ended;
    else
      showLive(*document);
  }
  boundHistory();
  invalidate();
}

/// Shows the session that is open, as it goes on.
void Workspace::showLive(OpenDocument& document) const {
  document.source = m_live;
  document.position = 0;
  document.following = true;
  document.chosen = 0;
  forgetSelection(document);
}

OpenDocument* Workspace::find(std::uint32_t tab) const {
  const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                  [tab](const auto& document) { return document->id == tab; });
  return found == m_documents.end() ? nullptr : found->get();
}

void Workspace::setCurrent(OpenDocument* document) {
  if (document == m_current) return;
  m_current = document;
  Q_EMIT currentChanged();
  update();
}

OpenDocument& Workspace::open(std::unique_ptr<DocumentModel> model) {
  auto document = std::make_unique<OpenDocument>();
  document->id = m_nextId++;
  document->model = std::move(model);
  document->source = m_live;
  connect(document->model.get(), &DocumentModel::changed, this, &Workspace::invalidate);
  connect(document->model.get(), &DocumentModel::stateChanged, this, &Workspace::documentsChanged);
  OpenDocument& result = *document;
  bindHistory(result);
  m_documents.push_back(std::move(document));
  Q_EMIT documentsChanged();
  setCurrent(&result);
  return result;
}

OpenDocument& Workspace::openTrace(const QString& path) {
  auto store = std::make_shared<TraceStore>(TraceStore::open(path.toStdString()));
  document::Document document;
  for (const std::size_t index : store->runs()) {
    const auto& run = std::get<trace::RunStarted>(store->event(index).payload);
    const query::ParseResult parsed = query::parseJson(run.queryJson);
    if (!parsed.query) continue;
    document = document::fromQuery(*parsed.query);
    document.settings.policy = run.policy;
    document.settings.seed = run.seed;
    if (const trace::LayoutChosen* chosen = store->layoutOf(store->event(index).run))
      document.settings.layout = chosen->layout;
  }
  // The model that gave these answers, whether it is on this machine or not.
  document.settings.model = store->newest().progress().model;
  auto model = std::make_unique<DocumentModel>(std::move(document));
  model->setTitle(QFileInfo(path).fileName());
  OpenDocument& result = open(std::move(model));
  result.source = std::make_shared<const FileSource>(std::move(store), result.model->title());
  bindRuns(result);
  update();
  return result;
}

void Workspace::bindRuns(OpenDocument& document) const {
  const document::QueryOf now =
      document::toQuery(document.model->document(), document::TakeOut::MutedAndFrozen);
  if (!now.query) return;
  const std::string json = query::writeCanonical(*now.query);
  for (const auto& [id, run] : document.source->trace()->newest().progress().runs) {
    if (*run.queryJson == json) document.paths.emplace(id, now.paths);
  }
}

/// Runs of the same file, or of an example of this name that is not open any more, are those of the document.
void Workspace::bindHistory(OpenDocument& document) const {
  const DocumentModel& model = *document.model;
  std::optional<document::QueryOf> now;
  std::string json;
  for (const auto& record : *m_history.records()) {
    if (record->path != model.filePath() || (record->path.isEmpty() && record->document != model.title()))
      continue;
    const auto isItsTab = [&record](const auto& other) { return other->id == record->tab; };
    if (record->path.isEmpty() && std::any_of(m_documents.begin(), m_documents.end(), isItsTab)) continue;
    if (!now) {
      now = document::toQuery(model.document(), document::TakeOut::MutedAndFrozen);
      if (now->query) json = query::writeCanonical(*now->query);
    }
    // Which node is which is known only of the query as it is.
    const trace::Progress* figures = record->figures.get();
    const bool isSame = figures != nullptr && *figures->runs.at(record->run).queryJson == json;
    document.paths[record->run] = isSame ? now->paths : document::NodePaths();
  }
}

void Workspace::keepRuns(const QString& folder) {
  m_archive = std::make_unique<RunArchive>(folder);
  connect(m_archive.get(), &RunArchive::saved, this, [this](RunId run, const QString& file) {
    m_history.setFile(run, file);
    invalidate();
  });
  connect(m_archive.get(), &RunArchive::failed, this, &Workspace::keepingFailed);
  const std::shared_ptr<const RunRecords> records = m_history.records();
  for (const auto& record : *records) m_archive->save(*record);
  if (!m_history.records()->empty()) return;
  for (RunRecord& record : m_archive->load()) m_history.add(std::move(record));
  const RunNumbers last = lastNumbers();
  m_engine.countFrom(last.run, last.request);
  invalidate();
}

RunNumbers Workspace::lastNumbers() const {
  RunNumbers last;
  const auto take = [&last](const trace::Progress& progress) {
    for (const auto& [request, state] : progress.requests) last.request = std::max(last.request, request);
  };
  for (const auto& record : *m_history.records()) {
    last.run = std::max(last.run, record->run);
    if (record->figures) take(*record->figures);
  }
  take(m_live->trace()->newest().progress());
  return last;
}

void Workspace::forgetKeptRuns() {
  if (!m_archive) return;
  m_archive->clear();
  m_archive.reset();
  const std::shared_ptr<const RunRecords> records = m_history.records();
  for (const auto& record : *records) {
    if (!record->file.isEmpty()) m_history.setFile(record->run, {});
  }
  invalidate();
}

void Workspace::close(OpenDocument* document) {
  const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                  [document](const auto& open) { return open.get() == document; });
  if (found == m_documents.end()) return;
  const auto index = static_cast<std::size_t>(found - m_documents.begin());
  const std::unique_ptr<OpenDocument> gone = std::move(*found);
  m_documents.erase(found);
  m_forecasts.forget(gone->id);
  // Nobody could stop it any more.
  m_engine.stop(gone->id);
  m_engine.stopMeasuring(gone->id);
  if (m_current == document) {
    setCurrent(m_documents.empty() ? nullptr : m_documents[std::min(index, m_documents.size() - 1)].get());
  }
  Q_EMIT documentsChanged();
}

void Workspace::select(const Selection& selection) {
  if (m_current == nullptr || m_current->selection == selection) return;
  // A request of another session, or of a run behind the position, is shown where it is.
  if (selection.request && !m_input.state().progress().requests.contains(*selection.request)) {
    if (const RunRecord* record = m_history.findByRequest(*selection.request)) showRun(record->run);
  }
  m_current->selection = selection;
  m_current->selected.note(selection);
  update();
}

bool Workspace::goThroughSelections(int steps) {
  if (m_current == nullptr) return false;
  const document::Document& document = m_current->model->document();
  const std::optional<Selection> wanted = steps < 0
                                              ? m_current->selected.goBack(m_current->selection, document)
                                              : m_current->selected.goForward(document);
  if (wanted) select(*wanted);
  return wanted.has_value();
}

bool Workspace::canGoThroughSelections(int steps) const {
  if (m_current == nullptr) return false;
  const document::Document& document = m_current->model->document();
  return steps < 0 ? m_current->selected.canGoBack(m_current->selection, document)
                   : m_current->selected.canGoForward(document);
}

void Workspace::setTheme(const Theme& theme) {
  m_input.theme = theme;
  update();
}

void Workspace::setKeys(KeyTexts keys) {
  m_input.keys = std::make_shared<const KeyTexts>(std::move(keys));
  update();
}

void Workspace::setPosition(std::size_t position) {
  if (m_current == nullptr) return;
  m_current->position = std::min(position, m_input.trace->size());
  m_current->following = m_current->position == m_input.trace->size();
  m_current->chosen = 0;
  update();
}

void Workspace::showRun(RunId run) {
  if (m_current == nullptr) return;
  OpenDocument& document = *m_current;
  std::shared_ptr<const TraceStore> trace = document.source->trace();
  if (document.source->takesRuns()) {
    const RunRecord* record = m_history.find(run);
    if (record == nullptr) return;
    if (!record->trace && !record->file.isEmpty()) {
      try {
        m_history.setTrace(run, std::make_shared<TraceStore>(TraceStore::open(record->file.toStdString())));
      } catch (const Failure& failure) {
        Q_EMIT keepingFailed(QString::fromUtf8(failure.what()));
        return;
      }
      record = m_history.find(run);
    }
    if (!record->trace) return;
    trace = record->trace;
    if (trace == m_live->trace())
      document.source = m_live;
    else
      document.source = std::make_shared<const EndedSource>(trace);
  }
  if (!trace->startOf(run)) return;
  document.position = trace->endOf(run);
  document.following = document.position == trace->size();
  document.chosen = run;
  forgetSelection(document);
  // A run of another document is shown by its request.
  const trace::RunState& state = trace->newest().progress().runs.at(run);
  if (!document.paths.contains(run) && !state.requests.empty())
    document.selection.request = state.requests.back();
  boundHistory();
  update();
}

RunId Workspace::shownRun() const {
  if (m_current == nullptr) return 0;
  if (m_current->chosen != 0) return m_current->chosen;
  RunId shown = 0;
  for (const auto& [run, state] : m_input.state().progress().runs) {
    if (m_current->paths.contains(run)) shown = run;
  }
  return shown;
}

RunId Workspace::runBeside(int steps) const {
  std::vector<RunId> runs;
  for (const ListedRun& run : listRuns(m_input, true)) {
    const bool hasEvents = run.trace || (run.record != nullptr && run.record->hasEvents());
    if (run.isOwn && hasEvents) runs.push_back(run.run);
  }
  const auto now = std::find(runs.begin(), runs.end(), shownRun());
  if (now == runs.end()) return 0;
  const std::ptrdiff_t place = std::distance(runs.begin(), now) + steps;
  return place < 0 || place >= std::ssize(runs) ? 0 : runs[static_cast<std::size_t>(place)];
}

std::string Workspace::modelInUse() const {
  if (m_current != nullptr && m_current->source->takesRuns())
    return m_current->model->document().settings.model;
  return m_lastModel;
}

std::string Workspace::runsOn(const OpenDocument& document) {
  try {
    return workbench::modelDirectoryOf(document.model->document().settings).string();
  } catch (const Failure&) {
    return {};
  }
}

void Workspace::setRecentModels(std::vector<std::string> directories) {
  m_input.models.recent = std::move(directories);
  invalidate();
}

void Workspace::searchModels() {
  m_modelSearch.search(m_input.models.recent, m_current == nullptr ? document::RunSettings()
                                                                   : m_current->model->document().settings);
}

QString Workspace::refusal() const {
  if (m_current == nullptr) return tr("No query is open.");
  if (!m_current->source->takesRuns())
    return tr("This is a recorded run: open its query in a new tab to run it.");
  if (m_engine.isBusy(m_current->id)) return tr("A query is running: stop it first.");
  return {};
}

QString Workspace::measuringRefusal() const {
  if (QString problem = refusal(); !problem.isEmpty()) return problem;
  if (m_engine.isMeasuring(m_current->id)) return tr("A measurement is running: stop it first.");
  return {};
}

std::optional<QString> Workspace::documentPath() const {
  if (m_current == nullptr || !m_current->source->takesRuns()) return std::nullopt;
  return m_current->model->filePath();
}

QString Workspace::submit(EngineJob job) {
  job.changed = [this, changed = std::move(job.changed)](workbench::WorkState state, const QString& problem) {
    const bool isOver = workbench::hasEnded(state);
    if (isOver) drain();
    if (changed) changed(state, problem);
    // What was measured may say how long something takes.
    if (isOver) m_input.estimate.reset();
    m_paceIsOld = m_paceIsOld || isOver;
    if (isOver)
      update();
    else
      invalidate();
  };
  const bool measures = job.measures;
  if (!m_engine.submit(std::move(job)))
    return measures ? tr("A measurement is running: stop it first.")
                    : tr("A query is running: stop it first.");
  update();
  return {};
}

QString Workspace::prepare(document::NodeId top, const Asker& asker, PreparedQuery& prepared) {
  const document::Document& document = m_current->model->document();
  if (document.root() == document::kNoNode)
    return tr("The query is empty: add a node on the canvas first%1.")
        .arg(m_input.keyHint(QStringLiteral("node.add")));

  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen, top);
  if (!taken.query) {
    const std::size_t count = taken.incomplete.size();
    return count == 1 ? tr("The query is not complete: a node lacks an input.")
                      : tr("The query is not complete: %1 nodes lack an input.").arg(count);
  }
  RunInputs inputs(m_current->model->filePath(), asker);
  workbench::PipelineResult resolved = workbench::runPipeline({.source = std::move(*taken.query),
                                                               .parameters = document.parameters,
                                                               .declarations = document.declarations,
                                                               .surroundings = &inputs},
                                                              workbench::Stage::Sugar);
  if (!resolved.isReached()) return firstProblem(resolved);
  prepared.query = resolved.takeQuery();
  prepared.paths = std::move(taken.paths);
  if (!retrieve::hasAugment(prepared.query)) return {};
  // Indexing may take long: it is the engine's work, and so is the plan, which depends on what is found.
  workbench::RetrievalRequest& retrieval = prepared.retrieval.emplace();
  retrieval.query = prepared.query;
  retrieval.options = document::retrievalOptionsOf(document.settings);
  retrieval.options.choices = document::fragmentChoicesOf(document, prepared.paths);
  retrieval.files = std::make_shared<RunInputs>(m_current->model->filePath(), Asker());
  retrieval.planOptions = document::planOptionsOf(document.settings);
  return findEmbeddings(prepared.query, retrieval);
}

std::string Workspace::offeredAdapter() const {
  if (m_current == nullptr || !m_current->source->takesRuns()) return {};
  if (!m_current->model->document().settings.adapter.empty()) return {};
  return runsOn(*m_current) == m_engine.model().directory ? m_engine.model().fittingAdapter : std::string();
}

std::vector<Problem> Workspace::problems(document::NodeId top) {
  return m_finder.find(m_current->model->document(), m_input.tokenizer, m_input.tokenCounts,
                       m_input.devices.get(), documentPath(), top);
}

QString Workspace::run(document::NodeId top, const Asker& asker) {
  if (QString problem = refusal(); !problem.isEmpty()) return problem;
  // For an empty query, prepare() knows the key that adds a node.
  if (m_current->model->document().root() != document::kNoNode) {
    if (QString problem = refusalOf(problems(top)); !problem.isEmpty()) return problem;
  }
  PreparedQuery prepared;
  if (QString problem = prepare(top, asker, prepared); !problem.isEmpty()) return problem;
  const document::Document& document = m_current->model->document();
  RunRequest request;
  request.settings = document.settings;
  request.retrieval = std::move(prepared.retrieval);
  if (!request.retrieval) {
    RunPlan planned = planRun({.source = std::move(prepared.query),
                               .from = workbench::Stage::Plan,
                               .plan = document::planOptionsOf(document.settings)});
    if (!planned.plan) return planned.problem;
    request.plan = std::move(*planned.plan);
    request.explain = std::move(planned.explain);
    request.queryJson = std::move(planned.queryJson);
  }
  if (m_archive) {
    // How many requests there will be is not known before something was retrieved.
    constexpr std::uint32_t kMany = 4096;
    const RunNumbers numbers = m_archive->reserve(
        lastNumbers(), request.retrieval ? kMany : static_cast<std::uint32_t>(request.plan.steps.size()));
    request.lastRun = numbers.run;
    request.lastRequest = numbers.request;
  }
  const std::shared_ptr<workbench::RunWork> work = runWork(std::move(request));
  const std::uint32_t tab = m_current->id;
  EngineJob job{.work = work, .tab = tab};
  job.activity = [work] {
    const auto indexing = work->indexing();
    return indexing ? progressText(*indexing) : QString();
  };
  job.changed = [this, work, tab](workbench::WorkState state, const QString& failure) {
    if (!workbench::hasEnded(state)) return;
    notePace(*work);
    std::erase_if(m_pending, [&work](const PendingRun& run) { return run.work == work; });
    if (OpenDocument* own = find(tab)) own->failure = failure;
  };
  // Before the engine may tell of the run.
  m_pending.push_back({.work = work,
                       .record = {.tab = tab,
                                  .document = m_current->model->title(),
                                  .path = m_current->model->filePath(),
                                  .model = QString::fromStdString(workbench::modelNameOf(document.settings)),
                                  .settings = document.settings,
                                  .startedAt = QDateTime::currentMSecsSinceEpoch(),
                                  .paths = std::move(prepared.paths)}});
  m_lastModel = document.settings.model;
  m_keptBytes = keptBytesOf(document.settings);
  m_current->failure.clear();
  if (m_current->source == m_live) {
    m_current->chosen = 0;
    m_current->following = true;
    forgetSelection(*m_current);
  }
  QString problem = submit(std::move(job));
  if (!problem.isEmpty()) m_pending.pop_back();
  return problem;
}

void Workspace::notePace(const workbench::RunWork& work) {
  if (!work.result()) return;
  experiment::PaceSample pace;
  for (const run::StepResult& step : work.result()->steps) pace.add(step.metrics);
  m_paces->note(work.settings(), pace);
  m_paceIsOld = true;
}

void Workspace::setPaceFile(const QString& path) {
  m_paces = std::make_shared<workbench::PaceBook>(path.toStdString());
  m_paceIsOld = true;
}

void Workspace::showMeasuringFacts() {
  // The book stands in a file, which is not read for every frame.
  if (!std::exchange(m_paceIsOld, false)) return;
  m_input.measuring = {};
  if (m_current == nullptr) return;
  m_input.measuring.pace = m_paces->find(m_current->model->document().settings);
  const LoadedModel& loaded = m_engine.model();
  if (!loaded.directory.empty() && loaded.directory == runsOn(*m_current))
    m_input.measuring.context = loaded.contextLength;
}

void Workspace::setEstimate(ExperimentEstimate estimate) {
  m_input.estimate = std::make_shared<const ExperimentEstimate>(std::move(estimate));
  invalidate();
}

void Workspace::setPoliciesWanted(std::vector<std::string> names) {
  m_input.policiesWanted = std::move(names);
  invalidate();
}

void Workspace::setLoads(LoadComparisons loads) {
  m_input.loads = std::make_shared<const LoadComparisons>(std::move(loads));
  invalidate();
}

void Workspace::keepLoads(const ExperimentRun& run) {
  if (!workbench::hasEnded(run.state)) return;
  std::optional<LoadComparison> load = loadComparisonOf(run.result, QDateTime::currentDateTimeUtc());
  if (!load) return;
  LoadComparisons loads = m_input.loads ? *m_input.loads : LoadComparisons{};
  loads.byModel[load->model] = std::move(*load);
  setLoads(std::move(loads));
  Q_EMIT loadsMeasured();
}

void Workspace::setExperiment(std::shared_ptr<const ExperimentRun> run) {
  keepLoads(*run);
  m_input.experiment = std::move(run);
  invalidate();
}

QString Workspace::findEmbeddings(const query::Node& query, workbench::RetrievalRequest& request) const {
  const document::RunSettings& settings = m_current->model->document().settings;
  // Also where no texts are sent: an augment may name the server's model.
  request.embeddings = workbench::embeddingsServerOf(settings);
  if (!workbench::asksServer(query, settings)) return {};
  remote::EmbeddingsServer& server = *request.embeddings;
  const auto address = remote::readServerAddress(server.url);
  if (const auto* problem = std::get_if<Error>(&address)) {
    return tr("Embeddings come from a server: found %1, expected %2. See Retrieval in the settings.")
        .arg(QString::fromStdString(problem->found), QString::fromStdString(problem->expected));
  }
  if (server.model.empty())
    return tr("Embeddings come from a server: name the model there. See Retrieval in the settings.");
  const QString endpoint = QString::fromStdString(remote::endpointOf(server));
  if (!std::get<remote::ServerAddress>(address).isLoopback && !(m_consent && m_consent(endpoint)))
    return tr("Nothing was sent to %1: the query did not run.").arg(endpoint);
  server.key = qEnvironmentVariable("SPANSCOPE_EMBEDDINGS_KEY").toStdString();
  return {};
}

QString Workspace::saveTrace(const QString& path) const {
  try {
    trace::writeTrace(path.toStdString(), m_input.trace->events(),
                      {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                       .createdAt = QDateTime::currentMSecsSinceEpoch()});
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

void Workspace::invalidate() {
  if (!m_frame.isActive()) m_frame.start();
}

void Workspace::drain() {
  std::vector<trace::Event> events;
  m_engine.drain(events);
  for (trace::Event& event : events) {
    takeStart(event);
    const RunId ended = std::holds_alternative<trace::RunFinished>(event.payload) ? event.run : 0;
    const auto* fidelity = std::get_if<trace::FidelityMeasured>(&event.payload);
    const RunId measured = fidelity != nullptr ? event.run : 0;
    if (measured != 0) m_history.noteFidelity(measured, event.request, *fidelity);
    m_live->store().append(std::move(event));
    if (measured != 0 && m_archive) {
      if (const RunRecord* record = m_history.find(measured)) m_archive->save(*record);
    }
    if (ended == 0) continue;
    m_history.end(ended);
    if (const RunRecord* record = m_history.find(ended); record != nullptr && m_archive)
      m_archive->save(*record);
    boundHistory();
  }
  boundTrace();
}

/// Where a run of the window begins, its document shows it.
void Workspace::takeStart(const trace::Event& event) {
  const auto* started = std::get_if<trace::RunStarted>(&event.payload);
  if (started == nullptr) return;
  const auto pending = std::find_if(m_pending.begin(), m_pending.end(),
                                    [&event](const PendingRun& run) { return run.work->run() == event.run; });
  if (pending == m_pending.end()) return;
  RunRecord record = std::move(pending->record);
  m_pending.erase(pending);
  if (OpenDocument* document = find(record.tab)) {
    document->paths[event.run] = record.paths;
    if (document->source != m_live) showLive(*document);
  }
  record.run = event.run;
  record.trace = m_live->trace();
  if (const QString& madeFor = m_engine.model().madeFor;
      !madeFor.isEmpty() && !hasExampleText(started->queryJson))
    record.madeFor = madeFor;
  m_live->noteRun(record.settings);
  m_history.begin(std::move(record), started->queryJson);
}

/// Lets the traces of the oldest sessions go where all together take too much; their runs keep their figures.
void Workspace::boundHistory() {
  m_history.bound(m_keptBytes, [this](const TraceStore* trace) {
    return trace == m_live->trace().get() ||
           std::any_of(m_documents.begin(), m_documents.end(),
                       [trace](const auto& document) { return document->source->trace().get() == trace; });
  });
}

/// Lets the oldest events go where there are too many, half of them at once: that takes time for what stays.
void Workspace::boundTrace() {
  if (m_live->trace()->bytes() <= m_keptBytes) return;
  const std::shared_ptr<const TraceStore> whole = m_live->trace();
  const std::size_t gone = m_live->keepNewest(m_keptBytes / 2);
  m_history.replaceTrace(whole.get(), m_live->trace());
  // What cannot be made smaller is not tried again with every frame.
  m_keptBytes = std::max(m_keptBytes, 2 * m_live->trace()->bytes());
  for (const auto& document : m_documents) {
    if (document->source != m_live) continue;
    document->position -= std::min(document->position, gone);
    forgetSelection(*document);
  }
}

void Workspace::update() {
  drain();
  if (m_engine.state() != EngineState::Idle) m_frame.start();
  m_input.models.loaded = m_engine.model().directory;
  m_input.models.fittingAdapter = m_engine.model().fittingAdapter;
  m_input.devices = m_engine.devices();
  showTokenizer();
  m_input.records = m_history.records();
  m_input.listsLater = true;
  if (m_current == nullptr) {
    m_input.document = std::make_shared<const document::Document>();
    m_input.trace = m_live->trace();
    m_input.reported = m_live->reports();
    m_input.position = m_input.trace->size();
    m_input.paths.clear();
    m_input.selection = {};
    m_input.benchmark.reset();
    m_input.policies.reset();
  } else {
    const std::shared_ptr<const document::Document> document = m_current->model->snapshot();
    // Its settings and its documents say how long something takes.
    if (document != m_input.document) m_input.estimate.reset();
    m_paceIsOld = m_paceIsOld || document->settings != m_input.document->settings;
    m_input.document = document;
    m_input.trace = m_current->source->trace();
    m_input.reported = m_current->source->reports();
    if (const auto records = m_current->source->records()) m_input.records = records;
    m_input.listsLater = m_current->following || m_current->chosen != 0;
    if (m_current->following) m_current->position = m_input.trace->size();
    m_input.position = m_current->position;
    m_input.paths = m_current->paths;
    std::erase_if(m_current->selection.nodes,
                  [this](document::NodeId node) { return !m_input.document->contains(node); });
    m_input.selection = m_current->selection;
    m_input.benchmark = m_current->benchmark;
    m_input.policies = m_current->policies;
  }
  showMeasuringFacts();
  readIdentities();
  showForecast();
  m_input.replay = replayState();
  Q_EMIT inputChanged();
}

/// Tokens are counted as the document's model counts them, which need not be the one in memory.
void Workspace::showTokenizer() {
  m_input.tokenizer = m_engine.model().tokenizer;
  const std::string wanted =
      m_current == nullptr || m_input.models.loaded.empty() ? std::string() : runsOn(*m_current);
  if (!wanted.empty() && wanted != m_input.models.loaded) {
    const auto [known, isNew] = m_tokenizers.try_emplace(wanted);
    if (isNew) m_engine.readTokenizer(wanted);
    m_input.tokenizer = known->second;
  }
  m_input.tokenCounts = countsOf(m_input.tokenizer, m_input.tokenCounts);
  m_input.tokenCounts->onCounted([self = QPointer(this)] {
    if (self == nullptr) return;
    ++self->m_input.tokensCounted;
    self->invalidate();
  });
}

/// Whether the document has the nodes that it had when identities were read: what they say may have changed.
bool Workspace::isTyped() const {
  const std::uint32_t tab = m_current == nullptr ? 0 : m_current->id;
  return m_input.identities && m_identified.tab == tab && m_identified.trace == m_input.trace &&
         m_identified.runs == m_input.trace->runs().size() && m_identified.ownRuns == m_input.paths.size() &&
         m_identified.document->root() == m_input.document->root() &&
         m_identified.document->size() == m_input.document->size();
}

void Workspace::readIdentities() {
  if (isTyped()) {
    // A part that is edited or moved stays the same one, but where it comes to say what another one says.
    if (m_identified.document != m_input.document) m_typing.start();
    return;
  }
  readIdentitiesAnew();
}

void Workspace::readIdentitiesAnew() {
  m_typing.stop();
  m_identified = {.tab = m_current == nullptr ? 0 : m_current->id,
                  .document = m_input.document,
                  .trace = m_input.trace,
                  .runs = m_input.trace->runs().size(),
                  .ownRuns = m_input.paths.size()};
  // The document in view as the views have it, and the others as they are now.
  const std::map<RunId, document::NodePaths> none;
  std::vector<SegmentBook::Open> open;
  std::size_t own = 0;
  for (const auto& each : m_documents) {
    const bool isShown = each.get() == m_current;
    if (isShown) own = open.size();
    // Numbers of runs mean something in the trace alone from which they are.
    const bool isHere = each->source->trace() == m_input.trace;
    open.push_back({.document = isShown ? m_input.document.get() : &each->model->document(),
                    .paths = isShown  ? &m_input.paths
                             : isHere ? &each->paths
                                      : &none});
  }
  if (m_current == nullptr) open = {{.document = m_input.document.get(), .paths = &m_input.paths}};
  SegmentIdentities now = m_book.read(open, own, *m_input.trace);
  // The same object tells the views that nothing is to be coloured anew.
  if (m_input.identities && *m_input.identities == now) return;
  m_input.identities = std::make_shared<const SegmentIdentities>(std::move(now));
}

ReplayState Workspace::replayState() const {
  ReplayState state;
  if (m_current != nullptr) state = m_current->replay;
  state.engineIsBusy = m_current != nullptr && m_engine.isBusy(m_current->id);
  state.origin = m_current == nullptr ? m_live->origin() : m_current->source->origin();
  return state;
}

void Workspace::showForecast() {
  // A recorded run is not run again.
  const bool canRun = m_current != nullptr && m_current->source->takesRuns();
  const std::uint32_t tab = canRun ? m_current->id : 0;
  m_forecasts.watch(tab, canRun ? m_input.document : nullptr,
                    canRun ? m_current->model->filePath() : QString());
  m_input.forecast = m_forecasts.newest(tab);
  m_input.forecastBefore = m_forecasts.before(tab);
  m_input.forecastIsPending = m_forecasts.isPending();
}

}  // namespace spanscope::ui
