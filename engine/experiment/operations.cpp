// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/operations.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace spanscope::experiment {
namespace {

using compute::Tensor;
using compute::Weight;
using compute::WeightUse;

constexpr std::int32_t kBlockSize = 16;
constexpr double kActivation = 4;  ///< bytes that count for an element of a tensor
// Total bytes of the small weights, keys and values that are used in turn. In a model, they are never still
// in the processor's cache.
constexpr std::int64_t kTogether = std::int64_t{192} << 20;
constexpr std::int64_t kMostLayers = 64;

class OperationBench {
 public:
  OperationBench(compute::Backend& backend, const model::ModelConfig& config, const OperationOptions& options,
                 const compute::RateMeter& measureMachine,
                 const std::function<void(const OperationResult&)>& report, const std::stop_token& stop)
      : m_backend(backend),
        m_config(config),
        m_options(options),
        m_measureMachine(measureMachine),
        m_report(report),
        m_stop(stop),
        m_rotary(model::makeRotaryTable(config)) {}

  void measureAll() {
    const std::int64_t hidden = m_config.hiddenSize;
    const std::int64_t inner = m_config.intermediateSize;
    measureMatmul("query", queryWidth(), hidden);
    measureMatmul("key", keyWidth(), hidden);
    measureMatmul("output", hidden, queryWidth());
    measureMatmul("gate", inner, hidden);
    measureMatmul("down", hidden, inner);
    measureMatmul("logits", m_config.vocabularySize, hidden);
    for (const std::int32_t rows : m_options.rows) measureRows(rows);
    for (const std::int32_t depth : m_options.depths) {
      for (const std::int32_t rows : m_options.rows) {
        measureAttention(rows, depth);
        if (m_options.segmentTokens > 0 && depth > 0) measureSegments(rows, depth);
      }
    }
    measureSampling("greedy", {});
    measureSampling("top-k 50, top-p 0.95", {.temperature = 0.6F, .topK = 50, .topP = 0.95F});
  }

 private:
  std::int64_t queryWidth() const { return std::int64_t{m_config.heads} * m_config.headSize; }
  std::int64_t keyWidth() const { return std::int64_t{m_config.keyValueHeads} * m_config.headSize; }
  compute::AttentionShape attentionShape() const {
    return {m_config.heads, m_config.keyValueHeads, m_config.headSize,
            1 / std::sqrt(static_cast<float>(m_config.headSize))};
  }

  static std::string named(const std::string& operation, std::int64_t rows) {
    return operation + " M=" + std::to_string(rows);
  }

  /// Returns small values that differ from each other.
  static std::vector<float> someValues(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * 2654435761U % 1021U) / 1021.0F - 0.5F;
    return values;
  }

  std::unique_ptr<Tensor> tensor(std::int64_t rows, std::int64_t columns) {
    auto result = m_backend.makeTensor();
    m_backend.upload(someValues(rows * columns), rows, columns, *result);
    return result;
  }

  std::unique_ptr<Weight> weight(std::int64_t rows, std::int64_t columns, WeightUse use) {
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < bits.size(); ++i)
      bits[i] = static_cast<std::uint16_t>(0x3C00U + i * 2654435761U % 64U);
    return m_backend.prepare(
        {std::as_bytes(std::span(bits)).data(), compute::WeightFormat::BF16, rows, columns}, use);
  }

  /// Returns rows in consecutive slots from block 1 on. The first row has the local index `firstLocal`.
  compute::PassInputs inputsOf(std::int32_t rows, std::int32_t firstLocal) const {
    compute::PassInputs inputs;
    inputs.tokens.assign(static_cast<std::size_t>(rows), 0);
    inputs.localIndices.resize(inputs.tokens.size());
    std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), firstLocal);
    inputs.slots.resize(inputs.tokens.size());
    std::iota(inputs.slots.begin(), inputs.slots.end(), std::int64_t{kBlockSize} + firstLocal);
    return inputs;
  }

  compute::KvShape storeFor(std::int32_t tokens) const {
    const std::int32_t blocks = (tokens + kBlockSize - 1) / kBlockSize + 1;
    return {1, blocks, kBlockSize, m_config.keyValueHeads, m_config.headSize, m_options.kvType};
  }

  /// Returns the shape of storeFor() with the number of layers that attention uses in turn.
  compute::KvShape layersFor(std::int32_t tokens) const {
    compute::KvShape shape = storeFor(tokens);
    const std::int64_t layerBytes =
        2 * keyWidth() * shape.blocks * kBlockSize * compute::sizeOf(m_options.kvType);
    shape.layers =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(kTogether / layerBytes, 1, kMostLayers));
    return shape;
  }

  std::unique_ptr<compute::Pass> passOf(const compute::KvShape& store, const compute::PassInputs& inputs) {
    return m_backend.makePass(attentionShape(), m_rotary, store, inputs);
  }

  /// `pass` is any pass, which is used to wait for results.
  template <class Call>
  void measure(const std::string& name, const OperationWork& work, compute::Pass& pass, const Call& call) {
    using Clock = std::chrono::steady_clock;
    const auto timed = [&](int calls) {
      if (m_stop.stop_requested())
        throw Failure({.file = {}, .place = "bench", .found = "The job was stopped.", .expected = {}});
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < calls; ++i) call();
      m_backend.finish(pass);
      return secondsSince(begin);
    };
    m_backend.begin({});
    timed(1);
    // A sample takes about as long as a sample of the machine.
    constexpr double kSampleSeconds = 0.02;
    const int calls = std::clamp(static_cast<int>(kSampleSeconds / (timed(1) + 1e-9)), 1, 100'000);
    OperationResult result{.name = name, .work = work, .seconds = {}, .machine = {}};
    const auto probe = [&] {
      const compute::MachineRates rates = m_measureMachine();
      result.machine.flops = std::max(result.machine.flops, rates.flops);
      result.machine.bytesPerSecond = std::max(result.machine.bytesPerSecond, rates.bytesPerSecond);
    };
    std::vector<double> samples;
    for (std::int32_t i = 0; i < m_options.repeats; ++i) {
      probe();
      samples.push_back(timed(calls) / calls);
    }
    probe();
    result.seconds = summarize(std::move(samples));
    m_report(result);
  }

  void measureMatmul(const char* what, std::int64_t features, std::int64_t columns) {
    const std::int64_t bytes = features * columns * 2;
    std::vector<std::unique_ptr<Weight>> weights;
    const std::int64_t copies = std::max<std::int64_t>(1, kTogether / bytes);
    for (std::int64_t i = 0; i < copies; ++i) weights.push_back(weight(features, columns, WeightUse::Matrix));
    const auto pass = passOf(storeFor(1), inputsOf(1, 0));
    for (const std::int32_t rows : m_options.rows) {
      const auto x = tensor(rows, columns);
      const auto out = m_backend.makeTensor();
      const OperationWork work{
          .flops = 2.0 * rows * static_cast<double>(features) * static_cast<double>(columns),
          .bytes = static_cast<double>(bytes) + kActivation * rows * static_cast<double>(features + columns)};
      std::size_t next = 0;
      measure(named(std::string("matmul ") + what, rows), work, *pass,
              [&] { m_backend.matmul(*x, *weights[next++ % weights.size()], nullptr, false, *out); });
    }
  }

  void measureRows(std::int32_t rows) {
    const std::int64_t hidden = m_config.hiddenSize;
    const std::int64_t inner = m_config.intermediateSize;
    const auto store = storeFor(rows);
    const auto pass = passOf(store, inputsOf(rows, 0));
    const auto x = tensor(rows, hidden);
    const auto out = m_backend.makeTensor();
    const auto norm = weight(1, hidden, WeightUse::Vector);
    measure(named("rms norm", rows), moving(2.0 * rows * static_cast<double>(hidden)), *pass,
            [&] { m_backend.rmsNorm(*x, *norm, m_config.normEpsilon, *out); });
    const auto gate = tensor(rows, inner);
    const auto up = tensor(rows, inner);
    measure(named("silu and product", rows), moving(3.0 * rows * static_cast<double>(inner)), *pass,
            [&] { m_backend.multiplyGated(compute::Activation::Silu, *gate, *up, *out); });
    const auto keys = tensor(rows, keyWidth());
    const auto held = m_backend.makeKvStore(store);
    const double elements = 2.0 * rows * static_cast<double>(keyWidth());
    measure(named(/*id:store-keys-values*/ "store keys and values", rows),
            {.flops = 0, .bytes = elements * (kActivation + storedBytes())}, *pass,
            [&] { m_backend.storeKeysValues(*pass, *keys, *keys, 0, *held); });
  }

  std::unique_ptr<compute::KvStore> filled(const compute::KvShape& shape) {
    auto store = m_backend.makeKvStore(shape);
    const std::int32_t tokens = (shape.blocks - 1) * kBlockSize;
    const auto all = passOf(shape, inputsOf(tokens, 0));
    const auto keys = tensor(tokens, keyWidth());
    for (std::int32_t layer = 0; layer < shape.layers; ++layer)
      m_backend.storeKeysValues(*all, *keys, *keys, layer, *store);
    m_backend.finish(*all);
    return store;
  }

  void measureAttention(std::int32_t rows, std::int32_t depth) {
    const compute::KvShape shape = layersFor(depth + rows);
    compute::PassInputs inputs = inputsOf(rows, depth);
    inputs.runs = {{0, rows, 0, {rangeOf(1, depth + rows, 0, true)}}};
    measureAttend(named("attend", rows) + " depth " + std::to_string(depth), rows, depth, shape, inputs);
  }

  void measureSegments(std::int32_t rows, std::int32_t depth) {
    const std::int32_t length = std::min(m_options.segmentTokens, depth);
    const std::int32_t segments = depth / length;
    const std::int32_t blocks = (length + kBlockSize - 1) / kBlockSize;
    const std::int32_t read = segments * length;
    const compute::KvShape shape = layersFor(segments * blocks * kBlockSize + rows);
    compute::PassInputs inputs = inputsOf(rows, segments * blocks * kBlockSize);
    std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), 0);
    compute::QueryRun run{.firstRow = 0, .rowCount = rows, .base = read, .keys = {}};
    for (std::int32_t i = 0; i < segments; ++i)
      run.keys.push_back(rangeOf(1 + i * blocks, length, std::int64_t{i} * length, false));
    run.keys.push_back(rangeOf(1 + segments * blocks, rows, read, true));
    inputs.runs = {std::move(run)};
    measureAttend(
        named("attend", rows) + " " + std::to_string(segments) + " segments of " + std::to_string(length),
        rows, read, shape, inputs);
  }

  /// Returns a range of `tokens` tokens in consecutive blocks.
  static compute::KeyRange rangeOf(BlockId firstBlock, std::int32_t tokens, std::int64_t base, bool causal) {
    compute::KeyRange range{.blocks = {}, .begin = 0, .end = tokens, .base = base, .causal = causal};
    range.blocks.resize(static_cast<std::size_t>((tokens + kBlockSize - 1) / kBlockSize));
    std::iota(range.blocks.begin(), range.blocks.end(), firstBlock);
    return range;
  }

  void measureAttend(const std::string& name, std::int32_t rows, std::int32_t depth,
                     const compute::KvShape& shape, const compute::PassInputs& inputs) {
    const std::int32_t tokens = depth + rows;
    const auto store = filled(shape);
    const auto pass = passOf(shape, inputs);
    const auto queries = tensor(rows, queryWidth());
    const auto out = m_backend.makeTensor();
    std::int32_t next = 0;
    const double pairs = static_cast<double>(rows) * depth + 0.5 * rows * (rows + 1.0);
    measure(name,
            {.flops = 4 * pairs * static_cast<double>(queryWidth()),
             .bytes = 2.0 * tokens * static_cast<double>(keyWidth()) * storedBytes() +
                      2 * kActivation * rows * static_cast<double>(queryWidth())},
            *pass, [&] { m_backend.attend(*pass, *queries, *store, next++ % shape.layers, false, *out); });
  }

  void measureSampling(const std::string& what, const compute::SamplingSettings& settings) {
    for (const std::int32_t rows : m_options.rows) {
      compute::PassInputs inputs = inputsOf(rows, 0);
      for (std::int32_t row = 0; row < rows; ++row) {
        inputs.logitRows.push_back(row);
        inputs.draws.push_back(
            {.logits = row, .settings = settings, .index = static_cast<std::uint64_t>(row)});
      }
      const auto pass = passOf(storeFor(rows), inputs);
      const auto logits = m_backend.makeTensor();
      m_backend.uploadLogits(someValues(std::int64_t{rows} * m_config.vocabularySize), rows,
                             m_config.vocabularySize, *logits);
      measure(named("sample " + what, rows), moving(1.0 * rows * m_config.vocabularySize), *pass,
              [&] { m_backend.sample(*pass, *logits); });
    }
  }

  static OperationWork moving(double elements) { return {.flops = 0, .bytes = kActivation * elements}; }
  double storedBytes() const { return static_cast<double>(compute::sizeOf(m_options.kvType)); }

  compute::Backend& m_backend;
  const model::ModelConfig& m_config;
  const OperationOptions& m_options;
  const compute::RateMeter& m_measureMachine;
  const std::function<void(const OperationResult&)>& m_report;
  const std::stop_token& m_stop;
  compute::RotaryTable m_rotary;
};

}  // namespace

bool OperationResult::isBoundByArithmetic() const {
  return work.flops / machine.flops > work.bytes / machine.bytesPerSecond;
}

double OperationResult::flopsPerSecond() const {
  return work.flops / seconds.median;
}

double OperationResult::bytesPerSecond() const {
  return work.bytes / seconds.median;
}

double OperationResult::share() const {
  return isBoundByArithmetic() ? flopsPerSecond() / machine.flops : bytesPerSecond() / machine.bytesPerSecond;
}

void measureOperations(compute::Backend& backend, const model::ModelConfig& config,
                       const OperationOptions& options, const compute::RateMeter& measureMachine,
                       const std::function<void(const OperationResult&)>& report,
                       const std::stop_token& stop) {
  OperationBench(backend, config, options, measureMachine, report, stop).measureAll();
}

}  // namespace spanscope::experiment
