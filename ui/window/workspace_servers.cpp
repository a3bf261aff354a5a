// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Workspace that has servers run: each run on servers is a session of its own, whose events come
// from the work itself.
#include "engine/base/error.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/service/remote_run_work.h"
#include "ui/session/index_progress.h"
#include "ui/session/remote_request.h"
#include "ui/window/kept_trace.h"
#include "ui/window/workspace.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

/// The document's nodes for the places of the query that is run, which may have been written out otherwise.
document::NodePaths pathsOfOrigins(const document::NodePaths& paths,
                                   const std::map<NodePath, NodePath>& origins) {
  if (origins.empty()) return paths;
  document::NodePaths result;
  for (const auto& [place, origin] : origins) {
    const auto node = paths.byPath.find(origin);
    if (node == paths.byPath.end()) continue;
    result.byPath.emplace(place, node->second);
    result.byNode.emplace(node->second, place);
  }
  return result;
}

}  // namespace

void Workspace::setServersFile(const QString& path) {
  m_servers = workbench::ServerList(path.toStdString());
  readServers();
}

void Workspace::readServers() {
  m_input.servers.clear();
  for (const workbench::NamedServer& server : m_servers.list()) m_input.servers.push_back(server.name);
  knowServers();
  invalidate();
}

void Workspace::noteServerFacts(const std::string& name, remote::ServerFacts facts) {
  m_serverFacts[name] = std::move(facts);
  knowServers();
  invalidate();
}

/// Notes what is known of the servers of the list.
void Workspace::knowServers() {
  auto known = std::make_shared<KnownServers>();
  for (const workbench::NamedServer& server : m_servers.list()) {
    KnownServer& own = (*known)[server.name];
    own.protocol = server.protocol;
    own.atOnce = server.atOnce;
    const auto facts = m_serverFacts.find(server.name);
    if (facts != m_serverFacts.end()) own.facts = facts->second;
  }
  m_knownServers = std::move(known);
}

QString Workspace::serverTitle(const std::string& name) const {
  const QString own = QString::fromStdString(name);
  const auto facts = m_serverFacts.find(name);
  if (facts == m_serverFacts.end()) return own;
  return tr("%1 on %2").arg(QString::fromUtf8(remote::infoOf(facts->second.kind).title), own);
}

/// A document can name a server, but only the person's own list says where that is.
QString Workspace::serverRefusal(const std::string& name) const {
  const std::optional<workbench::NamedServer> server = m_servers.find(name);
  if (!server) {
    return tr("There is no server of the name “%1”: “Servers…” in the list of models adds one.")
        .arg(QString::fromStdString(name));
  }
  return {};
}

/// Steps of it that the engine answers are runs of the engine's own, which have numbers, too.
RunNumbers Workspace::reserveForServers(std::uint32_t requests, bool hasOthers) {
  constexpr std::uint32_t kMost = 64;
  const std::uint32_t others = hasOthers ? kMost : 0;
  RunNumbers last = lastNumbers();
  // Runs of the engine that have not begun yet take the next ones.
  last.run += static_cast<RunId>(m_pending.size());
  if (!m_pending.empty()) last.request += requests;
  if (m_archive) {
    last = m_archive->reserve(last, requests);
    if (others > 0) m_archive->reserve({.run = last.run + others, .request = last.request}, requests);
  }
  m_given = {.run = last.run + 1 + others, .request = last.request + requests};
  return last;
}

QString Workspace::runOnServers(PreparedQuery prepared, std::map<NodePath, std::string> serverOf) {
  constexpr std::uint32_t kMostRequests = 4096;
  const document::Document& document = m_current->model->document();
  for (const std::string& name : askedServers(document.settings, serverOf)) {
    if (QString problem = serverRefusal(name); !problem.isEmpty()) return problem;
  }
  const bool isMixed = !document.settings.runsOnServer() ||
                       std::any_of(serverOf.begin(), serverOf.end(),
                                   [](const auto& server) { return server.second == document::kEmbedded; });
  const RunNumbers last = reserveForServers(kMostRequests, isMixed);
  workbench::RemoteRunRequest request{
      .settings = document.settings,
      .query = std::move(prepared.query),
      .retrieval = std::move(prepared.retrieval),
      .serverOf = std::move(serverOf),
      .servers = m_servers.list(),
      .embedded =
          isMixed ? answerHere(m_engine.submitter(), document.settings, last.run + 1) : remote::LocalAnswer(),
      .twins = m_twins,
      .program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
      .run = last.run + 1,
      .lastRequest = last.request};
  const auto work = std::make_shared<workbench::RemoteRunWork>(std::move(request));
  const std::uint32_t tab = m_current->id;
  EngineJob job{.work = work, .tab = tab};
  job.isRemote = true;
  job.activity = [work] {
    if (const auto indexing = work->indexing()) return progressText(*indexing);
    const std::string asking = work->asking();
    return asking.empty() ? QString() : tr("Asking %1").arg(QString::fromStdString(asking));
  };
  job.changed = [this, work, tab](workbench::WorkState state, const QString& failure) {
    const std::map<std::string, remote::ServerFacts> found = work->facts();
    for (const auto& [name, facts] : found) m_serverFacts[name] = facts;
    if (!found.empty()) knowServers();
    if (!workbench::hasEnded(state)) return;
    m_engine.recording().end(work->recorder());
    std::erase_if(m_serverRuns, [&work](const ServerRun& run) { return run.work == work; });
    if (OpenDocument* own = find(tab)) own->failure = failure;
  };
  auto store = std::make_shared<TraceStore>();
  ServerRun run{.work = work,
                .record = {.run = work->run(),
                           .tab = tab,
                           .document = m_current->model->title(),
                           .path = m_current->model->filePath(),
                           .settings = document.settings,
                           .startedAt = QDateTime::currentMSecsSinceEpoch(),
                           .paths = std::move(prepared.paths),
                           .trace = store},
                .store = store,
                .source = std::make_shared<const ServerSource>(store)};
  m_serverRuns.push_back(std::move(run));
  m_keptBytes = keptBytesOf(document.settings);
  m_current->failure.clear();
  m_engine.recording().add(work->recorder());
  QString problem = submit(std::move(job));
  if (problem.isEmpty()) return problem;
  m_engine.recording().end(work->recorder());
  m_serverRuns.pop_back();
  return problem;
}

void Workspace::drainServers() {
  for (ServerRun& run : m_serverRuns) {
    std::vector<trace::Event> events;
    run.work->recorder()->drain(events);
    for (trace::Event& event : events) takeServerEvent(run, std::move(event));
  }
}

/// The document shows the run from its beginning on: one that never begins takes nothing from view.
void Workspace::takeServerEvent(ServerRun& run, trace::Event event) {
  const bool ends = std::holds_alternative<trace::RunFinished>(event.payload);
  if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload))
    run.record.model = QString::fromStdString(session->model);
  const auto* started = std::get_if<trace::RunStarted>(&event.payload);
  const std::string queryJson = started == nullptr ? std::string() : started->queryJson;
  const bool begins = started != nullptr;
  run.store->append(std::move(event));
  if (begins) {
    run.record.paths = pathsOfOrigins(run.record.paths, run.work->origins());
    if (OpenDocument* document = find(run.record.tab)) {
      document->paths[run.record.run] = run.record.paths;
      document->source = run.source;
      document->position = 0;
      document->following = true;
      document->chosen = 0;
      forgetSelection(*document);
    }
    m_history.begin(run.record, queryJson);
  }
  if (!ends) return;
  m_history.end(run.record.run);
  if (const RunRecord* record = m_history.find(run.record.run); record != nullptr && m_archive)
    m_archive->save(*record);
  boundHistory();
}

}  // namespace spanscope::ui
