// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/decoder_embedder.h"

#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

namespace spanscope::retrieve {
namespace {

constexpr std::int32_t kBlockSize = 16;
/// Max windows of one forward pass, without the null block. A text takes at least one window.
constexpr std::int32_t kBlocks = 2 * DecoderEmbedder::kWindow / kBlockSize;

std::int32_t blocksOf(std::size_t tokens) {
  return static_cast<std::int32_t>((tokens + kBlockSize - 1) / kBlockSize);
}

/// The max number of tokens of a window, without the final token.
std::int32_t windowOf(const model::ModelConfig& config, TokenId finalToken) {
  const std::int64_t most = std::clamp<std::int64_t>(config.maxPositions, 1, DecoderEmbedder::kWindow);
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, finalToken >= 0 ? most - 1 : most));
}

EmbeddingVector unitVector(const std::vector<double>& sum) {
  const double size = std::sqrt(
      std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0, std::plus<>(), std::multiplies<>()));
  EmbeddingVector vector(sum.size(), 0.0F);
  if (!(size > 0) || !std::isfinite(size)) return vector;
  std::ranges::transform(sum, vector.begin(),
                         [size](double value) { return static_cast<float>(value / size); });
  return vector;
}

}  // namespace

EmbeddingPrompts embeddingPromptsOf(const checkpoint::Checkpoint& checkpoint) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20U;
  std::error_code error;
  const std::optional<std::filesystem::path> gguf = checkpoint.gguf();
  const std::filesystem::path folder = gguf ? gguf->parent_path() : checkpoint.path();
  const std::filesystem::path file = folder / "config_sentence_transformers.json";
  if (std::filesystem::is_regular_file(file, error)) {
    return checkpoint::readJsonFile(
        file, kMostBytes, "the prompts of a model", [](const checkpoint::JsonPlace& root) {
          const checkpoint::JsonPlace prompts = root.field("prompts");
          if (!prompts.value().is_object()) return EmbeddingPrompts();
          return EmbeddingPrompts{.question = prompts.field("query").textOrEmpty(),
                                  .passage = prompts.field("document").textOrEmpty()};
        });
  }
  if (!gguf) return {};
  const checkpoint::GgufMetadata metadata = checkpoint::GgufMetadata::read(*gguf);
  for (const char* const key : {"general.basename", "general.name"}) {
    const std::string* name = metadata.text(key);
    if (name == nullptr || !(name->starts_with("Qwen3-Embedding") || name->starts_with("Qwen3 Embedding")))
      continue;
    return {
        .question =
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        .passage = {}};
  }
  return {};
}

/// Windows that are computed together, and the text of each row.
struct DecoderEmbedder::Pass {
  model::Batch batch;
  std::vector<std::size_t> texts;  ///< of each row
  std::int32_t blocks = 0;         ///< that are in use

  bool fits(std::size_t tokens) const {
    return batch.tokens.size() + tokens <= static_cast<std::size_t>(kWindow) &&
           blocks + blocksOf(tokens) <= kBlocks;
  }

  /// `last`: whether only the last token makes the vector.
  void add(std::span<const TokenId> window, std::size_t text, bool last) {
    compute::KeyRange keys;
    const auto count = static_cast<std::int32_t>(window.size());
    const auto firstRow = static_cast<std::int32_t>(batch.tokens.size());
    const BlockId firstBlock = 1 + blocks;
    for (std::int32_t i = 0; i < blocksOf(window.size()); ++i) keys.blocks.push_back(firstBlock + i);
    keys.end = count;
    keys.causal = true;
    for (std::int32_t i = 0; i < count; ++i) {
      batch.tokens.push_back(window[static_cast<std::size_t>(i)]);
      batch.localIndices.push_back(i);
      batch.slots.push_back(std::int64_t{firstBlock} * kBlockSize + i);
      if (last && i + 1 < count) continue;
      batch.hiddenRows.push_back(firstRow + i);
      texts.push_back(text);
    }
    blocks += blocksOf(window.size());
    batch.runs.push_back({firstRow, count, 0, {std::move(keys)}});
  }
};

DecoderEmbedder::DecoderEmbedder(model::Decoder& decoder, compute::Backend& backend,
                                 const text::Tokenizer& tokenizer, const std::string& modelFingerprint,
                                 TokenId finalToken, EmbeddingPrompts prompts)
    : m_decoder(decoder),
      m_tokenizer(tokenizer),
      m_prompts(std::move(prompts)),
      m_isOfLastToken(decoder.config().pooling == model::Pooling::Last),
      m_finalToken(m_isOfLastToken ? finalToken : -1),
      m_window(windowOf(decoder.config(), m_finalToken)),
      m_store(backend.makeKvStore(decoder.kvShape(1 + kBlocks, kBlockSize, compute::DType::F32))) {
  const std::string rule = m_isOfLastToken ? "last hidden state;final=" + std::to_string(m_finalToken)
                                           : std::string("mean of last hidden states");
  m_fingerprint = rule + ";window=" + std::to_string(kWindow) + ";model=" + modelFingerprint +
                  ";backend=" + backend.info().numericRevision;
  // Only vectors of passages are stored.
  if (!m_prompts.passage.empty()) m_fingerprint += ";prompt=" + m_prompts.passage;
}

bool DecoderEmbedder::compute(const Pass& pass, std::vector<std::vector<double>>& sums,
                              std::stop_token stop) {
  const model::ForwardResult result = m_decoder.forward(pass.batch, *m_store, std::move(stop));
  if (result.stopped) return false;
  const auto width = static_cast<std::size_t>(m_decoder.config().hiddenSize);
  for (std::size_t row = 0; row < pass.texts.size(); ++row) {
    std::vector<double>& sum = sums[pass.texts[row]];
    for (std::size_t i = 0; i < width; ++i) sum[i] += static_cast<double>(result.hidden[row * width + i]);
  }
  return true;
}

/// Nothing after a stop.
std::optional<std::vector<TokenId>> DecoderEmbedder::encode(const std::string& text,
                                                            const std::stop_token& stop) const {
  try {
    return m_tokenizer.encode(text, {.stop = stop});
  } catch (const Failure&) {
    if (stop.stop_requested()) return std::nullopt;
    throw;
  }
}

std::vector<EmbeddingVector> DecoderEmbedder::embed(std::span<const std::string> texts,
                                                    std::stop_token stop) {
  return embedAfter(m_prompts.passage, texts, std::move(stop));
}

std::vector<EmbeddingVector> DecoderEmbedder::embedQuestion(const std::string& question,
                                                            std::stop_token stop) {
  return embedAfter(m_prompts.question, {&question, 1}, std::move(stop));
}

std::vector<EmbeddingVector> DecoderEmbedder::embedAfter(const std::string& prompt,
                                                         std::span<const std::string> texts,
                                                         std::stop_token stop) {
  const auto width = static_cast<std::size_t>(m_decoder.config().hiddenSize);
  std::vector<std::vector<double>> sums(texts.size(), std::vector<double>(width, 0.0));
  Pass pass;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::optional<std::vector<TokenId>> encoded =
        encode(prompt.empty() || texts[text].empty() ? texts[text] : prompt + texts[text], stop);
    if (!encoded) return {};
    const std::vector<TokenId>& ids = *encoded;
    for (std::size_t at = 0; at < ids.size(); at += static_cast<std::size_t>(m_window)) {
      const auto of =
          std::span(ids).subspan(at, std::min(static_cast<std::size_t>(m_window), ids.size() - at));
      std::vector<TokenId> window(of.begin(), of.end());
      if (m_finalToken >= 0) window.push_back(m_finalToken);
      if (!pass.fits(window.size())) {
        if (!compute(pass, sums, stop)) return {};
        pass = {};
      }
      pass.add(window, text, m_isOfLastToken);
    }
  }
  if (!pass.texts.empty() && !compute(pass, sums, stop)) return {};
  std::vector<EmbeddingVector> vectors;
  std::ranges::transform(sums, std::back_inserter(vectors), unitVector);
  return vectors;
}

}  // namespace spanscope::retrieve
