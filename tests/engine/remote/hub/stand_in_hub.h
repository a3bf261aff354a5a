// SPDX-License-Identifier: GPL-3.0-or-later
// A hub for tests with one small model. Tests change its answers.
#pragma once

#include "engine/remote/hub/hub_client.h"
#include "engine/remote/hub/hub_download.h"
#include "tests/engine/remote/stand_in_server.h"

#include <QByteArray>
#include <QTemporaryDir>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote::test {

/// The commit of the model, and the model's name.
inline const std::string kHubCommit(40, 'c');
inline constexpr const char* kHubRepository = "org/model";
/// The only large file, of 50,000 times "w".
inline constexpr const char* kHubWeights = "model.safetensors";

std::string readBytes(const std::filesystem::path& path);
/// Makes the folders, too.
void writeBytes(const std::filesystem::path& path, const std::string& bytes);

struct HubAsked {
  std::string method;
  std::string path;  ///< with the query
  std::string head;  ///< the whole request

  bool isFor(std::string_view part) const { return path.find(part) != std::string::npos; }
  bool isFile() const { return method == "GET" && isFor("/resolve/"); }
  bool hasToken() const { return head.find("Authorization: Bearer hf_secret") != std::string::npos; }
  /// The beginning of the requested range; 0: the whole file.
  std::size_t from() const;
};

/// A response. `lines` are whole header lines.
QByteArray hubAnswer(const std::string& status, const std::string& lines, const std::string& body = {});
std::string lengthLine(std::size_t bytes);

class Hub {
 public:
  /// May answer a request in place of the hub, on several threads.
  using Hook = std::function<std::optional<QByteArray>(const Hub& hub, const HubAsked& asked)>;

  explicit Hub(Hook hook = {}, Server::After after = Server::After::Close);

  std::map<std::string, std::string> files{{"config.json", R"({"model_type": "llama"})"},
                                           {kHubWeights, std::string(50'000, 'w')},
                                           {"1_Pooling/config.json", "{}"},
                                           {"README.md", "text"}};

  HubPlace& place() { return m_place; }
  const HubPlace& place() const { return m_place; }
  std::filesystem::path folder() const { return m_place.cache / "models--org--model"; }
  /// SHA-256 of safetensors and GGUF files, the hash of git of other files.
  std::string hash(const std::string& name) const;
  /// The blob of a file, and its unfinished download.
  std::filesystem::path blob(const std::string& name) const { return folder() / "blobs" / hash(name); }
  std::filesystem::path unfinished(const std::string& name) const {
    return blob(name).string() + ".incomplete";
  }

  std::vector<HubAsked> asked() const;
  /// The number of files that were requested, without HEAD.
  int gets() const;
  HubListing list() const;
  /// Lists and downloads these files.
  std::optional<std::filesystem::path> get(const std::vector<std::string>& names,
                                           const std::stop_token& stop = {},
                                           const std::function<void(const HubProgress&)>& report = {}) const;
  /// What the download says when it fails.
  std::string problemOf(const std::vector<std::string>& names) const;
  /// The usual answer for a file.
  QByteArray fileAnswer(const HubAsked& asked, const std::string& name) const;

 private:
  QByteArray reply(const QByteArray& bytes);

  QTemporaryDir m_folder;
  HubPlace m_place;
  Hook m_hook;
  mutable std::mutex m_mutex;
  std::vector<HubAsked> m_asked;
  ServerOfMany m_server;
};

}  // namespace spanscope::remote::test
