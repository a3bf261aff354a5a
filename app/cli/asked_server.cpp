// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/asked_server.h"

#include "app/cli/bench_report.h"
#include "app/cli/option_values.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/remote/protocol.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <ostream>

namespace spanscope::cli {
namespace {

constexpr double kMostSeconds = 86'400;

/// Returns the host of an address, with the port if the address has a port: "gpu-3:8000".
std::string hostOf(const std::string& url) {
  const std::string root = remote::rootOf(url);
  const std::size_t begin = root.find("://");
  const std::string rest = begin == std::string::npos ? root : root.substr(begin + 3);
  return rest.substr(0, rest.find('/'));
}

/// Returns the server of these options. Options override the list of servers. Throws Failure if a key is
/// missing.
AskedServer askedServer(const ServerOptions& options, const std::stop_token& stop) {
  AskedServer asked{.name = hostOf(options.url), .server = {.url = options.url, .model = {}}};
  if (std::optional<workbench::NamedServer> known = serverList().find(options.url)) {
    if (!options.keyVariable.empty()) known->key = workbench::KeyPlace::None;
    asked.name = known->name;
    asked.server.url = known->url;
    asked.server.model = known->model;
    asked.server.isUnlisted = known->isUnlisted;
    asked.protocol = known->protocol;
    if (known->atOnce > 0) asked.atOnce = known->atOnce;
    asked.keepsOrder = known->keepsOrder;
    asked.hasOrderNote = known->hasOrderNote;
    asked.server.access = workbench::accessTo(*known, stop);
  } else if (options.url.find(':') == std::string::npos) {
    if (const std::optional<Error> damage = serverList().problem()) throw Failure(*damage);
    throw Failure({"server",
                   {},
                   /*id:no-name-list*/ "The list of servers does not have the name \"" + options.url + "\".",
                   "Use a name that spanq remote list shows, or an address such as http://localhost:8000."});
  }
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(std::llround(seconds * kMilliseconds));
  };
  remote::HttpAccess& access = asked.server.access;
  if (!options.certificates.empty()) access.certificateFile = options.certificates;
  access.limits.connect = milliseconds(options.connectSeconds);
  access.limits.firstByte = milliseconds(options.firstSeconds);
  access.limits.silence = milliseconds(options.silenceSeconds);
  if (options.keyVariable.empty()) return asked;
  const char* const key = std::getenv(options.keyVariable.c_str());
  if (key == nullptr || *key == '\0')
    refuseOption("--key-from", "The environment variable " + options.keyVariable + " is not set.",
                 "Set this variable to the server's key.");
  if (const std::optional<Error> problem = remote::problemOfKey(key))
    refuseOption("--key-from", options.keyVariable + ", " + problem->found, problem->expected);
  access.key = key;
  return asked;
}

}  // namespace

workbench::ServerList serverList() {
  return workbench::ServerList(workbench::standardServersFile());
}

void addServerOptions(CLI::App& command, ServerOptions& server) {
  command
      .add_option("URL", server.url,
                  "Address of the server, e.g. http://gpu-3:8000, or its name in the list of servers")
      ->required();
  command.add_option("--key-from", server.keyVariable, "Environment variable with the server's key");
  command.add_option("--certificates", server.certificates,
                     "PEM file of trusted certificate authorities, instead of the authorities of the system");
  const auto seconds = [&](const char* name, double& value, const char* help) {
    command.add_option(name, value, help)
        ->check(within(Range<double>{0.001, kMostSeconds}))
        ->capture_default_str();
  };
  seconds("--connect-timeout", server.connectSeconds, "Max seconds until the connection is open");
  seconds("--first-timeout", server.firstSeconds, "Max seconds until the first byte of an answer");
  seconds("--silence-timeout", server.silenceSeconds, "Max seconds without a new part of an answer");
}

CLI::Option* addProtocolOption(CLI::App& command, std::string& protocol, const std::string& help) {
  return command.add_option("--protocol", protocol, help)
      ->check(CLI::Validator(
          [](const std::string& name) {
            return remote::findProtocol(name) != nullptr
                       ? std::string()
                       : problemSentence('"' + name + '"', "one of " + remote::protocolNames());
          },
          ""))
      ->type_name("NAME");
}

OrderFlags addOrderOptions(CLI::App& command, std::string& order, bool& hasOrderNote) {
  CLI::Option* const orderOption =
      command
          .add_option(
              "--order", order,
              "Order of the documents (children of a plus): best for the cache of the server (cache), "
              "or as written (written). Default: cache")
          ->check(oneOf({"cache", "written"}))
          ->type_name("NAME");
  CLI::Option* const note =
      command.add_flag("--order-note", hasOrderNote,
                       "Add a message that states the original order of the documents, whenever "
                       "another order is sent");
  return {.order = orderOption, .note = note};
}

std::optional<AskedServer> serverToAsk(const Context& context, const ServerOptions& options) {
  try {
    return askedServer(options, context.stop);
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
    return std::nullopt;
  }
}

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
}  // namespace spanscope::cli
