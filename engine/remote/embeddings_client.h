// SPDX-License-Identifier: GPL-3.0-or-later
// Embeds texts with a server that has OpenAI's embeddings API. Open this file when the client refuses such a
// server.
#pragma once

#include "engine/retrieve/passage.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

/// Max size in bytes of a server's answer. A vector of 16,384 numbers takes about 400 kB as text.
inline constexpr std::size_t kMaxReplyBytes = std::size_t{64} << 20U;

class HttpClient;

struct EmbeddingsServer {
  std::string url;    ///< base address of the API, e.g. "http://127.0.0.1:8000/v1"; the client appends
                      ///< "/embeddings"
  std::string model;  ///< the server's name for the model
  std::string key;    ///< sent as a bearer token; empty: no key
  std::chrono::milliseconds connectTimeout{10'000};
  std::chrono::milliseconds timeout{120'000};  ///< time limit of a whole request

  bool operator==(const EmbeddingsServer&) const = default;
};

/// Returns the address of the requests: the server's address with "/embeddings" appended.
std::string endpointOf(const EmbeddingsServer& server);

/// Embeds with a server that accepts POST {url}/embeddings as in OpenAI's API. The request is {"model": …,
/// "input": [texts]}. The answer is {"data": [{"index": i, "embedding": [numbers]}, …]}. The client uses only
/// http and https. The client does not follow redirects, so that a key reaches no other server. Requests to
/// this machine use no proxy. A model name must always mean the same vectors.
class EmbeddingsClient final : public retrieve::Embedder {
 public:
  explicit EmbeddingsClient(EmbeddingsServer server);
  ~EmbeddingsClient() override;

  std::string name() const override { return endpointOf(m_server); }
  std::string fingerprint() const override;

  /// Throws Failure for an invalid address (server_address.h). A stop ends the request immediately. Throws
  /// Failure that names the endpoint in these cases:
  /// - The model has no name.
  /// - No answer arrives in time.
  /// - The status is not 200. The error contains the beginning of the answer.
  /// - The answer is too large, or has another form.
  /// - Vectors are empty, differ in length or contain a number that is not finite.
  std::vector<retrieve::EmbeddingVector> embed(std::span<const std::string> texts,
                                               std::stop_token stop) override;

 private:
  EmbeddingsServer m_server;
  std::unique_ptr<HttpClient> m_client;
};

// Reads the answer of an embeddings server, which is untrusted.

/// Max number of numbers in a vector.
inline constexpr std::size_t kMaxDimensions = 65'536;

/// Returns the vectors of an answer {"data": [{"index": i, "embedding": [numbers]}, …]}, one for each of
/// `count` texts. The vectors are ordered by index. If no entry has an index, the vectors keep the order of
/// the list. Throws Failure, with the file `url`, for other answers.
std::vector<retrieve::EmbeddingVector> readEmbeddings(std::string_view body, std::size_t count,
                                                      const std::string& url);

}  // namespace spanscope::remote
