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
#include "engine/workbench/servers/cache_order.h"
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

}  // namespace

/// Notifies the client of the job's progress, and adds the prediction to each step.
class RemoteRunJob::Watcher final : public remote::RemoteWatcher {
 public:
  Watcher(RemoteRunJob& job, const std::vector<remote::RemoteTarget>& targets, const query::Node& query,
          const std::vector<exports::ChatRequest>& requests, CacheOrderer* orderer)
      : m_job(job), m_targets(targets), m_query(query), m_requests(requests), m_orderer(orderer) {}

  void stepBegins(std::size_t /*request*/) override { m_job.notifyProgress(); }
  void sends(std::size_t request, std::size_t target, const std::string& /*model*/,
             std::size_t /*bytes*/) override {
    if (m_orderer != nullptr) m_orderer->sends(request, m_targets[target]);
  }
  void orders(std::size_t request, const remote::SentOrder& order) override {
    MessageOrders orders = m_job.m_orders.get();
    const std::size_t copy = remote::copyOf(m_requests, request).number - 1;
    orders[{m_requests[request].node, static_cast<std::uint32_t>(copy)}] = {.messages = order.messages,
                                                                            .notes = order.notes};
    m_job.m_orders.set(std::move(orders));
  }
  void changesProtocol(std::size_t /*request*/, std::size_t /*target*/, const Error& /*refusal*/,
                       const remote::Protocol& now) override {
    for (const std::string& warning : protocolWarnings(m_query, {&now}, false)) {
      m_job.m_recorder->send(m_job.run(), 0, {},
                             trace::MessageLogged{.severity = Severity::Warning, .text = warning});
    }
  }
  void stepEnds(const remote::RemoteStep& step) override {
    if (m_orderer != nullptr) {
      if (const std::optional<PredictedReuse> predicted = m_orderer->ends(step)) {
        say(step.request,
            /*id:predicted-by-simulator*/ "Predicted by the cache simulator of " + predicted->simulator +
                ": " + foundText(*predicted) + " of " + std::to_string(predicted->prompt) +
                " prompt tokens cached" +
                (predicted->isExact() ? "" : "; the order of concurrent requests is not known"));
      }
    }
    m_job.notifyProgress();
  }

 private:
  void say(std::size_t request, std::string text) const {
    m_job.m_recorder->send(m_job.run(), m_job.m_request.lastRequest + 1 + static_cast<RequestId>(request),
                           m_requests[request].node,
                           trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
  }

  RemoteRunJob& m_job;
  const std::vector<remote::RemoteTarget>& m_targets;
  const query::Node& m_query;
  const std::vector<exports::ChatRequest>& m_requests;
  CacheOrderer* m_orderer;  ///< null: there is no prediction
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
                             .warnings = {},
                             .names = m_request.names};
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
    info.names.clear();  // the nodes have other places
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
  std::optional<CacheOrderer> orderer;
  const std::vector<std::size_t> order = orderFor(orderer, targets, targetOf, made);
  Watcher watcher(*this, targets, query, made.requests, orderer ? &*orderer : nullptr);
  remote::RemoteTrace traced(*m_recorder, std::move(info), targets, targetOf, made.requests, &watcher);
  traced.begin();
  const remote::RemoteResult result = remote::runRemotely(m_client, targets, targetOf, made.requests, traced,
                                                          stop, made.calls, made.messages, order);
  traced.end(result);
  m_isStopped = result.isStopped;
  if (result.error) throw Failure(*result.error);
  return Begun::Done;
}

/// Lets the orderer arrange the requests of every server. Returns the order in which requests are sent.
/// Empty: in the order of the query.
std::vector<std::size_t> RemoteRunJob::orderFor(std::optional<CacheOrderer>& orderer,
                                                std::vector<remote::RemoteTarget>& targets,
                                                const std::vector<std::size_t>& targetOf,
                                                const ServerRequests& made) const {
  if (m_request.simulators == nullptr) return {};
  try {
    const checkpoint::Checkpoint checkpoint(modelDirectoryOf(settings()));
    orderer.emplace(m_request.simulators, text::loadTokenizer(checkpoint), chatTemplateOf(settings()));
    for (remote::RemoteTarget& target : targets)
      target.facts.cache.tokenBytes = cachedTokenBytes(modelDirectoryOf(settings()));
  } catch (const Failure&) {
    return {};  // Without simulators there is no prediction, and the run continues.
  }
  bool isOrdered = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    remote::RemoteTarget& target = targets[i];
    if (target.local) continue;
    const auto server = std::ranges::find(m_request.servers, target.name, &NamedServer::name);
    const bool keepsOrder = server == m_request.servers.end() || server->keepsOrder;
    orderer->use(target, keepsOrder, !keepsOrder && server->hasOrderNote);
    isOrdered |= !keepsOrder && !target.protocol->takesCalls && std::ranges::count(targetOf, i) > 0;
  }
  // The order of several servers would mix their requests.
  if (!isOrdered || targets.size() != 1) return {};
  return orderer->expect(targets.front().name, made.requests);
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
    if (!m_request.embedded)
      throw Failure(errorAt("server", "The embedded engine is not available here.", "Choose a server."));
    remote::RemoteTarget target{.name = "the embedded engine", .server = {}, .facts = {}};
    target.local = m_request.embedded;
    return target;
  }
  const auto isNamed = [&name](const NamedServer& server) { return server.name == name; };
  const auto found = std::ranges::find_if(m_request.servers, isNamed);
  if (found == m_request.servers.end()) {
    throw Failure(
        errorAt("server",
                /*id:no-server-name-remote-run-work*/ "There is no server with the name \"" + name + "\".",
                "Choose a server of the list: “Servers…” in the list of models."));
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
