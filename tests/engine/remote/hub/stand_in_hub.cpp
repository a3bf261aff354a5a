// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/remote/hub/stand_in_hub.h"

#include "engine/base/error.h"
#include "engine/base/stream_digest.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

namespace spanscope::remote::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string readBytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void writeBytes(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::size_t HubAsked::from() const {
  const std::string key = "Range: bytes=";
  const std::size_t at = head.find(key);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + key.size()));
}

QByteArray hubAnswer(const std::string& status, const std::string& lines, const std::string& body) {
  return QByteArray::fromStdString("HTTP/1.1 " + status + "\r\nConnection: close\r\n" + lines + "\r\n" +
                                   body);
}

std::string lengthLine(std::size_t bytes) {
  return "Content-Length: " + std::to_string(bytes) + "\r\n";
}

Hub::Hub(Hook hook, Server::After after)
    : m_hook(std::move(hook)), m_server([this](const QByteArray& bytes) { return reply(bytes); }, after) {
  m_place.endpoint = m_server.address();
  m_place.cache = fs::path(m_folder.path().toStdString()) / "hub";
  m_place.limits = {.connect = 2s, .firstByte = 2s, .silence = 2s, .whole = 0ms};
  m_place.pause = 1ms;
}

std::string Hub::hash(const std::string& name) const {
  const std::string& bytes = files.at(name);
  const bool isLarge = name.ends_with(".safetensors") || name.ends_with(".gguf");
  StreamDigest digest(isLarge ? StreamDigest::Kind::Sha256 : StreamDigest::Kind::Sha1);
  if (!isLarge) digest.add("blob " + std::to_string(bytes.size()) + '\0');
  digest.add(bytes);
  return digest.hex();
}

std::vector<HubAsked> Hub::asked() const {
  const std::lock_guard lock(m_mutex);
  return m_asked;
}

int Hub::gets() const {
  int count = 0;
  for (const HubAsked& each : asked()) count += each.isFile() ? 1 : 0;
  return count;
}

HubListing Hub::list() const {
  HttpClient client;
  return listHubFiles(client, m_place, kHubRepository);
}

std::optional<fs::path> Hub::get(const std::vector<std::string>& names, const std::stop_token& stop,
                                 const std::function<void(const HubProgress&)>& report) const {
  HttpClient client;
  return downloadFromHub(client, m_place, list(), {.files = names, .report = report, .freeBytes = {}}, stop);
}

std::string Hub::problemOf(const std::vector<std::string>& names) const {
  try {
    get(names);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

QByteArray Hub::fileAnswer(const HubAsked& asked, const std::string& name) const {
  const std::string& bytes = files.at(name);
  const std::string lines = "ETag: \"" + hash(name) + "\"\r\nX-Repo-Commit: " + kHubCommit + "\r\n";
  if (asked.method == "HEAD") return hubAnswer("200 OK", lines + lengthLine(bytes.size()));
  const std::size_t from = asked.from();
  if (from == 0) return hubAnswer("200 OK", lines + lengthLine(bytes.size()), bytes);
  const std::string range = "Content-Range: bytes " + std::to_string(from) + "-" +
                            std::to_string(bytes.size() - 1) + "/" + std::to_string(bytes.size()) + "\r\n";
  return hubAnswer("206 Partial", range + lengthLine(bytes.size() - from), bytes.substr(from));
}

QByteArray Hub::reply(const QByteArray& bytes) {
  HubAsked asked;
  asked.head = bytes.toStdString();
  const std::size_t space = asked.head.find(' ');
  asked.method = asked.head.substr(0, space);
  asked.path = asked.head.substr(space + 1, asked.head.find(' ', space + 1) - space - 1);
  {
    const std::lock_guard lock(m_mutex);
    m_asked.push_back(asked);
  }
  if (m_hook) {
    if (const std::optional<QByteArray> own = m_hook(*this, asked)) return *own;
  }
  if (asked.isFor("/api/models/")) {
    nlohmann::json json{{"sha", kHubCommit}, {"siblings", nlohmann::json::array()}};
    for (const auto& [name, content] : files)
      json["siblings"].push_back({{"rfilename", name}, {"size", content.size()}});
    const std::string body = json.dump();
    return hubAnswer("200 OK", lengthLine(body.size()), body);
  }
  for (const auto& [name, content] : files) {
    if (asked.path.ends_with("/resolve/" + kHubCommit + "/" + name)) return fileAnswer(asked, name);
  }
  return hubAnswer("404 Not Found", "X-Error-Code: EntryNotFound\r\n" + lengthLine(0));
}

}  // namespace spanscope::remote::test
