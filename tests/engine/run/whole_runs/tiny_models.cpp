// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/tiny_models.h"

#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/tested_device.h"

#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

namespace spanscope::test {
namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";

std::filesystem::path spanlet() {
  return std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet";
}

/// Random weights whose embeddings, which are those of the output too, are longer for some tokens.
class LoudTokens final : public model::WeightSource {
 public:
  LoudTokens(const model::ModelConfig& shape, const std::map<TokenId, float>& loudness)
      : m_plain(model::makeRandomWeights(shape, 1)) {
    const compute::HostMatrix plain = m_plain->get(kEmbedding, shape.vocabularySize, shape.hiddenSize);
    m_type = *compute::dtypeOf(plain.format);
    const std::size_t size = compute::sizeOf(m_type);
    const auto width = static_cast<std::size_t>(plain.columns);
    m_embedding.assign(plain.data, plain.data + static_cast<std::size_t>(plain.rows) * width * size);
    for (const auto& [token, factor] : loudness) {
      std::byte* const row = m_embedding.data() + static_cast<std::size_t>(token) * width * size;
      for (std::size_t i = 0; i < width; ++i)
        compute::storeElement(row + i * size, m_type, factor * compute::loadElement(row + i * size, m_type));
    }
  }

  bool has(const std::string& name) const override { return m_plain->has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    if (name != kEmbedding) return m_plain->get(name, rows, columns);
    return {
        .data = m_embedding.data(), .format = compute::formatOf(m_type), .rows = rows, .columns = columns};
  }
  std::vector<model::StoredTensor> stored() const override { return m_plain->stored(); }
  std::string fingerprint() const override { return m_plain->fingerprint() + "-loud"; }
  std::string name() const override { return m_plain->name(); }

 private:
  std::unique_ptr<model::WeightSource> m_plain;
  compute::DType m_type = compute::DType::F32;
  std::vector<std::byte> m_embedding;
};

}  // namespace

TinyModels::TinyModels()
    : m_tokenizer(text::loadTokenizer(spanlet())), m_chat(&text::findChatTemplate(spanlet())) {
  const model::ModelConfig spanletConfig = model::readConfig(spanlet());
  for (NamedConfig& family : familyConfigs()) {
    model::ModelConfig& shape = m_shapes.emplace_back(std::move(family.config));
    shape.vocabularySize = spanletConfig.vocabularySize;
    shape.endTokens = spanletConfig.endTokens;
    if (shape.layers < 3 && shape.layerKinds.empty()) shape.layers = 3;
  }
  const layout::MarkerTokens marks = layout::markerTokens(*m_tokenizer);
  constexpr float kLoud = 3;
  constexpr float kLoudest = 5;
  for (TokenId token = 3; token < spanletConfig.vocabularySize; token += 97) m_loudness[token] = kLoud;
  for (const TokenId token : m_tokenizer->encode("Mira plays 日本")) m_loudness[token] = kLoud;
  for (const EndToken& end : spanletConfig.endTokens) m_loudness[end.token] = kLoud;
  for (const TokenId token : {marks.pad, marks.plus, marks.cross}) m_loudness[token] = kLoudest;
}

const model::WeightSource& TinyModels::weights(std::size_t family) {
  std::unique_ptr<model::WeightSource>& weights = m_weights[family];
  if (!weights) weights = std::make_unique<LoudTokens>(m_shapes[family], m_loudness);
  return *weights;
}

model::ModelConfig TinyModels::config(Endings endings, std::int32_t positions, std::size_t family) const {
  model::ModelConfig config = m_shapes[family];
  config.maxPositions = positions;
  if (endings == Endings::None) config.endTokens.clear();
  if (endings == Endings::Many) {
    for (TokenId token = 5; token < config.vocabularySize; token += 6)
      addEndToken(config.endTokens, token, "the test");
  }
  return config;
}

compute::Backend& TinyModels::backend(int threads) {
  std::unique_ptr<compute::Backend>& backend = m_backends[threads];
  if (!backend) backend = makeTestedBackend(threads);
  return *backend;
}

model::Decoder& TinyModels::decoder(Endings endings, std::int32_t positions, int threads,
                                    std::size_t family) {
  std::unique_ptr<model::Decoder>& decoder = m_decoders[{endings, positions, threads, family}];
  if (!decoder) {
    decoder = std::make_unique<model::Decoder>(config(endings, positions, family), weights(family),
                                               backend(threads));
  }
  return *decoder;
}

}  // namespace spanscope::test
