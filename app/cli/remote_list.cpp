// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/asked_server.h"
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/protocol.h"
#include "engine/remote/secrets/secret_store.h"
#include "engine/workbench/servers/price_list.h"
#include "engine/workbench/servers/server_list.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListedServerOptions {
  workbench::NamedServer server;
  std::string keyVariable;
  bool keepsKey = false;
  std::string order;
};

/// Reads a key from the first line of standard input. Other users of the machine could see a key in an
/// option.
std::string keyFromInput(std::istream& in) {
  std::string key;
  std::getline(in, key);
  while (!key.empty() && (key.back() == '\r' || key.back() == ' ')) key.pop_back();
  return key;
}

/// Warns if the list of servers has unreadable data. Returns true for such a list.
bool warnOfDamage(const Context& context, const workbench::ServerList& list) {
  const std::optional<Error> damage = list.problem();
  if (damage) context.streams.err << "warning: " << damage->message() << '\n';
  return damage.has_value();
}

ExitCode addToList(const Context& context, ListedServerOptions options) {
  if (!options.keyVariable.empty()) {
    options.server.key = workbench::KeyPlace::Environment;
    options.server.keyVariable = options.keyVariable;
  }
  if (options.keepsKey) options.server.key = workbench::KeyPlace::Secrets;
  options.server.keepsOrder = options.order == "written";
  try {
    workbench::ServerList list = serverList();
    if (const std::optional<Error> problem = workbench::problemOf(options.server)) {
      context.streams.err << Failure(*problem).what() << '\n';
      return ExitCode::WrongInput;
    }
    if (options.keepsKey) {
      const std::string key = keyFromInput(context.streams.in);
      if (key.empty()) {
        context.streams.err << "standard input: The first line has no key. Write the key on this line.\n";
        return ExitCode::WrongInput;
      }
      if (std::optional<Error> problem = remote::problemOfKey(key)) {
        problem->file = "standard input";
        context.streams.err << Failure(*problem).what() << '\n';
        return ExitCode::WrongInput;
      }
      remote::keepSecret(options.server.name, key, context.stop);
    }
    const std::optional<Error> damage = list.problem();
    list.put(options.server);
    if (damage)
      context.streams.err << "warning: " << withPeriod(damage->message()) << " Spanscope keeps the file as "
                          << list.keptAside().string() << '\n';
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
  return ExitCode::Fine;
}

ExitCode removeFromList(const Context& context, const std::string& name) {
  workbench::ServerList list = serverList();
  warnOfDamage(context, list);
  const std::optional<workbench::NamedServer> server = list.find(name);
  if (!server) {
    context.streams.err << "list of servers: There is no server named \"" << name
                        << "\". The command spanq remote list shows the names.\n";
    return ExitCode::WrongInput;
  }
  try {
    list.remove(name);
    if (!list.keptAside().empty())
      context.streams.err << "warning: Spanscope keeps the damaged file as " << list.keptAside().string()
                          << '\n';
    if (server->key == workbench::KeyPlace::Secrets) remote::forgetSecret(name, context.stop);
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
  return ExitCode::Fine;
}

std::string keyText(const workbench::NamedServer& server) {
  switch (server.key) {
    case workbench::KeyPlace::None:
      break;
    case workbench::KeyPlace::Environment:
      return "in " + server.keyVariable;
    case workbench::KeyPlace::Secrets:
      return "in the desktop's secret store";
  }
  return "none";
}

ExitCode writeList(const Context& context, bool asJson) {
  const workbench::ServerList list = serverList();
  const bool isDamaged = warnOfDamage(context, list);
  const std::vector<workbench::NamedServer> servers = list.list();
  if (servers.empty() && isDamaged) return ExitCode::RunFailed;
  if (asJson) {
    Json json = Json::array();
    for (const workbench::NamedServer& server : servers) {
      Json& entry = json.emplace_back();
      entry["name"] = server.name;
      entry["url"] = server.url;
      if (!server.model.empty()) entry["model"] = server.model;
      if (server.isUnlisted) entry["unlisted_model"] = true;
      if (!server.protocol.empty()) entry["protocol"] = server.protocol;
      entry["at_once"] = server.atOnce > 0 ? server.atOnce : remote::kStandardAtOnce;
      entry["order"] = server.keepsOrder ? "written" : "cache";
      if (server.hasOrderNote) entry["order_note"] = true;
      entry["key"] = workbench::keyPlaceName(server.key);
      if (!server.keyVariable.empty()) entry["key_variable"] = server.keyVariable;
    }
    context.streams.out << jsonText(json) << '\n';
    return ExitCode::Fine;
  }
  if (servers.empty()) {
    context.streams.out
        << /*id:no-server-name*/ "  The list is empty. Add a server: spanq remote add NAME URL\n";
    return ExitCode::Fine;
  }
  TextTable table({{"name", TextTable::Align::Left},
                   {"address", TextTable::Align::Left},
                   {"model", TextTable::Align::Left},
                   {"protocol", TextTable::Align::Left},
                   {"key", TextTable::Align::Left}});
  for (const workbench::NamedServer& server : servers)
    table.addRow({server.name, server.url, server.model.empty() ? "the query's" : server.model,
                  server.protocol.empty() ? "automatic" : server.protocol, keyText(server)});
  context.streams.out << table.text();
  return ExitCode::Fine;
}

void addRemoteList(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("list", "List the servers with names");
  command->footer("Example:\n  spanq remote list\n");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write JSON");
  command->callback(
      [&context, json] { context.action = [&context, json] { return writeList(context, *json); }; });
}

void addRemoteAdd(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("add", "Add a server under a name, or change a server");
  command->footer(
      "Examples:\n  spanq remote add gpu-3 http://gpu-3:8000\n"
      "  spanq remote add there https://api.example/v1 --key-from OPENAI_API_KEY --model gpt-x\n");
  const auto options = std::make_shared<ListedServerOptions>();
  command->add_option("NAME", options->server.name, "Name of the server, e.g. gpu-3")->required();
  command->add_option("URL", options->server.url, "Address of the server, e.g. http://gpu-3:8000")
      ->required();
  command->add_option("--model", options->server.model,
                      "Model of the server, instead of the model of the query");
  command->add_flag("--unlisted-model", options->server.isUnlisted,
                    "Request this model even if the server does not list it");
  addProtocolOption(*command, options->server.protocol,
                    "Protocol: " + remote::protocolList() +
                        " (default: the first of these protocols that the server has and the query allows)");
  command->add_option(
      "--certificates", options->server.certificateFile,
      "PEM file of trusted certificate authorities, instead of the authorities of the system");
  command
      ->add_option("--at-once", options->server.atOnce,
                   "Max concurrent requests of a run. Default: " + std::to_string(remote::kStandardAtOnce))
      ->check(within(Range<std::uint64_t>{1, remote::kMostAtOnce}))
      ->type_name("N");
  addOrderOptions(*command, options->order, options->server.hasOrderNote);
  CLI::Option* from =
      command->add_option("--key-from", options->keyVariable, "Environment variable with the server's key");
  command
      ->add_flag(
          "--keep-key", options->keepsKey,
          "Store the server's key in the desktop's secret store; the key is the first line of standard input")
      ->excludes(from);
  command->callback(
      [&context, options] { context.action = [&context, options] { return addToList(context, *options); }; });
}

void addRemoteRemove(CLI::App& group, Context& context) {
  CLI::App* command =
      group.add_subcommand("remove", "Remove a server from the list, and delete the server's key");
  command->footer("Example:\n  spanq remote remove gpu-3\n");
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Name of the server")->required();
  command->callback(
      [&context, name] { context.action = [&context, name] { return removeFromList(context, *name); }; });
}

struct PriceOptions {
  workbench::TokenPrice price;
  bool isRemoved = false;
  bool json = false;
};

/// Writes, changes or shows prices.
ExitCode managePrices(const Context& context, const PriceOptions& options, bool isChange) {
  try {
    workbench::PriceList list(workbench::standardPricesFile());
    if (!options.price.name.empty() && options.isRemoved) {
      if (list.remove(options.price.name)) return ExitCode::Fine;
      context.streams.err << "prices: There is no price for \"" << options.price.name
                          << "\". The command spanq remote price shows the names.\n";
      return ExitCode::WrongInput;
    }
    if (isChange) {
      list.put(options.price);
      return ExitCode::Fine;
    }
    const std::vector<workbench::TokenPrice> prices = list.list();
    if (options.json) {
      Json json = Json::array();
      for (const workbench::TokenPrice& price : prices)
        json.push_back({{"name", price.name},
                        {"input", price.input},
                        {"cached", price.cached},
                        {"output", price.output}});
      context.streams.out << jsonText(json) << '\n';
      return ExitCode::Fine;
    }
    TextTable table({{"name", TextTable::Align::Left}, {"input"}, {"cached"}, {"output"}});
    for (const workbench::TokenPrice& price : prices)
      table.addRow({price.name, workbench::priceText(price.input), workbench::priceText(price.cached),
                    workbench::priceText(price.output)});
    context.streams.out << table.text() << "  for one million tokens, in your currency\n";
    return ExitCode::Fine;
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
}

void addRemotePrice(CLI::App& group, Context& context) {
  CLI::App* command =
      group.add_subcommand("price", "Show or set the prices of servers, for one million tokens");
  command->footer(
      "Examples:\n  spanq remote price\n  spanq remote price openai --input 2 --cached 0.5 --output 8\n"
      "  spanq remote price openai --remove\n");
  const auto options = std::make_shared<PriceOptions>();
  command->add_option("NAME", options->price.name,
                      "Name of a kind of server, such as vllm (default: show all prices)");
  const auto price = [&](const char* name, double& value, const char* help) {
    return command->add_option(name, value, help)->check(within(Range<double>{0, 1e9}))->type_name("PRICE");
  };
  const std::vector<CLI::Option*> given{
      price("--input", options->price.input, "Price of computed prompt tokens"),
      price("--cached", options->price.cached, "Price of cached prompt tokens"),
      price("--output", options->price.output, "Price of answer tokens")};
  command->add_flag("--remove", options->isRemoved, "Remove the price");
  command->add_flag("--json", options->json, "Write JSON");
  command->callback([&context, options, given] {
    bool isChange = false;
    for (const CLI::Option* option : given) isChange |= option->count() > 0;
    if ((isChange || options->isRemoved) && options->price.name.empty())
      throw CLI::RequiresError(isChange ? "--input, --cached and --output" : "--remove", "NAME");
    context.action = [&context, options, isChange] { return managePrices(context, *options, isChange); };
  });
}

}  // namespace

void addServerListCommands(CLI::App& group, Context& context) {
  addRemotePrice(group, context);
  addRemoteList(group, context);
  addRemoteAdd(group, context);
  addRemoteRemove(group, context);
}

}  // namespace spanscope::cli
