// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Workspace that makes the input of views.
#include "engine/workbench/pace_book.h"
#include "engine/workbench/service/run_work.h"
#include "ui/session/experiment_estimate.h"
#include "ui/session/experiment_run.h"
#include "ui/session/load_comparison.h"
#include "ui/window/workspace.h"

#include <QDateTime>
#include <QPointer>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

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
  m_input.records = m_traces.history().records();
  m_input.listsLater = true;
  if (m_current == nullptr) {
    m_input.document = std::make_shared<const document::Document>();
    m_input.trace = m_traces.live()->trace();
    m_input.reported = m_traces.live()->reports();
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
  if (m_current != nullptr) state.running = m_current->job;
  // An older run that the user chose is shown with all that is known of it.
  const bool isBack = m_current != nullptr && !m_input.listsLater;
  state.results = m_input.trace->lastJobEnd(isBack ? std::max(m_input.position, m_current->results)
                                                   : m_input.trace->size());
  state.engineIsBusy = m_current != nullptr && m_engine.isBusy(m_current->id);
  state.origin = m_current == nullptr ? m_traces.live()->origin() : m_current->source->origin();
  return state;
}

void Workspace::showForecast() {
  // A recorded run is not run again.
  const bool canRun = m_current != nullptr && m_current->source->takesRuns();
  const std::uint32_t tab = canRun ? m_current->id : 0;
  m_forecasts.watch(tab, canRun ? m_input.document : nullptr,
                    canRun ? documentPath().value_or(QString()) : QString());
  m_input.forecast = m_forecasts.newest(tab);
  m_input.forecastBefore = m_forecasts.before(tab);
  m_input.forecastIsPending = m_forecasts.isPending();
}

}  // namespace spanscope::ui
