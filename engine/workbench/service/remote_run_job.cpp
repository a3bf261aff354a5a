// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/remote_run_job.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/retrieval.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace spanscope::workbench {
namespace {

/// Returns the first error of a pipeline.
[[noreturn]] void refuseBy(const std::vector<query::Diagnostic>& diagnostics) {
  for (const query::Diagnostic& problem : diagnostics) {
    if (problem.severity == Severity::Error)
      throw Failure({{}, problem.pointer, problem.found, problem.expected});
  }
  throw Failure(errorAt("query", "a query that cannot be sent", "another"));
}

/// Whether answers depend on the seed.
bool isSampled(const std::vector<exports::ChatRequest>& requests) {
  return std::ranges::any_of(requests,
                             [](const exports::ChatRequest& request) { return request.temperature > 0; });
}

/// Whether the server has computed and cached the prompt. If the request was stopped before the answer, the
/// prompt counts as computed, because servers begin immediately. If the server refused the request, or
/// stopped before its first text, the prompt does not count.
bool isInCache(const remote::RemoteStep& step) {
  return step.brokenBy.empty() || step.isStopped || !step.answer.text.empty();
}

}  // namespace

/// Notifies the client of the job's progress, and adds the prediction to each step.
class RemoteRunJob::Watcher final : public remote::RemoteWatcher {
 public:
  Watcher(const RemoteRunJob& job, const std::vector<remote::RemoteTarget>& targets, const query::Node& query,
          const std::vector<exports::ChatRequest>& requests,
          const std::vector<exports::ChatRequest>& messages)
      : m_job(job),
        m_targets(targets),
        m_query(query),
        m_requests(requests),
        m_messages(messages.empty() ? requests : messages),
        m_answers(requests.size()) {
    if (job.m_request.simulators == nullptr) return;
    // Without simulators there is no prediction, and the run continues.
    try {
      const checkpoint::Checkpoint checkpoint(modelDirectoryOf(job.settings()));
      m_tokenizer = text::loadTokenizer(checkpoint);
      m_chat = &chatTemplateOf(job.settings());
    } catch (const Failure&) {
      m_tokenizer.reset();
    }
  }
  ~Watcher() override {
    // A run that ends by an exception leaves no prompt in progress.
    for (const auto& [request, sent] : m_sent) m_job.m_request.simulators->end(sent.server, sent.number, {});
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void stepBegins(std::size_t /*request*/) override { m_job.notifyProgress(); }
  void sends(std::size_t request, std::size_t target, const std::string& /*model*/,
             std::size_t /*bytes*/) override {
    const remote::RemoteTarget& asked = m_targets[target];
    // Simulators model prompts and not spans.
    const bool takesCalls = asked.protocol->takesCalls && !m_changed.contains(target);
    if (m_tokenizer != nullptr && !asked.local && !takesCalls) predict(request, asked);
  }
  void changesProtocol(std::size_t /*request*/, std::size_t target, const Error& /*refusal*/,
                       const remote::Protocol& now) override {
    m_changed.insert(target);
    for (const std::string& warning : protocolWarnings(m_query, {&now}, false)) {
      m_job.m_recorder->send(m_job.run(), 0, {},
                             trace::MessageLogged{.severity = Severity::Warning, .text = warning});
    }
  }
  void stepEnds(const remote::RemoteStep& step) override {
    m_answers[step.request] = step.answer.text;
    if (const auto sent = m_sent.find(step.request); sent != m_sent.end()) {
      end(step, sent->second);
      m_sent.erase(sent);
    }
    m_job.notifyProgress();
  }

 private:
  struct Sent {
    std::string server;
    std::uint64_t number = 0;
    PredictedReuse predicted;
  };

  void predict(std::size_t request, const remote::RemoteTarget& target) {
    try {
      const bool isChanged = target.protocol->takesCalls;
      std::vector<exports::ChatMessage> messages = (isChanged ? m_messages : m_requests)[request].messages;
      for (exports::ChatMessage& message : messages) {
        if (message.answerOf) message.content = m_answers[*message.answerOf];
      }
      std::optional<ServerSimulators::Sent> sent = m_job.m_request.simulators->send(
          target.name, target.facts, chatTokens(messages, *m_tokenizer, *m_chat));
      if (sent) m_sent[request] = {target.name, sent->number, std::move(sent->predicted)};
    } catch (const Failure&) {
      return;
    }
  }

  void end(const remote::RemoteStep& step, const Sent& sent) {
    const PredictedReuse& predicted = sent.predicted;
    std::optional<std::vector<TokenId>> answer;
    // A server that counts other tokens has another model or template, so its simulator would predict
    // nothing.
    if (isInCache(step) && step.answer.promptTokens.value_or(predicted.prompt) == predicted.prompt) {
      answer = sampledTokens({.text = step.answer.text,
                              .endedItself = step.brokenBy.empty() && remote::isOwnEnd(step.answer.finish)},
                             *m_tokenizer, *m_chat);
      if (step.answer.promptTokens) {
        say(step.request, /*id:predicted-by-simulator*/ "Predicted by the cache simulator of " +
                              predicted.simulator + ": " + std::to_string(predicted.found) + " of " +
                              std::to_string(predicted.prompt) + " prompt tokens cached");
      }
    }
    m_job.m_request.simulators->end(sent.server, sent.number, std::move(answer));
  }

  void say(std::size_t request, std::string text) const {
    m_job.m_recorder->send(m_job.run(), m_job.m_request.lastRequest + 1 + static_cast<RequestId>(request),
                           m_requests[request].node,
                           trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
  }

  const RemoteRunJob& m_job;
  const std::vector<remote::RemoteTarget>& m_targets;
  const query::Node& m_query;
  const std::vector<exports::ChatRequest>& m_requests;
  const std::vector<exports::ChatRequest>& m_messages;  ///< as ServerRequests::messages
  std::vector<std::string> m_answers;
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< null: there is no prediction
  const text::ChatTemplate* m_chat = nullptr;
  std::map<std::size_t, Sent> m_sent;  ///< prompts in progress, by request
  std::set<std::size_t> m_changed;     ///< targets that refused calls
};

RemoteRunJob::RemoteRunJob(RemoteRunRequest request) : m_request(std::move(request)) {}

Begun RemoteRunJob::begin(JobContext& place, const std::stop_token& stop) {
  remote::RemoteRunInfo info{.program = m_request.program,
                             .queryJson = {},
                             .explain = {},
                             .seed = m_request.settings.seed,
                             .run = m_request.run,
                             .lastRequest = m_request.lastRequest,
                             .retrieved = {},
                             .warnings = {}};
  query::Node query = std::move(m_request.query);
  if (m_request.retrieval) {
    RetrievalSettings where;
    where.modelDirectory = modelDirectoryOf(m_request.settings);
    Retrieval retrieval(std::move(where), place.backends());
    RetrievalRequest& asked = *m_request.retrieval;
    retrieval.useEmbeddings(asked.embeddings);
    PipelineResult found = runPipeline({.source = std::move(asked.query),
                                        .from = Stage::Retrieve,
                                        .surroundings = asked.files.get(),
                                        .retrieval = &retrieval,
                                        .passages = std::move(asked.options),
                                        .watch = m_indexing.watch(stop, [this] { notifyProgress(); })},
                                       Stage::Retrieve);
    m_indexing.end();
    if (stop.stop_requested()) return Begun::Done;
    if (!found.isReached()) refuseBy(found.diagnostics);
    for (const run::RetrievalReport& report : retrievalReports(found.retrieved, found.diagnostics)) {
      info.retrieved.emplace_back(report.node, report.found);
      info.warnings.insert(info.warnings.end(), report.warnings.begin(), report.warnings.end());
    }
    query = found.takeQuery();
  }
  const plan::PlanOptions options = document::planOptionsOf(m_request.settings);
  if (options.locality.isOn()) {
    plan::LocalizedQuery localized = plan::localizedQuery(query, options.locality);
    if (!localized.query) throw Failure(localized.problems.front());
    query = std::move(*localized.query);
    m_origins.set(std::move(localized.origins));
  }
  std::vector<remote::RemoteTarget> targets;
  std::map<NodePath, std::size_t> targetAt;
  for (const NodePath& node : generatingNodes(query)) {
    const std::string name = serverOf(node);
    const auto isSame = [&name](const remote::RemoteTarget& target) { return target.name == name; };
    auto found = std::ranges::find_if(targets, isSame);
    if (found == targets.end()) {
      targets.push_back(targetNamed(name, query, stop));
      found = targets.end() - 1;
    }
    if (stop.stop_requested()) return Begun::Done;
    targetAt[node] = static_cast<std::size_t>(found - targets.begin());
  }
  const auto protocolOf = [&](const NodePath& node) {
    const remote::RemoteTarget& target = targets[targetAt.at(node)];
    return target.local ? nullptr : target.protocol;
  };
  const ServerRequests made = serverRequests(query, m_request.settings, protocolOf);
  // The embedded engine also gets a chat.
  std::set<const remote::Protocol*> protocols;
  for (const remote::RemoteTarget& target : targets) protocols.insert(target.protocol);
  std::vector<std::size_t> targetOf;
  for (const exports::ChatRequest& request : made.requests) targetOf.push_back(targetAt.at(request.node));
  info.queryJson = query::writeCanonical(query);
  const std::vector<std::string> remarks = protocolWarnings(query, protocols, isSampled(made.requests));
  info.warnings.insert(info.warnings.end(), remarks.begin(), remarks.end());
  Watcher watcher(*this, targets, query, made.requests, made.messages);
  remote::RemoteTrace traced(*m_recorder, std::move(info), targets, targetOf, made.requests, &watcher);
  traced.begin();
  const remote::RemoteResult result = remote::runRemotely(m_client, targets, targetOf, made.requests, traced,
                                                          stop, made.calls, made.messages);
  traced.end(result);
  m_isStopped = result.isStopped;
  if (result.error) throw Failure(*result.error);
  return Begun::Done;
}

std::string RemoteRunJob::serverOf(const NodePath& node) const {
  const std::map<NodePath, NodePath> origins = m_origins.get();
  const auto origin = origins.find(node);
  const auto own = m_request.serverOf.find(origin == origins.end() ? node : origin->second);
  if (own != m_request.serverOf.end() && !own->second.empty()) return own->second;
  return m_request.settings.server.empty() ? document::kEmbedded : m_request.settings.server;
}

remote::RemoteTarget RemoteRunJob::targetNamed(const std::string& name, const query::Node& query,
                                               const std::stop_token& stop) {
  if (name == document::kEmbedded) {
    if (!m_request.embedded) throw Failure(errorAt("server", "the embedded engine", "an available server"));
    remote::RemoteTarget target{.name = "the embedded engine", .server = {}, .facts = {}};
    target.local = m_request.embedded;
    return target;
  }
  const auto isNamed = [&name](const NamedServer& server) { return server.name == name; };
  const auto found = std::ranges::find_if(m_request.servers, isNamed);
  if (found == m_request.servers.end()) {
    throw Failure(errorAt("server",
                          /*id:no-server-name-remote-run-work*/ "no server with the name \"" + name + "\"",
                          "a server in the list of servers: “Servers…” in the list of models"));
  }
  m_asking.set(name);
  notifyProgress();
  remote::RemoteTarget target{
      .name = name, .server = {.url = found->url, .model = found->model}, .facts = {}};
  target.server.isUnlisted = found->isUnlisted;
  if (found->atOnce > 0) target.atOnce = found->atOnce;
  target.server.access = accessTo(*found, stop);
  target.facts = remote::askServer(m_client, found->url, target.server.access, stop);
  if (stop.stop_requested()) return target;
  std::map<std::string, remote::ServerFacts> facts = m_facts.get();
  facts[name] = target.facts;
  m_facts.set(std::move(facts));
  m_asking.set({});
  notifyProgress();
  const ChosenProtocol chosen = chosenProtocol(found->protocol, target.facts, query, name);
  target.protocol = chosen.protocol;
  target.otherwise = chosen.otherwise;
  if (target.protocol->needsPrompt) {
    const text::ChatTemplate* chat = &chatTemplateOf(m_request.settings);
    // The prompt is sent as text, because the server may have another model with another tokenizer.
    target.prompt = remote::textPrompt(*chat);
    target.promptForm = "under the template " + chat->name + ", as text";
  }
  return target;
}

query::Node queryOf(const exports::ChatRequest& request) {
  query::Join messages{.kind = query::JoinKind::Cross, .children = {}};
  for (const exports::ChatMessage& message : request.messages)
    messages.children.push_back({query::Message{message.role, message.content}});
  query::Generate generate;
  generate.settings.model = request.model;
  if (request.maxTokens) generate.settings.maxTokens = *request.maxTokens;
  generate.settings.temperature = request.temperature;
  generate.input = query::Node{std::move(messages)};
  return {std::move(generate)};
}

}  // namespace spanscope::workbench
