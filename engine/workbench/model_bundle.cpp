// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_bundle.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/saturated.h"
#include "engine/model/weight_reader.h"
#include "engine/text/end_tokens.h"
#include "engine/trace/line_pieces.h"
#include "engine/workbench/model_names.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::workbench {

namespace {

/// Seed of random weights. The seed is fixed, so that results of two runs are comparable.
constexpr std::uint64_t kShapeSeed = 1;

/// Weights that report progress and throw after a stop request.
class WatchedWeights final : public model::WeightSource {
 public:
  WatchedWeights(const model::WeightSource& weights, const ModelOptions& options)
      : m_weights(weights), m_options(options), m_all(weights.stored().size()) {}

  bool has(const std::string& name) const override { return m_weights.has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    if (m_options.stop.stop_requested()) {
      throw Failure({.file = m_weights.name(),
                     .place = name,
                     .found = /*id:stop-while-loaded*/ "The loading was stopped.",
                     .expected = {}});
    }
    // Tied weights are requested twice.
    if (m_options.progress) m_options.progress(std::min(m_read++, m_all), m_all);
    return m_weights.get(name, rows, columns);
  }
  void requireWhole() const override { m_weights.requireWhole(); }
  void requireUnchanged() const override { m_weights.requireUnchanged(); }
  std::vector<model::StoredTensor> stored() const override { return m_weights.stored(); }
  std::string fingerprint() const override { return m_weights.fingerprint(); }
  std::string name() const override { return m_weights.name(); }

 private:
  const model::WeightSource& m_weights;
  const ModelOptions& m_options;
  std::size_t m_all;
  mutable std::size_t m_read = 0;
};

ModelBundle::FileTimes filesOf(const model::WeightSource& weights) {
  ModelBundle::FileTimes times;
  for (const model::StoredTensor& tensor : weights.stored()) {
    if (times.contains(tensor.file)) continue;
    std::error_code error;  // a deleted file has no time
    times.emplace(tensor.file, std::filesystem::last_write_time(tensor.file, error));
  }
  return times;
}

/// Returns a hash that distinguishes weights which differ only in places that the fingerprint does not
/// sample. The hash is rarely needed. If loading did not compute it, the weights are read again.
std::string weightsDigest(ModelBundle& bundle) {
  if (!bundle.decoder->weightsDigest().empty() || bundle.checkpoint.isNothing())
    return bundle.decoder->weightsDigest();
  const std::unique_ptr<model::WeightSource> weights = model::openWeights(bundle.checkpoint, bundle.config);
  if (filesOf(*weights) != bundle.weightFiles) {
    throw Failure(
        {.file = weights->name(),
         .place = {},
         .found = /*id:file-changed-since*/ "a file that changed after the model was loaded",
         .expected = "the unchanged file, because spans are stored for this file. Load the model again"});
  }
  bundle.decoder->readWeightsDigest(*weights);
  weights->requireUnchanged();
  return bundle.decoder->weightsDigest();
}

void addWeights(ModelBundle& bundle, const std::shared_ptr<const model::WeightSource>& source,
                const compute::Backends& backends, const ModelOptions& options) {
  const model::WeightSource& weights = *source;
  bundle.weights = model::weightAmounts(bundle.config, weights);
  bundle.ignoredTensors = model::tensorsOfOtherParts(weights);
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
  // The fingerprint of random weights identifies these weights completely.
  const bool isRead = !bundle.checkpoint.isNothing();
  bundle.decoder = std::make_unique<model::Decoder>(
      bundle.config, watched, *bundle.backend,
      model::DecoderOptions{.adapter = adapter ? &*adapter : nullptr,
                            .lender = options.borrow ? source : nullptr,
                            .hashesWeights = isRead && session && session->store.isOn()});
  if (!isRead) return;
  bundle.weightFiles = filesOf(weights);
  weights.requireUnchanged();
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
  const auto most =
      std::ranges::max_element(weights, [](const auto& a, const auto& b) { return a.second < b.second; });
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
  std::ranges::sort(byCount);
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

void requirePiecesInVocabulary(const text::Tokenizer& tokenizer, const model::ModelConfig& config) {
  for (TokenId id = config.vocabularySize; id < tokenizer.vocabularySize(); ++id) {
    if (tokenizer.isControl(id) || tokenizer.bytes(id).empty()) continue;
    throw Failure(
        {.file = tokenizer.source(),
         .place = {},
         .found = /*id:piece-without-row*/ "a tokenizer with the piece \"" + tokenizer.display(id) +
                  "\" (id " + std::to_string(id) + ")",
         .expected = "the tokenizer of this model, which knows " + counted(config.vocabularySize, "token")});
  }
}

ModelBundle loadModelWeights(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                             const ModelOptions& options) {
  ModelBundle bundle = namedBundle(checkpoint, options.context);
  addWeights(bundle, model::openWeights(checkpoint, bundle.config), backends, options);
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
  requirePiecesInVocabulary(*tokenizer, bundle.config);
  addEndTokens(bundle.config, checkpoint, *tokenizer, chat);
  bundle.tokenizer = std::move(tokenizer);
  bundle.chat = chat;
  return bundle;
}

ModelBundle loadModelBundle(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                            const ModelOptions& options) {
  // Small files are read first, so that most errors are found before the weights are read.
  ModelBundle bundle = describeModel(checkpoint, options.chat, options.context);
  addWeights(bundle, model::openWeights(checkpoint, bundle.config), backends, options);
  return bundle;
}

ModelBundle makeShapeBundle(const std::string& shape, const compute::Backends& backends,
                            const ModelOptions& options, compute::WeightFormat format) {
  ModelBundle bundle;
  bundle.name = shape;
  bundle.config = model::namedShape(shape);
  addWeights(bundle, model::makeRandomWeights(bundle.config, kShapeSeed, format), backends, options);
  return bundle;
}

namespace {

/// The name of the model in traces: its path.
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
  // Stored blocks must not match other weights that differ only in a place that was not sampled.
  const std::string fingerprint =
      bundle.fingerprint + (config.store.isOn() ? ";weights=" + weightsDigest(bundle) : "");
  return std::make_unique<run::Session>(config, *bundle.decoder, *bundle.backend, fingerprint,
                                        sourceOf(bundle), bundle.tokenizer.get(), bundle.chat, sink);
}

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::string gibibytes(std::uint64_t bytes) {
  constexpr double kGibi = 1 << 30;
  return trace::fixedPoint(static_cast<double>(bytes) / kGibi, 2) + " GiB";
}

}  // namespace

std::uint64_t MemoryNeed::pool() const {
  return blocks == 0 ? 0
         : blockBytes > kMost / static_cast<std::uint64_t>(blocks)
             ? kMost
             : blockBytes * static_cast<std::uint64_t>(blocks);
}

std::uint64_t MemoryNeed::total() const {
  return saturatedSum({weights, pool(), workspace});
}

MemoryNeed memoryNeed(const model::ModelConfig& config, const model::WeightAmounts& weights,
                      const run::SessionConfig* session, const compute::MemoryRules& rules) {
  const std::int64_t hidden = config.hiddenSize;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  for (std::size_t i = 0; i < config.kinds(); ++i) {
    const model::AttentionKind& kind = config.kind(i);
    queries = std::max(queries, std::int64_t{config.heads} * config.headSizeOf(kind));
    keys = std::max(keys, std::int64_t{config.keyValueHeadsOf(kind)} * config.headSizeOf(kind));
  }
  MemoryNeed need;
  for (const auto& [format, elements] : weights)
    need.weights = saturatedSum({need.weights, rules.ofMatrix(format, elements)});
  if (session == nullptr) return need;
  need.blocks = session->blockCount;
  need.kvType = session->kvType.value_or(compute::DType::F32);
  need.blockBytes = rules.ofStore(model::kvShapeOf(config, 1, session->blockSize, need.kvType));
  // The sum has these parts: residual, normed and kept rows; query vectors and attention results; keys and
  // values; both halves of the activation; vectors for each layer. The logits of one row are always f32. With
  // experts, a row has the last parts and its input and output once for each of its experts.
  const std::int64_t used = config.experts.choice.used;
  const std::int64_t gated =
      2 * model::gatedRowsOf(config) + used * 2 * (hidden + std::int64_t{config.intermediateSize});
  const std::int64_t columns =
      3 * hidden + 2 * queries + 2 * keys + gated + 3 * std::int64_t{config.perLayerSize} * config.layers;
  need.workspace =
      saturatedSum({saturatedProduct({session->rowsPerPass, columns, rules.ofActivation}),
                    saturatedProduct({config.vocabularySize, std::int64_t{sizeof(float)}}), rules.ofPasses});
  return need;
}

void checkMemory(const MemoryNeed& need, const compute::Device& device) {
  if (device.memoryBytes == 0 || need.total() <= device.memoryBytes) return;
  std::string found = "The model needs " + gibibytes(need.weights) + " for its weights";
  if (need.blocks > 0) {
    found += ", " + gibibytes(need.pool()) + /*id:for-a-pool*/ " for a pool of " +
             counted(need.blocks, "block") + " in " + compute::nameOf(need.kvType) + " and " +
             gibibytes(need.workspace) + " of working memory";
  }
  found += ".";
  std::string expected = "The device has " + gibibytes(device.memoryBytes) + " of memory";
  const std::uint64_t other = saturatedSum({need.weights, need.workspace});
  if (need.blocks > 0 && need.blockBytes > 0 && other < device.memoryBytes) {
    expected +=
        ". A pool of " + counted((device.memoryBytes - other) / need.blockBytes, "block") + " would fit";
  } else if (need.blocks > 0) {
    expected += /*id:too-little-any*/ ", which is too little for any pool";
  }
  expected += ".";
  throw Failure({.file = {},
                 .place = "memory of " + device.name,
                 .found = std::move(found),
                 .expected = std::move(expected)});
}

}  // namespace spanscope::workbench
