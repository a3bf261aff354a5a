// SPDX-License-Identifier: GPL-3.0-or-later
// The servers that a person gave names to. Window and command line share the list, which is a file; keys are
// never in it.
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

/// Where the key of a server is.
enum class KeyPlace : std::uint8_t {
  None,         ///< it wants none
  Environment,  ///< in a variable of the environment
  Secrets,      ///< in the desktop's secret store (remote/secrets)
};
const char* keyPlaceName(KeyPlace place);  ///< "none", "environment", "secrets": in the file
std::optional<KeyPlace> findKeyPlace(std::string_view name);

struct NamedServer {
  std::string name;         ///< "gpu-3"
  std::string url;          ///< "http://gpu-3:8000", with or without /v1
  std::string model{};      ///< the server's name for the model; empty: the one that a query names
  std::string protocol{};   ///< remote::Protocol::name; empty: the first that it takes
  bool isUnlisted = false;  ///< whether `model` is sent also where the server does not list it
  KeyPlace key = KeyPlace::None;
  std::string keyVariable{};      ///< for Environment
  std::string certificateFile{};  ///< PEM of the authorities to trust; empty: the system's
  /// Requests of one run that it gets at the same time, at most remote::kMostAtOnce; 0:
  /// remote::kStandardAtOnce.
  std::size_t atOnce = 0;
  bool operator==(const NamedServer&) const = default;
};

/// What is wrong with a server as it is; nothing: it can be asked. The error has no file.
std::optional<Error> problemOf(const NamedServer& server);

class ServerList {
 public:
  static constexpr std::size_t kMost = 200;

  ServerList() = default;  ///< until the program ends
  /// Keeps them in a file, which other programs of the user may share. What is damaged in it is left out and
  /// reported by problem(); before the file is written it is renamed, so that nothing of it is lost.
  explicit ServerList(std::filesystem::path file) : m_file(std::move(file)) {}

  /// By name, ascending. Entries that are wrong are left out.
  std::vector<NamedServer> list() const;
  /// Why servers of the file are missing in list(): it cannot be read, is no list, or an entry of it is
  /// wrong. The error has the file. Nothing: all are there.
  std::optional<Error> problem() const;
  /// Where put() or remove() kept a file with a problem; empty: there was none.
  const std::filesystem::path& keptAside() const { return m_keptAside; }
  std::optional<NamedServer> find(std::string_view name) const;
  /// Adds a server, or replaces the one of this name. Throws Failure for one that is wrong, and where the
  /// file cannot be written, or a file with a problem cannot be renamed.
  void put(const NamedServer& server);
  /// Throws Failure where the file cannot be written.
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
  std::vector<NamedServer> m_servers;  ///< those of a program without a file
};

/// spanscope/servers.json in this user's folder for settings. Empty: there is no such folder.
std::filesystem::path standardServersFile();

/// How it is reached, its key included, which is looked up now. Throws Failure where the key is not where it
/// should be.
remote::HttpAccess accessTo(const NamedServer& server, const std::stop_token& stop = {});

}  // namespace spanscope::workbench
