// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/embeddings_client.h"

#include "engine/base/error.h"
#include "engine/remote/embeddings_reply.h"
#include "engine/remote/server_address.h"

#include <curl/curl.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <utility>
#include <variant>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

/// Where something is wrong with a reply as a whole.
constexpr const char* kReply = "reply";
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
  const auto refuse = [&](std::string place, std::string found, std::string expected) {
    throw Failure({url, std::move(place), std::move(found), std::move(expected)});
  };
  const auto address = readServerAddress(m_server.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"server of embeddings", {}, problem->found, problem->expected});
  if (m_server.model.empty()) refuse({}, "no name of a model", "the one that the server is to embed with");
  CURL* const easy = m_connection->easy.get();
  if (easy == nullptr || m_connection->multi == nullptr) refuse({}, "no memory for a connection", "some");
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
  // One that says so is not even begun.
  curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(kMaxReplyBytes));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, takeBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply);
  // A name that is still looked up must not hold up a stop.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  if (std::get<ServerAddress>(address).isLoopback) curl_easy_setopt(easy, CURLOPT_PROXY, "");

  const std::optional<CURLcode> code = carryOut(m_connection->multi.get(), easy, stop);
  if (!code || stop.stop_requested()) return {};
  if (reply.isTooLarge || *code == CURLE_FILESIZE_EXCEEDED)
    refuse(kReply, "more than " + std::to_string(kMaxReplyBytes) + " bytes", "a smaller one");
  if (*code != CURLE_OK) refuse({}, curl_easy_strerror(*code), "an answer of the server");
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    const std::string text = shownReply(reply.body);
    refuse(kReply, "status " + std::to_string(status) + (text.empty() ? "" : ": " + text), "status 200");
  }
  return readEmbeddings(reply.body, texts.size(), url);
}

}  // namespace spanscope::remote
