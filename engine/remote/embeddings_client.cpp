// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/embeddings_client.h"

#include "engine/base/error.h"
#include "engine/query/shown_text.h"

#include <curl/curl.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShownCharacters = 200;

struct CloseEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// What arrives of a reply.
struct Reply {
  std::string body;
  bool isTooLarge = false;
  std::stop_token stop;
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

/// Called at least once a second: anything but 0 gives the request up.
int watchProgress(void* target, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Reply*>(target)->stop.stop_requested() ? 1 : 0;
}

std::string endpointOf(const EmbeddingsServer& server) {
  std::string url = server.url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/embeddings";
}

/// Reads a reply's vectors, in the order of their indices.
class ReplyReader {
 public:
  ReplyReader(std::string url, std::size_t count) : m_url(std::move(url)), m_count(count) {}

  std::vector<retrieve::EmbeddingVector> read(const std::string& body) const {
    const Json reply = Json::parse(body, nullptr, false);
    if (reply.is_discarded() || !reply.is_object() || !reply.contains("data") || !reply["data"].is_array())
      refuse({}, query::quoted(query::cutText(body, kShownCharacters)), "an object with a list \"data\"");
    const Json& data = reply["data"];
    if (data.size() != m_count)
      refuse("/data", std::to_string(data.size()) + " entries", std::to_string(m_count) + ", one a text");
    std::vector<retrieve::EmbeddingVector> vectors(m_count);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string place = "/data/" + std::to_string(i);
      const Json& entry = data[i];
      if (!entry.is_object() || !entry.contains("embedding") || !entry["embedding"].is_array())
        refuse(place, "something else", "an object with a list \"embedding\"");
      std::size_t index = i;
      if (entry.contains("index")) {
        if (!entry["index"].is_number_unsigned() || entry["index"].get<std::uint64_t>() >= m_count)
          refuse(place + "/index", entry["index"].dump(), "0 to " + std::to_string(m_count - 1));
        index = entry["index"].get<std::size_t>();
      }
      if (!vectors[index].empty()) refuse(place + "/index", std::to_string(index) + " again", "each once");
      vectors[index] = vectorOf(entry["embedding"], place + "/embedding");
      if (vectors[index].size() != vectors[firstIndex(data)].size() && i > 0)
        refuse(place + "/embedding", std::to_string(vectors[index].size()) + " numbers",
               "as many as the first has");
    }
    return vectors;
  }

 private:
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
      if (!std::isfinite(value))
        refuse(place, query::cutText(number.dump(), kShownCharacters), "a number that a float holds");
      vector.push_back(value);
    }
    return vector;
  }

  std::string m_url;
  std::size_t m_count;
};

}  // namespace

/// One connection, kept open from request to request.
struct EmbeddingsClient::Connection {
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
  CURL* const easy = m_connection->easy.get();
  if (easy == nullptr) refuse("no memory for a connection", "some");
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
  reply.stop = stop;
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
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watchProgress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &reply);

  const CURLcode code = curl_easy_perform(easy);
  if (stop.stop_requested()) return {};
  if (reply.isTooLarge)
    refuse("a reply of more than " + std::to_string(kMaxReplyBytes) + " bytes", "a smaller one");
  if (code != CURLE_OK) refuse(curl_easy_strerror(code), "an answer of the server");
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    refuse("status " + std::to_string(status) + ": " + query::cutText(reply.body, kShownCharacters),
           "status 200");
  }
  return ReplyReader(url, texts.size()).read(reply.body);
}

}  // namespace spanscope::remote
