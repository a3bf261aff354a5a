// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/model/weights.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace spanscope::test {

/// How answers of a random model end.
enum class Endings : std::uint8_t {
  None,  ///< every answer has its max length
  Few,
  Many
};

/// Models of a few thousand random weights, with the tokenizer and template of the bundled checkpoint. Some
/// tokens are more likely than others: the markers of the padded and cropped layouts, the words of the
/// template, and a few more. Answers therefore hold these tokens and begin alike. Each model is made once and
/// shared by all sessions.
class TinyModels {
 public:
  TinyModels();

  const text::Tokenizer& tokenizer() const { return *m_tokenizer; }
  const text::ChatTemplate& chat() const { return *m_chat; }
  // `family`: index in familyConfigs().
  const model::WeightSource& weights(std::size_t family = 0);
  model::ModelConfig config(Endings endings, std::int32_t positions, std::size_t family = 0) const;

  compute::Backend& backend(int threads);
  model::Decoder& decoder(Endings endings, std::int32_t positions, int threads, std::size_t family = 0);

 private:
  std::unique_ptr<text::Tokenizer> m_tokenizer;
  const text::ChatTemplate* m_chat;
  std::vector<model::ModelConfig> m_shapes;  ///< by family
  std::map<TokenId, float> m_loudness;
  std::map<std::size_t, std::unique_ptr<model::WeightSource>> m_weights;  ///< by family
  std::map<int, std::unique_ptr<compute::Backend>> m_backends;
  std::map<std::tuple<Endings, std::int32_t, int, std::size_t>, std::unique_ptr<model::Decoder>> m_decoders;
};

}  // namespace spanscope::test
