// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/simulator_asker.h"

#include "engine/query/json/json.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/protocol.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/run_list.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

/// The kind of a server, from the policy of a run there: "llama.cpp on gpu-3".
std::string kindIn(const std::string& policy, const std::string& server) {
  for (const remote::ServerKindInfo& info : remote::kServerKinds) {
    const std::string title = std::string(info.title) + " on " + server;
    const std::size_t at = policy.find(title);
    if (at == std::string::npos) continue;
    const std::size_t end = at + title.size();
    if ((at == 0 || policy[at - 1] == ' ') && (end == policy.size() || policy[end] == ',')) return info.name;
  }
  return {};
}

/// Whether a document or a client started the run after this program started. The history also has runs of
/// files and of earlier starts.
bool isOfThisStart(const RunRecord& record) {
  if (isPredicted(record)) return false;
  return record.tab != 0 || (record.trace != nullptr && record.file.isEmpty() && record.hasSettings);
}

const trace::RunState* stateOf(const RunRecord& record) {
  if (!isOfThisStart(record) || record.metricValues == nullptr) return nullptr;
  const auto run = record.metricValues->runs.find(record.run);
  return run == record.metricValues->runs.end() ? nullptr : &run->second;
}

/// Adds the facts that the server reported in its last answer.
void addKnown(workbench::NamedSimulator& named, const KnownServers& servers) {
  const auto known = servers.find(named.server);
  if (known == servers.end()) return;
  named.atOnce = known->second.atOnce;
  named.keepsOrder = known->second.keepsOrder;
  named.hasOrderNote = known->second.hasOrderNote;
  const remote::Protocol* protocol = remote::findProtocol(known->second.protocol);
  if (const std::optional<remote::ServerFacts>& facts = known->second.facts) {
    named.kind = remote::infoOf(facts->kind).name;
    named.slots = facts->slots;
    named.cache = facts->cache;
    named.version = facts->version;
    if (protocol == nullptr) named.protocols = facts->protocols;
  }
  named.takesSpans = protocol != nullptr && protocol->takesCalls;
}

}  // namespace

/// Answers one request after the other. Only the thread of the SimulatorAsker uses this class.
class SimulatorAsker::Answerer {
 public:
  std::optional<AskedSimulators> answer(const Question& question, const std::stop_token& stop) {
    AskedSimulators answer{.prediction = question.prediction, .simulators = {}};
    const query::ParseResult parsed = query::parseJson(question.prediction->queryJson);
    if (!parsed.query) return answer;
    try {
      useModel(question.settings);
    } catch (const std::exception& failure) {
      answer.simulators = m_simulators.without(
          std::string("the tokenizer of this model is not available: ") + failure.what(), question.named);
      return answer;
    }
    auto made = m_simulators.prediction(m_model, *parsed.query, question.settings, *question.sent,
                                        question.named, stop);
    if (!made) return std::nullopt;
    answer.simulators = std::move(*made);
    return answer;
  }

  workbench::TracedPrediction trace(const Question& question, const std::string& place, bool startsEmpty,
                                    const std::stop_token& stop) {
    const std::string& queryJson = question.prediction->queryJson;
    workbench::TracedPrediction traced;
    const query::ParseResult parsed = query::parseJson(queryJson);
    if (!parsed.query) return {.problem = "the query cannot be read", .name = {}, .events = {}, .before = {}};
    try {
      useModel(question.settings);
      auto made = m_simulators.trace(m_model, *parsed.query, queryJson, question.settings, *question.sent,
                                     question.named, place, !startsEmpty, stop);
      if (made) return std::move(*made);
      traced.problem = "the prediction was stopped";
    } catch (const std::exception& failure) {
      traced.problem = failure.what();
    }
    return traced;
  }

 private:
  void useModel(const workbench::RunSettings& settings) {
    const std::string id = workbench::promptModelId(settings);
    if (m_model.tokenizer != nullptr && m_model.id == id) return;
    m_model = {};
    const checkpoint::Checkpoint checkpoint(workbench::modelDirectoryOf(settings));
    workbench::PromptModel model{.id = id, .tokenizer = text::loadTokenizer(checkpoint), .chat = nullptr};
    model.chat = &workbench::chatTemplateOf(settings);
    m_model = std::move(model);
  }

  workbench::SimulatorPredictor m_simulators;
  workbench::PromptModel m_model;
};

SimulatorAsker::SimulatorAsker(QObject* parent) : QObject(parent), m_answerer(std::make_shared<Answerer>()) {}

SimulatorAsker::~SimulatorAsker() {
  m_stop.request_stop();
  m_stopTracing.request_stop();
}

bool SimulatorAsker::trace(const std::string& place, bool startsEmpty) {
  if (m_isTracing || m_newest == nullptr || m_question.prediction == nullptr) return false;
  m_isTracing = true;
  m_thread.post([this, question = m_question, answerer = m_answerer, place, startsEmpty,
                 stop = m_stopTracing.get_token()] {
    if (stop.stop_requested()) return;
    const auto made = std::make_shared<const workbench::TracedPrediction>(
        answerer->trace(question, place, startsEmpty, stop));
    // The thread ends before this object does.
    QMetaObject::invokeMethod(
        this,
        [this, made] {
          m_isTracing = false;
          Q_EMIT traced(made);
        },
        Qt::QueuedConnection);
  });
  return true;
}

void SimulatorAsker::ask(const ViewInput& input) {
  readSent(input);
  Question question{
      .prediction = input.prediction.newest,
      .settings = workbench::onlyThose(
          input.document->settings,
          {workbench::SettingEffect::Model, workbench::SettingEffect::Plan, workbench::SettingEffect::Run}),
      .sent = m_sent,
      .named = m_known};
  question.settings.model = input.document->settings.model;
  question.settings.chatTemplate = input.document->settings.chatTemplate;
  question.settings.templateVariables = input.document->settings.templateVariables;
  for (const std::string& name : namedServers(*input.document)) {
    const bool isListed = std::find(input.servers.begin(), input.servers.end(), name) != input.servers.end();
    const bool isKnown = std::any_of(m_known.begin(), m_known.end(),
                                     [&name](const auto& known) { return known.server == name; });
    if (isListed && !isKnown) question.named.push_back({.server = name, .kind = {}});
  }
  m_asked = std::move(question);
  pose();
}

void SimulatorAsker::useServers(std::shared_ptr<const KnownServers> servers) {
  if (servers == m_servers) return;
  m_servers = std::move(servers);
  if (m_asked) pose();
}

/// Adds the orders in which the servers got the earlier queries.
void SimulatorAsker::useOrders(Question& question) {
  std::vector<workbench::SentQuery> sent = *question.sent;
  bool isOrdered = false;
  for (workbench::SentQuery& query : sent) {
    for (auto& [step, answer] : query.answers) {
      const auto known = m_servers->find(answer.server);
      if (known == m_servers->end()) continue;
      const auto run = known->second.orders.find(query.run);
      if (run == known->second.orders.end()) continue;
      const auto order = run->second.find(step);
      if (order == run->second.end()) continue;
      answer.order = order->second;
      isOrdered = true;
    }
  }
  if (!isOrdered) return;
  // An equal question needs the same object.
  if (m_ordered == nullptr || *m_ordered != sent)
    m_ordered = std::make_shared<const std::vector<workbench::SentQuery>>(std::move(sent));
  question.sent = m_ordered;
}

void SimulatorAsker::pose() {
  Question question = *m_asked;
  if (m_servers) {
    if (question.sent != nullptr) useOrders(question);
    for (workbench::NamedSimulator& named : question.named) addKnown(named, *m_servers);
  }
  if (question == m_question) return;
  m_question = question;
  m_stop.request_stop();
  m_stop = {};
  const std::uint64_t id = ++m_lastId;
  if (question.prediction == nullptr || question.prediction->queryJson.empty()) {
    m_isPending = false;
    m_newest.reset();
    return;
  }
  m_isPending = true;
  const auto coming = std::make_shared<std::promise<std::shared_ptr<const AskedSimulators>>>();
  m_coming = coming->get_future().share();
  m_thread.post(
      [this, id, question = std::move(question), answerer = m_answerer, coming, stop = m_stop.get_token()] {
        std::optional<AskedSimulators> answer;
        if (!stop.stop_requested()) answer = answerer->answer(question, stop);
        if (!answer || stop.stop_requested()) return coming->set_value(nullptr);
        const auto made = std::make_shared<const AskedSimulators>(std::move(*answer));
        coming->set_value(made);
        // The thread ends before this object does.
        QMetaObject::invokeMethod(
            this, [this, id, made] { take(id, made); }, Qt::QueuedConnection);
      });
}

void SimulatorAsker::finish() {
  constexpr std::chrono::seconds kPatience(5);
  if (!m_isPending || m_coming.wait_for(kPatience) != std::future_status::ready) return;
  if (const auto answer = m_coming.get()) take(m_lastId, answer);
}

void SimulatorAsker::take(std::uint64_t id, std::shared_ptr<const AskedSimulators> answer) {
  if (id != m_lastId || answer == m_newest) return;
  m_isPending = false;
  m_newest = std::move(answer);
  Q_EMIT answered();
}

void SimulatorAsker::readSent(const ViewInput& input) {
  if (m_sent != nullptr && input.records == m_readFrom) return;
  m_readFrom = input.records;
  static const RunRecords kNone;
  const RunRecords& records = m_readFrom ? *m_readFrom : kNone;
  auto sent = std::make_shared<const std::vector<workbench::SentQuery>>(sentQueries(records));
  // Each measurement changes the records, but not the sent queries.
  if (m_sent == nullptr || *m_sent != *sent) m_sent = std::move(sent);
  std::map<std::string, std::string> kinds;
  for (const auto& record : records) {
    const trace::RunState* const run = stateOf(*record);
    if (run == nullptr) continue;
    for (const RequestId id : run->requests) {
      const auto request = record->metricValues->requests.find(id);
      if (request == record->metricValues->requests.end() || !request->second.reported) continue;
      const std::string& server = request->second.reported->server;
      if (const std::string kind = kindIn(run->policy, server); !kind.empty()) kinds[server] = kind;
    }
  }
  m_known.clear();
  for (const auto& [server, kind] : kinds) m_known.push_back({.server = server, .kind = kind});
}

std::set<std::string> namedServers(const document::Document& document) {
  std::set<std::string> names;
  if (document.settings.runsOnServer()) names.insert(document.settings.server);
  for (const document::NodeId id : document.ids()) {
    const std::string& own = document.at(id).server;
    if (!own.empty() && own != document::kEmbedded) names.insert(own);
  }
  return names;
}

std::vector<workbench::SentQuery> sentQueries(const RunRecords& records) {
  std::vector<workbench::SentQuery> sent;
  for (const auto& record : records) {
    const trace::RunState* const run = stateOf(*record);
    // Without the texts of a query, its cache hits on a server cannot be predicted.
    if (run == nullptr || !run->outcome || run->queryJson->empty()) continue;
    workbench::SentQuery query{
        .run = record->run, .queryJson = *run->queryJson, .settings = record->settings, .answers = {}};
    // The query of a run on servers has all its levels written out.
    const bool hasServer = record->settings.runsOnServer();
    if (hasServer) query.settings.locality = 0;
    for (const RequestId id : run->requests) {
      const auto request = record->metricValues->requests.find(id);
      if (request == record->metricValues->requests.end() || !request->second.outcome) continue;
      workbench::SentAnswer answer{.text = request->second.text,
                                   .endedItself = *request->second.outcome == trace::StepOutcome::EndToken};
      if (const auto& reported = request->second.reported) {
        // A server that refuses a request, or fails before its first token, has computed nothing.
        const bool isComputed = reported->brokenBy.empty() || !answer.text.empty() ||
                                request->second.outcome == trace::StepOutcome::Stopped;
        if (!isComputed) continue;
        answer.server = reported->server;
        answer.promptTokens = reported->promptTokens;
      }
      query.answers[{request->second.node, request->second.copy}] = std::move(answer);
    }
    sent.push_back(std::move(query));
  }
  return sent;
}

}  // namespace spanscope::ui
