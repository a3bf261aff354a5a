// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Workspace that holds traces: what the engine tells, what ended sessions left, which run is
// shown.
#include "engine/base/error.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/service/run_work.h"
#include "ui/session/example_texts.h"
#include "ui/session/foretold_runs.h"
#include "ui/session/run_list.h"
#include "ui/session/run_part.h"
#include "ui/window/kept_trace.h"
#include "ui/window/workspace.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {

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

OpenDocument& Workspace::openTrace(const QString& path) {
  auto store = std::make_shared<TraceStore>(TraceStore::open(path.toStdString()));
  document::Document document;
  for (const std::size_t index : store->runs()) {
    const auto& run = std::get<trace::RunStarted>(store->event(index).payload);
    const query::ParseResult parsed = query::parseJson(run.queryJson);
    if (!parsed.query) continue;
    document = document::fromQuery(*parsed.query);
    // That of a run on servers is none.
    if (policy::findChoice(run.policy)) document.settings.policy = run.policy;
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
    // What was foretold for a document says nothing of another one.
    if (ui::isForetold(*record)) continue;
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
  for (const auto& record : *records) {
    if (!m_servedRuns.contains(record->run) && !isForetold(record->run)) m_archive->save(*record);
  }
  if (!m_history.records()->empty()) return;
  for (RunRecord& record : m_archive->load()) m_history.add(std::move(record));
  const RunNumbers last = lastNumbers();
  m_engine.countFrom(last.run, last.request);
  invalidate();
}

RunNumbers Workspace::lastNumbers() const {
  RunNumbers last = m_given;
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
      document.source = endedSource(trace);
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
    return tr("This document has no run to save: run it first.");
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
  drainServers();
  std::vector<trace::Event> events;
  m_engine.drain(events);
  for (trace::Event& event : events) {
    takeStart(event);
    const RunId ended = std::holds_alternative<trace::RunFinished>(event.payload) ? event.run : 0;
    const auto* fidelity = std::get_if<trace::FidelityMeasured>(&event.payload);
    const auto* arithmetic = std::get_if<trace::ArithmeticMeasured>(&event.payload);
    const RunId measured = fidelity != nullptr || arithmetic != nullptr ? event.run : 0;
    if (fidelity != nullptr) m_history.noteFidelity(measured, event.request, *fidelity);
    if (arithmetic != nullptr) m_history.noteArithmetic(measured, event.request, *arithmetic);
    m_live->store().append(std::move(event));
    // What clients asked is theirs: it ends with the program, unless the person keeps it as a document.
    if (measured != 0 && m_archive && !m_servedRuns.contains(measured)) {
      if (const RunRecord* record = m_history.find(measured)) m_archive->save(*record);
    }
    if (ended == 0) continue;
    m_history.end(ended);
    const RunRecord* record = m_history.find(ended);
    if (record != nullptr && m_archive && !m_servedRuns.contains(ended)) m_archive->save(*record);
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
  if (pending == m_pending.end()) {
    takeServedStart(event);
    return;
  }
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
           std::any_of(m_serverRuns.begin(), m_serverRuns.end(),
                       [trace](const ServerRun& run) { return run.store.get() == trace; }) ||
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

}  // namespace spanscope::ui
