// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/serve_gateway.h"

#include "app/cli/asked_server.h"
#include "app/cli/option_values.h"
#include "engine/base/error.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/gateway/gateway.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/simulator_prediction.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>
#include <utility>

namespace spanscope::cli {
namespace {

/// A file of JSON lines. Each line is in the file as soon as its request has ended.
class LogFile {
 public:
  explicit LogFile(const std::string& path) : m_path(path), m_stream(path, std::ios::app) {
    if (!m_stream)
      throw OutputFailure({path, {}, "a file that cannot be written", "a writable file for the log"});
    // The log has the texts of requests.
    using std::filesystem::perms;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored))
      std::filesystem::permissions(path, perms::owner_read | perms::owner_write, ignored);
  }
  void write(const std::string& line) {
    const std::lock_guard lock(m_mutex);
    m_stream << line << std::flush;
    m_isBroken = m_isBroken || !m_stream;
  }
  bool isBroken() {
    const std::lock_guard lock(m_mutex);
    return m_isBroken;
  }
  const std::string& path() const { return m_path; }

 private:
  const std::string m_path;
  std::mutex m_mutex;
  std::ofstream m_stream;
  bool m_isBroken = false;
};

std::string upstreamText(const gateway::UpstreamState& state) {
  if (!state.isKnown)
    return state.name + " at " + state.url + ": " + (state.problem.empty() ? "no answer yet" : state.problem);
  const std::string version = state.facts.version.empty() ? "" : " " + state.facts.version;
  return state.name + ": " + remote::infoOf(state.facts.kind).title + version + " at " + state.url;
}

/// Throws Failure if a server is not in the list or has no key.
std::vector<gateway::UpstreamConfig> upstreamsOf(const Context& context, const GatewayOptions& options) {
  std::vector<gateway::UpstreamConfig> upstreams;
  for (const std::string& url : options.upstreams) {
    ServerOptions own;
    own.url = url;
    own.keyVariable = options.keyVariable;
    own.certificates = options.certificates;
    const std::optional<AskedServer> asked = serverToAsk(context, own);
    if (!asked) return {};
    upstreams.push_back({.name = asked->name,
                         .url = asked->server.url,
                         .access = asked->server.access,
                         .keepsOrder = options.order.empty() ? asked->keepsOrder : options.order == "written",
                         .hasOrderNote = options.hasOrderNote || asked->hasOrderNote});
  }
  return upstreams;
}

}  // namespace

void addGatewayOptions(CLI::App& command, GatewayOptions& options) {
  const std::string kGroup = "Gateway";
  CLI::Option* upstream =
      command
          .add_option("--upstream", options.upstreams,
                      "Pass requests to this server instead of the embedded engine: an address, or a name in "
                      "the list of servers. Can be repeated")
          ->allow_extra_args(false)
          ->type_name("URL")
          ->group(kGroup);
  command
      .add_option("--key-from", options.keyVariable,
                  "Environment variable with the key for the upstream servers. The gateway uses this key for "
                  "clients that send no key")
      ->type_name("VARIABLE")
      ->group(kGroup)
      ->needs(upstream);
  command
      .add_option("--certificates", options.certificates,
                  "PEM file of trusted certificate authorities for the upstream servers")
      ->type_name("FILE")
      ->group(kGroup)
      ->needs(upstream);
  const OrderFlags flags = addOrderOptions(command, options.order, options.hasOrderNote);
  for (CLI::Option* const option : {flags.order, flags.note}) option->group(kGroup)->needs(upstream);
  command
      .add_option("--record", options.record,
                  "Record each request as a run in this trace file. Further servers have their own files: "
                  "NAME-2.trace, NAME-3.trace")
      ->type_name("FILE")
      ->group(kGroup)
      ->needs(upstream);
  command
      .add_option("--log", options.log,
                  "Append each request with its answer to this file, as JSON lines for spanq doctor")
      ->type_name("FILE")
      ->group(kGroup)
      ->needs(upstream)
      ->excludes("--no-texts");
  constexpr std::size_t kMany = 1000;
  addNumber(command, "--max-ahead", options.mostAhead,
            "Max difference in running requests between the chosen server and the least busy server. The "
            "gateway chooses servers above this limit last",
            {std::size_t{0}, kMany})
      ->group(kGroup)
      ->needs(upstream);
}

ExitCode serveGateway(const Context& context, const GatewayOptions& options,
                      const server::AddressConfig& config, const workbench::RunSettings& settings) {
  const Streams& streams = context.streams;
  gateway::GatewayConfig own;
  own.upstreams = upstreamsOf(context, options);
  if (own.upstreams.empty()) return ExitCode::RunFailed;
  static_cast<server::AddressConfig&>(own) = config;
  own.mostAhead = options.mostAhead;
  own.tokenizer = text::loadTokenizer(workbench::modelDirectoryOf(settings));
  own.chat = &workbench::chatTemplateOf(settings);
  own.model = workbench::modelNameOf(settings);
  own.tokenBytes = workbench::cachedTokenBytes(workbench::modelDirectoryOf(settings));
  own.program = traceHeader().program;
  std::shared_ptr<LogFile> log;
  if (!options.log.empty()) {
    log = std::make_shared<LogFile>(options.log);
    own.log = [log](const std::string& line) { log->write(line); };
  }
  gateway::Gateway gateway(std::move(own));
  const std::vector<std::shared_ptr<trace::Recorder>> recorders = gateway.recorders();
  if (!options.record.empty()) {
    for (std::size_t i = 0; i < recorders.size(); ++i)
      recorders[i]->startFile(gateway::recordingOf(options.record, i), traceHeader());
  }
  if (streams.endsByItself != nullptr) *streams.endsByItself = true;
  gateway.start();
  streams.out << "Gateway at " << gateway.url() << '\n' << std::flush;
  constexpr std::chrono::seconds kToKnow{2};
  gateway.awaitFacts(kToKnow);
  for (const gateway::UpstreamState& state : gateway.upstreams())
    streams.out << "  " << upstreamText(state) << '\n';
  streams.out.flush();
  constexpr std::chrono::milliseconds kPeriod(50);
  std::vector<trace::Event> events;
  while (!context.stop.stop_requested()) {
    for (const auto& recorder : recorders) recorder->drain(events);
    events.clear();
    std::this_thread::sleep_for(kPeriod);
  }
  gateway.finish();
  ExitCode code = ExitCode::Fine;
  for (const auto& recorder : recorders) {
    const std::optional<Error> error = recorder->finishFile();
    if (!error) continue;
    streams.err << error->message() << '\n';
    code = ExitCode::RunFailed;
  }
  if (log && log->isBroken()) {
    streams.err << Failure({log->path(), {}, "a failed write", "free space for the log"}).what() << '\n';
    code = ExitCode::RunFailed;
  }
  return code;
}

}  // namespace spanscope::cli
