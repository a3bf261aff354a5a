// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a query on a server. Writes the answers while they arrive, then a table of the steps.

#include "app/cli/asked_server.h"
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/export_options.h"
#include "app/cli/option_values.h"
#include "app/cli/query_options.h"
#include "app/cli/remote_inputs.h"
#include "app/cli/remote_query.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/metrics/metric_table.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/protocol.h"
#include "engine/trace/recorder.h"
#include "engine/trace/sink.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/sent_prompts.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using Json = nlohmann::ordered_json;

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

/// Records a run in a file, if the options request a recording.
class RemoteRecording {
 public:
  RemoteRecording(const Context& context, const RemoteRunOptions& options) : m_context(context) {
    if (options.trace.empty()) return;
    m_recorder.emplace();
    m_recorder->startFile(OutputFile(options.trace, {.inputs = options.query.book->files,
                                                     .unfinished = context.streams.unfinished,
                                                     .stop = context.stop}),
                          traceHeader());
  }
  trace::Sink& sink() { return m_recorder ? static_cast<trace::Sink&>(*m_recorder) : m_none; }
  /// Whether the file is complete, or there is no file.
  bool finish() {
    const std::optional<Error> error = m_recorder ? m_recorder->finishFile() : std::nullopt;
    if (error) m_context.streams.err << error->message() << '\n';
    return !error;
  }

 private:
  const Context& m_context;
  trace::NoSink m_none;
  std::optional<trace::Recorder> m_recorder;
};

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
                             {.program = traceHeader().program,
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
      ->check(within(Range<std::uint64_t>{1, remote::kMostAtOnce}))
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
