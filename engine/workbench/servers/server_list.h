// SPDX-License-Identifier: GPL-3.0-or-later
// The list of the user's named servers. Window and command line share the list, which is a file. Keys are
// never in the file. Open this file to add a property of a server.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/http/http_client.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// The place of a server's key.
enum class KeyPlace : std::uint8_t {
  None,         ///< the server needs no key
  Environment,  ///< in an environment variable
  Secrets,      ///< in the desktop's secret store (remote/secrets)
};
const char* keyPlaceName(KeyPlace place);  ///< "none", "environment", "secrets": the name in the file
std::optional<KeyPlace> findKeyPlace(std::string_view name);

struct NamedServer {
  std::string name;         ///< "gpu-3"
  std::string url;          ///< "http://gpu-3:8000", with or without /v1
  std::string model{};      ///< the server's name for the model; empty: the name in a query
  std::string protocol{};   ///< remote::Protocol::name; empty: the first that the server accepts
  bool isUnlisted = false;  ///< whether `model` is sent even if the server does not list it
  KeyPlace key = KeyPlace::None;
  std::string keyVariable{};      ///< for Environment
  std::string certificateFile{};  ///< PEM of the authorities to trust; empty: the system's.
  /// Max requests of one run that the server gets at the same time, at most remote::kMostAtOnce. 0:
  /// remote::kStandardAtOnce.
  std::size_t atOnce = 0;
  /// Whether the children of each plus keep the order of the query. Otherwise a server with prefix caching
  /// gets the order that its cache serves best.
  bool keepsOrder = false;
  /// Whether the prompt has notes about the order of the query (orderNotes()), if another order was sent.
  bool hasOrderNote = false;
  bool operator==(const NamedServer&) const = default;
};

/// Returns the fault of a server's data, or nothing. The error has no file.
std::optional<Error> problemOf(const NamedServer& server);

class ServerList {
 public:
  static constexpr std::size_t kMost = 200;

  ServerList() = default;  ///< keeps the servers in memory until the program ends.
  /// Keeps the servers in a file, which other programs of the user may share. Damaged entries are left out
  /// and reported by problem(). Such a file is renamed before a new file is written, so that nothing is lost.
  explicit ServerList(std::filesystem::path file) : m_file(std::move(file)) {}

  /// Returns the servers by name, ascending. Invalid entries are left out.
  std::vector<NamedServer> list() const;
  /// Returns the reason why servers of the file are missing in list(). The file cannot be read, is no list,
  /// or has a wrong entry. The error names the file. Nothing: no server is missing.
  std::optional<Error> problem() const;
  /// Returns the new name of a file with a problem, set by put() or remove(). Empty: there was none.
  const std::filesystem::path& keptAside() const { return m_keptAside; }
  std::optional<NamedServer> find(std::string_view name) const;
  /// Adds a server, or replaces the server with this name. Throws Failure for wrong data. Throws Failure if
  /// the file cannot be written, or a file with a problem cannot be renamed.
  void put(const NamedServer& server);
  /// Throws Failure if the file cannot be written.
  void remove(std::string_view name);

 private:
  struct Read {
    std::vector<NamedServer> servers;
    std::optional<Error> problem;
  };
  Read read() const;
  void write(std::vector<NamedServer> servers);

  std::filesystem::path m_file;
  std::filesystem::path m_keptAside;
  std::vector<NamedServer> m_servers;  ///< the servers of a program without a file
};

/// Returns spanscope/servers.json in this user's folder for settings. Empty: there is no such folder.
std::filesystem::path standardServersFile();

/// Reads the key of a server now, and returns the access to the server. Throws Failure if the key is missing.
remote::HttpAccess accessTo(const NamedServer& server, const std::stop_token& stop = {});

}  // namespace spanscope::workbench
