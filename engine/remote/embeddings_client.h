// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/embedder.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

/// Most bytes of a server's reply. A vector of 16,384 numbers takes some 400 kB as text.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{64} << 20U;

class HttpClient;

struct EmbeddingsServer {
  std::string url;    ///< base address of the API, e.g. "http://127.0.0.1:8000/v1"; "/embeddings" is appended
  std::string model;  ///< the server's name for it
  std::string key;    ///< sent as a bearer token; empty: no key
  std::chrono::milliseconds connectTimeout{10'000};
  std::chrono::milliseconds timeout{120'000};  ///< for a whole request

  bool operator==(const EmbeddingsServer&) const = default;
};

/// The address of the requests: the server's address with "/embeddings" appended.
std::string endpointOf(const EmbeddingsServer& server);

/// Embeds with a server that accepts POST {url}/embeddings as OpenAI's API does: the request {"model": …,
/// "input": [texts]} gives {"data": [{"index": i, "embedding": [numbers]}, …]}. It uses only http and https.
/// It does not follow redirects, so that a key goes nowhere else. Requests to this machine use no proxy. It
/// assumes that a model with the same name always gives the same vectors.
class EmbeddingsClient final : public retrieve::Embedder {
 public:
  explicit EmbeddingsClient(EmbeddingsServer server);
  ~EmbeddingsClient() override;

  std::string name() const override { return endpointOf(m_server); }
  std::string fingerprint() const override;

  /// Throws Failure for an invalid address (server_address.h). Throws Failure that names the endpoint in
  /// these cases: there is no name of a model; there is no answer in time; the answer has another status than
  /// 200 (the error contains its beginning), is too large or has another form; its vectors are empty, differ
  /// in length or contain a number that is not finite. A stop ends the request at once.
  std::vector<retrieve::EmbeddingVector> embed(std::span<const std::string> texts,
                                               std::stop_token stop) override;

 private:
  EmbeddingsServer m_server;
  std::unique_ptr<HttpClient> m_client;
};

// Reads the reply of an embeddings server. It trusts nothing in the reply.

/// Most numbers in a vector.
inline constexpr std::size_t kMaxDimensions = 65'536;

/// The vectors of a reply {"data": [{"index": i, "embedding": [numbers]}, …]}, one for each of `count` texts.
/// They are ordered by index, or, if no entry has an index, by their place in the list. Throws Failure, with
/// the file `url`, for anything else.
std::vector<retrieve::EmbeddingVector> readEmbeddings(std::string_view body, std::size_t count,
                                                      const std::string& url);

}  // namespace spanscope::remote
