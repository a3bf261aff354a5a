// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of embedding models. Open this file to add a source of vectors.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::retrieve {

using EmbeddingVector = std::vector<float>;

/// Turns texts into vectors. The vectors of similar texts have similar directions.
class Embedder {
 public:
  virtual ~Embedder() = default;

  /// Returns the name in messages: "http://localhost:8000/v1/embeddings", "the model that is loaded".
  virtual std::string name() const = 0;

  /// Identifies everything that a vector depends on, except the text. This identity is part of the key of
  /// stored vectors.
  virtual std::string fingerprint() const = 0;

  /// Returns one vector for each text, in order, all of the same length. Returns nothing when stopped. The
  /// vector of a text depends only on this text. Throws Failure if vectors cannot be made.
  virtual std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) = 0;
};

}  // namespace spanscope::retrieve
