// SPDX-License-Identifier: GPL-3.0-or-later
// Embeds texts with a loaded generation model. Open this file to change how such vectors are made.
#pragma once

#include "engine/checkpoint/checkpoint.h"
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

/// The texts with which a model of embeddings was trained, before each question and before each passage.
struct EmbeddingPrompts {
  std::string question;
  std::string passage;
  bool operator==(const EmbeddingPrompts&) const = default;
};
/// Reads config_sentence_transformers.json in the folder of a checkpoint. A GGUF file of Qwen3-Embedding
/// without this file has the instruction of this model. Both texts are empty for other checkpoints. Throws
/// Failure for a damaged file.
EmbeddingPrompts embeddingPromptsOf(const checkpoint::Checkpoint& checkpoint);

/// Embeds with a loaded checkpoint. The vector of a text has length 1. The vector comes from the last hidden
/// states (after the last norm):
/// - of the last token, if the checkpoint was trained to embed with its last token (model::Pooling::Last);
/// - otherwise, the mean over the tokens of the text.
///
/// Vectors represent the meaning well only if the checkpoint was trained for embedding.
///
/// A text longer than kWindow tokens or the model's context is split into windows. Each window is computed
/// alone. The mean is taken over the tokens, or the last tokens, of all windows. A text without tokens has a
/// zero vector.
class DecoderEmbedder final : public Embedder {
 public:
  static constexpr std::int32_t kWindow = 512;

  /// All arguments passed by reference must outlive the embedder. No other code may use the decoder at the
  /// same time. Keys and values are in a small separate store. `modelFingerprint` is the fingerprint of
  /// configuration and weights. `finalToken`: see text::finalTokenOf(). This token follows every window of a
  /// model that makes vectors of the last token. Throws Failure if the store cannot be allocated.
  DecoderEmbedder(model::Decoder& decoder, compute::Backend& backend, const text::Tokenizer& tokenizer,
                  const std::string& modelFingerprint, TokenId finalToken = -1,
                  EmbeddingPrompts prompts = {});

  std::string name() const override { return "the model that is loaded"; }
  std::string fingerprint() const override { return m_fingerprint; }
  std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) override;
  std::vector<EmbeddingVector> embedQuestion(const std::string& question, std::stop_token stop) override;

 private:
  struct Pass;

  /// `prompt` precedes each text.
  std::vector<EmbeddingVector> embedAfter(const std::string& prompt, std::span<const std::string> texts,
                                          std::stop_token stop);
  std::optional<std::vector<TokenId>> encode(const std::string& text, const std::stop_token& stop) const;
  bool compute(const Pass& pass, std::vector<std::vector<double>>& sums, std::stop_token stop);

  model::Decoder& m_decoder;
  const text::Tokenizer& m_tokenizer;
  std::string m_fingerprint;
  EmbeddingPrompts m_prompts;
  bool m_isOfLastToken;
  TokenId m_finalToken;   ///< −1: none
  std::int32_t m_window;  ///< without the final token
  std::unique_ptr<compute::KvStore> m_store;
};

}  // namespace spanscope::retrieve
