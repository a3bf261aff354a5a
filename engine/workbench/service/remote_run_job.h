// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/servers/server_simulators.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/service/request_retrieval.h"
#include "engine/workbench/settings.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// Everything that a run on servers needs, as values.
struct RemoteRunRequest {
  RunSettings settings;  ///< `server` answers what `serverOf` leaves out; empty: the embedded engine does
  /// Parameters, questions and files are already resolved. Moved out of `retrieval` where there is one.
  query::Node query;
  std::optional<RetrievalRequest> retrieval;
  /// Who answers a node, by its place in the query: the name of a server, or document::kEmbedded.
  std::map<NodePath, std::string> serverOf;
  std::vector<NamedServer> servers;  ///< the person's list
  /// Answers a request in the embedded engine; empty: nothing can.
  remote::LocalAnswer embedded;
  /// Foretell what servers find, where the model of the settings writes prompts as they do; may be null.
  std::shared_ptr<ServerSimulators> simulators;
  std::string program;  ///< for the trace
  RunId run = 1;
  RequestId lastRequest = 0;  ///< its requests have the numbers after this one
};

/// A run whose steps servers answer. Its events are a session of their own, in a recorder of its own. It
/// needs neither model nor session of its workplace, and takes as long as servers take: it is to be submitted
/// to a service of its own.
class RemoteRunJob final : public Job {
 public:
  explicit RemoteRunJob(RemoteRunRequest request);

  Begun begin(JobContext& place, const std::stop_token& stop) override;
  bool canBeginBeside(const JobContext& /*place*/) const override { return true; }
  bool canPass() const override { return true; }
  bool wasStopped() const override { return m_isStopped; }

  RunId run() const { return m_request.run; }
  const RunSettings& settings() const { return m_request.settings; }
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }
  /// How far the index is that it waits for, if it waits for one.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }
  /// The server that is asked what it can do; empty: none is.
  std::string asking() const { return m_asking.get(); }
  /// What those servers said of themselves that were asked, by their names. On any thread.
  std::map<std::string, remote::ServerFacts> facts() const { return m_facts.get(); }
  /// Where attention locality was written out: for each place of the query that is run, of which the events
  /// tell, the one of the request's query that it came from. Known before the first event; empty: they are
  /// the same. On any thread.
  std::map<NodePath, NodePath> origins() const { return m_origins.get(); }

 private:
  class Watcher;
  remote::RemoteTarget targetNamed(const std::string& name, const query::Node& query,
                                   const std::stop_token& stop);
  /// `node`: of the query that is run.
  std::string serverOf(const NodePath& node) const;

  RemoteRunRequest m_request;
  std::shared_ptr<trace::Recorder> m_recorder = std::make_shared<trace::Recorder>();
  remote::HttpClient m_client;
  Indexing m_indexing;
  Published<std::string> m_asking;
  Published<std::map<std::string, remote::ServerFacts>> m_facts;
  Published<std::map<NodePath, NodePath>> m_origins;
  std::atomic<bool> m_isStopped = false;
};

/// A request of a run on servers as a query of its own, for the embedded engine: its messages in order.
query::Node queryOf(const exports::ChatRequest& request);

}  // namespace spanscope::workbench
