// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_list.h"

#include "engine/base/ascii.h"
#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/protocol.h"
#include "engine/remote/secrets/secret_store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <variant>

namespace spanscope::workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 100;
constexpr std::array kKeyPlaces{"none", "environment", "secrets"};

std::string serverField(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns 0, the default, if the number is missing or too large.
std::size_t atOnceField(const Json& object) {
  const auto found = object.find("at_once");
  if (found == object.end() || !found->is_number_unsigned()) return 0;
  const auto number = found->get<std::uint64_t>();
  return number <= remote::kMostAtOnce ? static_cast<std::size_t>(number) : 0;
}

bool isVariable(const std::string& name) {
  const auto fits = [](char c) { return isLetter(c) || isDigit(c) || c == '_'; };
  return !name.empty() && std::ranges::all_of(name, fits);
}

/// Menus, tables and traces show a name on one line.
bool isServerName(const std::string& name) {
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return !name.empty() && name.size() <= kLongestName && name.front() != ' ' && name.back() != ' ' &&
         isValidUtf8(name) && std::ranges::none_of(name, isControl);
}

/// Gives a file a name that no file has: "servers.json.damaged", "servers.json.damaged-2", …
std::filesystem::path renamedAside(const std::filesystem::path& file) {
  constexpr int kMostNames = 1000;
  std::error_code error;
  std::filesystem::path aside = file;
  aside += ".damaged";
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(aside, error)); ++i) {
    aside = file;
    aside += ".damaged-" + std::to_string(i);
    if (i > kMostNames)
      throw Failure({file.string(),
                     {},
                     "a damaged file",
                     "a free name for the damaged file. Move older damaged files away"});
  }
  std::filesystem::rename(file, aside, error);
  if (error) {
    throw Failure({file.string(),
                   {},
                   "a damaged file that cannot be renamed: " + error.message(),
                   "a folder in which files can be renamed"});
  }
  return aside;
}

/// Throws Failure for a key that cannot be sent. The error names `server`.
std::string checkedKey(std::string key, const NamedServer& server) {
  if (std::optional<Error> problem = remote::problemOfKey(key)) {
    problem->file = "server " + server.name;
    throw Failure(std::move(*problem));
  }
  return key;
}

}  // namespace

const char* keyPlaceName(KeyPlace place) {
  return kKeyPlaces[static_cast<std::size_t>(place)];
}

std::optional<KeyPlace> findKeyPlace(std::string_view name) {
  const auto found = std::ranges::find(kKeyPlaces, name);
  if (found == kKeyPlaces.end()) return std::nullopt;
  return static_cast<KeyPlace>(found - kKeyPlaces.begin());
}

std::optional<Error> problemOf(const NamedServer& server) {
  if (!isServerName(server.name) || server.name == "embedded") {
    return errorAt("name", server.name.empty() ? "none" : "\"" + toValidUtf8(server.name) + "\"",
                   "a short name on one line, such as gpu-3");
  }
  auto address = remote::readServerAddress(server.url);
  if (auto* problem = std::get_if<Error>(&address)) {
    problem->place = "address";
    return std::move(*problem);
  }
  if (!server.protocol.empty() && remote::findProtocol(server.protocol) == nullptr)
    return errorAt("protocol", "\"" + server.protocol + "\"", "one of " + remote::protocolNames());
  if (server.key == KeyPlace::Environment && !isVariable(server.keyVariable))
    return errorAt("key", "no environment variable", "an environment variable such as OPENAI_API_KEY");
  if (server.atOnce > remote::kMostAtOnce) {
    return errorAt("requests at the same time", std::to_string(server.atOnce),
                   "at most " + std::to_string(remote::kMostAtOnce));
  }
  return std::nullopt;
}

std::vector<NamedServer> ServerList::list() const {
  return read().servers;
}

std::optional<Error> ServerList::problem() const {
  return read().problem;
}

ServerList::Read ServerList::read() const {
  Read read;
  if (m_file.empty()) {
    read.servers = m_servers;
    return read;
  }
  const auto miss = [&](std::string place, std::string found, std::string expected) {
    if (!read.problem)
      read.problem = Error{m_file.string(), std::move(place), std::move(found), std::move(expected)};
  };
  constexpr std::uintmax_t kMostBytes = 1U << 20U;
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(m_file, error))) return read;
  const std::uintmax_t bytes = std::filesystem::file_size(m_file, error);
  std::ifstream file(m_file, std::ios::binary);
  if (error || !file) {
    miss({}, "a file that cannot be read", "a list of servers");
    return read;
  }
  if (bytes > kMostBytes) {
    miss({}, std::to_string(bytes) + " bytes", "at most " + std::to_string(kMostBytes));
    return read;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& problem) {
    miss("byte " + std::to_string(problem.byte), "a file that is not JSON", "a list of servers in JSON");
    return read;
  } catch (const Json::exception&) {
    miss({}, "a file with a number that is too large", "smaller numbers");
    return read;
  }
  const auto all = json.is_object() ? json.find("servers") : json.end();
  if (!json.is_object() || all == json.end() || !all->is_array()) {
    miss({}, "no list of servers", "an object with a list \"servers\"");
    return read;
  }
  std::vector<NamedServer>& servers = read.servers;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Json& entry = (*all)[i];
    const std::string place = "/servers/" + std::to_string(i);
    if (!entry.is_object() || servers.size() >= kMost) {
      miss(place,
           entry.is_object() ? "more servers than " + std::to_string(kMost) : "a value that is not an object",
           "a server");
      continue;
    }
    NamedServer server{.name = serverField(entry, "name"), .url = serverField(entry, "url")};
    server.model = serverField(entry, "model");
    // An unknown protocol, e.g. of a later version, counts as none.
    if (const remote::Protocol* protocol = remote::findProtocol(serverField(entry, "protocol")))
      server.protocol = protocol->name;
    server.key = findKeyPlace(serverField(entry, "key")).value_or(KeyPlace::None);
    server.keyVariable = serverField(entry, "key_variable");
    server.certificateFile = serverField(entry, "certificates");
    server.isUnlisted = entry.value("unlisted_model", Json(false)) == Json(true);
    server.atOnce = atOnceField(entry);
    server.keepsOrder = serverField(entry, "order") == "written";
    server.hasOrderNote = entry.value("order_note", Json(false)) == Json(true);
    const auto isSame = [&server](const NamedServer& other) { return other.name == server.name; };
    if (const std::optional<Error> problem = problemOf(server)) {
      miss(place + "/" + problem->place, problem->found, problem->expected);
    } else if (std::ranges::any_of(servers, isSame)) {
      miss(place + "/name", "\"" + server.name + "\" again", "each name once");
    } else {
      servers.push_back(std::move(server));
    }
  }
  std::ranges::sort(servers, {}, &NamedServer::name);
  return read;
}

std::optional<NamedServer> ServerList::find(std::string_view name) const {
  for (NamedServer& server : list()) {
    if (server.name == name) return std::move(server);
  }
  return std::nullopt;
}

void ServerList::put(const NamedServer& server) {
  if (std::optional<Error> problem = problemOf(server)) {
    problem->file = "server";
    throw Failure(std::move(*problem));
  }
  std::vector<NamedServer> servers = list();
  std::erase_if(servers, [&server](const NamedServer& other) { return other.name == server.name; });
  if (servers.size() >= kMost)
    throw Failure({"servers", {}, std::to_string(kMost + 1), "at most " + std::to_string(kMost)});
  servers.push_back(server);
  write(std::move(servers));
}

void ServerList::remove(std::string_view name) {
  std::vector<NamedServer> servers = list();
  if (std::erase_if(servers, [name](const NamedServer& other) { return other.name == name; }) > 0)
    write(std::move(servers));
}

void ServerList::write(std::vector<NamedServer> servers) {
  std::ranges::sort(servers, {}, &NamedServer::name);
  if (m_file.empty()) {
    m_servers = std::move(servers);
    return;
  }
  Json json;
  json["servers"] = Json::array();
  for (const NamedServer& server : servers) {
    Json& entry = json["servers"].emplace_back();
    entry["name"] = server.name;
    entry["url"] = server.url;
    if (!server.model.empty()) entry["model"] = server.model;
    if (!server.protocol.empty()) entry["protocol"] = server.protocol;
    if (server.isUnlisted) entry["unlisted_model"] = true;
    if (server.key != KeyPlace::None) entry["key"] = keyPlaceName(server.key);
    if (!server.keyVariable.empty()) entry["key_variable"] = server.keyVariable;
    if (!server.certificateFile.empty()) entry["certificates"] = server.certificateFile;
    if (server.atOnce > 0) entry["at_once"] = server.atOnce;
    if (server.keepsOrder) entry["order"] = "written";
    if (server.hasOrderNote) entry["order_note"] = true;
  }
  std::error_code ignored;
  std::filesystem::create_directories(m_file.parent_path(), ignored);
  if (problem()) m_keptAside = renamedAside(m_file);
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (const std::optional<Error> error = writeFile(m_file, text)) throw Failure(*error);
}

std::filesystem::path standardServersFile() {
  const auto absolute = [](const char* name) -> std::filesystem::path {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables of the environment.
    const char* const value = std::getenv(name);
    const std::filesystem::path path = value != nullptr ? value : "";
    return path.is_absolute() ? path : std::filesystem::path();
  };
  std::filesystem::path folder = absolute("XDG_CONFIG_HOME");
  if (folder.empty() && !absolute("HOME").empty()) folder = absolute("HOME") / ".config";
  return folder.empty() ? folder : folder / "spanscope" / "servers.json";
}

remote::HttpAccess accessTo(const NamedServer& server, const std::stop_token& stop) {
  remote::HttpAccess access;
  if (const remote::Protocol* protocol = remote::findProtocol(server.protocol))
    access = remote::accessIn(*protocol, std::move(access));
  access.certificateFile = server.certificateFile;
  switch (server.key) {
    case KeyPlace::None:
      break;
    case KeyPlace::Environment: {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables of the environment.
      const char* const key = std::getenv(server.keyVariable.c_str());
      if (key == nullptr || *key == '\0')
        throw Failure({"server " + server.name, "key",
                       "The environment variable " + server.keyVariable + " is not set.",
                       "Set this variable to the server's key."});
      access.key = checkedKey(key, server);
      break;
    }
    case KeyPlace::Secrets: {
      const std::optional<std::string> key = remote::findSecret(server.name, stop);
      if (!key || key->empty())
        throw Failure({"server " + server.name, "key",
                       "The desktop's secret store has no key of this server.",
                       "Store the key again: change the server in the list of servers."});
      access.key = checkedKey(*key, server);
      break;
    }
  }
  return access;
}

}  // namespace spanscope::workbench
