// SPDX-License-Identifier: GPL-3.0-or-later
// Embeds texts with a loaded generation model. Open this file to change how such vectors are made.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"
#include "engine/retrieve/passage.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::retrieve {

/// Embeds with a checkpoint that was made for generation. The vector of a text has length 1. The vector is
/// the mean of the last hidden states (after the last norm) over the tokens of the text. A text longer than
/// kWindow tokens or the model's context is split into windows. Each window is computed alone, and the mean
/// is taken over the tokens of all windows. A text without tokens has a zero vector. These vectors represent
/// the meaning much worse than vectors of a checkpoint that was trained for embedding.
class DecoderEmbedder final : public Embedder {
 public:
  static constexpr std::int32_t kWindow = 512;

  /// All arguments passed by reference must outlive the embedder. No other code may use the decoder at the
  /// same time. Keys and values are in a small separate store. `modelFingerprint` is the fingerprint of
  /// configuration and weights. Throws Failure if the store cannot be allocated.
  DecoderEmbedder(model::Decoder& decoder, compute::Backend& backend, const text::Tokenizer& tokenizer,
                  const std::string& modelFingerprint);

  std::string name() const override { return "the model that is loaded"; }
  std::string fingerprint() const override { return m_fingerprint; }
  std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) override;

 private:
  struct Pass;

  std::optional<std::vector<TokenId>> encode(const std::string& text, const std::stop_token& stop) const;
  bool compute(const Pass& pass, std::vector<std::vector<double>>& sums, std::stop_token stop);

  model::Decoder& m_decoder;
  const text::Tokenizer& m_tokenizer;
  std::string m_fingerprint;
  std::int32_t m_window;
  std::unique_ptr<compute::KvStore> m_store;
};

}  // namespace spanscope::retrieve
