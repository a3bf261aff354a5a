// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/embeddings_client.h"

#include "engine/base/error.h"
#include "engine/remote/embeddings_reply.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/http/shown_reply.h"
#include "engine/remote/server_address.h"

#include <nlohmann/json.hpp>

#include <utility>
#include <variant>

namespace spanscope::remote {

std::string endpointOf(const EmbeddingsServer& server) {
  std::string url = server.url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/embeddings";
}

EmbeddingsClient::EmbeddingsClient(EmbeddingsServer server)
    : m_server(std::move(server)), m_client(std::make_unique<HttpClient>()) {}
EmbeddingsClient::~EmbeddingsClient() = default;

std::string EmbeddingsClient::fingerprint() const {
  return "server;url=" + endpointOf(m_server) + ";model=" + m_server.model;
}

std::vector<retrieve::EmbeddingVector> EmbeddingsClient::embed(std::span<const std::string> texts,
                                                               std::stop_token stop) {
  using Json = nlohmann::json;
  if (texts.empty() || stop.stop_requested()) return {};
  const std::string url = endpointOf(m_server);
  const auto refuse = [&](std::string place, std::string found, std::string expected) {
    throw Failure({url, std::move(place), std::move(found), std::move(expected)});
  };
  const auto address = readServerAddress(m_server.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"server of embeddings", {}, problem->found, problem->expected});
  if (m_server.model.empty()) refuse({}, "no name of a model", "the one that the server is to embed with");
  Json request;
  request["model"] = m_server.model;
  request["input"] = std::vector<std::string>(texts.begin(), texts.end());
  request["encoding_format"] = "float";

  const HttpReply reply =
      m_client->send({.url = url, .body = request.dump(-1, ' ', false, Json::error_handler_t::replace)},
                     {.key = m_server.key,
                      .certificateFile = {},
                      .limits = {.connect = m_server.connectTimeout,
                                 .firstByte = m_server.timeout,
                                 .silence = m_server.timeout,
                                 .whole = m_server.timeout,
                                 .bytes = kMaxReplyBytes}},
                     stop);
  if (reply.isStopped || stop.stop_requested()) return {};
  if (reply.status != 200) {
    const std::string text = shownReply(reply.body);
    refuse("reply", "status " + std::to_string(reply.status) + (text.empty() ? "" : ": " + text),
           "status 200");
  }
  // Errors show what is wrong in the reply: a server that repeats the key must not bring it into them.
  const bool hasKey = !m_server.key.empty() && reply.body.find(m_server.key) != std::string::npos;
  return readEmbeddings(hasKey ? withoutKey(reply.body, m_server.key) : reply.body, texts.size(), url);
}

}  // namespace spanscope::remote
