// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/workspace.h"

#include "engine/base/error.h"
#include "engine/jobs/experiment.h"
#include "engine/trace/binary_codec.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/speed_records.h"
#include "ui/session/job_estimate.h"
#include "ui/session/load_comparison.h"
#include "ui/session/run_list.h"
#include "ui/session/run_part.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QPointer>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr int kFrame = 16;  // milliseconds, about 60 frames per second

}  // namespace

Workspace::Workspace(compute::Backends backends, QObject* parent)
    : QObject(parent),
      m_modelSearch(backends),
      m_engine(std::move(backends)),
      m_paces(std::make_shared<workbench::SpeedRecords>()),
      m_loads(std::make_shared<const LoadComparisons>()) {
  m_input.document = std::make_shared<const document::Document>();
  m_input.trace = m_traces.live()->trace();
  m_frame.setInterval(kFrame);
  m_frame.setSingleShot(true);
  m_frame.setTimerType(Qt::PreciseTimer);
  connect(&m_frame, &QTimer::timeout, this, &Workspace::update);
  connect(&m_identities, &ShownIdentities::changed, this, &Workspace::inputChanged);
  connect(&m_engine, &EngineHost::stateChanged, this, &Workspace::invalidate);
  connect(&m_engine, &EngineHost::modelChanged, this, [this] {
    m_estimate.reset();
    m_paceIsOld = true;
    invalidate();
  });
  connect(&m_engine, &EngineHost::devicesFound, this, &Workspace::invalidate);
  connect(&m_log, &LogDiagnosis::changed, this, &Workspace::invalidate);
  connect(&m_predictions, &Predictions::changed, this, &Workspace::invalidate);
  connect(&m_served.serving(), &Serving::changed, this, &Workspace::invalidate);
  connect(&m_traces, &RunTraces::changed, this, &Workspace::invalidate);
  connect(&m_traces, &RunTraces::shown, this, &Workspace::update);
  connect(&m_traces, &RunTraces::keepingFailed, this, &Workspace::keepingFailed);
  connect(&m_traces, &RunTraces::measuringEnded, this, &Workspace::keepLoads);
  connect(&m_serverRuns, &ServerRuns::changed, this, [this] {
    m_input.servers.clear();
    for (const workbench::NamedServer& server : m_serverRuns.servers().list())
      m_input.servers.push_back(server.name);
    m_input.knownServers = m_serverRuns.knownServers();
    invalidate();
  });
  // Runs of clients have no job. The end of a job would take the last events.
  connect(&m_engine, &EngineHost::sessionEnds, this, &Workspace::drain);
  connect(&m_engine, &EngineHost::sessionStarted, &m_traces, &RunTraces::endSession);
  connect(&m_engine, &EngineHost::tokenizerRead, this,
          [this](const std::string& directory, const std::shared_ptr<const text::Tokenizer>& tokenizer) {
            m_tokenizers[directory] = tokenizer;
            invalidate();
          });
  connect(&m_engine, &EngineHost::preparingFailed, this,
          [this](const QString& problem) { Q_EMIT jobEnded(problem, EngineJob::kProgram); });
  connect(&m_engine, &EngineHost::jobEnded, this, &Workspace::jobEnded);
}

Workspace::~Workspace() {
  m_engine.disconnect(this);
  m_served.serving().disconnect(this);
  m_serverRuns.disconnect(this);
  m_traces.disconnect(this);
}

void Workspace::setCurrent(OpenDocument* document) {
  if (document == m_current) return;
  if (document != nullptr) document->isSetAside = false;
  m_current = document;
  Q_EMIT currentChanged();
  update();
}

std::vector<OpenDocument*> Workspace::tabs() const {
  std::vector<OpenDocument*> shown;
  for (const auto& document : m_documents) {
    if (!document->isSetAside) shown.push_back(document.get());
  }
  return shown;
}

void Workspace::setAside() {
  drain();
  const Aside aside{.current = m_current == nullptr ? 0 : m_current->id};
  setCurrent(nullptr);
  for (const auto& document : m_documents) document->isSetAside = true;
  m_traces.setAside();
  m_engine.beginSeparate();
  m_aside = aside;
  Q_EMIT documentsChanged();
  update();
}

void Workspace::bringBack() {
  drain();
  const std::uint32_t current = m_aside->current;
  m_aside.reset();
  m_hidesPrediction = false;
  const bool isSame = m_engine.endSeparate();
  m_traces.resume();
  if (!isSame) m_traces.endSession();
  for (const auto& document : m_documents) document->isSetAside = false;
  setCurrent(find(current));
  Q_EMIT documentsChanged();
  update();
}

void Workspace::hidePrediction(bool hides) {
  if (std::exchange(m_hidesPrediction, hides) != hides) invalidate();
}

OpenDocument& Workspace::open(std::unique_ptr<DocumentModel> model) {
  auto document = std::make_unique<OpenDocument>();
  document->id = m_nextId++;
  document->model = std::move(model);
  document->source = m_traces.live();
  connect(document->model.get(), &DocumentModel::changed, this, &Workspace::invalidate);
  connect(document->model.get(), &DocumentModel::stateChanged, this, &Workspace::documentsChanged);
  OpenDocument& result = *document;
  m_traces.bindHistory(result);
  m_documents.push_back(std::move(document));
  Q_EMIT documentsChanged();
  setCurrent(&result);
  return result;
}

OpenDocument& Workspace::openTrace(const QString& path) {
  auto store = std::make_shared<TraceStore>(TraceStore::open(path.toStdString()));
  auto model = std::make_unique<DocumentModel>(documentOf(*store));
  model->setTitle(QFileInfo(path).fileName());
  OpenDocument& result = open(std::move(model));
  result.source = std::make_shared<const FileSource>(std::move(store), result.model->title());
  bindRuns(result);
  update();
  return result;
}

void Workspace::showRun(RunId run) {
  if (m_current != nullptr) m_traces.showRun(*m_current, run);
}

RunId Workspace::addPredicted(const workbench::TracedPrediction& reported) {
  return m_current == nullptr ? 0 : m_traces.addPredicted(*m_current, reported);
}

void Workspace::close(OpenDocument* document) {
  const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                  [document](const auto& open) { return open.get() == document; });
  if (found == m_documents.end()) return;
  const std::vector<OpenDocument*> before = tabs();
  const auto index =
      static_cast<std::size_t>(std::find(before.begin(), before.end(), document) - before.begin());
  const std::unique_ptr<OpenDocument> gone = std::move(*found);
  m_documents.erase(found);
  m_predictions.forget(gone->id);
  // Without the tab, the user could not stop its jobs.
  m_engine.stop(gone->id);
  m_engine.stopMeasuring(gone->id);
  if (m_current == document) {
    const std::vector<OpenDocument*> others = tabs();
    setCurrent(others.empty() ? nullptr : others[std::min(index, others.size() - 1)]);
  }
  Q_EMIT documentsChanged();
}

void Workspace::select(const Selection& selection) {
  if (m_current == nullptr || m_current->selection == selection) return;
  // A request of another session, or of a run after the position, is shown with its own run.
  if (selection.request && !m_input.state().progress().requests.contains(*selection.request)) {
    if (const RunRecord* record = m_traces.history().findByRequest(*selection.request)) showRun(record->run);
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
  m_current->results = 0;
  m_current->following = m_current->position == m_input.trace->size();
  m_current->chosen = 0;
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
  // In a recording and in a gateway, each run can have another query.
  const bool hasOthers = m_current != nullptr && !m_current->source->takesRuns();
  std::vector<RunId> runs;
  for (const ListedRun& run : listRuns(m_input, true)) {
    const bool hasEvents = run.trace || (run.record != nullptr && run.record->hasEvents());
    if ((run.isOwn || hasOthers) && hasEvents) runs.push_back(run.run);
  }
  const auto now = std::find(runs.begin(), runs.end(), shownRun());
  if (now == runs.end()) return 0;
  const std::ptrdiff_t place = std::distance(runs.begin(), now) + steps;
  return place < 0 || place >= std::ssize(runs) ? 0 : runs[static_cast<std::size_t>(place)];
}

RunId Workspace::runToSave() const {
  if (const RunId shown = shownRun(); shown != 0 || m_current == nullptr) return shown;
  RunId newest = 0;
  for (const auto& [run, state] : m_input.trace->newest().progress().runs) {
    if (m_current->paths.contains(run)) newest = run;
  }
  return newest;
}

QString Workspace::saveTrace(const QString& path) const {
  const RunId run = runToSave();
  if (run == 0 && (m_current == nullptr || m_current->source->takesRuns()))
    return tr("This query has no run to save. Run the query first.");
  try {
    trace::writeTrace(path.toStdString(), run == 0 ? m_input.trace->events() : runPart(*m_input.trace, run),
                      {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                       .createdAt = QDateTime::currentMSecsSinceEpoch()});
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

void Workspace::drain() {
  m_serverRuns.drain();
  m_traces.drain();
}

void Workspace::serve(const ServeSettings& settings) {
  workbench::RunSettings run;
  if (m_current != nullptr && m_current->source->takesRuns())
    run = m_current->model->document().settings;
  else
    useModelInUse(run);
  m_traces.keepAtLeast(run);
  m_served.serving().start(run, settings);
  invalidate();
}

OpenDocument* Workspace::showServed(std::uint64_t number) {
  const std::optional<ServedEntry> entry = m_served.serving().entry(number);
  if (!entry) return nullptr;
  for (const auto& document : m_documents) {
    if (document->served != number) continue;
    setCurrent(document.get());
    return document.get();
  }
  // Events of a running request may not be read yet.
  drain();
  document::NodePaths paths;
  document::Document document = m_served.documentOf(*entry, paths);
  // Runs of clients are set aside during a lesson.
  const RunRecord* record = entry->run == 0 || m_aside ? nullptr : history().find(entry->run);
  if (record != nullptr) document.settings = record->settings;
  auto model = std::make_unique<DocumentModel>(std::move(document));
  model->setTitle(ServedRuns::titleOf(number));
  OpenDocument& opened = open(std::move(model));
  opened.served = number;
  opened.isPreview = true;
  if (record == nullptr) return &opened;
  opened.paths[entry->run] = std::move(paths);
  if (entry->isOver() || record->trace != m_traces.live()->trace()) showRun(entry->run);
  update();
  return &opened;
}

bool Workspace::isUsed(const OpenDocument& preview) const {
  return preview.model->isModified() || m_engine.isBusy(preview.id) || m_engine.isMeasuring(preview.id) ||
         !m_served.hasOnlyRunsOfItsRequest(preview);
}

void Workspace::useModelInUse(document::RunSettings& settings) const {
  const bool isOfCurrent = m_current != nullptr && m_current->source->takesRuns();
  const document::RunSettings& used =
      isOfCurrent ? m_current->model->document().settings : m_runs.lastSettings();
  settings.model = used.model;
  settings.adapter = used.adapter;
  settings.chatTemplate = used.chatTemplate;
  settings.templateVariables = used.templateVariables;
  settings.context = used.context;
  settings.policy = workbench::usualPolicyOf(settings);
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

QString Workspace::submit(EngineJob job) {
  job.changed = [this, changed = std::move(job.changed)](workbench::JobState state, const QString& problem) {
    const bool isOver = workbench::hasEnded(state);
    if (isOver) drain();
    if (changed) changed(state, problem);
    // The job's times may change estimates.
    if (isOver) m_estimate.reset();
    m_paceIsOld = m_paceIsOld || isOver;
    if (isOver)
      update();
    else
      invalidate();
  };
  const bool measures = job.measures;
  if (!m_engine.submit(std::move(job)))
    return measures ? tr("A measurement is running. Stop the measurement first.")
                    : tr("A query is running. Stop the query first.");
  update();
  return {};
}

std::optional<QString> Workspace::documentPath() const {
  if (m_current == nullptr || !m_current->source->takesRuns()) return std::nullopt;
  const QString& own = m_current->model->filePath();
  return own.isEmpty() ? m_current->beside : own;
}

std::string Workspace::offeredAdapter() const {
  if (m_current == nullptr || !m_current->source->takesRuns()) return {};
  if (!m_current->model->document().settings.adapter.empty()) return {};
  return runsOn(*m_current) == m_engine.model().directory ? m_engine.model().fittingAdapter : std::string();
}

void Workspace::noteSpeed(const workbench::RunJob& work) {
  if (!work.result()) return;
  experiment::SpeedSample pace;
  for (const run::StepResult& step : work.result()->steps) pace.add(step.metrics);
  m_paces->note(work.settings(), pace);
  m_paceIsOld = true;
}

void Workspace::setSpeedFile(const QString& path) {
  m_paces = std::make_shared<workbench::SpeedRecords>(path.toStdString());
  m_paceIsOld = true;
}

void Workspace::showMeasuringFacts() {
  // The speed records are in a file. Reading the file for every frame would be slow.
  if (!std::exchange(m_paceIsOld, false)) return;
  m_input.models.pace.reset();
  m_input.models.context = 0;
  if (m_current == nullptr) return;
  m_input.models.pace = m_paces->find(m_current->model->document().settings);
  const LoadedModel& loaded = m_engine.model();
  if (!loaded.directory.empty() && loaded.directory == runsOn(*m_current))
    m_input.models.context = loaded.contextLength;
}

AskedJobs* Workspace::measured(std::uint32_t tab) {
  if (tab == EngineJob::kProgram) return &m_measured;
  OpenDocument* document = find(tab);
  return document == nullptr ? nullptr : &document->measured;
}

void Workspace::setEstimate(AskedEstimate estimate) {
  m_estimate = std::make_shared<const AskedEstimate>(std::move(estimate));
  invalidate();
}

/// Every tab shows the measurements of the program. A recorded trace shows only its own.
void Workspace::showMeasured() {
  MeasuredJobs& jobs = m_input.measured;
  jobs = measuredJobs(m_measured, *m_traces.measured());
  if (m_current != nullptr)
    jobs.merge(m_current->source->takesRuns() ? measuredJobs(m_current->measured, *m_traces.measured())
                                              : measuredJobs(*m_input.trace));
  for (const auto& [kind, arguments] : m_chosen) jobs[kind].chosen = arguments;
  if (m_estimate) jobs[m_estimate->call.kind].estimate = m_estimate;
  m_log.takeQuality(ui::measured<jobs::LogQualityJob>(jobs));
  jobs[LogDiagnosisKind::kId] = {.state = workbench::JobState::Finished, .result = m_log.state()};
  jobs[LoadComparisonKind::kId] = {.state = workbench::JobState::Finished, .result = m_loads};
}

void Workspace::choose(const jobs::JobCall& call) {
  m_chosen[call.kind] = call.arguments;
  // The user may start the job before the next frame.
  showMeasured();
  invalidate();
  Q_EMIT jobChosen(call);
}

void Workspace::setLoads(LoadComparisons loads) {
  m_loads = std::make_shared<const LoadComparisons>(std::move(loads));
  invalidate();
}

void Workspace::keepLoads(const trace::JobEnded& ended) {
  if (ended.kind != jobs::ExperimentJob::kId) return;
  const auto result = trace::unpack<experiment::ExperimentResult>(ended.result);
  if (!result) return;
  std::optional<LoadComparison> load = loadComparisonOf(*result, QDateTime::currentDateTimeUtc());
  if (!load) return;
  LoadComparisons loads = *m_loads;
  loads.byModel[load->model] = std::move(*load);
  setLoads(std::move(loads));
  Q_EMIT loadsMeasured();
}

void Workspace::invalidate() {
  if (!m_frame.isActive()) m_frame.start();
}

void Workspace::update() {
  drain();
  if (m_engine.state() != EngineState::Idle || m_served.serving().state()->answering > 0) m_frame.start();
  m_input.models.loaded = m_engine.model().directory;
  m_input.models.fittingAdapter = m_engine.model().fittingAdapter;
  m_input.devices = m_engine.devices();
  showTokenizer();
  m_input.records = history().records();
  m_input.listsLater = true;
  if (m_current == nullptr) {
    m_input.document = std::make_shared<const document::Document>();
    m_input.trace = m_traces.live()->trace();
    m_input.reported = m_traces.live()->reports();
    m_input.position = m_input.trace->size();
    m_input.paths.clear();
    m_input.selection = {};
  } else {
    const std::shared_ptr<const document::Document> document = m_current->model->snapshot();
    // Estimates depend on the document's settings and texts.
    if (document != m_input.document) m_estimate.reset();
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
  }
  showMeasured();
  showMeasuringFacts();
  m_identities.update(m_current == nullptr ? 0 : m_current->id);
  showPrediction();
  m_input.replay = replayState();
  Q_EMIT inputChanged();
}

/// Selects the tokenizer of the document's model, which may differ from the loaded model.
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

ReplayState Workspace::replayState() const {
  ReplayState state;
  if (m_current != nullptr) state.running = m_current->job;
  // An older run that the user chose is shown with all its results.
  const bool isBack = m_current != nullptr && !m_input.listsLater;
  state.results = m_input.trace->lastJobEnd(isBack ? std::max(m_input.position, m_current->results)
                                                   : m_input.trace->size());
  state.engineIsBusy = m_current != nullptr && m_engine.isBusy(m_current->id);
  state.origin = m_current == nullptr ? m_traces.live()->origin() : m_current->source->origin();
  return state;
}

void Workspace::showPrediction() {
  // A recorded run cannot run again, so it has no prediction.
  const bool canRun = m_current != nullptr && m_current->source->takesRuns();
  const std::uint32_t tab = canRun ? m_current->id : 0;
  m_predictions.watch(tab, canRun ? m_input.document : nullptr,
                      canRun ? documentPath().value_or(QString()) : QString());
  const PredictionState state = m_predictions.state(tab);
  m_input.prediction = m_hidesPrediction ? PredictionState{.isWithheld = true} : state;
  m_input.prediction.counted = state.isPending ? nullptr : state.newest;
  m_input.prediction.isOnCards = !m_aside;
}

}  // namespace spanscope::ui
