// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "app/cli/query_inputs.h"
#include "app/cli/serve_gateway.h"
#include "app/cli/session_options.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/remote/server/access.h"
#include "engine/remote/server/server.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/served_engine.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr const char* kKeyVariable = "SPANQ_API_KEY";

struct ServeOptions {
  SessionOptions session;
  std::string model;  ///< the argument
  server::ServerConfig server;
  GatewayOptions gateway;
  std::string keyFile;
  std::string certificate;
  std::string privateKey;
  std::uint32_t bodyMebibytes = 16;
  std::uint32_t clients = 128;
  std::uint32_t requests = 64;
  std::int32_t answerTokens = 0;
  std::uint32_t answerSeconds = 600;
  std::uint32_t finishSeconds = 30;
  bool noTexts = false;
};

std::vector<std::string> clientKeys(const ServeOptions& options, const Streams& streams) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  std::vector<std::string> keys;
  if (!options.keyFile.empty()) {
    keys = server::keysIn(readInput(options.keyFile, streams, kMostBytes));
    if (keys.empty())
      throw Failure({.file = options.keyFile,
                     .place = {},
                     .found = "no key",
                     .expected = /*id:key-line*/ "one key per line"});
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables of the environment.
  if (const char* const key = std::getenv(kKeyVariable); key != nullptr) {
    // A user who set the variable does not expect a server without keys.
    if (*key == '\0')
      throw Failure({.file = {},
                     .place = kKeyVariable,
                     .found = "no key",
                     .expected = "a key (unset the variable to serve without a key)"});
    keys.emplace_back(key);
  }
  return keys;
}

server::ServerConfig serverConfig(const ServeOptions& options, const Streams& streams) {
  server::ServerConfig config = options.server;
  config.keys = clientKeys(options, streams);
  config.certificate = options.certificate;
  config.privateKey = options.privateKey;
  config.keepsTexts = !options.noTexts;
  config.limits.bodyBytes = std::size_t{options.bodyMebibytes} << 20U;
  config.limits.clients = options.clients;
  config.limits.requests = options.requests;
  config.limits.answerTokens = options.answerTokens;
  config.limits.toAnswer = std::chrono::seconds(options.answerSeconds);
  config.limits.toFinish = std::chrono::seconds(options.finishSeconds);
  config.run = workbench::runOptionsOf(options.session.settings);
  for (const std::string& name : workbench::stoodFor(options.session.settings)) config.names.push_back(name);
  return config;
}

/// Empties the queue of the recorder, because no other thread reads this queue.
void serveUntilStopped(trace::Recorder& recorder, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPeriod(50);
  std::vector<trace::Event> events;
  while (!stop.stop_requested()) {
    recorder.drain(events);
    events.clear();
    std::this_thread::sleep_for(kPeriod);
  }
}

ExitCode serve(const Context& context, ServeOptions options, const CLI::App& command) {
  const Streams& streams = context.streams;
  if (!options.model.empty()) options.session.settings.model = options.model;
  if (options.gateway.isOn())
    return serveGateway(context, options.gateway, serverConfig(options, streams), options.session.settings);
  useUsualPolicy(command, options.session.settings);
  server::ServerConfig config = serverConfig(options, streams);
  warnOfGuessedTemplate(streams.err, options.session.settings);
  if (command.count("--policy") == 0) noteUsualPolicy(streams.err, options.session.settings);
  const auto model =
      std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends, true));
  const workbench::OwnModel own = ownModel(model, options.session);
  workbench::JobContextWatcher nobody;
  workbench::JobService service(context.backends, nobody, own);
  workbench::ServedEngine engine(service, options.session.settings, model, own.session, own.recorder);
  server::Server server(std::move(config), engine);
  // If the pool is too large for the memory, the error is reported now, not to the first client.
  const workbench::JobHandle opened = service.submit(std::make_shared<workbench::FunctionJob>(
      [](workbench::JobContext& place, const std::stop_token& stop) { place.sessionFor({}, stop); }));
  opened.wait();
  opened.rethrow();
  if (streams.endsByItself != nullptr) *streams.endsByItself = true;
  server.start();
  streams.out << "Serving " << model->name << " at " << server.url() << " ("
              << counted(static_cast<std::int64_t>(engine.model().context), "token") << ", "
              << counted(engine.model().blocks, "block") << ")\n";
  if (const std::string events = server.kvEvents(); !events.empty()) {
    const std::string replay = server.kvEventsReplay();
    streams.out << "Publishing KV events at " << events
                << (replay.empty() ? "" : "; missed events can be requested at " + replay) << '\n';
  }
  streams.out.flush();
  serveUntilStopped(*own.recorder, context.stop);
  server.finish();
  service
      .submit(std::make_shared<workbench::FunctionJob>(
          [](workbench::JobContext& place, const std::stop_token& stop) {
            place.openSession().finishKeeping(stop);
          }))
      .wait();
  return ExitCode::Fine;
}

}  // namespace

void addServe(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("serve", "Serve SPNL's and OpenAI's protocols with one model and its cache");
  command->footer(
      R"(Examples:
  spanq serve
  spanq serve ~/models/smollm2 --served-name '*' --blocks 4096
  spanq serve --host 0.0.0.0 --api-key-file keys --tls-cert cert.pem --tls-key key.pem
  spanq serve ~/models/smollm2 --port 8001 --upstream http://gpu-3:8000 --upstream http://gpu-4:8000

)"
      "Endpoints: /v1/chat/completions, /v1/completions, /v1/query/execute (SPNL), /v1/models, /tokenize, "
      "/detokenize, /metrics and /health. After an interrupt, the server refuses new requests and ends when "
      "all running requests have ended. Client keys come from --api-key-file or SPANQ_API_KEY. Clients with "
      "different keys share no cached blocks. A --host other than the loopback needs client keys and "
      "TLS.\n\nWith --upstream, the command is a gateway in front of other servers. MODEL must have the "
      "tokenizer and the chat template of these servers. The gateway changes only span queries, and chats "
      "with the field \"spanscope\". For these requests, the gateway sends the children of each plus in the "
      "best order for the cache. All other requests pass unchanged.\n");
  const auto options = std::make_shared<ServeOptions>();
  workbench::RunSettings& settings = options->session.settings;
  command->add_option("MODEL", options->model,
                      "Folder or file of the model (default: the model of --model, or the bundled one)");
  addSettings(*command, settings, {"model", "chat_template", "template_variables"});
  command->add_option("--host", options->server.host, "Host name or address on which the server listens")
      ->capture_default_str();
  constexpr int kMostPort = 65535;
  addNumber(*command, "--port", options->server.port, "Port on which the server listens; 0: any free port",
            {0, kMostPort});
  command
      ->add_option("--served-name", options->server.names,
                   "Another model name that clients can request; '*': any name. Can be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  const std::string kAccess = "Access";
  command
      ->add_option("--api-key-file", options->keyFile,
                   "File with client keys, one per line; lines that begin with # are comments")
      ->type_name("FILE")
      ->group(kAccess);
  CLI::Option* certificate =
      command->add_option("--tls-cert", options->certificate, "TLS certificate with its chain, as PEM")
          ->type_name("FILE")
          ->group(kAccess);
  CLI::Option* key =
      command->add_option("--tls-key", options->privateKey, "Private key of the certificate, as PEM")
          ->type_name("FILE")
          ->group(kAccess);
  certificate->needs(key);
  key->needs(certificate);
  command
      ->add_option("--allow-host", options->server.hosts,
                   "Another host name that clients can use for this machine. Can be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(kAccess);
  command
      ->add_option("--allow-origin", options->server.origins,
                   "Origin of web pages that may use the server. Can be repeated")
      ->allow_extra_args(false)
      ->type_name("ORIGIN")
      ->group(kAccess);
  command
      ->add_flag("--no-texts", options->noTexts,
                 "Keep only the metrics of requests and answers, not their texts")
      ->group(kAccess);
  CLI::Option* events = command
                            ->add_option("--kv-events", options->server.kvEvents.endpoint,
                                         "Publish KV events in the format of vLLM at this ZeroMQ endpoint, "
                                         "e.g. tcp://127.0.0.1:5557 or ipc://FILE")
                            ->type_name("ENDPOINT")
                            ->excludes("--no-texts");
  command
      ->add_option("--kv-events-replay", options->server.kvEvents.replayEndpoint,
                   "Endpoint at which clients can request missed events again, e.g. tcp://127.0.0.1:5558")
      ->type_name("ENDPOINT")
      ->needs(events);
  addGatewayOptions(*command, options->gateway);
  const std::string kLimits = "Limits";
  constexpr std::uint32_t kMany = 100'000;
  addNumber(*command, "--max-body-mib", options->bodyMebibytes, "Max MiB of a request body", {1U, 1024U})
      ->group(kLimits);
  addNumber(*command, "--max-clients", options->clients,
            "Max concurrent connections; further connections wait", {1U, 4096U})
      ->group(kLimits);
  addNumber(*command, "--max-requests", options->requests, "Max running requests; further requests wait",
            {1U, kMany})
      ->group(kLimits);
  addNumber(*command, "--max-reply", options->answerTokens,
            "Max tokens of an answer; 0: the rest of the context",
            {0, std::numeric_limits<std::int32_t>::max()})
      ->group(kLimits);
  addNumber(*command, "--max-seconds", options->answerSeconds, "Max seconds for an answer", {1U, kMany})
      ->group(kLimits);
  addNumber(*command, "--end-seconds", options->finishSeconds,
            "Max seconds that the server waits for running answers before it ends", {0U, kMany})
      ->group(kLimits);
  addSettings(*command, settings, {"policy", "prompt_layout", "max_tokens"});
  addSettings(*command, settings,
              {"device", "exact", "arithmetic", "threads", "block_size", "blocks", "kv_type"});
  addStoreOptions(*command, options->session);
  using workbench::SettingEffect;
  addOtherSettings(*command, settings, {SettingEffect::Model, SettingEffect::Session});
  command->callback([&context, options, command] {
    options->session.check();
    context.action = [&context, options, command] { return serve(context, *options, *command); };
  });
}

}  // namespace spanscope::cli
