// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/export_stage.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "app/cli/target_warnings.h"
#include "app/cli/text_table.h"
#include "app/cli/usage.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/export/export_target.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/server_address.h"
#include "engine/trace/no_sink.h"
#include "engine/trace/recorder.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostSeconds = 86'400;

struct ServerOptions {
  std::string url;
  std::string keyVariable;
  std::string certificates;
  double connectSeconds = 10;
  double firstSeconds = 600;
  double silenceSeconds = 120;

  remote::HttpAccess access() const {
    const auto milliseconds = [](double seconds) {
      return std::chrono::milliseconds(std::llround(seconds * kMilliseconds));
    };
    remote::HttpAccess access;
    access.certificateFile = certificates;
    access.limits.connect = milliseconds(connectSeconds);
    access.limits.firstByte = milliseconds(firstSeconds);
    access.limits.silence = milliseconds(silenceSeconds);
    if (keyVariable.empty()) return access;
    const char* const key = std::getenv(keyVariable.c_str());
    if (key == nullptr || *key == '\0')
      refuseOption("--key-from", keyVariable, "a variable of the environment that holds the key");
    access.key = key;
    return access;
  }
};

struct RemoteRunOptions {
  ServerOptions server;
  std::string file;
  std::string model;
  std::optional<std::uint64_t> seed;
  std::string trace;
  bool json = false;
  QueryOptionTexts query;
};

void addServerOptions(CLI::App& command, ServerOptions& server) {
  command.add_option("URL", server.url, "Address of the server, e.g. http://gpu-3:8000")->required();
  command.add_option("--key-from", server.keyVariable,
                     "Variable of the environment that holds the server's key");
  command.add_option("--certificates", server.certificates,
                     "File (PEM) of the authorities to trust, in place of the system's");
  const auto seconds = [&](const char* name, double& value, const char* help) {
    command.add_option(name, value, help)->check(CLI::Range(0.001, kMostSeconds))->capture_default_str();
  };
  seconds("--connect-timeout", server.connectSeconds, "Seconds until there is a connection");
  seconds("--first-timeout", server.firstSeconds, "Seconds until the first byte of an answer");
  seconds("--silence-timeout", server.silenceSeconds, "Seconds between two pieces of an answer");
}

std::string factsText(const remote::ServerFacts& facts) {
  const remote::ServerKindInfo& kind = remote::infoOf(facts.kind);
  std::string text = std::string(kind.title) + (facts.version.empty() ? "" : " " + facts.version) + "\n";
  TextTable table({{"model", TextTable::Align::Left}, {"context"}});
  for (const remote::ServedModel& model : facts.models)
    table.addRow({model.name, model.context ? std::to_string(*model.context) : "not said"});
  text += table.text();
  std::string cached;
  switch (kind.cached) {
    case remote::CacheReporting::Always:
      cached = "reported";
      break;
    case remote::CacheReporting::IfAsked:
      cached = std::string("reported if it is set up so: ") + kind.advice;
      break;
    case remote::CacheReporting::Never:
      cached = "cannot be reported";
      break;
  }
  text += "  cached tokens: " + cached + "\n";
  text += std::string("  progress of a prompt: ") + (kind.sendsProgress ? "told" : "not told") + "\n";
  text += std::string("  span queries: ") +
          (facts.takesQueries ? "taken at /v1/query/execute" : "not taken") + "\n";
  if (facts.slots) text += "  slots: " + std::to_string(*facts.slots) + "\n";
  return text;
}

Json factsJson(const remote::ServerFacts& facts) {
  Json json;
  json["kind"] = remote::infoOf(facts.kind).name;
  if (!facts.version.empty()) json["version"] = facts.version;
  json["models"] = Json::array();
  for (const remote::ServedModel& model : facts.models) {
    Json& entry = json["models"].emplace_back();
    entry["name"] = model.name;
    if (model.context) entry["context"] = *model.context;
  }
  json["takes_queries"] = facts.takesQueries;
  if (facts.slots) json["slots"] = *facts.slots;
  return json;
}

/// Nothing, and why on standard error, where the server cannot be asked.
std::optional<remote::ServerFacts> factsOf(const Context& context, remote::HttpClient& client,
                                           const std::string& url, const remote::HttpAccess& access) {
  showProgress(context, "asking " + url);
  const std::shared_ptr<void> atEnd(nullptr, [&context](void*) { showProgress(context, ""); });
  try {
    return remote::askServer(client, url, access, context.stop);
  } catch (const Failure& failure) {
    showProgress(context, "");
    context.streams.err << failure.what() << '\n';
    return std::nullopt;
  }
}

ExitCode showServer(const Context& context, const ServerOptions& options, bool asJson) {
  const remote::HttpAccess access = options.access();
  remote::HttpClient client;
  const std::optional<remote::ServerFacts> asked = factsOf(context, client, options.url, access);
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!asked) return ExitCode::RunFailed;
  const remote::ServerFacts& facts = *asked;
  context.streams.out << (asJson ? factsJson(facts).dump(2) + "\n" : factsText(facts));
  return ExitCode::Fine;
}

/// Writes answers as they come: the text alone on standard output.
class AnswerPrinter final : public remote::RemoteWatcher {
 public:
  AnswerPrinter(const Context& context, const std::vector<exports::ChatRequest>& requests, bool isSilent)
      : m_context(context), m_requests(requests), m_isSilent(isSilent) {}

  void stepBegins(std::size_t request) override {
    if (!m_isSilent && m_requests.size() > 1)
      m_context.streams.out << "── " << m_requests[request].node << '\n' << std::flush;
  }
  void promptProgress(std::size_t /*request*/, const remote::PromptProgress& progress) override {
    showProgress(m_context, "prompt: " + std::to_string(progress.processed) + " of " +
                                counted(progress.total, "token") + ", " + std::to_string(progress.cached) +
                                " of them cached");
  }
  void text(std::size_t /*request*/, const std::string& piece) override {
    showProgress(m_context, "");
    if (!m_isSilent) m_context.streams.out << piece << std::flush;
  }
  void stepEnds(const remote::RemoteStep& step) override {
    showProgress(m_context, "");
    if (!m_isSilent && !step.answer.text.empty()) m_context.streams.out << '\n' << std::flush;
  }

 private:
  const Context& m_context;
  const std::vector<exports::ChatRequest>& m_requests;
  bool m_isSilent;
};

std::string countText(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "not said";
}

std::string stepsText(const std::vector<exports::ChatRequest>& requests, const remote::RemoteResult& result,
                      const remote::ServerKindInfo& kind) {
  TextTable table({{"node", TextTable::Align::Left},
                   {"prompt"},
                   {"cached"},
                   {"generated"},
                   {"first text ms"},
                   {"all ms"},
                   {"ended by", TextTable::Align::Left}});
  bool isMissing = false;
  for (const remote::RemoteStep& step : result.steps) {
    isMissing |= step.cached.state == remote::CachedState::NotReported;
    table.addRow(
        {requests[step.request].node, countText(step.answer.promptTokens), remote::cachedText(step.cached),
         countText(step.answer.generatedTokens),
         step.timeToFirstToken ? fixed(*step.timeToFirstToken * kMilliseconds, 1) : "–",
         fixed(step.seconds * kMilliseconds, 1),
         step.brokenBy.empty() ? (step.answer.finish.empty() ? "its end" : step.answer.finish) : "a break"});
  }
  std::string text = "\n" + table.text();
  if (isMissing && kind.cached == remote::CacheReporting::IfAsked) {
    text += std::string("  ") + kind.title + " does not say how many tokens it found" +
            (kind.zeroIsSilent ? ", or found none" : "") + ": " + kind.advice + "\n";
  }
  return text;
}

Json stepsJson(const std::vector<exports::ChatRequest>& requests, const remote::RemoteResult& result) {
  Json steps = Json::array();
  for (const remote::RemoteStep& step : result.steps) {
    Json& entry = steps.emplace_back();
    entry["node"] = requests[step.request].node;
    entry["model"] = step.answer.model;
    entry["text"] = step.answer.text;
    if (!step.answer.reasoning.empty()) entry["reasoning"] = step.answer.reasoning;
    const auto count = [&entry](const char* name, const std::optional<std::int64_t>& value) {
      entry[name] = value ? Json(*value) : Json(nullptr);
    };
    count("prompt_tokens", step.answer.promptTokens);
    count("cached_tokens", step.answer.cachedTokens);
    entry["cached"] = remote::cachedText(step.cached);
    count("generated_tokens", step.answer.generatedTokens);
    entry["first_text_ms"] =
        step.timeToFirstToken ? Json(*step.timeToFirstToken * kMilliseconds) : Json(nullptr);
    entry["all_ms"] = step.seconds * kMilliseconds;
    entry["finish"] = step.answer.finish;
    if (!step.brokenBy.empty()) entry["broken_by"] = step.brokenBy;
  }
  return steps;
}

/// The host of an address and its port, where it has one: "gpu-3:8000".
std::string hostOf(const std::string& url) {
  const std::string root = remote::rootOf(url);
  const std::size_t begin = root.find("://");
  const std::string rest = begin == std::string::npos ? root : root.substr(begin + 3);
  return rest.substr(0, rest.find('/'));
}

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

ExitCode runOnServer(const Context& context, const RemoteRunOptions& options) {
  const Streams& streams = context.streams;
  const remote::HttpAccess access = options.server.access();
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  const auto read = readFileForServer(options.file, given, streams);
  warnOfUnused(given, streams);
  if (!read) return ExitCode::WrongInput;
  const std::string name = inputName(options.file);
  const query::Node query = localized(read->query, given.plan.locality, name);
  const exports::ExportTarget& target = *exports::findExportTarget("chat");
  if (!warnOfTarget({.query = query,
                     .target = target,
                     .settings = {.seed = options.seed, .isSentHere = true},
                     .name = name,
                     .file = given.plan.locality.isOn() ? nullptr : &*read},
                    streams))
    return ExitCode::WrongInput;
  const exports::ChatRequests requests = exports::chatRequests(query, options.seed);
  for (const Error& problem : requests.problems)
    streams.err << name << ": " << Failure(problem).what() << '\n';
  if (requests.requests.empty()) return ExitCode::WrongInput;

  remote::HttpClient client;
  const std::optional<remote::ServerFacts> asked = factsOf(context, client, options.server.url, access);
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!asked) return ExitCode::RunFailed;
  const remote::ServerFacts& facts = *asked;
  std::optional<RemoteRecording> recording;
  try {
    recording.emplace(context, options);
  } catch (const Failure& failure) {
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
  const std::vector<remote::RemoteTarget> targets{
      {.name = hostOf(options.server.url),
       .server = {.url = options.server.url, .model = options.model, .access = access},
       .facts = facts}};
  const std::vector<std::size_t> targetOf;
  AnswerPrinter printer(context, requests.requests, options.json);
  remote::RemoteTrace traced(recording->sink(),
                             {.program = RemoteRecording::kProgram,
                              .queryJson = query::writeCanonical(query),
                              .explain = {},
                              .seed = options.seed.value_or(0),
                              .retrieved = {},
                              .warnings = {}},
                             targets, targetOf, requests.requests, &printer);
  traced.begin();
  const remote::RemoteResult result =
      remote::runRemotely(client, targets, targetOf, requests.requests, traced, context.stop);
  traced.end(result);
  const bool isRecorded = recording->finish();
  if (options.json) {
    Json json;
    json["server"] = factsJson(facts);
    json["url"] = remote::rootOf(options.server.url);
    json["steps"] = stepsJson(requests.requests, result);
    streams.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else if (!result.steps.empty()) {
    streams.out << stepsText(requests.requests, result, remote::infoOf(facts.kind));
  }
  streams.out.flush();
  if (result.error) streams.err << Failure(*result.error).what() << '\n';
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
  CLI::App* command = group.add_subcommand("run", "Run a query on a server, as chat completions");
  command->footer(
      "Every step of the plan is a chat completion; the answer of an inner one stands in the prompt of the "
      "outer one. What the server does otherwise than the query says goes to standard error.\n\n"
      "Examples:\n  spanq remote run http://gpu-3:8000 resources/queries/rag.json\n"
      "  spanq remote run --trace there.trace http://localhost:8080 resources/queries/judge-2.json\n"
      "  spanq remote run --key-from OPENAI_API_KEY --model gpt-x https://api.example/v1 "
      "resources/queries/judge-4.json\n");
  const auto options = std::make_shared<RemoteRunOptions>();
  addServerOptions(*command, options->server);
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command->add_option("--model", options->model, "The server's model, in place of the query's");
  command->add_option("--seed", options->seed, "Seed of the run; without it the server chooses");
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
}

}  // namespace spanscope::cli
