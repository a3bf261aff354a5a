// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/remote_run_work.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/plan/localized_query.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/completions/template_prompt.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/retrieval.h"
#include "engine/workbench/retrieval_report.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/server_prompts.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/service/workplace.h"
#include "engine/workbench/setting_values.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace spanscope::workbench {
namespace {

/// The first error of what a pipeline found.
[[noreturn]] void refuseBy(const std::vector<query::Diagnostic>& diagnostics) {
  for (const query::Diagnostic& problem : diagnostics) {
    if (problem.severity == Severity::Error)
      throw Failure({{}, problem.pointer, problem.found, problem.expected});
  }
  throw Failure(errorAt("query", "one that cannot be sent", "another"));
}

/// Whether replies depend on the seed.
bool isSampled(const std::vector<exports::ChatRequest>& requests) {
  return std::any_of(requests.begin(), requests.end(),
                     [](const exports::ChatRequest& request) { return request.temperature > 0; });
}

}  // namespace

/// Tells the client of the work that there is something to see, and says of each step what was foretold.
class RemoteRunWork::Watcher final : public remote::RemoteWatcher {
 public:
  Watcher(const RemoteRunWork& work, const std::vector<remote::RemoteTarget>& targets,
          const std::vector<exports::ChatRequest>& requests)
      : m_work(work), m_targets(targets), m_requests(requests), m_replies(requests.size()) {
    if (work.m_request.twins == nullptr) return;
    // Without them nothing is foretold, and the run goes on.
    try {
      const checkpoint::Checkpoint checkpoint(modelDirectoryOf(work.settings()));
      m_tokenizer = text::loadTokenizer(checkpoint);
      m_chat = templateOf(work.settings().chatTemplate);
      if (m_chat == nullptr) m_chat = &text::findChatTemplate(checkpoint);
    } catch (const Failure&) {
      m_tokenizer.reset();
    }
  }
  void stepBegins(std::size_t /*request*/) override { m_work.tellProgress(); }
  void stepEnds(const remote::RemoteStep& step) override {
    m_replies[step.request] = step.answer.text;
    const remote::RemoteTarget& target = m_targets[step.target];
    // Twins know of prompts, not of spans.
    const bool isForetold = !target.local && !target.protocol->takesCalls;
    if (m_tokenizer != nullptr && step.brokenBy.empty() && isForetold) foretell(step);
    m_work.tellProgress();
  }

 private:
  void foretell(const remote::RemoteStep& step) {
    const remote::RemoteTarget& target = m_targets[step.target];
    ServerTwins& twins = *m_work.m_request.twins;
    try {
      std::vector<exports::ChatMessage> messages = m_requests[step.request].messages;
      for (exports::ChatMessage& message : messages) {
        if (message.replyOf) message.content = m_replies[*message.replyOf];
      }
      const std::vector<TokenId> prompt = chatTokens(messages, *m_tokenizer, *m_chat);
      // What counts otherwise is another model, or is written otherwise: its twin would foretell nothing.
      if (step.answer.promptTokens != static_cast<std::int64_t>(prompt.size())) return;
      const std::optional<Foretold> foretold = twins.foretell(target.name, target.facts, prompt);
      if (!foretold) return;
      say(step.request, "Foretold by the twin of " + foretold->twin + ": " + std::to_string(foretold->found) +
                            " of " + std::to_string(foretold->prompt) + " prompt tokens cached");
      twins.note(target.name, prompt,
                 sampledTokens({.text = step.answer.text, .endedItself = step.answer.finish == "stop"},
                               *m_tokenizer, *m_chat));
    } catch (const Failure&) {
      return;
    }
  }
  void say(std::size_t request, std::string text) const {
    m_work.m_recorder->send(m_work.run(), m_work.m_request.lastRequest + 1 + static_cast<RequestId>(request),
                            m_requests[request].node,
                            trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
  }

  const RemoteRunWork& m_work;
  const std::vector<remote::RemoteTarget>& m_targets;
  const std::vector<exports::ChatRequest>& m_requests;
  std::vector<std::string> m_replies;
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< null: nothing is foretold
  const text::ChatTemplate* m_chat = nullptr;
};

RemoteRunWork::RemoteRunWork(RemoteRunRequest request) : m_request(std::move(request)) {}

Begun RemoteRunWork::begin(Workplace& place, const std::stop_token& stop) {
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
                                        .fragments = std::move(asked.options),
                                        .watch = m_indexing.watch(stop, [this] { tellProgress(); })},
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
    auto found = std::find_if(targets.begin(), targets.end(), isSame);
    if (found == targets.end()) {
      targets.push_back(targetNamed(name, stop));
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
  // The embedded engine is given a chat, too.
  std::set<const remote::Protocol*> protocols;
  for (const remote::RemoteTarget& target : targets) protocols.insert(target.protocol);
  std::vector<std::size_t> targetOf;
  for (const exports::ChatRequest& request : made.requests) targetOf.push_back(targetAt.at(request.node));
  info.queryJson = query::writeCanonical(query);
  const std::vector<std::string> remarks = protocolWarnings(query, protocols, isSampled(made.requests));
  info.warnings.insert(info.warnings.end(), remarks.begin(), remarks.end());
  Watcher watcher(*this, targets, made.requests);
  remote::RemoteTrace traced(*m_recorder, std::move(info), targets, targetOf, made.requests, &watcher);
  traced.begin();
  const remote::RemoteResult result =
      remote::runRemotely(m_client, targets, targetOf, made.requests, traced, stop, made.calls);
  traced.end(result);
  m_isStopped = result.isStopped;
  if (result.error) throw Failure(*result.error);
  return Begun::Done;
}

std::string RemoteRunWork::serverOf(const NodePath& node) const {
  const std::map<NodePath, NodePath> origins = m_origins.get();
  const auto origin = origins.find(node);
  const auto own = m_request.serverOf.find(origin == origins.end() ? node : origin->second);
  if (own != m_request.serverOf.end() && !own->second.empty()) return own->second;
  return m_request.settings.server.empty() ? document::kEmbedded : m_request.settings.server;
}

remote::RemoteTarget RemoteRunWork::targetNamed(const std::string& name, const std::stop_token& stop) {
  if (name == document::kEmbedded) {
    if (!m_request.embedded) throw Failure(errorAt("server", "the embedded engine", "one that is there"));
    remote::RemoteTarget target{.name = "the embedded engine", .server = {}, .facts = {}};
    target.local = m_request.embedded;
    return target;
  }
  const auto isNamed = [&name](const NamedServer& server) { return server.name == name; };
  const auto found = std::find_if(m_request.servers.begin(), m_request.servers.end(), isNamed);
  if (found == m_request.servers.end()) {
    throw Failure(errorAt("server", "no server of the name \"" + name + "\"",
                          "one of the list of servers: “Servers…” in the list of models"));
  }
  m_asking.set(name);
  tellProgress();
  remote::RemoteTarget target{
      .name = name, .server = {.url = found->url, .model = found->model}, .facts = {}};
  if (found->atOnce > 0) target.atOnce = found->atOnce;
  target.server.access = accessTo(*found, stop);
  target.facts = remote::askServer(m_client, found->url, target.server.access, stop);
  if (stop.stop_requested()) return target;
  std::map<std::string, remote::ServerFacts> facts = m_facts.get();
  facts[name] = target.facts;
  m_facts.set(std::move(facts));
  m_asking.set({});
  tellProgress();
  target.protocol = &chosenProtocol(found->protocol, target.facts, name);
  if (target.protocol->needsPrompt) {
    const text::ChatTemplate* chat = templateOf(m_request.settings.chatTemplate);
    if (chat == nullptr)
      chat = &text::findChatTemplate(checkpoint::Checkpoint(modelDirectoryOf(m_request.settings)));
    // As text, which a server reads with its own tokenizer: another model than the document's may be there.
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
