// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a query on a server. Writes the answers while they arrive, then a table of the steps.

#include "app/cli/asked_server.h"
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/export_options.h"
#include "app/cli/input.h"
#include "app/cli/number_option.h"
#include "app/cli/query_options.h"
#include "app/cli/remote_inputs.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/export/export_target.h"
#include "engine/metrics/metric_table.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/remote/protocol.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"
#include "engine/trace/sink.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/sent_prompts.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

/// The facts about the sent prompts, by request.
struct SentFacts {
  std::map<std::size_t, remote::SentOrder> orders;             ///< chosen orders
  std::map<std::size_t, workbench::PredictedReuse> predicted;  ///< before the requests were sent
};

/// Writes the texts of answers to standard output, in the order of the query. The first unfinished answer is
/// written live. The texts of later answers wait. Errors go to standard error immediately.
class AnswerPrinter final : public remote::RemoteWatcher {
 public:
  /// `orderer` may be null.
  AnswerPrinter(const Context& context, const std::vector<remote::RemoteTarget>& targets,
                const std::vector<exports::ChatRequest>& requests, workbench::CacheOrderer* orderer,
                bool isSilent)
      : m_context(context),
        m_targets(targets),
        m_requests(requests),
        m_orderer(orderer),
        m_isSilent(isSilent),
        m_answers(requests.size()) {}

  void stepBegins(std::size_t request) override;
  void sends(std::size_t request, std::size_t target, const std::string& model, std::size_t bytes) override;
  void orders(std::size_t request, const remote::SentOrder& order) override;
  void changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                       const remote::Protocol& now) override;
  void promptProgress(std::size_t request, const remote::PromptProgress& progress) override;
  void text(std::size_t request, const std::string& piece) override;
  void fails(std::size_t request, const Error& error) override;
  void stepEnds(const remote::RemoteStep& step) override;
  /// Writes all waiting texts. Call this function at the end.
  void end();
  const SentFacts& sentFacts() const { return m_sent; }

 private:
  struct Answer {
    std::string text;  ///< text that is not written yet
    bool hasBegun = false;
    bool hasText = false;
    bool hasEnded = false;
  };

  void pass();
  void writeHead();
  void writeText();

  const Context& m_context;
  const std::vector<remote::RemoteTarget>& m_targets;
  const std::vector<exports::ChatRequest>& m_requests;
  workbench::CacheOrderer* m_orderer;
  SentFacts m_sent;
  bool m_isSilent;
  std::vector<Answer> m_answers;
  std::size_t m_turn = 0;
  bool m_isInLine = false;  ///< whether the last written line has no end yet
};

/// "/g/input/cross/0 (copy 2 of 4)"
std::string stepName(const std::vector<exports::ChatRequest>& requests, std::size_t request) {
  const NodePath& node = requests[request].node;
  return (node.empty() ? "the root" : node) + remote::copyText(remote::copyOf(requests, request));
}

/// The reason for the end of an answer.
std::string endOf(const remote::RemoteStep& step) {
  if (!step.brokenBy.empty()) return step.isStopped ? "a stop" : "an error";
  return step.answer.finish.empty() ? "its end" : step.answer.finish;
}

std::string countText(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "not reported";
}

void AnswerPrinter::stepBegins(std::size_t request) {
  m_answers[request].hasBegun = true;
  if (request == m_turn) writeHead();
}

void AnswerPrinter::sends(std::size_t request, std::size_t target, const std::string& /*model*/,
                          std::size_t /*bytes*/) {
  if (m_orderer != nullptr) m_orderer->sends(request, m_targets[target]);
}

void AnswerPrinter::orders(std::size_t request, const remote::SentOrder& order) {
  m_sent.orders[request] = order;
}

void AnswerPrinter::changesProtocol(std::size_t /*request*/, std::size_t target, const Error& refusal,
                                    const remote::Protocol& now) {
  showProgress(m_context, "");
  m_context.streams.err << "warning: " << remote::changeText(m_targets[target], refusal, now) << '\n'
                        << std::flush;
}

void AnswerPrinter::promptProgress(std::size_t request, const remote::PromptProgress& progress) {
  if (request != m_turn) return;
  showProgress(m_context, "prompt: " + std::to_string(progress.processed) + " of " +
                              counted(progress.total, "token") + ", " + std::to_string(progress.cached) +
                              " of them cached");
}

void AnswerPrinter::text(std::size_t request, const std::string& piece) {
  m_answers[request].text += piece;
  m_answers[request].hasText = true;
  if (request == m_turn) writeText();
}

void AnswerPrinter::fails(std::size_t /*request*/, const Error& error) {
  showProgress(m_context, "");
  if (m_isInLine && m_context.streams.outIsTerminal) m_context.streams.out << '\n' << std::flush;
  m_isInLine = false;
  m_context.streams.err << error.message() << '\n' << std::flush;
}

void AnswerPrinter::stepEnds(const remote::RemoteStep& step) {
  if (m_orderer != nullptr) {
    if (const auto predicted = m_orderer->ends(step)) m_sent.predicted[step.request] = *predicted;
  }
  Answer& answer = m_answers[step.request];
  if (!answer.hasText && !step.answer.text.empty()) text(step.request, step.answer.text);
  answer.hasEnded = true;
  while (m_turn < m_answers.size() && m_answers[m_turn].hasEnded) pass();
}

void AnswerPrinter::end() {
  while (m_turn < m_answers.size()) pass();
}

/// Ends the current answer, and begins the next answer.
void AnswerPrinter::pass() {
  Answer& answer = m_answers[m_turn];
  writeText();
  if (!m_isSilent && answer.hasText) m_context.streams.out << '\n' << std::flush;
  m_isInLine = false;
  if (++m_turn == m_answers.size() || !m_answers[m_turn].hasBegun) return;
  writeHead();
  writeText();
}

void AnswerPrinter::writeHead() {
  if (!m_isSilent && m_requests.size() > 1)
    m_context.streams.out << "── " << stepName(m_requests, m_turn) << '\n' << std::flush;
}

void AnswerPrinter::writeText() {
  Answer& answer = m_answers[m_turn];
  showProgress(m_context, "");
  if (answer.text.empty()) return;
  if (!m_isSilent) {
    m_context.streams.out << answer.text << std::flush;
    m_isInLine = answer.text.back() != '\n';
  }
  answer.text.clear();
}

/// A table of the steps, and a line with the protocol.
std::string stepsText(const std::vector<exports::ChatRequest>& requests, const remote::RemoteResult& result,
                      const remote::RemoteTarget& target, const SentFacts& sent,
                      const remote::NodeNames& names) {
  const remote::ServerKindInfo& kind = remote::infoOf(target.facts.kind);
  const bool hasPrediction = !sent.predicted.empty();
  std::vector<TextTable::Column> columns{{"node", TextTable::Align::Left},
                                         {metrics::get("prompt-tokens").shortName},
                                         {metrics::get("cached-tokens").shortName}};
  if (hasPrediction) columns.push_back({/*id:predicted-column*/ "predicted"});
  columns.insert(columns.end(), {{metrics::get("generated-tokens").shortName},
                                 {"first text ms"},
                                 {"all ms"},
                                 {"ended by", TextTable::Align::Left}});
  TextTable table(std::move(columns));
  bool isMissing = false;
  for (const remote::RemoteStep& step : result.steps) {
    // A failed request does not show how the server is configured.
    isMissing |= step.cached.state == remote::CachedState::NotReported && !step.cached.isInconsistent &&
                 step.counted > 0 && step.brokenBy.empty();
    const auto ofStep = [&step](std::string text) { return step.counted == 0 ? "above" : std::move(text); };
    std::vector<std::string> cells{stepName(requests, step.request),
                                   ofStep(countText(step.answer.promptTokens)),
                                   ofStep(remote::cachedText(step.cached))};
    if (hasPrediction) {
      const auto predicted = sent.predicted.find(step.request);
      cells.push_back(predicted == sent.predicted.end() ? "–" : foundText(predicted->second));
    }
    cells.insert(cells.end(), {ofStep(countText(step.answer.generatedTokens) +
                                      (step.counted > 1 && step.answer.generatedTokens
                                           ? " in " + counted(step.counted, "answer", "answers")
                                           : "")),
                               step.timeToFirstToken ? fixed(*step.timeToFirstToken * kMilliseconds, 1) : "–",
                               fixed(step.seconds * kMilliseconds, 1), endOf(step)});
    table.addRow(std::move(cells));
  }
  std::string text = "\n" + table.text();
  text += "  sent by " + remote::protocolText(target) + "\n";
  for (const auto& [request, order] : sent.orders) {
    text += "  " + (requests.size() > 1 ? stepName(requests, request) + ": " : std::string()) +
            remote::orderText(order, names) + "\n";
  }
  if (isMissing && target.protocol->reporting(kind) == remote::CacheReporting::IfAsked) {
    text += std::string("  ") + kind.title + " does not report cached tokens" +
            (kind.zeroIsSilent ? ", or no tokens were cached" : "") + ": " + kind.advice + "\n";
  }
  return text;
}

nlohmann::ordered_json stepsJson(const std::vector<exports::ChatRequest>& requests,
                                 const remote::RemoteResult& result, const SentFacts& sent) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (const remote::RemoteStep& step : result.steps) {
    Json& entry = steps.emplace_back();
    entry["node"] = requests[step.request].node;
    if (const remote::CopyNumber copy = remote::copyOf(requests, step.request); copy.all > 1)
      entry["copy"] = copy.number;
    if (const auto order = sent.orders.find(step.request); order != sent.orders.end()) {
      const remote::SentOrder& own = order->second;
      entry["order"] = {{"sent", own.children},
                        {"messages", own.messages},
                        {"prompt_tokens", own.tokens},
                        {"cached_tokens", own.cached},
                        {"as_written", own.asWritten},
                        {"is_exact", own.isExact},
                        {"order_line_tokens", own.noteTokens}};
    }
    entry["model"] = step.answer.model;
    entry["text"] = step.answer.text;
    if (!step.answer.reasoning.empty()) entry["reasoning"] = step.answer.reasoning;
    const auto count = [&entry](const char* name, const std::optional<std::int64_t>& value) {
      entry[name] = value ? Json(*value) : Json(nullptr);
    };
    count("prompt_tokens", step.answer.promptTokens);
    count("cached_tokens", step.answer.cachedTokens);
    if (step.answer.writtenTokens) entry["cache_written_tokens"] = *step.answer.writtenTokens;
    entry["cached"] = remote::cachedText(step.cached);
    if (const auto predicted = sent.predicted.find(step.request); predicted != sent.predicted.end()) {
      const workbench::PredictedReuse& own = predicted->second;
      entry["predicted"] = {{"cached_tokens", own.found}, {"min", own.least}, {"max", own.most}};
    }
    count("generated_tokens", step.answer.generatedTokens);
    if (step.counted != 1) entry["counted_replies"] = step.counted;
    entry["first_text_ms"] =
        step.timeToFirstToken ? Json(*step.timeToFirstToken * kMilliseconds) : Json(nullptr);
    entry["all_ms"] = step.seconds * kMilliseconds;
    entry["finish"] = step.answer.finish;
    if (!step.brokenBy.empty()) entry["broken_by"] = step.brokenBy;
    if (!step.warning.empty()) entry["warning"] = step.warning;
  }
  return steps;
}

/// Facts about a server as text: a table of its models, and one fact per line.
std::string factsText(const remote::ServerFacts& facts) {
  const remote::ServerKindInfo& kind = remote::infoOf(facts.kind);
  std::string text = std::string(kind.title) + (facts.version.empty() ? "" : " " + facts.version) + "\n";
  if (facts.listsModels) {
    TextTable table({{"model", TextTable::Align::Left}, {"context"}});
    for (const remote::ServedModel& model : facts.models)
      table.addRow({model.name, model.context ? std::to_string(*model.context) : "not reported"});
    text += table.text();
  } else {
    text += "  models: not reported\n";
  }
  std::string cached;
  switch (kind.cached) {
    case remote::CacheReporting::Always:
      cached = "reported";
      break;
    case remote::CacheReporting::IfAsked:
      cached = std::string("reported with an option: ") + kind.advice;
      break;
    case remote::CacheReporting::Never:
      cached = "cannot be reported";
      break;
  }
  text += "  cached tokens: " + cached + "\n";
  text += std::string(/*id:progress-prompt*/ "  progress of a prompt: ") +
          (kind.sendsProgress ? "reported" : "not reported") + "\n";
  text += std::string("  span queries: ") +
          (facts.takes("spnl") ? "accepted at /v1/query/execute" : "not accepted") + "\n";
  std::string titles;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) titles += (titles.empty() ? "" : ", ") + std::string(protocol->name);
  }
  text += "  protocols: " + (titles.empty() ? "none" : titles) + "\n";
  if (facts.slots) {
    text += "  slots: " + std::to_string(*facts.slots);
    if (facts.cache.slotTokens) text += ", of " + counted(*facts.cache.slotTokens, "token");
    text += "\n";
  }
  if (facts.cache.blockSize) text += "  blocks: of " + counted(*facts.cache.blockSize, "token") + "\n";
  if (facts.cache.cacheTokens)
    text += "  cache: room for " + counted(*facts.cache.cacheTokens, "token") + "\n";
  if (!facts.cache.findsPrefixes.value_or(true)) text += "  cache: no prefix caching\n";
  return text;
}

nlohmann::ordered_json factsJson(const remote::ServerFacts& facts) {
  nlohmann::ordered_json json;
  json["kind"] = remote::infoOf(facts.kind).name;
  if (!facts.version.empty()) json["version"] = facts.version;
  json["models"] = nlohmann::ordered_json::array();
  for (const remote::ServedModel& model : facts.models) {
    auto& entry = json["models"].emplace_back();
    entry["name"] = model.name;
    if (model.context) entry["context"] = *model.context;
  }
  json["takes_queries"] = facts.takes("spnl");
  json["protocols"] = nlohmann::ordered_json::array();
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) json["protocols"].push_back(protocol->name);
  }
  if (facts.slots) json["slots"] = *facts.slots;
  if (facts.cache.slotTokens) json["slot_tokens"] = *facts.cache.slotTokens;
  if (facts.cache.blockSize) json["block_size"] = *facts.cache.blockSize;
  if (facts.cache.cacheTokens) json["cache_tokens"] = *facts.cache.cacheTokens;
  if (facts.cache.findsPrefixes) json["finds_prefixes"] = *facts.cache.findsPrefixes;
  return json;
}

using Json = nlohmann::ordered_json;

ExitCode showServer(const Context& context, const ServerOptions& options, bool asJson) {
  const std::optional<AskedServer> there = serverToAsk(context, options);
  if (!there) return ExitCode::RunFailed;
  remote::HttpClient client;
  const std::optional<remote::ServerFacts> asked =
      factsOf(context, client, there->server.url, there->server.access);
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!asked) return ExitCode::RunFailed;
  const remote::ServerFacts& facts = *asked;
  context.streams.out << (asJson ? jsonText(factsJson(facts)) + "\n" : factsText(facts));
  return ExitCode::Fine;
}

struct RemoteRunOptions {
  ServerOptions server;
  std::vector<std::string> files;
  std::string order;  ///< "cache" or "written"; empty: the value in the list of servers
  bool hasOrderNote = false;
  std::string sent;  ///< file with the prompts of earlier commands; empty: none
  std::string model;
  bool isUnlisted = false;  ///< sends the name `model` even if the server does not list this name
  std::string protocol;     ///< name of the protocol; empty: chosen for the server
  std::string tokenizer;    ///< directory or file
  std::string chatTemplate;
  std::optional<std::uint64_t> seed;
  std::optional<std::size_t> atOnce;  ///< nothing: the value in the list of servers
  std::string trace;
  bool json = false;
  std::string inputs;   ///< file of inputs; empty: the queries run once
  std::string results;  ///< file for the results of the inputs
  QueryOptionTexts query;
};

/// Records a run in a file, if the options request a recording.
class RemoteRecording {
 public:
  RemoteRecording(const Context& context, const RemoteRunOptions& options) : m_context(context) {
    if (options.trace.empty()) return;
    m_recorder.emplace();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    m_recorder->startFile(OutputFile(options.trace, {.inputs = options.query.book->files,
                                                     .unfinished = context.streams.unfinished,
                                                     .stop = context.stop}),
                          {.program = kProgram,
                           .createdAt = std::chrono::duration_cast<std::chrono::milliseconds>(now).count()});
  }
  trace::Sink& sink() { return m_recorder ? static_cast<trace::Sink&>(*m_recorder) : m_none; }
  /// Whether the file is complete, or there is no file.
  bool finish() {
    const std::optional<Error> error = m_recorder ? m_recorder->finishFile() : std::nullopt;
    if (error) m_context.streams.err << error->message() << '\n';
    return !error;
  }

  static constexpr const char* kProgram = "spanq " SPANSCOPE_VERSION;

 private:
  const Context& m_context;
  trace::NoSink m_none;
  std::optional<trace::Recorder> m_recorder;
};

/// The requests of a query in the form that a protocol sends.
struct RemoteRequests {
  std::vector<exports::ChatRequest> requests;
  std::vector<exports::QueryCall> calls;         ///< for protocols that send whole calls
  std::vector<exports::ChatRequest> messages{};  ///< the same requests for a server that refuses calls
};

/// Reports on standard error how a protocol differs from the query. False: the protocol cannot send the
/// query.
bool warnOf(const remote::Protocol& protocol, const RemoteRunOptions& options, const query::Node& query,
            const std::string& name, const QueryFile* file, const Streams& streams) {
  return warnOfTarget({.query = query,
                       .target = *exports::findExportTarget(protocol.form),
                       .settings = {.seed = options.seed, .isSentHere = true},
                       .name = name,
                       .file = file},
                      streams);
}

/// If the protocol cannot send the query, returns nothing and reports the reason on standard error.
std::optional<RemoteRequests> requestsFor(const remote::Protocol& protocol, const RemoteRunOptions& options,
                                          const query::Node& query, const std::string& name,
                                          const QueryFile* file, const Streams& streams) {
  if (!warnOf(protocol, options, query, name, file, streams)) return std::nullopt;
  if (options.seed && !protocol.takesSeeds)
    streams.err << /*id:seed-not-sent*/ "warning: the seed is not sent: " << protocol.title
                << " has no field for a seed\n";
  RemoteRequests made;
  std::vector<Error> problems;
  if (protocol.takesCalls) {
    exports::QueryCalls calls = exports::queryCalls(query);
    made.messages =
        workbench::asMessages(calls.requests, exports::chatRequests(query, options.seed).requests);
    made.requests = std::move(calls.requests);
    made.calls = std::move(calls.calls);
    problems = std::move(calls.problems);
  } else {
    exports::ChatRequests chats = exports::chatRequests(query, options.seed);
    made.requests = std::move(chats.requests);
    problems = std::move(chats.problems);
  }
  for (const Error& problem : problems) streams.err << name << ": " << Failure(problem).what() << '\n';
  if (made.requests.empty()) return std::nullopt;
  return made;
}

/// Sets how prompts of a target are written. Throws Failure if there is no template or tokenizer.
void putPrompt(remote::RemoteTarget& target, const RemoteRunOptions& options, std::ostream& err) {
  if (!target.protocol->needsPrompt) return;
  if (options.chatTemplate.empty() && options.tokenizer.empty()) {
    throw Failure(errorAt(/*id:prompts-text-completions*/ "prompts of text completions", "no chat template",
                          "a template name (--template) or a model with a template (--tokenizer)"));
  }
  const text::ChatTemplate& chat = options.chatTemplate.empty()
                                       ? text::findChatTemplate(options.tokenizer)
                                       : text::chatTemplateNamed(options.chatTemplate);
  target.promptForm = "under the template " + chat.name;
  if (options.tokenizer.empty()) {
    target.prompt = remote::textPrompt(chat);
    target.promptForm += ", as text";
    err << /*id:delimiters-as-text*/ "warning: the delimiters of the template " << chat.name
        << " are sent as text. The server can read these delimiters as plain text, not as control tokens; "
           "--tokenizer sends token ids\n";
  } else {
    target.prompt = remote::tokenPrompt(chat, text::loadTokenizer(options.tokenizer));
    target.promptForm += ", as tokens";
  }
}

/// A query of the command.
struct AskedQuery {
  std::string name;
  QueryFile read;
  query::Node query;
  bool isLocalized = false;  ///< attention locality has replaced the query
  RemoteRequests sent;       ///< once the protocol is known
  const remote::Protocol* protocol = nullptr;

  const QueryFile* file() const { return isLocalized ? nullptr : &read; }
};

/// Reads all queries. Nothing: an error was reported.
std::optional<std::vector<AskedQuery>> readQueries(const Context& context, const RemoteRunOptions& options) {
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  std::vector<AskedQuery> queries;
  for (const std::string& file : options.files) {
    auto read = readFileForServer(file, given, context.streams);
    if (!read) {
      warnOfUnused(given, context.streams);
      return std::nullopt;
    }
    const std::string name = inputName(file);
    query::Node query = localized(read->query, given.plan.locality, name);
    queries.push_back({.name = name,
                       .read = std::move(*read),
                       .query = std::move(query),
                       .isLocalized = given.plan.locality.isOn(),
                       .sent = {}});
  }
  warnOfUnused(given, context.streams);
  return queries;
}

std::string noKnownProtocol() {
  return "The server has no protocol that Spanscope knows: " + remote::protocolNames() +
         ". Check that the address is the address of the API.";
}

/// Chooses the protocol of a query and makes its requests. False: an error was reported.
bool prepare(AskedQuery& asked, const remote::Protocol* chosen, const remote::ServerFacts* facts,
             const RemoteRunOptions& options, const std::string& url, const Streams& streams) {
  asked.protocol = chosen;
  if (chosen == nullptr) {
    asked.protocol = remote::protocolFor(*facts, asked.query, options.seed);
    if (asked.protocol == nullptr) {
      streams.err << url << ": " << noKnownProtocol() << '\n';
      return false;
    }
  }
  auto sent = requestsFor(*asked.protocol, options, asked.query, asked.name, asked.file(), streams);
  if (sent) asked.sent = std::move(*sent);
  return sent.has_value();
}

/// The server of a command as a target. If the server has no such model, returns nothing and reports the
/// reason.
std::optional<remote::RemoteTarget> targetFor(const AskedServer& there, const remote::ServerFacts& facts,
                                              const RemoteRunOptions& options, const Streams& streams) {
  remote::RemoteTarget target{.name = there.name, .server = there.server, .facts = facts};
  if (!options.model.empty()) target.server.model = options.model;
  target.server.isUnlisted |= options.isUnlisted;
  target.atOnce = options.atOnce.value_or(there.atOnce);
  if (target.server.model.empty() || remote::servedName(target, {})) return target;
  streams.err << Failure({there.server.url,
                          {},
                          "The server has no model \"" + target.server.model + "\".",
                          "Its models are: " + remote::modelNames(facts) +
                              ". The option --unlisted-model sends another name."})
                     .what()
              << '\n';
  return std::nullopt;
}

/// The tokenizer and the template whose tokens stand for the tokens of the server.
struct OrderModel {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;
};

/// The model of the server is known if the user gave its tokenizer.
void noteModel(remote::ServerFacts& facts, const RemoteRunOptions& options) {
  if (!options.tokenizer.empty()) facts.cache.tokenBytes = workbench::cachedTokenBytes(options.tokenizer);
}

/// Nothing: there is no tokenizer, and the prompts are sent as written.
std::optional<OrderModel> orderModel(const RemoteRunOptions& options) {
  try {
    const workbench::RunSettings settings = commandSettings();
    const std::filesystem::path model = options.tokenizer.empty() ? workbench::modelDirectoryOf(settings)
                                                                  : std::filesystem::path(options.tokenizer);
    const text::ChatTemplate& chat = !options.chatTemplate.empty()
                                         ? text::chatTemplateNamed(options.chatTemplate)
                                     : options.tokenizer.empty() ? workbench::chatTemplateOf(settings)
                                                                 : text::findChatTemplate(options.tokenizer);
    return OrderModel{text::loadTokenizer(model), &chat};
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::unique_ptr<workbench::CacheOrderer> ordererFor(const RemoteRunOptions& options,
                                                    std::shared_ptr<workbench::ServerSimulators> simulators) {
  const std::optional<OrderModel> model = orderModel(options);
  if (!model) return nullptr;
  return std::make_unique<workbench::CacheOrderer>(std::move(simulators), model->tokenizer, *model->chat);
}

/// Remembers the speed of the server, for the estimates of `spanq explain --as`.
void noteSpeed(const Context& context, const remote::RemoteTarget& target,
               const remote::RemoteResult& result) {
  experiment::SpeedSample sample;
  for (const remote::RemoteStep& step : result.steps) {
    const remote::ChatAnswer& answer = step.answer;
    const bool isKnown = (step.cached.state == remote::CachedState::Found ||
                          step.cached.state == remote::CachedState::MeasuredZero) &&
                         step.counted == 1;
    if (!isKnown || !step.brokenBy.empty() || !answer.promptTokens || !step.timeToFirstToken) continue;
    sample.promptTokens += *answer.promptTokens - step.cached.tokens;
    sample.promptSeconds += *step.timeToFirstToken;
    if (!answer.generatedTokens || *answer.generatedTokens < 2) continue;
    sample.generatedTokens += *answer.generatedTokens - 1;
    sample.generatedSeconds += step.timeToLastText.value_or(*step.timeToFirstToken) - *step.timeToFirstToken;
  }
  if (sample.promptTokens == 0) return;
  workbench::SpeedRecords records(context.streams.paceFile);
  records.noteServer(target.name, sample);
  records.noteServer(remote::infoOf(target.facts.kind).name, sample);
}

/// Runs a query, and writes its answers. `json` gets the steps.
ExitCode runQuery(const Context& context, const RemoteRunOptions& options, AskedQuery& asked,
                  remote::HttpClient& client, std::vector<remote::RemoteTarget>& targets,
                  workbench::CacheOrderer* orderer, bool isOrdered, Json& json) {
  const Streams& streams = context.streams;
  remote::RemoteTarget& target = targets.front();
  std::optional<RemoteRecording> recording;
  try {
    putPrompt(target, options, streams.err);
    recording.emplace(context, options);
  } catch (const Failure& failure) {
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
  const std::vector<exports::ChatRequest>& requests = asked.sent.requests;
  std::vector<std::size_t> order;
  if (isOrdered && !target.protocol->takesCalls && requests.size() > 1)
    order = orderer->expect(target.name, requests);
  const std::vector<std::size_t> targetOf;
  const remote::NodeNames names = asked.isLocalized ? remote::NodeNames() : asked.read.names;
  AnswerPrinter printer(context, targets, requests, orderer, options.json);
  remote::RemoteTrace traced(recording->sink(),
                             {.program = RemoteRecording::kProgram,
                              .queryJson = query::writeCanonical(asked.query),
                              .explain = {},
                              .seed = options.seed.value_or(0),
                              .retrieved = {},
                              .warnings = {},
                              .names = names},
                             targets, targetOf, requests, &printer);
  traced.begin();
  const remote::RemoteResult result =
      remote::runRemotely(client, targets, targetOf, requests, traced, context.stop, asked.sent.calls,
                          asked.sent.messages, order);
  printer.end();
  traced.end(result);
  if (const auto changed = result.changed.find(0); changed != result.changed.end()) {
    target.protocol = changed->second;
    warnOf(*target.protocol, options, asked.query, asked.name, asked.file(), streams);
  }
  const bool isRecorded = recording->finish();
  noteSpeed(context, target, result);
  if (options.json) {
    json["protocol"] = target.protocol->name;
    if (!target.promptForm.empty()) json["prompts"] = target.promptForm;
    json["steps"] = stepsJson(requests, result, printer.sentFacts());
  } else if (!result.steps.empty()) {
    streams.out << stepsText(requests, result, target, printer.sentFacts(), names);
  }
  streams.out.flush();
  std::set<std::string> warned;
  for (const remote::RemoteStep& step : result.steps) {
    if (step.warning.empty() || !warned.insert(step.warning).second) continue;
    const NodePath& node = requests[step.request].node;
    streams.err << "warning: " << node << (node.empty() ? "" : ": ") << step.warning << '\n';
  }
  if (result.isStopped) return ExitCode::Stopped;
  return result.error || !isRecorded ? ExitCode::RunFailed : ExitCode::Fine;
}

ExitCode runOnServer(const Context& context, const RemoteRunOptions& options) {
  const Streams& streams = context.streams;
  const std::optional<AskedServer> there = serverToAsk(context, options.server);
  if (!there) return ExitCode::RunFailed;
  std::optional<std::vector<AskedQuery>> read = readQueries(context, options);
  if (!read) return ExitCode::WrongInput;
  std::vector<AskedQuery>& queries = *read;
  // An error that does not depend on the server is reported before the first request to the server.
  const remote::Protocol* const protocol =
      remote::findProtocol(options.protocol.empty() ? there->protocol : options.protocol);
  for (AskedQuery& asked : queries) {
    if (protocol != nullptr) {
      if (!prepare(asked, protocol, nullptr, options, there->server.url, streams))
        return ExitCode::WrongInput;
    } else if (const exports::ChatRequests made = exports::chatRequests(asked.query); made.requests.empty()) {
      for (const Error& problem : made.problems)
        streams.err << asked.name << ": " << Failure(problem).what() << '\n';
      return ExitCode::WrongInput;
    }
  }

  remote::HttpClient client;
  const std::optional<remote::ServerFacts> answered =
      factsOf(context, client, there->server.url,
              protocol == nullptr ? there->server.access : remote::accessIn(*protocol, there->server.access));
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!answered) return ExitCode::RunFailed;
  remote::ServerFacts facts = *answered;
  noteModel(facts, options);
  if (protocol == nullptr && remote::protocolFor(facts) == nullptr) {
    streams.err << there->server.url << ": " << noKnownProtocol() << '\n';
    return ExitCode::RunFailed;
  }
  for (AskedQuery& asked : queries) {
    if (protocol == nullptr && !prepare(asked, nullptr, &facts, options, there->server.url, streams))
      return ExitCode::WrongInput;
  }
  std::optional<remote::RemoteTarget> made = targetFor(*there, facts, options, streams);
  if (!made) return ExitCode::RunFailed;
  std::vector<remote::RemoteTarget> targets{std::move(*made)};
  remote::RemoteTarget& target = targets.front();
  const bool isOrdered = options.order.empty() ? !there->keepsOrder : options.order == "cache";
  const auto simulators = std::make_shared<workbench::ServerSimulators>();
  const std::unique_ptr<workbench::CacheOrderer> orderer = ordererFor(options, simulators);
  const std::string address = remote::rootOf(there->server.url);
  if (!options.sent.empty()) {
    try {
      simulators->keepHistory();
      simulators->recall(target.name, facts, workbench::SentPromptsFile(options.sent).read(address));
    } catch (const Failure& failure) {
      streams.err << failure.what() << '\n';
      return ExitCode::WrongInput;
    }
  }
  std::vector<std::size_t> order(queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (orderer != nullptr)
    orderer->use(target, !isOrdered, isOrdered && (options.hasOrderNote || there->hasOrderNote));
  if (orderer != nullptr && isOrdered) {
    // Queries whose first prompts begin alike follow each other.
    std::vector<exports::ChatRequest> first;
    for (const AskedQuery& asked : queries) first.push_back(asked.sent.requests.front());
    if (std::vector<std::size_t> best = orderer->expect(target.name, first); best.size() == order.size())
      order = std::move(best);
  }
  std::vector<Json> results(queries.size());
  ExitCode code = ExitCode::Fine;
  for (const std::size_t index : order) {
    AskedQuery& asked = queries[index];
    target.protocol = asked.protocol;
    target.otherwise = protocol == nullptr
                           ? remote::protocolAfter(*asked.protocol, facts, asked.query, options.seed)
                           : nullptr;
    if (queries.size() > 1 && !options.json) streams.out << "── " << asked.name << '\n' << std::flush;
    code = runQuery(context, options, asked, client, targets, orderer.get(), orderer != nullptr && isOrdered,
                    results[index]);
    if (code != ExitCode::Fine) break;
  }
  if (!options.sent.empty()) {
    try {
      workbench::SentPromptsFile(options.sent).write(address, simulators->history(target.name));
    } catch (const Failure& failure) {
      streams.err << failure.what() << '\n';
      if (code == ExitCode::Fine) code = ExitCode::RunFailed;
    }
  }
  if (!options.json) return code;
  Json json;
  json["server"] = factsJson(facts);
  json["url"] = remote::rootOf(there->server.url);
  if (queries.size() == 1) {
    json.update(results.front());
  } else {
    json["queries"] = Json::array();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      Json entry{{"file", queries[i].name}};
      if (results[i].is_object()) entry.update(results[i]);
      json["queries"].push_back(std::move(entry));
    }
  }
  if (queries.size() > 1 || results.front().is_object()) streams.out << jsonText(json) << '\n';
  streams.out.flush();
  return code;
}

/// Feeds the cache simulator of a line.
class LineWatcher final : public remote::RemoteWatcher {
 public:
  LineWatcher(const remote::RemoteTarget& target, workbench::CacheOrderer* orderer)
      : m_target(target), m_orderer(orderer) {}
  void sends(std::size_t request, std::size_t /*target*/, const std::string& /*model*/,
             std::size_t /*bytes*/) override {
    if (m_orderer != nullptr) m_orderer->sends(request, m_target);
  }
  void stepEnds(const remote::RemoteStep& step) override {
    if (m_orderer != nullptr) m_orderer->ends(step);
  }

 private:
  const remote::RemoteTarget& m_target;
  workbench::CacheOrderer* m_orderer;
};

/// Sums a count over all steps. Null: a step does not report the count.
Json sumOverSteps(const remote::RemoteResult& result,
                  const std::function<std::optional<std::int64_t>(const remote::RemoteStep&)>& count) {
  std::int64_t sum = 0;
  for (const remote::RemoteStep& step : result.steps) {
    const std::optional<std::int64_t> own = count(step);
    if (!own) return nullptr;
    sum += *own;
  }
  return sum;
}

LineResult lineResult(const AskedQuery& asked, const remote::RemoteResult& result) {
  if (result.isStopped) return {.isStopped = true};
  if (result.error) return {.problem = result.error->message()};
  LineResult line;
  line.json["answer"] = remote::answerOf(asked.sent.requests, result);
  line.json["model"] = result.steps.empty() ? std::string() : result.steps.back().answer.model;
  line.json["requests"] = result.steps.size();
  line.json["prompt_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.promptTokens; });
  line.json["cached_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.cachedTokens; });
  line.json["generated_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.generatedTokens; });
  double seconds = 0;
  for (const remote::RemoteStep& step : result.steps) seconds += step.seconds;
  line.json["all_ms"] = seconds * kMilliseconds;
  if (!result.steps.empty()) line.json["finish"] = result.steps.back().answer.finish;
  return line;
}

/// Runs the query once for each line of the inputs.
ExitCode runOverInputs(const Context& context, const RemoteRunOptions& options) {
  const Streams& streams = context.streams;
  const std::optional<AskedServer> there = serverToAsk(context, options.server);
  if (!there) return ExitCode::RunFailed;
  const remote::Protocol* const protocol =
      remote::findProtocol(options.protocol.empty() ? there->protocol : options.protocol);
  remote::HttpClient client;
  std::optional<remote::ServerFacts> facts =
      factsOf(context, client, there->server.url,
              protocol == nullptr ? there->server.access : remote::accessIn(*protocol, there->server.access));
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!facts) return ExitCode::RunFailed;
  noteModel(*facts, options);
  const std::optional<remote::RemoteTarget> made = targetFor(*there, *facts, options, streams);
  if (!made) return ExitCode::RunFailed;
  const std::string& file = options.files.front();
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  const bool isOrdered = options.order.empty() ? !there->keepsOrder : options.order == "cache";
  const std::optional<OrderModel> model = isOrdered ? orderModel(options) : std::nullopt;
  const auto simulators = std::make_shared<workbench::ServerSimulators>();
  // The lines of a batch share a plan, which is made before the first of them is sent.
  auto plan = std::make_shared<std::shared_ptr<const workbench::CacheOrderer::Plan>>();
  std::vector<exports::ChatRequest> firstRequests;
  bool isFirst = true;
  InputsJob job{.inputs = options.inputs,
                .results = options.results,
                .atOnce = options.atOnce.value_or(there->atOnce),
                .identity = {},
                .prepare = {}};
  std::ostringstream identity;
  identity << there->server.url << '\n'
           << made->server.model << '\n'
           << options.protocol << '\n'
           << options.seed.value_or(0) << '\n'
           << readInput(file, streams, std::size_t{1} << 28U) << '\n';
  for (const std::string& value : options.query.values) identity << value << '\n';
  // These settings change the prompts. The defaults add nothing, so that older journals remain valid.
  const bool hasNote = isOrdered && (options.hasOrderNote || there->hasOrderNote);
  if (!isOrdered) identity << "written order\n";
  if (hasNote) identity << "order note\n";
  job.identity = identity.str();
  job.prepare = [&](const std::map<std::string, std::string>& values) -> LineTask {
    // The warnings of the first line are also those of the other lines.
    std::ostringstream others;
    Streams own{.in = streams.in, .out = streams.out, .err = isFirst ? streams.err : others};
    own.stop = streams.stop;
    QueryOptions line = given;
    for (const auto& [name, value] : values) line.parameters[name] = value;
    const auto asked = std::make_shared<AskedQuery>();
    std::optional<QueryFile> read = readFileForServer(file, line, own);
    if (read) {
      asked->name = inputName(file);
      asked->query = localized(read->query, line.plan.locality, asked->name);
      asked->read = std::move(*read);
      asked->isLocalized = line.plan.locality.isOn();
    }
    const bool isReady = read && prepare(*asked, protocol, &*facts, options, there->server.url, own);
    if (!isReady) {
      std::string problem = others.str();
      while (problem.ends_with('\n')) problem.pop_back();
      throw Failure(errorAt("query", problem.empty() ? "an error" : problem, "a query that can be sent"));
    }
    remote::RemoteTarget target = *made;
    target.protocol = asked->protocol;
    target.otherwise = protocol == nullptr
                           ? remote::protocolAfter(*asked->protocol, *facts, asked->query, options.seed)
                           : nullptr;
    putPrompt(target, options, own.err);
    isFirst = false;
    if (model) firstRequests.push_back(asked->sent.requests.front());
    return [asked, target, model, simulators, plan, hasNote](remote::HttpClient& ownClient,
                                                             const std::stop_token& stop) {
      std::vector<remote::RemoteTarget> targets{target};
      targets.front().atOnce = 1;
      std::optional<workbench::CacheOrderer> orderer;
      if (model) {
        orderer.emplace(simulators, model->tokenizer, *model->chat);
        orderer->use(*plan);
        orderer->use(targets.front(), false, hasNote);
      }
      LineWatcher watcher(targets.front(), orderer ? &*orderer : nullptr);
      const remote::RemoteResult result =
          remote::runRemotely(ownClient, targets, {}, asked->sent.requests, watcher, stop, asked->sent.calls,
                              asked->sent.messages);
      return lineResult(*asked, result);
    };
  };
  if (model) {
    job.schedule = [&] {
      workbench::CacheOrderer orderer(simulators, model->tokenizer, *model->chat);
      const std::vector<std::size_t> order = orderer.expect(made->name, firstRequests);
      *plan = orderer.plan();
      plan = std::make_shared<std::shared_ptr<const workbench::CacheOrderer::Plan>>();
      firstRequests.clear();
      return order;
    };
  }
  try {
    return runInputs(context, job);
  } catch (const OutputFailure& failure) {
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
}

void addRemoteShow(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("show", "Show the kind, the models and the protocols of a server");
  command->footer("Example:\n  spanq remote show http://gpu-3:8000\n");
  const auto options = std::make_shared<ServerOptions>();
  const auto json = std::make_shared<bool>(false);
  addServerOptions(*command, *options);
  command->add_flag("--json", *json, "Write JSON");
  command->callback([&context, options, json] {
    context.action = [&context, options, json] { return showServer(context, *options, *json); };
  });
}

void addRemoteRun(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("run", "Run a query on a server");
  command->footer(
      "A server that accepts span queries (SPNL's endpoint) gets the query with seq, cross and plus. For "
      "other servers, every step of the plan is a chat completion or a text completion. The answer of a "
      "subquery is in the prompt of the outer query. Independent steps are sent at the same time. Standard "
      "error lists which parts of the query the server treats in another way.\n\n"
      R"(Examples:
  spanq remote run http://gpu-3:8000 resources/queries/rag.json
  spanq remote run --trace there.trace http://localhost:8080 resources/queries/judge-2.json
  spanq remote run --protocol spnl http://localhost:8000 resources/queries/rag.json
  spanq remote run --key-from OPENAI_API_KEY --model gpt-x https://api.example/v1 resources/queries/judge-4.json
  spanq remote run http://gpu-3:8000 question.json --inputs questions.jsonl --results answers.jsonl --at-once 16
)");
  const auto options = std::make_shared<RemoteRunOptions>();
  addServerOptions(*command, options->server);
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addOrderOptions(*command, options->order, options->hasOrderNote);
  command
      ->add_option("--sent", options->sent,
                   "File with the prompts that earlier commands sent to this server. This command adds its "
                   "own prompts. Without this option, the simulated cache is empty at first")
      ->type_name("FILE");
  command->add_option("--model", options->model, "Model of the server, instead of the model of the query");
  command->add_flag("--unlisted-model", options->isUnlisted,
                    "Request the chosen model even if the server does not list it");
  addProtocolOption(*command, options->protocol,
                    "Protocol: " + remote::protocolList() +
                        " (default: the first of these protocols that the server has and the query allows)");
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "Model folder or GGUF file. Completions are sent as tokens of this model, in the template "
                   "of this model")
      ->type_name("DIR");
  addTemplateOption(*command, options->chatTemplate,
                    "Name of the chat template of completions (default: the template of --tokenizer)");
  command->add_option("--seed", options->seed, "Seed of the run (default: the server chooses)");
  command
      ->add_option(
          "--at-once,--concurrency", options->atOnce,
          "Max concurrent requests; 1: one after the other. Default: the value in the list of servers, or " +
              std::to_string(remote::kStandardAtOnce))
      ->check(CLI::Range(std::size_t{1}, remote::kMostAtOnce))
      ->type_name("N");
  CLI::Option* trace =
      command->add_option("--trace", options->trace, "Record the events of the run to this file")
          ->type_name("FILE");
  CLI::Option* json = command->add_flag("--json", options->json, "Write JSON");
  CLI::Option* inputs =
      command
          ->add_option("--inputs", options->inputs,
                       "Run the query once for each line of this file. A line is a JSON object with values "
                       "of parameters. Run the same command again to continue a stopped or killed job")
          ->type_name("FILE")
          ->excludes(trace)
          ->excludes(json);
  inputs->needs(command
                    ->add_option("--results", options->results,
                                 "Write the answers of --inputs to this file, as JSON lines in the order of "
                                 "the inputs. Until all lines have an answer, FILE.journal has the answers")
                    ->type_name("FILE")
                    ->needs(inputs));
  addSettingOption(*command, options->query);
  addLocalityOptions(*command, options->query);
  addRetrievalOptions(*command, options->query);
  command->callback([&context, options] {
    options->query.check();
    if (options->files.size() > 1 && !options->trace.empty())
      refuseOption("--trace", "several queries", "one query");
    if (options->files.size() > 1 && !options->inputs.empty())
      refuseOption("--inputs", "several queries", "one query");
    if (!options->inputs.empty() && (options->inputs == "-" || options->files.front() == "-"))
      refuseOption("--inputs", "standard input", "files, because the job may be continued");
    context.recordsTrace = !options->trace.empty();
    context.action = [&context, options] {
      return options->inputs.empty() ? runOnServer(context, *options) : runOverInputs(context, *options);
    };
  });
}

}  // namespace

void addRemote(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("remote", "Run queries on other servers");
  group->footer("Example:\n  spanq remote show http://localhost:8080\n");
  group->require_subcommand(1);
  addRemoteShow(*group, context);
  addRemoteRun(*group, context);
  addServerListCommands(*group, context);
}

}  // namespace spanscope::cli
