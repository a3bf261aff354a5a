// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"
#include "engine/retrieve/embedder.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::retrieve {

/// Embeds with a checkpoint that was made to generate: the vector of a text is the mean over its tokens of
/// the last hidden states (after the last norm), scaled to length 1. A text of more than kWindow tokens (or
/// than the model's context) is taken apart into windows, each computed alone, and its mean is that over all
/// of their tokens. The vector of a text without tokens is all zeros. Checkpoints that were not trained to
/// embed put much less meaning into that direction than those that were.
class DecoderEmbedder final : public Embedder {
 public:
  static constexpr std::int32_t kWindow = 512;

  /// Everything passed by reference outlives it. Nothing else uses the decoder at the same time; keys and
  /// values go into a small store of its own. `modelFingerprint` is that of configuration and weights. Throws
  /// Failure if the store cannot be had.
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
