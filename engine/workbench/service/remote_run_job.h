// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
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

class CacheOrderer;

/// Everything that a run on servers needs, as values.
struct RemoteRunRequest {
  RunSettings settings;  ///< `server` answers nodes that are not in `serverOf`; empty: the embedded engine.
  /// Parameters, questions and files are already resolved. Unused if there is `retrieval`, which has the
  /// query.
  query::Node query;
  std::optional<RetrievalRequest> retrieval;
  /// The server of a node, by its place in the query: the name of the server, or document::kEmbedded.
  std::map<NodePath, std::string> serverOf;
  remote::NodeNames names{};         ///< of nodes of the query, for texts; may be empty
  std::vector<NamedServer> servers;  ///< the user's list.
  /// Answers a request in the embedded engine; empty: this is not possible.
  remote::LocalAnswer embedded;
  /// Predict cache hits of servers whose tokenizer and chat template equal those of the settings' model; may
  /// be null.
  std::shared_ptr<ServerSimulators> simulators;
  std::string program;  ///< for the trace
  RunId run = 1;
  RequestId lastRequest = 0;  ///< the requests of the run have the numbers after this number
};

/// A run whose steps servers answer. The events of the run are a separate session, in a separate recorder.
/// The job uses neither model nor session of its job context. The job waits for servers, so this job needs a
/// service of its own.
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
  /// The progress of the index that the job waits for, if any.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }
  /// The server whose facts the job currently requests; empty: none.
  std::string asking() const { return m_asking.get(); }
  /// The facts that servers reported, by the servers' names. Any thread may call this function.
  std::map<std::string, remote::ServerFacts> facts() const { return m_facts.get(); }
  /// If attention locality changed the query: the path in the request's query for each path in the query that
  /// runs. Events have paths in the query that runs. The map is known before the first event. Empty: the
  /// paths are the same. Any thread may call this function.
  std::map<NodePath, NodePath> origins() const { return m_origins.get(); }
  /// The orders of the messages that were sent so far. Any thread may call this function.
  MessageOrders orders() const { return m_orders.get(); }

 private:
  class Watcher;
  std::vector<std::size_t> orderFor(std::optional<CacheOrderer>& orderer,
                                    std::vector<remote::RemoteTarget>& targets,
                                    const std::vector<std::size_t>& targetOf,
                                    const ServerRequests& made) const;
  remote::RemoteTarget targetNamed(const std::string& name, const query::Node& query,
                                   const std::stop_token& stop);
  /// `node`: of the query that runs.
  std::string serverOf(const NodePath& node) const;

  RemoteRunRequest m_request;
  std::shared_ptr<trace::Recorder> m_recorder = std::make_shared<trace::Recorder>();
  remote::HttpClient m_client;
  Indexing m_indexing;
  Published<std::string> m_asking;
  Published<std::map<std::string, remote::ServerFacts>> m_facts;
  Published<std::map<NodePath, NodePath>> m_origins;
  Published<MessageOrders> m_orders;
  std::atomic<bool> m_isStopped = false;
};

/// A request of a run on servers as a query for the embedded engine: its messages in order.
query::Node queryOf(const exports::ChatRequest& request);

}  // namespace spanscope::workbench
