// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/decoder.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/model/finite_values.h"
#include "engine/model/known_extras.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace spanscope::model {

using compute::Tensor;
using compute::Weight;
using compute::WeightUse;

namespace {

/// A matrix with the bias that may go with it.
struct Linear {
  std::unique_ptr<Weight> matrix;
  std::unique_ptr<Weight> bias;
};

struct Layer {
  std::unique_ptr<Weight> attentionNorm;
  Linear query, key, value, output;
  std::unique_ptr<Weight> mlpNorm;
  Linear gate, up, down;
};

[[noreturn]] void refuse(const char* place, const std::string& found, const std::string& expected) {
  throw Failure({"forward pass", place, found, expected});
}

template <class Number>
void checkRange(const std::vector<Number>& values, std::int64_t end, const char* place) {
  for (const Number value : values) {
    if (value < 0 || value >= end) refuse(place, std::to_string(value), "0 to " + std::to_string(end - 1));
  }
}

void checkBatch(const Batch& batch, const ModelConfig& config, const compute::KvShape& store) {
  if (store.layers != config.layers || store.heads != config.keyValueHeads ||
      store.headSize != config.headSize) {
    refuse("KV store", "the shape of another model", "the shape that kvShape gives");
  }
  const std::size_t rows = batch.tokens.size();
  if (batch.localIndices.size() != rows || batch.slots.size() != rows) {
    refuse("rows", "lists of different lengths", "a token, a local index and a slot for every row");
  }
  checkRange(batch.tokens, config.vocabularySize, "token ids");
  checkRange(batch.slots, std::int64_t{store.blocks} * store.blockSize, "slots");
  checkRange(batch.logitRows, static_cast<std::int64_t>(rows), "logit rows");
  checkRange(batch.hiddenRows, static_cast<std::int64_t>(rows), "hidden rows");
  checkRange(batch.massLayers, config.layers, "mass layers");
  checkRange(batch.mass.runs, static_cast<std::int64_t>(batch.runs.size()), "mass runs");
  if (!batch.mass.keySpans.empty()) {
    if (batch.mass.keySpans.size() != batch.mass.runs.size())
      refuse("mass key spans", std::to_string(batch.mass.keySpans.size()), "one for each mass run, or none");
    checkRange(batch.mass.keySpans, std::int64_t{1} << 31U, "mass key spans");
  }
  std::int64_t covered = 0;
  for (const compute::QueryRun& run : batch.runs) {
    if (run.firstRow != covered || run.rowCount <= 0)
      refuse("query runs", "gaps", "runs that cover the rows in order");
    covered += run.rowCount;
  }
  if (covered != static_cast<std::int64_t>(rows)) {
    refuse("query runs", counted(covered, "row"), "all " + std::to_string(rows));
  }
}

/// The file that a tensor stands in.
std::string fileOf(const WeightSource& source, const std::string& name) {
  for (const StoredTensor& tensor : source.stored()) {
    if (tensor.name == name) return tensor.file;
  }
  return source.name();
}

void checkFinite(const compute::HostMatrix& matrix, const std::string& name, const WeightSource& source) {
  const std::optional<NotFinite> found = findNotFinite(matrix);
  if (!found) return;
  throw Failure({fileOf(source, name), name,
                 std::string(describe(*found)) + " at the index " + std::to_string(found->index),
                 "finite numbers: the file is damaged"});
}

/// A checkpoint may hold the tied table under both of its names, but not two tables.
void checkTied(const ModelConfig& config, const WeightSource& source, const char* table, const char* other) {
  const auto get = [&](const char* name) {
    return source.get(name, config.vocabularySize, config.hiddenSize);
  };
  const compute::HostMatrix first = get(table);
  const compute::HostMatrix second = get(other);
  const std::size_t size = static_cast<std::size_t>(first.rows) * static_cast<std::size_t>(first.columns) *
                           compute::sizeOf(first.type);
  if (first.type == second.type && std::memcmp(first.data, second.data, size) == 0) return;
  throw Failure({fileOf(source, other), other, "other values than in " + std::string(table),
                 "the same, as tie_word_embeddings says"});
}

/// What a checkpoint holds beyond its configuration is a sign that the two do not fit, and would be left out
/// of every answer.
void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used) {
  constexpr std::size_t kNamed = 4;
  std::vector<StoredTensor> surplus = source.stored();
  std::erase_if(surplus, [&](const StoredTensor& tensor) {
    return used.contains(tensor.name) || isKnownExtra(tensor.name, config);
  });
  if (surplus.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, surplus.size()); ++i)
    names += (names.empty() ? "" : ", ") + checkpoint::inQuotes(surplus[i].name);
  if (surplus.size() > kNamed) names += " and " + std::to_string(surplus.size() - kNamed) + " more";
  throw Failure({surplus.front().file, "",
                 (surplus.size() == 1 ? "a tensor that the model has no use for: "
                                      : "tensors that the model has no use for: ") +
                     names,
                 "only those of " + config.architecture + " with " + counted(config.layers, "layer") +
                     ", as config.json describes it"});
}

/// Numbers that a pass gives out: whatever is drawn, found or shown from them would mean nothing if they did
/// not.
void checkResult(std::span<const float> values, const char* what, const std::string& model) {
  const std::optional<NotFinite> found = findNotFinite(values);
  if (!found) return;
  throw Failure({model, "forward pass", std::string(describe(*found)) + " among the " + what,
                 "finite numbers: the weights may be damaged, or not fit the configuration"});
}

/// The rows that go through the last layer: first those whose logits are wanted, then the others.
std::vector<std::int32_t> wantedRows(const Batch& batch) {
  std::vector<std::int32_t> rows = batch.logitRows;
  rows.insert(rows.end(), batch.hiddenRows.begin(), batch.hiddenRows.end());
  return rows;
}

}  // namespace

struct Decoder::Impl {
  ModelConfig config;
  std::string modelName;  ///< of the source of the weights
  compute::Backend& backend;
  compute::RotaryTable rotary;
  compute::AttentionShape attention;

  std::unique_ptr<Weight> embedding;
  std::vector<Layer> layers;
  std::unique_ptr<Weight> finalNorm;
  std::unique_ptr<Weight> logitMatrix;
  std::size_t weightBytes = 0;
  std::size_t parameterCount = 0;

  // Activations, kept between passes so that their memory is.
  std::unique_ptr<Tensor> residual, normed, queries, keys, values, attended, gate, up, kept, logits;

  Impl(const ModelConfig& model, std::string sourceName, compute::Backend& device)
      : config(model),
        modelName(std::move(sourceName)),
        backend(device),
        rotary(makeRotaryTable(model)),
        attention{model.heads, model.keyValueHeads, model.headSize,
                  static_cast<float>(1.0 / std::sqrt(static_cast<double>(model.headSize)))} {
    for (auto* tensor :
         {&residual, &normed, &queries, &keys, &values, &attended, &gate, &up, &kept, &logits}) {
      *tensor = backend.makeTensor();
    }
  }

  void load(const WeightSource& source);
  bool runLayers(const Batch& batch, compute::KvStore& store, std::vector<LayerMass>& mass);
  void multiply(const Tensor& x, const Linear& weight, bool accumulate, Tensor& out) {
    backend.matmul(x, *weight.matrix, weight.bias.get(), accumulate, out);
  }
  bool selfAttention(const Batch& batch, std::size_t index, const compute::AttentionPlan& plan,
                     compute::KvStore& store, std::vector<LayerMass>& mass);
  bool keepRows(std::span<const std::int32_t> rows);
  bool computeLogits(const Batch& batch);
  bool feedForward(const Layer& layer);
};

void Decoder::Impl::load(const WeightSource& source) {
  std::set<std::string> used;
  const auto prepare = [&](const std::string& name, std::int64_t rows, std::int64_t columns, WeightUse use) {
    const compute::HostMatrix matrix = source.get(name, rows, columns);
    if (used.insert(name).second) checkFinite(matrix, name, source);
    auto weight = backend.prepare(matrix, use);
    weightBytes += weight->bytes();
    parameterCount += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    return weight;
  };
  const auto vector = [&](const std::string& name, std::int64_t size) {
    return prepare(name, 1, size, WeightUse::Vector);
  };
  const auto linear = [&](const std::string& name, std::int64_t rows, std::int64_t columns, bool bias) {
    Linear result;
    result.matrix = prepare(name + ".weight", rows, columns, WeightUse::Matrix);
    if (bias) result.bias = vector(name + ".bias", rows);
    return result;
  };
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queryWidth = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keyWidth = std::int64_t{config.keyValueHeads} * config.headSize;

  embedding = prepare("model.embed_tokens.weight", config.vocabularySize, hidden, WeightUse::Embedding);
  layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    Layer& layer = layers[i];
    layer.attentionNorm = vector(prefix + "input_layernorm.weight", hidden);
    layer.query = linear(prefix + "self_attn.q_proj", queryWidth, hidden, config.attentionBias);
    layer.key = linear(prefix + "self_attn.k_proj", keyWidth, hidden, config.attentionBias);
    layer.value = linear(prefix + "self_attn.v_proj", keyWidth, hidden, config.attentionBias);
    layer.output = linear(prefix + "self_attn.o_proj", hidden, queryWidth, config.attentionBias);
    layer.mlpNorm = vector(prefix + "post_attention_layernorm.weight", hidden);
    layer.gate = linear(prefix + "mlp.gate_proj", inner, hidden, config.mlpBias);
    layer.up = linear(prefix + "mlp.up_proj", inner, hidden, config.mlpBias);
    layer.down = linear(prefix + "mlp.down_proj", hidden, inner, config.mlpBias);
  }
  finalNorm = vector("model.norm.weight", hidden);
  // Rows are looked up in one layout and multiplied with in another, so a tied table is prepared for both
  // uses.
  constexpr const char* kTable = "model.embed_tokens.weight";
  constexpr const char* kHead = "lm_head.weight";
  if (config.tiedEmbeddings && source.has(kHead)) checkTied(config, source, kTable, kHead);
  const char* logitName = config.tiedEmbeddings ? kTable : kHead;
  logitMatrix = prepare(logitName, config.vocabularySize, hidden, WeightUse::Matrix);
  if (config.tiedEmbeddings) {
    parameterCount -= static_cast<std::size_t>(config.vocabularySize) * static_cast<std::size_t>(hidden);
  }
  refuseSurplus(config, source, used);
}

/// Attention of one layer up to `attended`; false if stopped.
bool Decoder::Impl::selfAttention(const Batch& batch, std::size_t index, const compute::AttentionPlan& plan,
                                  compute::KvStore& store, std::vector<LayerMass>& mass) {
  const Layer& layer = layers[index];
  const auto number = static_cast<std::int32_t>(index);
  const bool observed =
      std::find(batch.massLayers.begin(), batch.massLayers.end(), number) != batch.massLayers.end();
  const bool attentionNeeded = observed || index + 1 < layers.size() || !wantedRows(batch).empty();

  backend.rmsNorm(*residual, *layer.attentionNorm, config.normEpsilon, *normed);
  if (backend.stopped()) return false;
  multiply(*normed, layer.key, false, *keys);
  if (backend.stopped()) return false;
  multiply(*normed, layer.value, false, *values);
  if (backend.stopped()) return false;
  backend.storeKeysValues(*keys, *values, rotary, batch.localIndices, batch.slots, number, store);
  if (backend.stopped()) return false;
  if (!attentionNeeded) return true;

  multiply(*normed, layer.query, false, *queries);
  if (backend.stopped()) return false;
  std::vector<compute::RunMass> runs;
  backend.attend(plan, *queries, store, number, *attended, observed ? &batch.mass : nullptr,
                 observed ? &runs : nullptr);
  if (backend.stopped()) return false;
  if (observed) mass.push_back({number, std::move(runs)});
  return true;
}

/// After the last layer's attention only the rows that are wanted matter. Row by row the results are the
/// same, so which rows go on changes nothing.
bool Decoder::Impl::keepRows(std::span<const std::int32_t> rows) {
  backend.gatherRows(*residual, rows, *kept);
  std::swap(residual, kept);
  if (backend.stopped()) return false;
  backend.gatherRows(*attended, rows, *kept);
  std::swap(attended, kept);
  return !backend.stopped();
}

/// Everything of a layer after `attended`; false if stopped.
bool Decoder::Impl::feedForward(const Layer& layer) {
  multiply(*attended, layer.output, true, *residual);
  if (backend.stopped()) return false;
  backend.rmsNorm(*residual, *layer.mlpNorm, config.normEpsilon, *normed);
  if (backend.stopped()) return false;
  multiply(*normed, layer.gate, false, *gate);
  if (backend.stopped()) return false;
  multiply(*normed, layer.up, false, *up);
  if (backend.stopped()) return false;
  backend.siluMul(*gate, *up, *gate);
  if (backend.stopped()) return false;
  multiply(*gate, layer.down, true, *residual);
  return !backend.stopped();
}

bool Decoder::Impl::runLayers(const Batch& batch, compute::KvStore& store, std::vector<LayerMass>& mass) {
  backend.embed(*embedding, batch.tokens, *residual);
  if (backend.stopped()) return false;
  const auto plan = backend.planAttention(attention, rotary, store.shape(), batch.runs);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!selfAttention(batch, i, *plan, store, mass)) return false;
    if (i + 1 == layers.size()) {
      const std::vector<std::int32_t> rows = wantedRows(batch);
      if (rows.empty()) return true;
      if (!keepRows(rows)) return false;
    }
    if (!feedForward(layers[i])) return false;
  }
  backend.rmsNorm(*residual, *finalNorm, config.normEpsilon, *normed);
  if (backend.stopped()) return false;
  return batch.logitRows.empty() || computeLogits(batch);
}

/// Of the rows in `normed`, which begins with those whose logits are wanted.
bool Decoder::Impl::computeLogits(const Batch& batch) {
  const Tensor* rows = normed.get();
  if (!batch.hiddenRows.empty()) {
    std::vector<std::int32_t> first(batch.logitRows.size());
    std::iota(first.begin(), first.end(), 0);
    backend.gatherRows(*normed, first, *kept);
    if (backend.stopped()) return false;
    rows = kept.get();
  }
  backend.matmul(*rows, *logitMatrix, nullptr, false, *logits);
  return !backend.stopped();
}

Decoder::Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend)
    : m_impl(std::make_unique<Impl>(config, weights.name(), backend)) {
  m_impl->load(weights);
}

Decoder::~Decoder() = default;

const ModelConfig& Decoder::config() const {
  return m_impl->config;
}
std::size_t Decoder::weightBytes() const {
  return m_impl->weightBytes;
}
std::size_t Decoder::parameterCount() const {
  return m_impl->parameterCount;
}

compute::KvShape Decoder::kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const {
  const ModelConfig& config = m_impl->config;
  return {config.layers, blocks, blockSize, config.keyValueHeads, config.headSize, type};
}

ForwardResult Decoder::forward(const Batch& batch, compute::KvStore& store, std::stop_token stop) {
  checkBatch(batch, m_impl->config, store.shape());
  ForwardResult result;
  if (batch.tokens.empty()) return result;
  m_impl->backend.begin(std::move(stop));
  result.stopped = !m_impl->runLayers(batch, store, result.mass);
  if (result.stopped) return result;
  for (const LayerMass& layer : result.mass) {
    for (const compute::RunMass& run : layer.runs)
      checkResult(run.mass, "attention masses", m_impl->modelName);
  }
  if (!batch.logitRows.empty()) {
    result.logits.resize(batch.logitRows.size() * static_cast<std::size_t>(m_impl->config.vocabularySize));
    m_impl->backend.download(*m_impl->logits, result.logits);
    checkResult(result.logits, "logits", m_impl->modelName);
  }
  if (!batch.hiddenRows.empty()) {
    const auto width = static_cast<std::size_t>(m_impl->config.hiddenSize);
    std::vector<float> rows((batch.logitRows.size() + batch.hiddenRows.size()) * width);
    m_impl->backend.download(*m_impl->normed, rows);
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(batch.logitRows.size() * width));
    result.hidden = std::move(rows);
    checkResult(result.hidden, "hidden states", m_impl->modelName);
  }
  return result;
}

}  // namespace spanscope::model
