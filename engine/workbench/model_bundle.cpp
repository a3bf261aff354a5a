// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_bundle.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/compute/device_kinds.h"
#include "engine/model/weights.h"
#include "engine/run/session_config.h"
#include "engine/text/end_tokens.h"
#include "engine/workbench/model_memory.h"
#include "engine/workbench/model_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

/// Seed of random weights: any fixed one does, but results of two runs should be comparable.
constexpr std::uint64_t kShapeSeed = 1;

/// Weights that are no longer given once a stop is requested, and that tell how many were, and a hash of all
/// that was given.
class WatchedWeights final : public model::WeightSource {
 public:
  WatchedWeights(const model::WeightSource& weights, const ModelOptions& options)
      : m_weights(weights), m_options(options), m_all(weights.stored().size()) {}

  bool has(const std::string& name) const override { return m_weights.has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    if (m_options.stop.stop_requested()) {
      throw Failure({.file = m_weights.name(),
                     .place = name,
                     .found = "a stop while it was loaded",
                     .expected = "to be let finish"});
    }
    // Tied weights are asked for twice.
    if (m_options.progress) m_options.progress(std::min(m_read++, m_all), m_all);
    await();  // what was given last may not live longer than this
    const compute::HostMatrix matrix = m_weights.get(name, rows, columns);
    m_digest.add(name);
    addBeside(matrix);
    return matrix;
  }
  void requireWhole() const override {
    await();
    m_weights.requireWhole();
  }
  std::string digest() const {
    await();
    return m_digest.value().hex();
  }
  std::vector<model::StoredTensor> stored() const override { return m_weights.stored(); }
  std::string fingerprint() const override { return m_weights.fingerprint(); }
  std::string name() const override { return m_weights.name(); }

 private:
  /// On another thread, while the matrix is prepared.
  void addBeside(const compute::HostMatrix& matrix) const {
    const auto add = [this, matrix] { m_digest.add({matrix.data, matrix.bytes()}); };
    constexpr std::size_t kWorthAThread = std::size_t{1} << 20U;
    if (matrix.bytes() < kWorthAThread) return add();
    try {
      m_adding = std::async(std::launch::async, add);
    } catch (const std::system_error&) {  // the system starts no more threads
      add();
    }
  }
  void await() const {
    if (m_adding.valid()) m_adding.get();
  }

  const model::WeightSource& m_weights;
  const ModelOptions& m_options;
  std::size_t m_all;
  mutable std::size_t m_read = 0;
  mutable Digest m_digest;
  mutable std::future<void> m_adding;  ///< last: it uses the digest
};

void addWeights(ModelBundle& bundle, const model::WeightSource& weights, const compute::Backends& backends,
                const ModelOptions& options) {
  bundle.weights = model::weightAmounts(bundle.config, weights);
  bundle.fingerprint = model::fingerprint(bundle.config) + ";" + weights.fingerprint();
  std::optional<model::Adapter> adapter;
  if (!options.adapter.empty()) {
    adapter = model::Adapter::open(options.adapter);
    bundle.adapter = adapter->name();
    bundle.name = adaptedName(bundle.name, options.adapter.string());
    bundle.fingerprint += ";adapter=" + adapter->fingerprint();
    bundle.config.blockAttention = bundle.config.blockAttention || adapter->blockAttention();
  }
  bundle.device = backends.choose(options.device);
  std::optional<run::SessionConfig> session = options.session;
  if (session) session = suited(*session, bundle.device.kind);
  checkMemory(
      memoryNeed(bundle.config, bundle.weights, session ? &*session : nullptr, bundle.device.kind.memory()),
      bundle.device.device);
  bundle.arithmetic = options.arithmetic;
  bundle.backend = bundle.device.kind.make({.threads = options.threads,
                                            .device = bundle.device.index,
                                            .exact = options.exact,
                                            .arithmetic = options.arithmetic});
  const WatchedWeights watched(weights, options);
  bundle.decoder = std::make_unique<model::Decoder>(bundle.config, watched, *bundle.backend,
                                                    adapter ? &*adapter : nullptr);
  bundle.weightsDigest = watched.digest();
}

ModelBundle namedBundle(const checkpoint::Checkpoint& checkpoint, std::int32_t context) {
  checkpoint.requireModel();
  ModelBundle bundle;
  bundle.checkpoint = checkpoint;
  bundle.name = checkpoint.name();
  bundle.config = model::readConfig(checkpoint);
  if (context > 0) model::fixContext(bundle.config, context);
  bundle.context = context;
  return bundle;
}

}  // namespace

run::SessionConfig suited(run::SessionConfig config, const compute::BackendKind& kind) {
  config.rowsPerPass = std::max(config.rowsPerPass, kind.rowsPerPass);
  if (!config.kvType) config.kvType = kind.keysAndValues;
  return config;
}

compute::BackendOptions ModelBundle::backendOptions() const {
  return {.threads = backend->info().threads, .device = device.index};
}

double compute::MachineRates::*ModelBundle::arithmeticRate() const {
  using compute::MachineRates;
  if (arithmetic != compute::Arithmetic::Fast || device.kind.name != compute::kProcessor.name ||
      weights.empty())
    return &MachineRates::flops;
  const auto most = std::max_element(weights.begin(), weights.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->first == compute::WeightFormat::BF16) return &MachineRates::bf16Flops;
  return compute::infoOf(most->first).isPacked() ? &MachineRates::byteOperations : &MachineRates::flops;
}

double ModelBundle::weightElementBytes() const {
  const compute::MemoryRules rules;
  double bytes = 0;
  double elements = 0;
  for (const auto& [format, count] : weights) {
    bytes += static_cast<double>(rules.ofMatrix(format, count));
    elements += static_cast<double>(count);
  }
  return elements > 0 ? bytes / elements : 2;
}

std::string ModelBundle::weightNames() const {
  std::vector<std::pair<std::int64_t, compute::WeightFormat>> byCount;
  for (const auto& [format, count] : weights) byCount.emplace_back(-count, format);
  std::sort(byCount.begin(), byCount.end());
  std::string names;
  for (const auto& [count, format] : byCount) {
    const std::optional<compute::DType> type = compute::dtypeOf(format);
    names +=
        (names.empty() ? "" : ", ") + std::string(type ? compute::nameOf(*type) : compute::nameOf(format));
  }
  return names;
}

void addEndTokens(model::ModelConfig& config, const checkpoint::Checkpoint& checkpoint,
                  const text::Tokenizer& tokenizer, const text::ChatTemplate* chat) {
  text::addTokenizerEndTokens(checkpoint, tokenizer, config.vocabularySize, config.endTokens);
  if (chat != nullptr) text::addClosingPiece(*chat, tokenizer, config.vocabularySize, config.endTokens);
}

ModelBundle loadModelWeights(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                             const ModelOptions& options) {
  ModelBundle bundle = namedBundle(checkpoint, options.context);
  addWeights(bundle, *model::openWeights(checkpoint, bundle.config), backends, options);
  return bundle;
}

ModelBundle describeModel(const checkpoint::Checkpoint& checkpoint, const text::ChatTemplate* chat,
                          std::int32_t context) {
  checkpoint.requireModel();
  std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(checkpoint);
  const bool isChosen = chat != nullptr;
  if (!isChosen) chat = &text::findChatTemplate(checkpoint);
  ModelBundle bundle = namedBundle(checkpoint, context);
  bundle.chatIsChosen = isChosen;
  addEndTokens(bundle.config, checkpoint, *tokenizer, chat);
  bundle.tokenizer = std::move(tokenizer);
  bundle.chat = chat;
  return bundle;
}

ModelBundle loadModelBundle(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                            const ModelOptions& options) {
  // What is small is read first, so that most mistakes are found before the weights are touched.
  ModelBundle bundle = describeModel(checkpoint, options.chat, options.context);
  addWeights(bundle, *model::openWeights(checkpoint, bundle.config), backends, options);
  return bundle;
}

ModelBundle makeShapeBundle(const std::string& shape, const compute::Backends& backends,
                            const ModelOptions& options, compute::WeightFormat format) {
  ModelBundle bundle;
  bundle.name = shape;
  bundle.config = model::namedShape(shape);
  addWeights(bundle, *model::makeRandomWeights(bundle.config, kShapeSeed, format), backends, options);
  return bundle;
}

namespace {

/// The model as traces name it: where it lies.
std::string sourceOf(const ModelBundle& bundle) {
  if (bundle.checkpoint.isNothing()) return bundle.name;
  return bundle.checkpoint.path().string() + (bundle.adapter.empty() ? "" : " + " + bundle.adapter);
}

}  // namespace

std::unique_ptr<run::Session> makeSession(ModelBundle& bundle, const run::SessionConfig& wanted,
                                          trace::Sink& sink) {
  const run::SessionConfig config = suited(wanted, bundle.device.kind);
  checkMemory(memoryNeed(bundle.config, bundle.weights, &config, bundle.device.kind.memory()),
              bundle.device.device);
  // What outlives the program must not be taken for that of weights which differ in a place that was not
  // sampled.
  const std::string fingerprint =
      bundle.fingerprint + (config.store.isOn() ? ";weights=" + bundle.weightsDigest : "");
  return std::make_unique<run::Session>(config, *bundle.decoder, *bundle.backend, fingerprint,
                                        sourceOf(bundle), bundle.tokenizer.get(), bundle.chat, sink);
}

}  // namespace spanscope::workbench
