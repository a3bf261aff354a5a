// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "ui/session/engine_host.h"
#include "ui/session/open_document.h"
#include "ui/session/run_traces.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/trace_source.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::workbench {
class RemoteRunJob;
}

namespace spanscope::ui {

/// The user's servers, the reported facts, and the runs on servers. Each run on servers is a separate
/// session, whose events come from the job itself.
class ServerRuns : public QObject {
  Q_OBJECT
 public:
  /// All references must outlive this object.
  ServerRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces);

  const workbench::ServerList& servers() const { return m_servers; }
  workbench::ServerList& servers() { return m_servers; }
  /// Keeps the list of servers in a file from now on.
  void setServersFile(const QString& path);
  /// Call this function when the list of servers may have changed.
  void readServers();
  /// The facts that each server reported since the program began, by server name.
  const std::map<std::string, remote::ServerFacts>& serverFacts() const { return m_serverFacts; }
  /// The known facts about the listed servers, for their cache simulators; null: nothing is known. Each
  /// change replaces the object and emits changed().
  const std::shared_ptr<const KnownServers>& knownServers() const { return m_knownServers; }
  void noteServerFacts(const std::string& name, remote::ServerFacts facts);
  /// "vLLM on gpu-3"; only the name if the server has not reported its facts yet.
  QString serverTitle(const std::string& name) const;

  using Submit = std::function<QString(EngineJob job)>;
  /// Runs the query of a document on servers. Returns the reason why the run did not start, for the user;
  /// empty: the run started.
  QString run(OpenDocument& opened, PreparedQuery prepared, std::map<NodePath, std::string> serverOf,
              const Submit& submit);
  /// Takes the events that runs on servers have reported since the last call.
  void drain();

 Q_SIGNALS:
  void changed();  ///< the list or the known facts about its servers have changed

 private:
  /// A run on servers whose job has not ended.
  struct ServerRun {
    std::shared_ptr<workbench::RemoteRunJob> work;
    RunRecord record;
    std::shared_ptr<TraceStore> store;
    std::shared_ptr<const ServerSource> source;
    std::map<RequestId, std::string> serverOf{};  ///< the server that answered a request
  };
  /// Returns the reason why the server cannot get requests, for the user; empty: no such reason.
  QString serverRefusal(const std::string& name) const;
  void knowServers();
  void takeServerEvent(ServerRun& run, trace::Event event);
  void end(const std::shared_ptr<workbench::RemoteRunJob>& work);

  EngineHost& m_engine;
  const OpenDocuments& m_documents;
  RunTraces& m_traces;
  std::vector<ServerRun> m_serverRuns;
  workbench::ServerList m_servers;
  std::map<std::string, remote::ServerFacts> m_serverFacts;
  std::map<std::string, experiment::SpeedSample> m_speeds;  ///< by server
  std::map<RunId, workbench::MessageOrders> m_orders;       ///< the orders that were sent
  std::filesystem::path m_pricesFile;                       ///< empty: there is no table of prices
  std::shared_ptr<const KnownServers> m_knownServers;
  std::shared_ptr<workbench::ServerSimulators> m_simulators = std::make_shared<workbench::ServerSimulators>();
};

}  // namespace spanscope::ui
