// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/speed.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/model/weight_reader.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace spanscope::experiment {
namespace {

constexpr std::int32_t kBlockSize = 16;

/// One sequence in its own KV store, with the blocks in order. Uses only the decoder and the backend, without
/// cache and scheduler.
class Sequence {
 public:
  Sequence(model::Decoder& decoder, compute::Backend& backend, std::int32_t tokens, compute::DType kvType)
      : m_decoder(decoder), m_blocks(static_cast<std::size_t>((tokens + kBlockSize - 1) / kBlockSize)) {
    std::iota(m_blocks.begin(), m_blocks.end(), 1);
    const auto blockCount = static_cast<std::int32_t>(m_blocks.size()) + 1;
    m_store = backend.makeKvStore(decoder.kvShape(blockCount, kBlockSize, kvType));
  }

  /// Computes tokens begin … begin + count − 1. All earlier tokens must have been computed.
  void compute(std::int32_t begin, std::int32_t count, bool wantLogits, const std::stop_token& stop) {
    model::Batch batch;
    for (std::int32_t local = begin; local < begin + count; ++local) {
      // The ids are spread over the vocabulary, so that the embedding rows are not next to each other in
      // memory.
      batch.tokens.push_back(
          static_cast<TokenId>((local * std::int64_t{7919}) % m_decoder.config().vocabularySize));
      batch.localIndices.push_back(local);
      batch.slots.push_back(std::int64_t{m_blocks[static_cast<std::size_t>(local / kBlockSize)]} *
                                kBlockSize +
                            local % kBlockSize);
    }
    compute::QueryRun rows;
    rows.rowCount = count;
    rows.keys.push_back({.blocks = m_blocks, .begin = 0, .end = begin + count, .base = 0, .causal = true});
    batch.runs.push_back(std::move(rows));
    if (wantLogits) batch.logitRows.push_back(count - 1);
    batch.logitsWanted = false;  // they are computed but stay on the device, as in a run
    if (m_decoder.forward(batch, *m_store, stop).stopped || stop.stop_requested()) {
      throw Failure({.file = {}, .place = "bench", .found = "The job was stopped.", .expected = {}});
    }
  }

 private:
  model::Decoder& m_decoder;
  std::vector<BlockId> m_blocks;
  std::unique_ptr<compute::KvStore> m_store;
};

void computePrompt(Sequence& sequence, std::int32_t begin, std::int32_t count, std::int32_t rowsPerPass,
                   bool wantLogits, const std::stop_token& stop) {
  for (std::int32_t done = 0; done < count;) {
    const std::int32_t rows = std::min(rowsPerPass, count - done);
    sequence.compute(begin + done, rows, wantLogits && done + rows == count, stop);
    done += rows;
  }
}

}  // namespace

std::string SpeedTest::name() const {
  std::string text = (kind == Kind::Prompt ? "pp" : "tg") + std::to_string(count);
  if (depth > 0) text += " @ d" + std::to_string(depth);
  return text;
}

double SpeedResult::share() const {
  return test.kind == SpeedTest::Kind::Prompt ? flopsPerSecond / arithmeticLimit
                                              : bytesPerSecond / machine.bytesPerSecond;
}

std::int32_t speedBlocks(const std::vector<SpeedTest>& tests, std::int32_t blockSize) {
  std::int32_t most = 0;
  for (const SpeedTest& test : tests) most = std::max(most, test.depth + test.count);
  return (most + blockSize - 1) / blockSize + 1;
}

void keepHighest(compute::MachineRates& most, const compute::MachineRates& measured) {
  for (const auto rate : {&compute::MachineRates::flops, &compute::MachineRates::bf16Flops,
                          &compute::MachineRates::byteOperations, &compute::MachineRates::bytesPerSecond})
    most.*rate = std::max(most.*rate, measured.*rate);
}

SpeedResult measureSpeed(model::Decoder& decoder, compute::Backend& backend, const SpeedTest& test,
                         const SpeedOptions& options, const compute::RateMeter& measureMachine,
                         std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  Sequence sequence(decoder, backend, test.depth + test.count, options.kvType);
  computePrompt(sequence, 0, test.depth, options.rowsPerPass, false, stop);
  const auto once = [&] {
    if (test.kind == SpeedTest::Kind::Prompt) {
      computePrompt(sequence, test.depth, test.count, options.rowsPerPass, true, stop);
    } else {
      for (std::int32_t i = 0; i < test.count; ++i) sequence.compute(test.depth + i, 1, true, stop);
    }
  };

  SpeedResult result;
  result.test = test;
  const auto probe = [&] { keepHighest(result.machine, measureMachine()); };
  once();
  std::vector<double> rates;
  for (std::int32_t i = 0; i < options.repeats; ++i) {
    probe();
    const Clock::time_point begin = Clock::now();
    once();
    rates.push_back(test.count / secondsSince(begin));
  }
  probe();
  result.arithmeticLimit = result.machine.arithmetic(options.arithmetic);

  result.tokensPerSecond = summarize(std::move(rates));
  const ModelCost cost = costOf(decoder.config(), options.weightElementBytes,
                                static_cast<double>(compute::sizeOf(options.kvType)));
  const double runsPerSecond = result.tokensPerSecond.median / test.count;
  if (test.kind == SpeedTest::Kind::Prompt) {
    result.flopsPerSecond = promptFlops(cost, test.depth, test.count) * runsPerSecond;
    const std::int32_t passes = (test.count + options.rowsPerPass - 1) / options.rowsPerPass;
    result.bytesPerSecond = cost.weightBytes * passes * runsPerSecond;
  } else {
    result.flopsPerSecond =
        (promptFlops(cost, test.depth, test.count) + cost.outputFlops * (test.count - 1)) * runsPerSecond;
    result.bytesPerSecond = generationBytes(cost, test.depth, test.count) * runsPerSecond;
  }
  return result;
}

namespace {

/// Keys read by `count` causal rows after `depth` tokens: Σ (depth + i), i = 1 … count.
double keysRead(std::int64_t depth, std::int64_t count) {
  const auto rows = static_cast<double>(count);
  return rows * static_cast<double>(depth) + rows * (rows + 1) / 2;
}

}  // namespace

ModelCost costOf(const model::ModelConfig& config, double weightElementBytes, double keyValueElementBytes) {
  const double layerWeights = model::productsOf(config);
  double allQueries = 0;
  for (std::int32_t layer = 0; layer < config.layers; ++layer)
    allQueries += static_cast<double>(config.heads) * config.headSizeOf(config.kind(config.kindOf(layer)));
  const auto stored = static_cast<double>(model::kvShapeOf(config, 1, 1, compute::DType::F32).slotElements());
  const double outputWeights = static_cast<double>(config.vocabularySize) * config.hiddenSize;
  return {.layerFlops = 2 * layerWeights,
          .outputFlops = 2 * outputWeights,
          .attentionFlops = 4 * allQueries,
          .weightBytes = (layerWeights + outputWeights) * weightElementBytes,
          .keyValueBytes = 2 * stored * keyValueElementBytes};
}

double promptFlops(const ModelCost& cost, std::int64_t depth, std::int64_t count) {
  return cost.layerFlops * static_cast<double>(count) + cost.outputFlops +
         cost.attentionFlops * keysRead(depth, count);
}

double generationBytes(const ModelCost& cost, std::int64_t depth, std::int64_t count) {
  return cost.weightBytes * static_cast<double>(count) + cost.keyValueBytes * keysRead(depth, count);
}

}  // namespace spanscope::experiment
