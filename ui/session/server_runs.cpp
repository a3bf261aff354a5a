// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/server_runs.h"

#include "engine/base/error.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/service/remote_run_job.h"
#include "ui/session/index_progress.h"
#include "ui/session/run_request.h"

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

/// The document's nodes by path in the run query, which may be written differently from the document's query.
document::NodePaths pathsOfOrigins(const document::NodePaths& paths,
                                   const std::map<NodePath, NodePath>& origins) {
  if (origins.empty()) return paths;
  document::NodePaths result;
  for (const auto& [place, origin] : origins) {
    const auto node = paths.byPath.find(origin);
    if (node == paths.byPath.end()) continue;
    result.byPath.emplace(place, node->second);
  }
  return result;
}

}  // namespace

ServerRuns::ServerRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces)
    : m_engine(engine), m_documents(documents), m_traces(traces) {}

void ServerRuns::setServersFile(const QString& path) {
  m_pricesFile = std::filesystem::path(path.toStdString()).parent_path() / "prices.json";
  m_servers = workbench::ServerList(path.toStdString());
  readServers();
}

void ServerRuns::readServers() {
  knowServers();
  Q_EMIT changed();
}

void ServerRuns::noteServerFacts(const std::string& name, remote::ServerFacts facts) {
  m_serverFacts[name] = std::move(facts);
  knowServers();
  Q_EMIT changed();
}

/// Updates the facts about the servers of the list.
void ServerRuns::knowServers() {
  auto known = std::make_shared<KnownServers>();
  std::vector<workbench::TokenPrice> prices;
  try {
    prices = workbench::PriceList(m_pricesFile).list();
  } catch (const Failure&) {
    prices.clear();  // `spanq remote price` reports the fault of the file.
  }
  for (const workbench::NamedServer& server : m_servers.list()) {
    KnownServer& own = (*known)[server.name];
    own.protocol = server.protocol;
    own.atOnce = server.atOnce;
    own.keepsOrder = server.keepsOrder;
    own.hasOrderNote = server.hasOrderNote;
    own.orders = m_orders;
    if (const auto speed = m_speeds.find(server.name); speed != m_speeds.end()) own.speed = speed->second;
    const auto facts = m_serverFacts.find(server.name);
    if (facts != m_serverFacts.end()) own.facts = facts->second;
    for (const workbench::TokenPrice& price : prices) {
      const bool isOfKind = own.facts && price.name == remote::infoOf(own.facts->kind).name;
      if (price.name == server.name || (isOfKind && !own.price)) own.price = price;
    }
  }
  m_knownServers = std::move(known);
}

QString ServerRuns::serverTitle(const std::string& name) const {
  const QString own = QString::fromStdString(name);
  const auto facts = m_serverFacts.find(name);
  if (facts == m_serverFacts.end()) return own;
  return tr("%1 on %2").arg(QString::fromUtf8(remote::infoOf(facts->second.kind).title), own);
}

/// A document has only the name of a server. The user's list has the address.
QString ServerRuns::serverRefusal(const std::string& name) const {
  const std::optional<workbench::NamedServer> server = m_servers.find(name);
  if (!server) {
    return tr("There is no server “%1”. Add this server with “Servers…” in the list of models.")
        .arg(QString::fromStdString(name));
  }
  return {};
}

QString ServerRuns::run(OpenDocument& opened, PreparedQuery prepared,
                        std::map<NodePath, std::string> serverOf, const Submit& submit) {
  constexpr std::uint32_t kMostRequests = 4096;
  const document::Document& document = opened.model->document();
  for (const std::string& name : askedServers(document.settings, serverOf)) {
    if (QString problem = serverRefusal(name); !problem.isEmpty()) return problem;
  }
  const bool isMixed = !document.settings.runsOnServer() ||
                       std::any_of(serverOf.begin(), serverOf.end(),
                                   [](const auto& server) { return server.second == document::kEmbedded; });
  const RunNumbers last = m_traces.reserveForServers(kMostRequests, isMixed);
  remote::NodeNames names;
  for (const auto& [path, id] : prepared.paths.byPath) {
    const document::DocumentNode* node = document.find(id);
    if (node == nullptr) continue;
    workbench::addFileName(node->own, path, names);
    if (!node->name.empty()) names[path] = node->name;
  }
  workbench::RemoteRunRequest request{
      .settings = document.settings,
      .query = std::move(prepared.query),
      .retrieval = std::move(prepared.retrieval),
      .serverOf = std::move(serverOf),
      .names = std::move(names),
      .servers = m_servers.list(),
      .embedded =
          isMixed ? answerHere(m_engine.submitter(), document.settings, last.run + 1) : remote::LocalAnswer(),
      .simulators = m_simulators,
      .program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
      .run = last.run + 1,
      .lastRequest = last.request};
  const auto work = std::make_shared<workbench::RemoteRunJob>(std::move(request));
  const std::uint32_t tab = opened.id;
  EngineJob job{.work = work, .tab = tab};
  job.isRemote = true;
  job.activity = [work] {
    if (const auto indexing = work->indexing()) return progressText(*indexing);
    const std::string asking = work->asking();
    return asking.empty() ? QString() : tr("Asking %1").arg(QString::fromStdString(asking));
  };
  job.changed = [this, work, tab](workbench::JobState state, const QString& failure) {
    const std::map<std::string, remote::ServerFacts> found = work->facts();
    for (const auto& [name, facts] : found) m_serverFacts[name] = facts;
    if (workbench::MessageOrders orders = work->orders(); !orders.empty())
      m_orders[work->run()] = std::move(orders);
    if (!found.empty()) knowServers();
    if (!workbench::hasEnded(state)) return;
    m_engine.recording().end(work->recorder());
    end(work);
    if (OpenDocument* own = findDocument(m_documents, tab)) own->failure = failure;
  };
  auto store = std::make_shared<TraceStore>();
  ServerRun run{.work = work,
                .record = {.run = work->run(),
                           .tab = tab,
                           .document = opened.model->title(),
                           .path = opened.model->filePath(),
                           .settings = document.settings,
                           .startedAt = QDateTime::currentMSecsSinceEpoch(),
                           .paths = std::move(prepared.paths),
                           .trace = store},
                .store = store,
                .source = std::make_shared<const ServerSource>(store)};
  m_traces.hold(*store);
  m_serverRuns.push_back(std::move(run));
  m_traces.keepFor(document.settings);
  opened.failure.clear();
  m_engine.recording().add(work->recorder());
  QString problem = submit(std::move(job));
  if (problem.isEmpty()) return problem;
  m_engine.recording().end(work->recorder());
  end(work);
  return problem;
}

void ServerRuns::end(const std::shared_ptr<workbench::RemoteRunJob>& work) {
  std::erase_if(m_serverRuns, [&](const ServerRun& run) {
    if (run.work == work) m_traces.release(*run.store);
    return run.work == work;
  });
}

void ServerRuns::drain() {
  for (ServerRun& run : m_serverRuns) {
    std::vector<trace::Event> events;
    run.work->recorder()->drain(events);
    for (trace::Event& event : events) takeServerEvent(run, std::move(event));
  }
}

/// The document shows a run from the start of the run. A run that never starts does not replace the shown
/// run.
void ServerRuns::takeServerEvent(ServerRun& run, trace::Event event) {
  const bool ends = std::holds_alternative<trace::RunFinished>(event.payload);
  if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload))
    run.record.model = QString::fromStdString(session->model);
  const auto* started = std::get_if<trace::RunStarted>(&event.payload);
  const std::string queryJson = started == nullptr ? std::string() : started->queryJson;
  const bool begins = started != nullptr;
  if (const auto* reported = std::get_if<trace::ServerReported>(&event.payload))
    run.serverOf[event.request] = reported->server;
  if (const auto* metrics = std::get_if<trace::StepMetrics>(&event.payload))
    m_speeds[run.serverOf[event.request]].add(*metrics);
  run.store->append(std::move(event));
  if (begins) {
    run.record.paths = pathsOfOrigins(run.record.paths, run.work->origins());
    if (OpenDocument* document = findDocument(m_documents, run.record.tab)) {
      document->paths[run.record.run] = run.record.paths;
      document->source = run.source;
      document->position = 0;
      document->following = true;
      document->chosen = 0;
      forgetSelection(*document);
    }
    m_traces.beginOnServers(run.record, queryJson);
  }
  if (ends) {
    knowServers();
    m_traces.endOnServers(run.record);
  }
}

}  // namespace spanscope::ui
