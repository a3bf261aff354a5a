// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_traces.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/jobs/job.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "engine/workbench/service/run_job.h"
#include "ui/document/document_file.h"
#include "ui/session/run_list.h"

#include <QDateTime>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

using Texts = std::set<std::string>;

/// The texts of a query, by whether they are documents.
struct QueryTexts {
  Texts documents;
  Texts others;

  void add(const query::Node& node, bool isInPlus) {
    if (const auto* message = node.as<query::Message>();
        message != nullptr && message->role == query::Role::User) {
      (isInPlus ? documents : others).insert(message->text);
    }
    if (const query::SourceDocument* source = query::documentOf(node)) {
      if (const auto* text = std::get_if<std::string>(&source->content)) documents.insert(*text);
    }
    const auto* join = node.as<query::Join>();
    const bool isPlus = join != nullptr && join->kind == query::JoinKind::Plus;
    for (const query::ChildRef& child : query::childrenOf(node)) add(*child.node, isInPlus || isPlus);
  }
};

Texts readExamples() {
  Texts texts;
  std::error_code error;
  std::filesystem::path folder;
  try {
    folder = workbench::resourceDirectory() / "queries";
  } catch (const Failure&) {
    return texts;
  }
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->is_regular_file()) continue;
    const document::OpenedDocument opened = openDocument(QString::fromStdString(entry->path().string()));
    if (!opened.document) continue;
    QueryTexts found;
    for (const document::NodeId top : opened.document->tops())
      found.add(document::toTree(*opened.document, top), false);
    texts.merge(found.documents);
    texts.merge(found.others);
  }
  return texts;
}

const Texts& examples() {
  static const Texts texts = readExamples();
  return texts;
}

}  // namespace

bool hasExampleText(const std::string& queryJson) {
  const query::ParseResult read = query::parseJson(queryJson);
  if (!read.query || examples().empty()) return true;
  QueryTexts own;
  own.add(*read.query, false);
  const Texts& texts = own.documents.empty() ? own.others : own.documents;
  return texts.empty() || std::any_of(texts.begin(), texts.end(),
                                      [](const std::string& text) { return examples().contains(text); });
}

namespace {

/// The max number of bytes of the live trace.
std::uint64_t keptBytesOf(const workbench::RunSettings& settings) {
  return std::uint64_t(settings.keptMebibytes) << 20;
}

}  // namespace

RunTraces::RunTraces(EngineHost& engine, const OpenDocuments& documents)
    : m_engine(engine), m_documents(documents), m_keptBytes(keptBytesOf({})) {}

void RunTraces::keepFor(const workbench::RunSettings& settings) {
  m_keptBytes = keptBytesOf(settings);
}

void RunTraces::keepAtLeast(const workbench::RunSettings& settings) {
  m_keptBytes = std::max(m_keptBytes, keptBytesOf(settings));
}

/// The drained events belong to a session that has ended. The runs of that session stay. Documents that show
/// such a run continue to show the run.
void RunTraces::endSession() {
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
  Q_EMIT changed();
}

struct RunTraces::Aside {
  std::shared_ptr<LiveSource> live;
  RunHistory history;
  std::vector<PendingRun> pending;
  RunId given = 0;
};

RunHistory& RunTraces::keptHistory() {
  return m_aside ? m_aside->history : m_history;
}

void RunTraces::setAside() {
  // Numbers of requests stay unique, because selections have no number of a run.
  const RequestId request = lastNumbers().request;
  m_aside = std::make_shared<Aside>(Aside{.live = std::exchange(m_live, std::make_shared<LiveSource>()),
                                          .history = std::exchange(m_history, {}),
                                          .pending = std::exchange(m_pending, {}),
                                          .given = m_given.run});
  m_given = {.run = 0, .request = request};
}

void RunTraces::resume() {
  m_given = {.run = m_aside->given, .request = lastNumbers().request};
  const std::shared_ptr<const RunRecords> dropped = m_history.records();
  m_live = std::move(m_aside->live);
  m_history = std::move(m_aside->history);
  m_pending = std::move(m_aside->pending);
  m_aside.reset();
  for (const auto& document : m_documents) {
    if (document->isSetAside) continue;
    // Runs that were set aside can have the same numbers.
    for (const auto& record : *dropped) document->paths.erase(record->run);
    if (!document->isOfLesson) bindHistory(*document);
  }
  for (const auto& document : m_documents) {
    if (document->source->trace() == m_live->trace())
      document->source = m_live;
    else if (document->source->origin() == TraceOrigin::Session)
      showLive(*document);
  }
  boundHistory();
  Q_EMIT changed();
}

/// Shows the open session and follows its new events.
void RunTraces::showLive(OpenDocument& document) const {
  document.source = m_live;
  document.position = 0;
  document.results = 0;
  document.following = true;
  document.chosen = 0;
  forgetSelection(document);
}

document::Document documentOf(const TraceStore& store) {
  document::Document document;
  for (const std::size_t index : store.runs()) {
    const auto& run = std::get<trace::RunStarted>(store.event(index).payload);
    const query::ParseResult parsed = query::parseJson(run.queryJson);
    if (!parsed.query) continue;
    document = document::fromQuery(*parsed.query);
    // A run on servers has no policy of the engine.
    if (policy::findChoice(run.policy)) document.settings.policy = run.policy;
    document.settings.seed = run.seed;
    if (const trace::LayoutChosen* chosen = store.layoutOf(store.event(index).run))
      document.settings.layout = chosen->layout;
  }
  // The model that gave these answers; it may be missing on this machine.
  document.settings.model = store.newest().progress().model;
  return document;
}

void bindRuns(OpenDocument& document) {
  const document::QueryOf now =
      document::toQuery(document.model->document(), document::TakeOut::MutedAndFrozen);
  if (!now.query) return;
  const std::string json = query::writeCanonical(*now.query);
  for (const auto& [id, run] : document.source->trace()->newest().progress().runs) {
    if (*run.queryJson == json) document.paths.emplace(id, now.paths);
  }
}

void RunTraces::showQuery(OpenDocument& document, RunId run) {
  DocumentModel& model = *document.model;
  const auto& runs = document.source->trace()->newest().progress().runs;
  const auto found = runs.find(run);
  if (document.source->takesRuns() || model.isModified() || found == runs.end() ||
      document.paths.contains(run))
    return;
  const query::ParseResult parsed = query::parseJson(*found->second.queryJson);
  if (!parsed.query) return;
  document::Document shown = document::fromQuery(*parsed.query);
  shown.settings = model.document().settings;
  model.change(QString(), [&shown](document::Document& now) { now = std::move(shown); });
  model.undoStack().clear();
  model.markSaved();
  document.selection = {};
  document.selected = {};
  document.paths.clear();
  bindRuns(document);
  Q_EMIT queryShown(document);
}

/// Binds the document to the runs of the same file. Without a file, runs of a closed example with the same
/// name belong to the document.
void RunTraces::bindHistory(OpenDocument& document) const {
  const DocumentModel& model = *document.model;
  std::optional<document::QueryOf> now;
  std::string json;
  for (const auto& record : *m_history.records()) {
    // A predicted run belongs only to the document for which it was predicted.
    if (ui::isPredicted(*record)) continue;
    if (record->path != model.filePath() || (record->path.isEmpty() && record->document != model.title()))
      continue;
    const auto isItsTab = [&record](const auto& other) { return other->id == record->tab; };
    if (record->path.isEmpty() && std::any_of(m_documents.begin(), m_documents.end(), isItsTab)) continue;
    if (!now) {
      now = document::toQuery(model.document(), document::TakeOut::MutedAndFrozen);
      if (now->query) json = query::writeCanonical(*now->query);
    }
    // Paths identify nodes only if the run's query equals the current query.
    const trace::Progress* metricValues = record->metricValues.get();
    const bool isSame = metricValues != nullptr && *metricValues->runs.at(record->run).queryJson == json;
    document.paths[record->run] = isSame ? now->paths : document::NodePaths();
  }
}

void RunTraces::nameRuns(const OpenDocument& document) {
  if (document.isOfLesson) return;
  const std::shared_ptr<const RunRecords> records = keptHistory().records();
  for (const auto& record : *records) {
    if (record->tab != document.id || !record->path.isEmpty()) continue;
    keptHistory().setDocument(record->run, document.model->filePath(), document.model->title());
    // A run in progress is kept when it ends. Without its events, a run cannot be written again.
    if (record->trace != nullptr && record->metricValues != nullptr) archive(record->run);
  }
  Q_EMIT changed();
}

void RunTraces::keepRuns(const QString& folder) {
  m_archive = std::make_unique<RunArchive>(folder);
  connect(m_archive.get(), &RunArchive::saved, this, [this](RunId run, const QString& file) {
    keptHistory().setFile(run, file);
    Q_EMIT changed();
  });
  connect(m_archive.get(), &RunArchive::failed, this, &RunTraces::keepingFailed);
  RunHistory& kept = keptHistory();
  const std::shared_ptr<const RunRecords> records = kept.records();
  for (const auto& record : *records) {
    if (!ui::isPredicted(*record)) archive(record->run);
  }
  if (!kept.records()->empty()) return;
  for (RunRecord& record : m_archive->load()) kept.add(std::move(record));
  RunNumbers last = lastNumbers();
  for (const auto& record : *kept.records()) last.run = std::max(last.run, record->run);
  m_engine.countFrom(last.run, last.request);
  Q_EMIT changed();
}

RunNumbers RunTraces::lastNumbers() const {
  RunNumbers last = m_given;
  const auto take = [&last](const trace::Progress& progress) {
    for (const auto& [request, state] : progress.requests) last.request = std::max(last.request, request);
  };
  for (const auto& record : *m_history.records()) {
    last.run = std::max(last.run, record->run);
    if (record->metricValues) take(*record->metricValues);
  }
  take(m_live->trace()->newest().progress());
  if (m_aside) take(m_aside->live->trace()->newest().progress());
  return last;
}

void RunTraces::forgetKeptRuns() {
  if (!m_archive) return;
  m_archive->clear();
  m_archive.reset();
  RunHistory& kept = keptHistory();
  const std::shared_ptr<const RunRecords> records = kept.records();
  for (const auto& record : *records) {
    if (!record->file.isEmpty()) kept.setFile(record->run, {});
  }
  Q_EMIT changed();
}

void RunTraces::showRun(OpenDocument& document, RunId run) {
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
  document.results = 0;
  document.following = document.position == trace->size();
  document.chosen = run;
  forgetSelection(document);
  showQuery(document, run);
  // For a run of another document, its last request is selected.
  const trace::RunState& state = trace->newest().progress().runs.at(run);
  if (!document.paths.contains(run) && !state.requests.empty())
    document.selection.request = state.requests.back();
  boundHistory();
  Q_EMIT shown();
}

void RunTraces::drain() {
  std::vector<trace::Event> events;
  m_engine.drain(events);
  for (trace::Event& event : events) {
    takeStart(event);
    const RunId ended = std::holds_alternative<trace::RunFinished>(event.payload) ? event.run : 0;
    const auto* fidelity = std::get_if<trace::FidelityMeasured>(&event.payload);
    const auto* arithmetic = std::get_if<trace::ArithmeticMeasured>(&event.payload);
    const auto* job = std::get_if<trace::JobEnded>(&event.payload);
    const bool isMeasured =
        fidelity != nullptr || arithmetic != nullptr || (job != nullptr && !job->result.bytes->empty());
    const RunId measured = isMeasured ? event.run : 0;
    if (fidelity != nullptr) m_history.noteFidelity(measured, event.request, *fidelity);
    if (arithmetic != nullptr) m_history.noteArithmetic(measured, event.request, *arithmetic);
    keepMeasured(event);
    m_live->store().append(std::move(event));
    // Runs of clients are not saved. Such runs end with the program, unless the user keeps the runs as
    // documents.
    if (measured != 0 && !m_aside) archive(measured);
    if (ended == 0) continue;
    m_history.end(ended);
    if (!m_aside) archive(ended);
    boundHistory();
  }
  boundTrace();
}

/// Keeps measurements, so that tabs show them after the end of the measured session.
void RunTraces::keepMeasured(const trace::Event& event) {
  constexpr std::uint64_t kMostBytes = 64ULL << 20;
  const auto* ended = std::get_if<trace::JobEnded>(&event.payload);
  if (ended == nullptr || event.run != 0) return;
  const jobs::JobRow* row = jobs::findJob(ended->kind);
  if (row == nullptr || row->scope == jobs::Scope::Answer) return;
  trace::Event kept;
  kept.sequence = m_measured->newest().progress().sequence + 1;
  kept.payload = *ended;
  m_measured->append(std::move(kept));
  if (m_measured->bytes() > kMostBytes)
    m_measured = std::make_shared<TraceStore>(m_measured->newestPart(kMostBytes / 2));
  Q_EMIT measuringEnded(*ended);
}

/// The document of a run shows the run from the run's start.
void RunTraces::takeStart(const trace::Event& event) {
  const auto* started = std::get_if<trace::RunStarted>(&event.payload);
  if (started == nullptr) return;
  const auto pending = std::find_if(m_pending.begin(), m_pending.end(),
                                    [&event](const PendingRun& run) { return run.work->run() == event.run; });
  if (pending == m_pending.end()) {
    Q_EMIT otherStarted(event);
    return;
  }
  RunRecord record = std::move(pending->record);
  m_pending.erase(pending);
  if (OpenDocument* document = findDocument(m_documents, record.tab)) {
    document->paths[event.run] = record.paths;
    if (document->source != m_live) showLive(*document);
  }
  begin(event, std::move(record), false);
}

void RunTraces::begin(const trace::Event& event, RunRecord record, bool isOfClient) {
  const std::string& queryJson = std::get<trace::RunStarted>(event.payload).queryJson;
  const OpenDocument* const document = findDocument(m_documents, record.tab);
  const bool isOfLesson = document != nullptr && document->isOfLesson;
  if (!m_aside && (isOfClient || isOfLesson)) m_unkept.insert(event.run);
  record.run = event.run;
  record.trace = m_live->trace();
  // The texts of a client's request may not be kept. Then it is unknown whether the model fits the request.
  const bool hasTexts = !isOfClient || !queryJson.empty();
  // A lesson chooses its model, and its text explains the answers.
  if (const QString& madeFor = m_engine.model().madeFor;
      !madeFor.isEmpty() && hasTexts && !isOfLesson && !hasExampleText(queryJson))
    record.madeFor = madeFor;
  m_live->noteRun(record.settings);
  m_history.begin(std::move(record), queryJson);
}

void RunTraces::expect(const std::shared_ptr<workbench::RunJob>& work, RunRecord record) {
  m_pending.push_back({.work = work, .record = std::move(record)});
}

void RunTraces::forget(const std::shared_ptr<workbench::RunJob>& work) {
  const auto isIt = [&work](const PendingRun& run) { return run.work == work; };
  std::erase_if(m_pending, isIt);
  if (m_aside) std::erase_if(m_aside->pending, isIt);
}

void RunTraces::archive(RunId run) {
  const RunRecord* const record = keptHistory().find(run);
  if (record != nullptr && m_archive && !m_unkept.contains(run)) m_archive->save(*record);
}

void RunTraces::beginOnServers(const RunRecord& record, const std::string& queryJson) {
  const OpenDocument* const document = findDocument(m_documents, record.tab);
  // The run may have been submitted before the session was set aside.
  const bool isKept = !m_aside || (document != nullptr && document->isSetAside);
  if (isKept && document != nullptr && document->isOfLesson) m_unkept.insert(record.run);
  (isKept ? keptHistory() : m_history).begin(record, queryJson);
}

void RunTraces::endOnServers(const RunRecord& record) {
  const RunRecord* const known = m_history.find(record.run);
  const bool isHere = known != nullptr && known->trace == record.trace;
  (isHere ? m_history : keptHistory()).end(record.run);
  if (!m_aside || !isHere) archive(record.run);
  boundHistory();
}

std::optional<RunNumbers> RunTraces::reserve(std::uint32_t requests) {
  // The archive keeps no runs of the separate engine, so these runs need no numbers of the archive.
  if (m_archive && !m_aside) return m_archive->reserve(lastNumbers(), requests);
  if (m_aside || m_given.run != 0 || m_given.request != 0) return lastNumbers();
  return std::nullopt;
}

RunNumbers RunTraces::reserveForServers(std::uint32_t requests, bool hasOthers) {
  constexpr std::uint32_t kMost = 64;
  const std::uint32_t others = hasOthers ? kMost : 0;
  RunNumbers last = lastNumbers();
  // Runs of the engine that have not begun yet take the next ones.
  last.run += static_cast<RunId>(m_pending.size());
  if (!m_pending.empty()) last.request += requests;
  if (m_archive && !m_aside) {
    last = m_archive->reserve(last, requests);
    if (others > 0) m_archive->reserve({.run = last.run + others, .request = last.request}, requests);
  }
  m_given = {.run = last.run + 1 + others, .request = last.request + requests};
  return last;
}

/// Drops the traces of the oldest sessions if all traces take too much memory. The runs keep their metrics.
void RunTraces::boundHistory() {
  m_history.bound(m_keptBytes, [this](const TraceStore* trace) {
    return trace == m_live->trace().get() || (m_aside && trace == m_aside->live->trace().get()) ||
           m_held.contains(trace) ||
           std::any_of(m_documents.begin(), m_documents.end(),
                       [trace](const auto& document) { return document->source->trace().get() == trace; });
  });
}

/// Drops the oldest events if the live trace is too large. Keeps half of the allowed bytes, because each drop
/// copies the remaining events.
void RunTraces::boundTrace() {
  if (m_live->trace()->bytes() <= m_keptBytes) return;
  const std::shared_ptr<const TraceStore> whole = m_live->trace();
  const std::size_t gone = m_live->keepNewest(m_keptBytes / 2);
  m_history.replaceTrace(whole.get(), m_live->trace());
  // A trace that cannot get smaller is not tried again with every frame.
  m_keptBytes = std::max(m_keptBytes, 2 * m_live->trace()->bytes());
  for (const auto& document : m_documents) {
    if (document->source != m_live) continue;
    document->position -= std::min(document->position, gone);
    document->results -= std::min(document->results, gone);
    forgetSelection(*document);
  }
}

RunId RunTraces::addPredicted(OpenDocument& document, const workbench::TracedPrediction& reported) {
  if (!document.source->takesRuns() || reported.events.empty()) return 0;
  RunNumbers last = lastNumbers();
  // Runs of the engine that have not begun yet take the next ones.
  last.run += static_cast<RunId>(m_pending.size());
  std::vector<trace::Event> events = reported.events;
  simulator::countFrom(events, last.run, last.request);
  auto store = std::make_shared<TraceStore>();
  for (trace::Event& event : events) store->append(std::move(event));
  const trace::Progress& progress = store->newest().progress();
  if (progress.runs.empty()) return 0;
  const RunId run = std::prev(progress.runs.end())->first;
  m_given = {.run = run, .request = last.request + static_cast<RequestId>(progress.requests.size())};
  // Earlier queries have nodes if they were run in this document.
  for (std::size_t i = 0; i < reported.before.size(); ++i) {
    const auto paths = document.paths.find(reported.before[i]);
    if (paths != document.paths.end())
      document.paths[last.run + 1 + static_cast<RunId>(i)] = document::NodePaths(paths->second);
  }
  const document::QueryOf now =
      document::toQuery(document.model->document(), document::TakeOut::MutedAndFrozen);
  RunRecord record{.run = run,
                   .tab = 0,
                   .document = document.model->title(),
                   .path = {},
                   .model = QString::fromStdString(checkpoint::Checkpoint(progress.model).name()),
                   .settings = document.model->document().settings,
                   .hasSettings = false,
                   .startedAt = QDateTime::currentMSecsSinceEpoch(),
                   .paths = now.paths,
                   .trace = store};
  record.settings.policy = progress.runs.at(run).policy;
  document.paths[run] = now.paths;
  const std::string queryJson = *progress.runs.at(run).queryJson;
  m_history.begin(std::move(record), queryJson);
  m_history.end(run);
  showRun(document, run);
  return run;
}

bool RunTraces::isPredicted(RunId run) const {
  const RunRecord* const record = m_history.find(run);
  return record != nullptr && ui::isPredicted(*record);
}

bool RunTraces::removePredicted(RunId run) {
  if (!isPredicted(run)) return false;
  const std::shared_ptr<const TraceStore> trace = m_history.find(run)->trace;
  m_history.remove(run);
  for (const auto& document : m_documents) {
    if (trace != nullptr && document->source->trace() == trace) showLive(*document);
    document->paths.erase(run);
    if (trace == nullptr) continue;
    for (const auto& [reported, state] : trace->newest().progress().runs) document->paths.erase(reported);
  }
  Q_EMIT shown();
  return true;
}

}  // namespace spanscope::ui
