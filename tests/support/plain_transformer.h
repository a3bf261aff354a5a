// SPDX-License-Identifier: GPL-3.0-or-later
// A Llama in double precision over plain vectors: no cache, no blocks, no segments. The caller says for each
// row which keys it sees, and from which of several sets. So a test can write down a policy as it is defined.
#pragma once

#include "engine/base/ids.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace spanscope::testing {

using Numbers = std::vector<double>;

/// The key and value of one token in one layer, all key heads one after another. The key is rotated to its
/// position.
struct KeyValue {
  Numbers key;
  Numbers value;
};

class PlainTransformer {
 public:
  PlainTransformer(const model::ModelConfig& config, const model::WeightSource& weights);

  std::int32_t layers() const { return m_config.layers; }

  Numbers embed(TokenId token) const;
  /// The key and value of a row that enters a layer.
  KeyValue keyValue(std::int32_t layer, const Numbers& hidden, std::int64_t position) const;
  /// All query heads of a row that enters a layer, rotated to its position.
  Numbers query(std::int32_t layer, const Numbers& hidden, std::int64_t position) const;
  /// The row that leaves the layer after it has seen these keys and values.
  Numbers next(std::int32_t layer, const Numbers& hidden, std::int64_t position,
               const std::vector<const KeyValue*>& seen) const;
  /// The same, but each key head has seen its own set.
  Numbers next(std::int32_t layer, const Numbers& hidden, std::int64_t position,
               const std::vector<std::vector<const KeyValue*>>& seenByHead) const;
  Numbers logits(const Numbers& hidden) const;

  /// The result of all rows of a prompt in all layers. Row i is at positions[i] and attends to the rows of
  /// sees[i], itself included. It holds keys and values [layer][row], the rows that enter each layer, and the
  /// rows that leave the last layer.
  struct Forward {
    std::vector<std::vector<KeyValue>> keyValues;
    std::vector<Numbers> hidden;
    std::vector<std::vector<Numbers>> entering;  ///< [layer][row]
  };
  Forward forward(const std::vector<TokenId>& tokens, const std::vector<std::int64_t>& positions,
                  const std::vector<std::vector<std::size_t>>& sees) const;

 private:
  using Matrix = std::vector<Numbers>;  ///< [out][in]

  struct Layer {
    Numbers attentionNorm, mlpNorm;
    Matrix query, key, value, output, gate, up, down;
  };

  Numbers normed(const Numbers& x, const Numbers& weight) const;
  void rotate(Numbers& heads, std::int64_t position) const;

  model::ModelConfig m_config;
  std::vector<double> m_frequencies;
  Matrix m_embedding;
  std::vector<Layer> m_layers;
  Numbers m_finalNorm;
};

}  // namespace spanscope::testing
