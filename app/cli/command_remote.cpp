// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/asked_server.h"
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/export_options.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "app/cli/remote_output.h"
#include "app/cli/text_table.h"
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/export/export_target.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/remote/protocol.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"
#include "engine/trace/sink.h"
#include "engine/workbench/servers/server_requests.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

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
  std::string file;
  std::string model;
  bool isUnlisted = false;  ///< whether `model` is sent also where the server does not list it
  std::string protocol;     ///< by its name; empty: what the server takes
  std::string tokenizer;    ///< directory or file
  std::string chatTemplate;
  std::optional<std::uint64_t> seed;
  std::optional<std::size_t> atOnce;  ///< none: as the list of servers has it
  std::string trace;
  bool json = false;
  QueryOptionTexts query;
};

/// Records a run in a file, if that is wanted.
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
  /// Whether the file is whole, or none was wanted.
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

/// The requests of a query, as a protocol sends them.
struct RemoteRequests {
  std::vector<exports::ChatRequest> requests;
  std::vector<exports::QueryCall> calls;         ///< for protocols that send them whole
  std::vector<exports::ChatRequest> messages{};  ///< the same requests for a server that refuses calls
};

/// Says on standard error what a protocol does otherwise than the query. False: it cannot carry the query.
bool warnOf(const remote::Protocol& protocol, const RemoteRunOptions& options, const query::Node& query,
            const std::string& name, const QueryFile* file, const Streams& streams) {
  return warnOfTarget({.query = query,
                       .target = *exports::findExportTarget(protocol.form),
                       .settings = {.seed = options.seed, .isSentHere = true},
                       .name = name,
                       .file = file},
                      streams);
}

/// Nothing, and why on standard error, where the query cannot be sent so.
std::optional<RemoteRequests> requestsFor(const remote::Protocol& protocol, const RemoteRunOptions& options,
                                          const query::Node& query, const std::string& name,
                                          const QueryFile* file, const Streams& streams) {
  if (!warnOf(protocol, options, query, name, file, streams)) return std::nullopt;
  if (options.seed && !protocol.takesSeeds)
    streams.err << "warning: the seed is not sent: " << protocol.title << " has no field for it\n";
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

/// Gives a target what writes its prompts. Throws Failure where there is no template or tokenizer.
void putPrompt(remote::RemoteTarget& target, const RemoteRunOptions& options) {
  if (!target.protocol->needsPrompt) return;
  if (options.chatTemplate.empty() && options.tokenizer.empty()) {
    throw Failure(errorAt("prompts of text completions", "no chat template",
                          "its name (--template) or a model that has it (--tokenizer)"));
  }
  const text::ChatTemplate& chat = options.chatTemplate.empty()
                                       ? text::findChatTemplate(options.tokenizer)
                                       : text::chatTemplateNamed(options.chatTemplate);
  target.promptForm = "under the template " + chat.name;
  if (options.tokenizer.empty()) {
    target.prompt = remote::textPrompt(chat);
    target.promptForm += ", as text";
  } else {
    target.prompt = remote::tokenPrompt(chat, text::loadTokenizer(options.tokenizer));
    target.promptForm += ", as tokens";
  }
}

ExitCode runOnServer(const Context& context, const RemoteRunOptions& options) {
  const Streams& streams = context.streams;
  const std::optional<AskedServer> there = serverToAsk(context, options.server);
  if (!there) return ExitCode::RunFailed;
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  const auto read = readFileForServer(options.file, given, streams);
  warnOfUnused(given, streams);
  if (!read) return ExitCode::WrongInput;
  const std::string name = inputName(options.file);
  const query::Node query = localized(read->query, given.plan.locality, name);
  const QueryFile* const file = given.plan.locality.isOn() ? nullptr : &*read;
  // What no server could be sent is said before one is asked.
  const remote::Protocol* protocol =
      remote::findProtocol(options.protocol.empty() ? there->protocol : options.protocol);
  std::optional<RemoteRequests> sent;
  if (protocol != nullptr) {
    sent = requestsFor(*protocol, options, query, name, file, streams);
    if (!sent) return ExitCode::WrongInput;
  } else if (const exports::ChatRequests made = exports::chatRequests(query); made.requests.empty()) {
    for (const Error& problem : made.problems) streams.err << name << ": " << Failure(problem).what() << '\n';
    return ExitCode::WrongInput;
  }

  remote::HttpClient client;
  const std::optional<remote::ServerFacts> asked =
      factsOf(context, client, there->server.url,
              protocol == nullptr ? there->server.access : remote::accessIn(*protocol, there->server.access));
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!asked) return ExitCode::RunFailed;
  const remote::ServerFacts& facts = *asked;
  const bool isByItself = protocol == nullptr;
  if (isByItself) {
    protocol = remote::protocolFor(facts, query, options.seed);
    if (protocol == nullptr) {
      streams.err << there->server.url << ": found none of the protocols, expected one of "
                  << remote::protocolNames() << '\n';
      return ExitCode::RunFailed;
    }
    sent = requestsFor(*protocol, options, query, name, file, streams);
    if (!sent) return ExitCode::WrongInput;
  }
  std::vector<remote::RemoteTarget> targets{{.name = there->name, .server = there->server, .facts = facts}};
  remote::RemoteTarget& target = targets.front();
  if (!options.model.empty()) target.server.model = options.model;
  target.server.isUnlisted |= options.isUnlisted;
  target.protocol = protocol;
  if (isByItself) target.otherwise = remote::protocolAfter(*protocol, facts, query, options.seed);
  target.atOnce = options.atOnce.value_or(there->atOnce);
  if (!target.server.model.empty() && !remote::servedName(target, {})) {
    streams.err << Failure({there->server.url,
                            {},
                            "no model \"" + target.server.model + "\"",
                            "one of the server's: " + remote::modelNames(facts) +
                                " (--unlisted-model sends another name)"})
                       .what()
                << '\n';
    return ExitCode::RunFailed;
  }
  std::optional<RemoteRecording> recording;
  try {
    putPrompt(target, options);
    recording.emplace(context, options);
  } catch (const Failure& failure) {
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
  const std::vector<std::size_t> targetOf;
  AnswerPrinter printer(context, targets, sent->requests, options.json);
  remote::RemoteTrace traced(recording->sink(),
                             {.program = RemoteRecording::kProgram,
                              .queryJson = query::writeCanonical(query),
                              .explain = {},
                              .seed = options.seed.value_or(0),
                              .retrieved = {},
                              .warnings = {}},
                             targets, targetOf, sent->requests, &printer);
  traced.begin();
  const remote::RemoteResult result = remote::runRemotely(client, targets, targetOf, sent->requests, traced,
                                                          context.stop, sent->calls, sent->messages);
  printer.end();
  traced.end(result);
  if (const auto changed = result.changed.find(0); changed != result.changed.end()) {
    target.protocol = changed->second;
    warnOf(*target.protocol, options, query, name, file, streams);
  }
  const bool isRecorded = recording->finish();
  if (options.json) {
    Json json;
    json["server"] = factsJson(facts);
    json["url"] = remote::rootOf(there->server.url);
    json["protocol"] = target.protocol->name;
    if (!target.promptForm.empty()) json["prompts"] = target.promptForm;
    json["steps"] = stepsJson(sent->requests, result);
    streams.out << jsonText(json) << '\n';
  } else if (!result.steps.empty()) {
    streams.out << stepsText(sent->requests, result, target);
  }
  streams.out.flush();
  std::set<std::string> warned;
  for (const remote::RemoteStep& step : result.steps) {
    if (step.warning.empty() || !warned.insert(step.warning).second) continue;
    const NodePath& node = sent->requests[step.request].node;
    streams.err << "warning: " << node << (node.empty() ? "" : ": ") << step.warning << '\n';
  }
  if (result.isStopped) return ExitCode::Stopped;
  return result.error || !isRecorded ? ExitCode::RunFailed : ExitCode::Fine;
}

void addRemoteShow(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("show", "Ask a server what it is and what it can do");
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
      "A server that takes span queries (SPNL's endpoint) is sent the query with its joins. Otherwise every "
      "step of the plan is a chat completion, or a text, whichever the server takes. The answer of an inner "
      "step is in the prompt of the outer one, and steps that do not need each other are sent at the same "
      "time. "
      "What the server does otherwise than the query says goes to standard error.\n\n"
      "Examples:\n  spanq remote run http://gpu-3:8000 resources/queries/rag.json\n"
      "  spanq remote run --trace there.trace http://localhost:8080 resources/queries/judge-2.json\n"
      "  spanq remote run --protocol spnl http://localhost:8000 resources/queries/rag.json\n"
      "  spanq remote run --key-from OPENAI_API_KEY --model gpt-x https://api.example/v1 "
      "resources/queries/judge-4.json\n");
  const auto options = std::make_shared<RemoteRunOptions>();
  addServerOptions(*command, options->server);
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command->add_option("--model", options->model, "The server's model, in place of the query's");
  command->add_flag("--unlisted-model", options->isUnlisted,
                    "Ask for the chosen model also where the server does not list it");
  addProtocolOption(*command, options->protocol,
                    "How the server is asked: " + remote::protocolList() +
                        " (default: the first of these that the server has and the query allows)");
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "Model directory or GGUF file: completions are sent as its tokens, under its template")
      ->type_name("DIR");
  addTemplateOption(*command, options->chatTemplate,
                    "Chat template of completions by its name; without it that of --tokenizer");
  command->add_option("--seed", options->seed, "Seed of the run; without it the server chooses");
  command
      ->add_option(
          "--at-once", options->atOnce,
          "Most requests that are sent at the same time; 1: one after the other. Default: that of the "
          "list of servers, or " +
              std::to_string(remote::kStandardAtOnce))
      ->check(CLI::Range(std::size_t{1}, remote::kMostAtOnce))
      ->type_name("N");
  command->add_option("--trace", options->trace, "Record the events of the run in this file")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Write JSON");
  addSettingOption(*command, options->query);
  addLocalityOptions(*command, options->query);
  addRetrievalOptions(*command, options->query);
  command->callback([&context, options] {
    options->query.check();
    context.recordsTrace = !options->trace.empty();
    context.action = [&context, options] { return runOnServer(context, *options); };
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
