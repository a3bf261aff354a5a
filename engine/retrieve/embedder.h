// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::retrieve {

using EmbeddingVector = std::vector<float>;

/// Turns texts into vectors, of which those of texts that are alike point the same way.
class Embedder {
 public:
  virtual ~Embedder() = default;

  /// What messages call it: "http://localhost:8000/v1/embeddings", "the model that is loaded".
  virtual std::string name() const = 0;

  /// Everything that a vector depends on beside its text: vectors are kept under it.
  virtual std::string fingerprint() const = 0;

  /// A vector for each text, in their order, all of one length, or nothing if it was stopped. A text's vector
  /// depends on that text alone. Throws Failure where there is none to be had.
  virtual std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) = 0;
};

}  // namespace spanscope::retrieve
