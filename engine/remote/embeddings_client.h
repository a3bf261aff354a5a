// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/embedder.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace spanscope::remote {

/// Most bytes of a server's reply: a vector of 16,384 numbers takes some 400 kB as text.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{64} << 20U;

struct EmbeddingsServer {
  std::string url;    ///< of the API, e.g. "http://127.0.0.1:8000/v1": "/embeddings" is added
  std::string model;  ///< as the server calls it
  std::string key;    ///< sent as a bearer token; empty: none
  std::chrono::milliseconds connectTimeout{10'000};
  std::chrono::milliseconds timeout{120'000};  ///< of a whole request

  bool operator==(const EmbeddingsServer&) const = default;
};

/// Where such a server is asked: its address with "/embeddings" at the end.
std::string endpointOf(const EmbeddingsServer& server);

/// Embeds with a server that takes POST {url}/embeddings as OpenAI's does: {"model": …, "input": [texts]} for
/// {"data": [{"index": i, "embedding": [numbers]}, …]}. Only http and https; redirects are not followed, so
/// that a key goes nowhere else; what is for this machine passes no proxy. What a model of that name gives is
/// taken to stay the same.
class EmbeddingsClient final : public retrieve::Embedder {
 public:
  explicit EmbeddingsClient(EmbeddingsServer server);
  ~EmbeddingsClient() override;

  std::string name() const override { return endpointOf(m_server); }
  std::string fingerprint() const override;

  /// Throws Failure: for an address that is none (server_address.h) and, naming the endpoint, without a name
  /// of a model, where there is no answer in time, one with another status than 200 (with the beginning of
  /// what it says), one that is too large or is not of that form, or one whose vectors are empty, differ in
  /// length or hold something that is no finite number. A request that is stopped is given up at once.
  std::vector<retrieve::EmbeddingVector> embed(std::span<const std::string> texts,
                                               std::stop_token stop) override;

 private:
  struct Connection;

  EmbeddingsServer m_server;
  std::unique_ptr<Connection> m_connection;
};

}  // namespace spanscope::remote
