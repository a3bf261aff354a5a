// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/embeddings_client.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/query/shown_text.h"
#include "engine/remote/server_address.h"

#include <curl/curl.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShownCharacters = 200;
/// Values that a reply may hold for each text beside its vector.
constexpr std::size_t kMaxOtherValues = 100;
constexpr int kMaxDepth = 16;
/// How long a server is waited for before it is looked whether there is still something to wait for.
constexpr int kPollMilliseconds = 1000;

struct CloseEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct CloseMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// What arrives of a reply.
struct Reply {
  std::string body;
  bool isTooLarge = false;
};

std::size_t takeBytes(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& reply = *static_cast<Reply*>(target);
  if (reply.body.size() + size * count > kMaxReplyBytes) {
    reply.isTooLarge = true;
    return 0;
  }
  reply.body.append(bytes, size * count);
  return size * count;
}

/// Reads a reply's vectors, in the order of their indices.
class ReplyReader {
 public:
  ReplyReader(std::string url, std::size_t count) : m_url(std::move(url)), m_count(count) {}

  std::vector<retrieve::EmbeddingVector> read(const std::string& body) const {
    const Json reply = parse(body);
    if (!reply.is_object() || !reply.contains("data") || !reply["data"].is_array())
      refuse({}, query::inQuotes(body), "an object with a list \"data\"");
    const Json& data = reply["data"];
    if (data.size() != m_count)
      refuse("/data", counted(data.size(), "entry", "entries"), std::to_string(m_count) + ", one a text");
    std::vector<retrieve::EmbeddingVector> vectors(m_count);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string place = "/data/" + std::to_string(i);
      const Json& entry = data[i];
      if (!entry.is_object() || !entry.contains("embedding") || !entry["embedding"].is_array())
        refuse(place, textOf(entry), "an object with a list \"embedding\"");
      std::size_t index = i;
      if (entry.contains("index")) {
        if (!entry["index"].is_number_unsigned() || entry["index"].get<std::uint64_t>() >= m_count)
          refuse(place + "/index", textOf(entry["index"]), "0 to " + std::to_string(m_count - 1));
        index = entry["index"].get<std::size_t>();
      }
      if (!vectors[index].empty()) refuse(place + "/index", std::to_string(index) + " again", "each once");
      vectors[index] = vectorOf(entry["embedding"], place + "/embedding");
      if (vectors[index].size() != vectors[firstIndex(data)].size() && i > 0)
        refuse(place + "/embedding", counted(vectors[index].size(), "number"), "as many as the first has");
    }
    return vectors;
  }

 private:
  /// The reply as values. Their number and depth are bounded while they are read: each takes more memory than
  /// the byte or two that it has in the text.
  Json parse(const std::string& body) const {
    const std::size_t most = m_count * (kMaxDimensions + kMaxOtherValues);
    std::size_t values = 0;
    const auto watch = [&](int depth, Json::parse_event_t, const Json&) {
      if (depth > kMaxDepth)
        refuse({}, "lists within lists, deeper than " + std::to_string(kMaxDepth), "vectors");
      if (++values > most) refuse({}, "more than " + std::to_string(most) + " values", "fewer");
      return true;
    };
    try {
      return Json::parse(body, watch);
    } catch (const Json::parse_error& problem) {
      refuse("byte " + std::to_string(problem.byte), query::inQuotes(around(body, problem.byte)), "JSON");
    }
  }

  /// What stands at a byte, counted from 1, and a little before it.
  static std::string_view around(std::string_view text, std::size_t byte) {
    constexpr std::size_t kBefore = 20;
    std::size_t begin = std::min(text.size(), byte > kBefore ? byte - kBefore : 0);
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80U) ++begin;
    return text.substr(begin, 2 * kBefore);
  }

  /// A value as messages show it.
  static std::string textOf(const Json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    return query::cutText(value.dump(), kShownCharacters);
  }

  [[noreturn]] void refuse(std::string place, std::string found, std::string expected) const {
    throw Failure({m_url, std::move(place), std::move(found), std::move(expected)});
  }

  static std::size_t firstIndex(const Json& data) {
    return data[0].contains("index") ? data[0]["index"].get<std::size_t>() : 0;
  }

  retrieve::EmbeddingVector vectorOf(const Json& numbers, const std::string& place) const {
    if (numbers.empty() || numbers.size() > kMaxDimensions)
      refuse(place, std::to_string(numbers.size()) + " numbers", "1 to " + std::to_string(kMaxDimensions));
    retrieve::EmbeddingVector vector;
    vector.reserve(numbers.size());
    for (const Json& number : numbers) {
      const float value = number.is_number() ? number.get<float>() : std::nanf("");
      if (!std::isfinite(value)) refuse(place, textOf(number), "a number that a float holds");
      vector.push_back(value);
    }
    return vector;
  }

  std::string m_url;
  std::size_t m_count;
};

/// Carries a request out; nothing if it was stopped. A stop wakes the wait for the server.
std::optional<CURLcode> carryOut(CURLM* multi, CURL* easy, std::stop_token stop) {
  const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
  if (curl_multi_add_handle(multi, easy) != CURLM_OK) return CURLE_FAILED_INIT;
  std::optional<CURLcode> code;
  for (int running = 1; !code && !stop.stop_requested();) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) {
      code = CURLE_FAILED_INIT;
      break;
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    if (!code) curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr);
  }
  curl_multi_remove_handle(multi, easy);
  return code;
}

}  // namespace

std::string endpointOf(const EmbeddingsServer& server) {
  std::string url = server.url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/embeddings";
}

/// Connections are kept open from request to request.
struct EmbeddingsClient::Connection {
  std::unique_ptr<CURLM, CloseMulti> multi{curl_multi_init()};
  std::unique_ptr<CURL, CloseEasy> easy{curl_easy_init()};
};

EmbeddingsClient::EmbeddingsClient(EmbeddingsServer server)
    : m_server(std::move(server)), m_connection(std::make_unique<Connection>()) {}
EmbeddingsClient::~EmbeddingsClient() = default;

std::string EmbeddingsClient::fingerprint() const {
  return "server;url=" + endpointOf(m_server) + ";model=" + m_server.model;
}

std::vector<retrieve::EmbeddingVector> EmbeddingsClient::embed(std::span<const std::string> texts,
                                                               std::stop_token stop) {
  if (texts.empty() || stop.stop_requested()) return {};
  const std::string url = endpointOf(m_server);
  const auto refuse = [&](std::string found, std::string expected) {
    throw Failure({url, {}, std::move(found), std::move(expected)});
  };
  const auto address = readServerAddress(m_server.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"server of embeddings", {}, problem->found, problem->expected});
  if (m_server.model.empty()) refuse("no name of a model", "the one that the server is to embed with");
  CURL* const easy = m_connection->easy.get();
  if (easy == nullptr || m_connection->multi == nullptr) refuse("no memory for a connection", "some");
  Json request;
  request["model"] = m_server.model;
  request["input"] = std::vector<std::string>(texts.begin(), texts.end());
  request["encoding_format"] = "float";
  const std::string body = request.dump(-1, ' ', false, Json::error_handler_t::replace);

  curl_slist* lines = curl_slist_append(nullptr, "Content-Type: application/json");
  if (!m_server.key.empty())
    lines = curl_slist_append(lines, ("Authorization: Bearer " + m_server.key).c_str());
  const std::unique_ptr<curl_slist, FreeList> headers(lines);
  Reply reply;
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(m_server.connectTimeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(m_server.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, takeBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply);
  // A name that is still looked up must not hold up a stop.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  if (std::get<ServerAddress>(address).isLoopback) curl_easy_setopt(easy, CURLOPT_PROXY, "");

  const std::optional<CURLcode> code = carryOut(m_connection->multi.get(), easy, stop);
  if (!code || stop.stop_requested()) return {};
  if (reply.isTooLarge)
    refuse("a reply of more than " + std::to_string(kMaxReplyBytes) + " bytes", "a smaller one");
  if (*code != CURLE_OK) refuse(curl_easy_strerror(*code), "an answer of the server");
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    refuse("status " + std::to_string(status) + ": " + query::cutText(reply.body, kShownCharacters),
           "status 200");
  }
  return ReplyReader(url, texts.size()).read(reply.body);
}

}  // namespace spanscope::remote
