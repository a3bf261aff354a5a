// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a run on servers as the events of a trace, like a run of the embedded engine. Such a run has its own
// session. The run shares no pool and no metrics with the embedded engine. Open this file to record more
// about servers.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::remote {

/// Data of the trace about the run, in addition to the servers and requests of the run.
struct RemoteRunInfo {
  std::string program;    ///< name and version of the program that executes the run
  std::string queryJson;  ///< canonical
  std::string explain;    ///< may be empty
  std::uint64_t seed = 0;
  RunId run = 1;
  RequestId lastRequest = 0;  ///< the requests of the run have later numbers.
  /// The earlier retrievals, each with the node of its augment.
  std::vector<std::pair<NodePath, trace::PassagesRetrieved>> retrieved;
  std::vector<std::string> warnings;  ///< differences between the servers' work and the query
  NodeNames names{};                  ///< names that the user knows, for texts about nodes
};

/// All arguments must outlive this object.
class RemoteTrace final : public RemoteWatcher {
 public:
  /// `targetOf`: as for runRemotely(). `also` gets all calls of this watcher. Null: no other watcher.
  RemoteTrace(trace::Sink& sink, RemoteRunInfo info, const std::vector<RemoteTarget>& targets,
              const std::vector<std::size_t>& targetOf, const std::vector<exports::ChatRequest>& requests,
              RemoteWatcher* also = nullptr);

  /// Emits the events before the first step.
  void begin();
  /// Emits the end of the run.
  void end(const RemoteResult& result);

  void stepBegins(std::size_t request) override;
  void sends(std::size_t request, std::size_t target, const std::string& model, std::size_t bytes) override;
  void changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                       const Protocol& now) override;
  void orders(std::size_t request, const SentOrder& order) override;
  void promptProgress(std::size_t request, const PromptProgress& progress) override;
  void text(std::size_t request, const std::string& piece) override;
  void fails(std::size_t request, const Error& error) override;
  void stepEnds(const RemoteStep& step) override;

 private:
  void send(std::size_t request, trace::Payload payload);
  void sendToRun(trace::Payload payload);
  RequestId idOf(std::size_t request) const;

  trace::Sink& m_sink;
  const RemoteRunInfo m_info;
  const std::vector<RemoteTarget>& m_targets;
  const std::vector<std::size_t>& m_targetOf;
  const std::vector<exports::ChatRequest>& m_requests;
  RemoteWatcher* m_also;
  trace::PlanMade m_plan;
  std::set<std::size_t> m_begun;                     ///< requests
  std::map<std::size_t, const Protocol*> m_changed;  ///< by target
};

/// Returns the names of all targets that answer requests, each once: "vLLM on gpu-3, SGLang on b".
std::string titlesOf(const std::vector<RemoteTarget>& targets, const std::vector<std::size_t>& targetOf);

/// Returns a server's report about a request, as in a trace. Values that contradict each other count as not
/// reported.
trace::ServerReported reportOf(const RemoteStep& step, const RemoteTarget& target);

/// Returns the answers that no other request needs, joined by line breaks.
std::string answerOf(const std::vector<exports::ChatRequest>& requests, const RemoteResult& result);

}  // namespace spanscope::remote
