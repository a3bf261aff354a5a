// SPDX-License-Identifier: GPL-3.0-or-later
// A small model on the emulated card. Its requests decode step by step, without a scheduler.
#pragma once

#include "engine/model/decoder.h"
#include "kernels/cuda/backend/cuda_backend.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::testing {

inline model::ModelConfig stepModelConfig() {
  model::ModelConfig config = model::namedShape("3m");
  config.vocabularySize = 96;
  config.hiddenSize = 32;
  config.intermediateSize = 48;
  config.layers = 2;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 16;
  return config;
}

/// An answer that grows after a document that all answers share.
struct StepAnswer {
  std::uint64_t number = 0;
  std::vector<TokenId> tokens;  ///< question and answer; the last token is not computed yet
  std::vector<BlockId> blocks;
  float temperature = 0;
};

struct StepOptions {
  bool logitsWanted = false;
  bool observed = false;
  std::vector<std::size_t> observedAnswers = {};  ///< if not empty, only these answers are observed
  std::stop_token stop = {};
  std::int32_t mostBlocks = 0;  ///< max number of blocks that a row reads; 0: all
};

class StepModel {
 public:
  static constexpr std::int32_t kBlockSize = 4;
  /// Tokens of the document; with as many rows in a pass, no buffer grows any more.
  static constexpr std::int32_t kDocument = 16;

  explicit StepModel(cuda::DeviceWorkOptions options, bool exact = false)
      : counts(std::make_shared<cuda::GraphCounts>()) {
    options.counts = counts;
    m_backend = cuda::makeCudaBackend({.device = 0, .exact = exact, .work = std::move(options)});
    const model::ModelConfig config = stepModelConfig();
    const auto weights = model::makeRandomWeights(config, 5);
    m_decoder = std::make_unique<model::Decoder>(config, *weights, *m_backend);
    takeStore();
  }
  /// Options with which graphs never count as too slow, because an emulated card is slow.
  static cuda::DeviceWorkOptions patient() {
    return {.mostMilliseconds = std::numeric_limits<double>::infinity()};
  }
  static cuda::DeviceWorkOptions withoutGraphs() { return {.hasGraphs = false}; }

  compute::Backend& backend() { return *m_backend; }
  model::Decoder& decoder() { return *m_decoder; }
  compute::KvStore& store() { return *m_store; }

  /// Takes another store in another place, and computes the document into it.
  void takeStore() {
    auto other = m_backend->makeKvStore(m_decoder->kvShape(400, kBlockSize, compute::DType::BF16));
    m_store = std::move(other);
    m_nextBlock = 1;
    StepAnswer document;
    for (TokenId token = 0; token < kDocument; ++token) document.tokens.push_back(3 * token + 1);
    prefill(document, 0, {}, kDocument);
    m_document = document.blocks;
  }

  /// Begins an answer. All tokens of its question but the last are computed. `question` is the number of
  /// these tokens and must not be 2.
  StepAnswer begin(std::uint64_t number, std::int32_t question, float temperature = 0) {
    StepAnswer answer{.number = number, .tokens = {}, .blocks = {}, .temperature = temperature};
    for (std::int32_t i = 0; i < question; ++i)
      answer.tokens.push_back(static_cast<TokenId>((number * 7 + static_cast<std::uint64_t>(i) * 5) % 96));
    StepAnswer most = answer;
    most.tokens.pop_back();
    if (!most.tokens.empty()) prefill(most, kDocument, m_document, 0);
    answer.blocks = most.blocks;
    return answer;
  }

  /// Computes the next token of each answer.
  model::ForwardResult step(const std::vector<StepAnswer*>& answers, const StepOptions& options = {}) {
    model::Batch batch;
    batch.logitsWanted = options.logitsWanted;
    for (StepAnswer* const answer : answers) {
      const auto row = static_cast<std::int32_t>(batch.tokens.size());
      const auto local = static_cast<std::int32_t>(answer->tokens.size()) - 1;
      addRow(batch, *answer, local);
      batch.runs.push_back(run(*answer, row, 1, local + 1, kDocument, m_document));
      batch.runs.back().mostBlocks = options.mostBlocks;
      batch.logitRows.push_back(row);
      compute::SamplingSettings settings;
      settings.temperature = answer->temperature;
      settings.seed = answer->number;
      batch.draws.push_back(
          {.logits = row, .settings = settings, .index = static_cast<std::uint64_t>(local)});
      const std::vector<std::size_t>& some = options.observedAnswers;
      if (options.observed || std::find(some.begin(), some.end(), batch.tokens.size() - 1) != some.end())
        batch.mass.runs.push_back(static_cast<std::uint32_t>(row));
    }
    if (!batch.mass.runs.empty()) batch.massLayers = {1};
    model::ForwardResult result = m_decoder->forward(batch, *m_store, options.stop);
    if (result.stopped) return result;
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i]->tokens.push_back(result.tokens[i].token);
    return result;
  }

  std::shared_ptr<cuda::GraphCounts> counts;

 private:
  void addRow(model::Batch& batch, StepAnswer& answer, std::int32_t local) {
    if (local / kBlockSize >= static_cast<std::int32_t>(answer.blocks.size()))
      answer.blocks.push_back(m_nextBlock++);
    batch.tokens.push_back(answer.tokens[static_cast<std::size_t>(local)]);
    batch.localIndices.push_back(local);
    batch.slots.push_back(std::int64_t{answer.blocks.back()} * kBlockSize + local % kBlockSize);
  }

  static compute::QueryRun run(const StepAnswer& answer, std::int32_t row, std::int32_t rows,
                               std::int32_t end, std::int64_t base, const std::vector<BlockId>& document) {
    compute::QueryRun run{.firstRow = row, .rowCount = rows, .base = base, .keys = {}};
    if (!document.empty())
      run.keys.push_back({.blocks = document, .begin = 0, .end = kDocument, .base = 0, .causal = false});
    run.keys.push_back({.blocks = answer.blocks, .begin = 0, .end = end, .base = base, .causal = true});
    return run;
  }

  void prefill(StepAnswer& answer, std::int64_t base, const std::vector<BlockId>& document,
               std::int32_t logitRows) {
    model::Batch batch;
    for (std::int32_t row = 0; row < logitRows; ++row) batch.logitRows.push_back(row);
    const auto count = static_cast<std::int32_t>(answer.tokens.size());
    for (std::int32_t local = 0; local < count; ++local) addRow(batch, answer, local);
    batch.runs = {run(answer, 0, count, count, base, document)};
    m_decoder->forward(batch, *m_store, {});
  }

  std::unique_ptr<compute::Backend> m_backend;
  std::unique_ptr<model::Decoder> m_decoder;
  std::unique_ptr<compute::KvStore> m_store;
  std::vector<BlockId> m_document;
  BlockId m_nextBlock = 1;
};

}  // namespace spanscope::testing
