// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/servers/server_simulators.h"
#include "ui/session/engine_host.h"
#include "ui/session/open_document.h"
#include "ui/session/run_traces.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/trace_source.h"

#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::workbench {
class RemoteRunJob;
}

namespace spanscope::ui {

/// The servers that the user gave names to, what each reported, and the runs on them: each run on servers is
/// a session of its own, whose events come from the job itself.
class ServerRuns : public QObject {
  Q_OBJECT
 public:
  /// All must outlive it.
  ServerRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces);

  const workbench::ServerList& servers() const { return m_servers; }
  workbench::ServerList& servers() { return m_servers; }
  /// Keeps them in a file from now on.
  void setServersFile(const QString& path);
  /// To be called when the list of servers may have changed.
  void readServers();
  /// What servers said of themselves since the program began, by their names.
  const std::map<std::string, remote::ServerFacts>& serverFacts() const { return m_serverFacts; }
  /// What is known of the servers of the list, for their twins; null: nothing. It is another object whenever
  /// something has changed, and changed() follows.
  const std::shared_ptr<const KnownServers>& knownServers() const { return m_knownServers; }
  void noteServerFacts(const std::string& name, remote::ServerFacts facts);
  /// "vLLM on gpu-3"; the name alone where it has not been asked yet.
  QString serverTitle(const std::string& name) const;

  using Submit = std::function<QString(EngineJob job)>;
  /// Runs the query of a document on servers. Returns why not, in words; nothing if it was started.
  QString run(OpenDocument& opened, PreparedQuery prepared, std::map<NodePath, std::string> serverOf,
              const Submit& submit);
  /// Takes what runs on servers have reported since the last call.
  void drain();

 Q_SIGNALS:
  void changed();  ///< the list, or what is known of its servers

 private:
  /// A run on servers, as long as its work goes on.
  struct ServerRun {
    std::shared_ptr<workbench::RemoteRunJob> work;
    RunRecord record;
    std::shared_ptr<TraceStore> store;
    std::shared_ptr<const ServerSource> source;
  };
  /// Why it cannot be asked, in words; nothing: it is in the list.
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
  std::shared_ptr<const KnownServers> m_knownServers;
  std::shared_ptr<workbench::ServerSimulators> m_simulators = std::make_shared<workbench::ServerSimulators>();
};

}  // namespace spanscope::ui
