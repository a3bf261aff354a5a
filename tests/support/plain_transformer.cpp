// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/plain_transformer.h"

#include "engine/compute/dtype.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace spanscope::testing {
namespace {

std::vector<Numbers> matrixOf(const model::WeightSource& weights, const std::string& name, std::int64_t rows,
                              std::int64_t columns) {
  const compute::HostMatrix matrix = weights.get(name, rows, columns);
  std::vector<Numbers> out(static_cast<std::size_t>(rows), Numbers(static_cast<std::size_t>(columns)));
  std::vector<float> values(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    compute::widen(matrix.format, matrix.row(row), columns, values.data());
    out[static_cast<std::size_t>(row)].assign(values.begin(), values.end());
  }
  return out;
}

Numbers times(const std::vector<Numbers>& matrix, const Numbers& x) {
  Numbers out;
  for (const Numbers& row : matrix) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * x[i];
    out.push_back(sum);
  }
  return out;
}

void add(Numbers& x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

}  // namespace

PlainTransformer::PlainTransformer(const model::ModelConfig& config, const model::WeightSource& weights)
    : m_config(config), m_frequencies(model::makeRotaryTable(config).inverseFrequencies) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queries = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keys = std::int64_t{config.keyValueHeads} * config.headSize;
  const auto vector = [&](const std::string& name) { return matrixOf(weights, name, 1, hidden).front(); };
  m_embedding = matrixOf(weights, "model.embed_tokens.weight", config.vocabularySize, hidden);
  m_finalNorm = vector("model.norm.weight");
  for (std::int32_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
      return matrixOf(weights, prefix + name + ".weight", rows, columns);
    };
    m_layers.push_back({.attentionNorm = vector(prefix + "input_layernorm.weight"),
                        .mlpNorm = vector(prefix + "post_attention_layernorm.weight"),
                        .query = matrix("self_attn.q_proj", queries, hidden),
                        .key = matrix("self_attn.k_proj", keys, hidden),
                        .value = matrix("self_attn.v_proj", keys, hidden),
                        .output = matrix("self_attn.o_proj", hidden, queries),
                        .gate = matrix("mlp.gate_proj", inner, hidden),
                        .up = matrix("mlp.up_proj", inner, hidden),
                        .down = matrix("mlp.down_proj", hidden, inner)});
  }
}

Numbers PlainTransformer::embed(TokenId token) const {
  return m_embedding[static_cast<std::size_t>(token)];
}

Numbers PlainTransformer::normed(const Numbers& x, const Numbers& weight) const {
  double sum = 0;
  for (const double number : x) sum += number * number;
  const double scale =
      1 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(m_config.normEpsilon));
  Numbers out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(x[i] * scale * weight[i]);
  return out;
}

void PlainTransformer::rotate(Numbers& heads, std::int64_t position) const {
  const auto size = static_cast<std::size_t>(m_config.headSize);
  const std::size_t half = size / 2;
  for (std::size_t head = 0; head < heads.size(); head += size) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * m_frequencies[i];
      const double first = heads[head + i];
      const double second = heads[head + i + half];
      heads[head + i] = first * std::cos(angle) - second * std::sin(angle);
      heads[head + i + half] = second * std::cos(angle) + first * std::sin(angle);
    }
  }
}

KeyValue PlainTransformer::keyValue(std::int32_t layer, const Numbers& hidden, std::int64_t position) const {
  const Layer& weights = m_layers[static_cast<std::size_t>(layer)];
  const Numbers x = normed(hidden, weights.attentionNorm);
  KeyValue out{.key = times(weights.key, x), .value = times(weights.value, x)};
  rotate(out.key, position);
  return out;
}

Numbers PlainTransformer::query(std::int32_t layer, const Numbers& hidden, std::int64_t position) const {
  const Layer& weights = m_layers[static_cast<std::size_t>(layer)];
  Numbers queries = times(weights.query, normed(hidden, weights.attentionNorm));
  rotate(queries, position);
  return queries;
}

Numbers PlainTransformer::next(std::int32_t layer, const Numbers& hidden, std::int64_t position,
                               const std::vector<const KeyValue*>& seen) const {
  return next(layer, hidden, position, std::vector(static_cast<std::size_t>(m_config.keyValueHeads), seen));
}

Numbers PlainTransformer::next(std::int32_t layer, const Numbers& hidden, std::int64_t position,
                               const std::vector<std::vector<const KeyValue*>>& seenByHead) const {
  const Layer& weights = m_layers[static_cast<std::size_t>(layer)];
  const Numbers queries = query(layer, hidden, position);
  const auto size = static_cast<std::size_t>(m_config.headSize);
  const auto group = static_cast<std::size_t>(m_config.heads / m_config.keyValueHeads);
  Numbers attended(queries.size(), 0.0);
  for (std::size_t head = 0; head < static_cast<std::size_t>(m_config.heads); ++head) {
    const std::size_t keyAt = head / group * size;
    const std::vector<const KeyValue*>& seen = seenByHead[head / group];
    Numbers scores;
    for (const KeyValue* token : seen) {
      double score = 0;
      for (std::size_t i = 0; i < size; ++i) score += queries[head * size + i] * token->key[keyAt + i];
      scores.push_back(score / std::sqrt(static_cast<double>(size)));
    }
    const double highest = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - highest);
    for (std::size_t t = 0; t < seen.size(); ++t) {
      for (std::size_t i = 0; i < size; ++i)
        attended[head * size + i] += scores[t] / total * seen[t]->value[keyAt + i];
    }
  }
  Numbers out = hidden;
  add(out, times(weights.output, attended));
  const Numbers x = normed(out, weights.mlpNorm);
  Numbers gate = times(weights.gate, x);
  const Numbers up = times(weights.up, x);
  for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  add(out, times(weights.down, gate));
  return out;
}

Numbers PlainTransformer::logits(const Numbers& hidden) const {
  return times(m_embedding, normed(hidden, m_finalNorm));
}

PlainTransformer::Forward PlainTransformer::forward(const std::vector<TokenId>& tokens,
                                                    const std::vector<std::int64_t>& positions,
                                                    const std::vector<std::vector<std::size_t>>& sees) const {
  Forward out;
  for (const TokenId token : tokens) out.hidden.push_back(embed(token));
  for (std::int32_t layer = 0; layer < layers(); ++layer) {
    std::vector<KeyValue>& own = out.keyValues.emplace_back();
    out.entering.push_back(out.hidden);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      own.push_back(keyValue(layer, out.hidden[i], positions[i]));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::vector<const KeyValue*> seen;
      for (const std::size_t row : sees[i]) seen.push_back(&own[row]);
      out.hidden[i] = next(layer, out.hidden[i], positions[i], seen);
    }
  }
  return out;
}

}  // namespace spanscope::testing
