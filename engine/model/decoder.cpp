// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/decoder.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/model/weight_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace spanscope::model {

using compute::Tensor;
using compute::Weight;
using compute::WeightUse;

namespace {

/// A matrix with its bias, if it has one, and the adapter's addition to it.
struct Linear {
  std::unique_ptr<Weight> matrix;
  std::unique_ptr<Weight> bias;
  std::unique_ptr<Weight> down, up;  ///< null without an adapter
};

struct Layer {
  /// Null for norms that the model does not have; see NormNames.
  std::unique_ptr<Weight> beforeAttention, afterAttention, beforeGate, afterGate;
  Linear query, key, value, output;
  std::unique_ptr<Weight> queryNorm, keyNorm;  ///< the same
  std::unique_ptr<Weight> sinks;               ///< the same
  Linear gate, up, down;                       ///< of all tokens; empty if there are only experts
  Linear router;
  std::vector<Linear> expertMatrices;  ///< gate, up and down of each expert
  std::vector<compute::ExpertWeights> experts;

  void gatherExperts() {
    for (std::size_t i = 0; i < expertMatrices.size(); i += 3) {
      const Linear* const own = &expertMatrices[i];
      experts.push_back({own[0].matrix.get(), own[1].matrix.get(), own[2].matrix.get(), own[0].bias.get(),
                         own[1].bias.get(), own[2].bias.get()});
    }
  }
  // For vectors of each layer.
  Linear perLayerGate, perLayerProjection;
  std::unique_ptr<Weight> afterPerLayer;
  float scale = 1;
};

/// The beginning of the names of the gated product that all tokens use besides the experts.
constexpr const char* kSharedExpert = "mlp.shared_experts.";

using Passes = std::vector<std::unique_ptr<compute::Pass>>;

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
  if (store != kvShapeOf(config, store.blocks, store.blockSize, store.type)) {
    refuse("KV store", "the shape of another model", "the shape for this model");
  }
  const std::size_t rows = batch.tokens.size();
  if (batch.localIndices.size() != rows || batch.slots.size() != rows) {
    refuse("rows", "lists of different lengths",
           "a token, a position in the segment and a slot for every row");
  }
  checkRange(batch.tokens, config.vocabularySize, "token ids");
  checkRange(batch.slots, std::int64_t{store.blocks} * store.blockSize, "slots");
  checkRange(batch.logitRows, static_cast<std::int64_t>(rows), "logit rows");
  checkRange(batch.hiddenRows, static_cast<std::int64_t>(rows), "hidden rows");
  for (const compute::Draw& draw : batch.draws) {
    const auto count = static_cast<std::int64_t>(batch.logitRows.size());
    if (draw.logits < 0 || draw.logits >= count)
      refuse("sampled tokens", std::to_string(draw.logits), "one of " + counted(count, "row") + " of logits");
  }
  checkRange(batch.massLayers, config.layers, "layers with attention sums");
  checkRange(batch.narrowingLayers, config.storingLayers(), "layers that leave out rows");
  if (batch.narrowingLayers.size() != batch.narrowings.size() ||
      !std::ranges::is_sorted(batch.narrowingLayers, std::less_equal<>())) {
    refuse("layers that leave out rows", counted(batch.narrowingLayers.size(), "layer"),
           "layers in ascending order, one for each of " +
               counted(batch.narrowings.size(), "list of kept rows", "lists of kept rows"));
  }
  if (batch.vectorsWanted && !batch.narrowings.empty())
    refuse("vectors", "a forward pass that leaves out rows in later layers",
           "a forward pass in which every row goes through all layers");
  checkRange(batch.mass.runs, static_cast<std::int64_t>(batch.runs.size()), "query runs with attention sums");
  if (!batch.mass.keySpans.empty()) {
    if (batch.mass.keySpans.size() != batch.mass.runs.size())
      refuse("key spans of attention sums", std::to_string(batch.mass.keySpans.size()),
             "one for each query run with attention sums, or none");
    checkRange(batch.mass.keySpans, std::int64_t{1} << 31U, "key spans of attention sums");
  }
  std::int64_t covered = 0;
  for (const compute::QueryRun& run : batch.runs) {
    if (run.firstRow != covered || run.rowCount <= 0)
      refuse("query runs", "gaps", "query runs that cover the rows in order");
    covered += run.rowCount;
  }
  if (covered != static_cast<std::int64_t>(rows)) {
    refuse("query runs", counted(covered, "row"), "all " + std::to_string(rows));
  }
}

/// A checkpoint may contain the tied table under both of its names. The two copies must be equal.
void checkTied(const ModelConfig& config, const WeightSource& source, const char* table, const char* other) {
  const auto get = [&](const char* name) {
    return source.get(name, config.vocabularySize, config.hiddenSize);
  };
  const compute::HostMatrix first = get(table);
  const compute::HostMatrix second = get(other);
  const bool isSame =
      first.format == second.format && std::memcmp(first.data, second.data, first.bytes()) == 0;
  source.requireWhole();
  if (isSame) return;
  throw Failure({fileOf(source, other), other, "other values than in " + std::string(table),
                 "equal values, because tie_word_embeddings is set"});
}

/// Returns the pair that an adapter adds to a matrix of the model; null if there is none.
const LowRankPair* pairFor(const Adapter* adapter, const std::string& name, std::int64_t rows,
                           std::int64_t columns) {
  if (adapter == nullptr) return nullptr;
  const auto found = adapter->pairs().find(name);
  if (found == adapter->pairs().end()) return nullptr;
  const LowRankPair& pair = found->second;
  if (pair.rows != rows || pair.columns != columns) {
    throw Failure(
        {adapter->directory().string(), name,
         std::to_string(pair.rows) + " × " + std::to_string(pair.columns),
         std::to_string(rows) + " × " + std::to_string(columns) + /*id:as-the-model*/ ", as in the model"});
  }
  return &pair;
}

void refuseSurplus(const ModelConfig& config, const Adapter& adapter, const std::set<std::string>& adapted) {
  for (const auto& [name, pair] : adapter.pairs()) {
    if (adapted.contains(name)) continue;
    throw Failure({adapter.directory().string(), name, "an unknown matrix",
                   "a matrix of " + config.architecture + " with " + counted(config.layers, "layer")});
  }
}

/// Refuses results that are not finite. Samples and searches of such numbers would be meaningless.
[[noreturn]] void refuseResult(const char* found, const char* what, const std::string& model) {
  throw Failure({model, "forward pass", std::string(found) + " among the " + what,
                 "finite numbers: the weights may be damaged, or may not fit the configuration"});
}

void checkResult(std::span<const float> values, const char* what, const std::string& model) {
  if (const std::optional<NotFinite> found = findNotFinite(values))
    refuseResult(describe(*found), what, model);
}

/// Checks a row whose logits only the sampler has read.
void checkToken(const compute::SampledToken& token, const std::string& model) {
  if (token.fault == compute::LogitFault::None) return;
  const bool isNan = token.fault == compute::LogitFault::NotANumber;
  refuseResult(isNan ? "nan" : "an infinite number", "logits", model);
}

/// Names the observed layers of one kind. Attention knows a layer by the layer whose keys it reads.
void nameLayers(const ModelConfig& config, const Batch& batch, std::size_t kind,
                std::vector<LayerMass>& mass) {
  auto next = mass.begin();
  for (std::int32_t layer = 0; config.sharingLayers > 0 && layer < config.layers; ++layer) {
    if (next == mass.end()) return;
    if (config.kindOf(layer) == kind && std::ranges::find(batch.massLayers, layer) != batch.massLayers.end())
      (next++)->layer = layer;
  }
}

/// Whether any row continues after the last layer's attention.
bool wantsRows(const Batch& batch) {
  return !batch.logitRows.empty() || !batch.hiddenRows.empty();
}

}  // namespace

namespace {

/// Some devices lack operations of some families.
void checkDevice(const ModelConfig& config, const compute::DeviceInfo& device) {
  const auto refuseModel = [&](const char* what) {
    throw Failure({"", config.architecture, std::string(what) + " on the device " + device.name,
                   "the device \"cpu\", which computes this model"});
  };
  if (config.experts.count > 0 && !device.mixesExperts) refuseModel("a mixture of experts");
  if (config.attentionSinks && !device.takesSinks) refuseModel("attention sinks");
}

}  // namespace

std::vector<NamedTensor> tensorsOf(const ModelConfig& config) {
  const std::int64_t hidden = config.hiddenSize;
  const NormNames norms = normsOf(config.norms);
  std::vector<NamedTensor> tensors;
  bool isOfExpert = false;
  const auto linear = [&](const std::string& name, std::int64_t rows, std::int64_t columns, bool bias) {
    tensors.push_back({name + ".weight", rows, columns, false, isOfExpert});
    if (bias) tensors.push_back({name + ".bias", 1, rows, false, isOfExpert});
  };
  linear("model.embed_tokens", config.vocabularySize, hidden, false);
  if (!config.tiedEmbeddings) linear("lm_head", config.vocabularySize, hidden, false);
  tensors.push_back({"model.norm.weight", 1, hidden, true});
  const std::int64_t perLayer = config.perLayerSize;
  if (perLayer > 0) {
    linear("model.embed_tokens_per_layer", config.vocabularySize, perLayer * config.layers, false);
    linear("model.per_layer_model_projection", perLayer * config.layers, hidden, false);
    tensors.push_back({"model.per_layer_projection_norm.weight", 1, perLayer, true});
  }
  for (std::int32_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    const AttentionKind& kind = config.kind(config.kindOf(i));
    const std::int64_t headSize = config.headSizeOf(kind);
    const std::int64_t queryWidth = config.heads * headSize;
    const std::int64_t keyWidth = config.keyValueHeadsOf(kind) * headSize;
    const std::int64_t inner = config.intermediateSizeOf(i);
    const bool isSharing = config.isSharing(i);
    for (const char* const norm :
         {norms.beforeAttention, norms.afterAttention, norms.beforeGate, norms.afterGate}) {
      if (norm != nullptr) tensors.push_back({prefix + norm + ".weight", 1, hidden, true});
    }
    linear(prefix + "self_attn.q_proj", queryWidth, hidden, config.attentionBias);
    if (!isSharing) linear(prefix + "self_attn.k_proj", keyWidth, hidden, config.attentionBias);
    if (!isSharing && !kind.valuesAreKeys)
      linear(prefix + "self_attn.v_proj", keyWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.o_proj", hidden, queryWidth, config.outputBias);
    if (config.queryKeyNorm != QueryKeyNorm::None) {
      const bool isOfHeads = config.queryKeyNorm == QueryKeyNorm::Heads;
      tensors.push_back({prefix + "self_attn.q_norm.weight", 1, isOfHeads ? headSize : queryWidth, true});
      if (!isSharing)
        tensors.push_back({prefix + "self_attn.k_norm.weight", 1, isOfHeads ? headSize : keyWidth, true});
    }
    if (config.attentionSinks) tensors.push_back({prefix + kSinks, 1, config.heads, false});
    const auto gated = [&](const std::string& name, std::int64_t width) {
      linear(name + "gate_proj", width, hidden, config.mlpBias);
      linear(name + "up_proj", width, hidden, config.mlpBias);
      linear(name + "down_proj", hidden, width, config.mlpBias);
    };
    if (config.experts.count == 0) {
      gated(prefix + "mlp.", inner);
    } else {
      linear(prefix + kRouter, config.experts.count, hidden, config.experts.routerBias);
      isOfExpert = true;
      for (std::int32_t expert = 0; expert < config.experts.count; ++expert)
        gated(prefix + expertName(expert), inner);
      isOfExpert = false;
      if (config.experts.sharedSize > 0) gated(prefix + kSharedExpert, config.experts.sharedSize);
    }
    if (perLayer > 0) {
      linear(prefix + "per_layer_input_gate", perLayer, hidden, false);
      linear(prefix + "per_layer_projection", hidden, perLayer, false);
      tensors.push_back({prefix + "post_per_layer_input_norm.weight", 1, hidden, true});
    }
    if (config.layerScale) tensors.push_back({prefix + kLayerScale, 1, 1, true});
  }
  return tensors;
}

void checkTensors(const ModelConfig& config, const WeightSource& source) {
  std::set<std::string> used;
  for (const NamedTensor& tensor : tensorsOf(config)) {
    source.formatOf(tensor.name, tensor.rows, tensor.columns);
    used.insert(tensor.name);
  }
  refuseSurplus(config, source, used);
}

struct Decoder::Impl {
  ModelConfig config;
  std::string modelName;  ///< of the source of the weights
  compute::Backend& backend;
  struct Kind {
    compute::RotaryTable rotary;
    compute::AttentionShape attention;
    std::unique_ptr<Weight> ones;  ///< the weight of a norm of heads without one; null if not needed
  };
  std::vector<Kind> kinds;

  std::unique_ptr<Weight> embedding;
  std::unique_ptr<Weight> perLayerEmbedding, perLayerNorm;
  Linear perLayerInput;
  std::vector<Layer> layers;
  std::unique_ptr<Weight> finalNorm;
  std::unique_ptr<Weight> logitMatrix;
  std::size_t weightBytes = 0;
  std::size_t parameterCount = 0;
  struct Read {
    std::string name;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };
  std::vector<Read> tensors;  ///< the weights that were read, as they were stored
  std::string weightsDigest;
  std::shared_ptr<const WeightSource> lender;  ///< while weights are borrowed
  std::vector<Weight*> borrowed;               ///< the borrowed weights, the last first
  bool hasRun = false;

  // Activations. Their memory is kept between forward passes and reused.
  std::unique_ptr<Tensor> residual, normed, queries, keys, values, headNormed, attended, gate, up, logits;
  std::unique_ptr<Tensor> added, addedNormed;  ///< the sum that attention or the MLP adds to the residual
  std::unique_ptr<Tensor> lowRank;             ///< between the two matrices of an adapter
  std::unique_ptr<Tensor> keptResidual, keptAttended, keptNormed;  ///< of the requested rows
  std::unique_ptr<Tensor> scores, kept;       ///< of rows that may be left out; scores also of experts
  std::unique_ptr<Tensor> keptNormedRows;     ///< of the requested rows, for a norm before both parts
  std::unique_ptr<Tensor> perLayer, ofLayer;  ///< vectors of all layers, and of one layer

  Impl(const ModelConfig& model, std::string sourceName, compute::Backend& device)
      : config(model), modelName(std::move(sourceName)), backend(device) {
    for (std::size_t index = 0; index < model.kinds(); ++index) {
      const AttentionKind& kind = model.kind(index);
      const std::int32_t headSize = model.headSizeOf(kind);
      const auto usual = static_cast<float>(1.0 / std::sqrt(static_cast<double>(headSize)));
      kinds.push_back({.rotary = makeRotaryTable(kind, headSize),
                       .attention = {.queryHeads = model.heads,
                                     .keyHeads = model.keyValueHeadsOf(kind),
                                     .headSize = headSize,
                                     .scale = model.attentionScale > 0 ? model.attentionScale : usual,
                                     .window = kind.window,
                                     .positionScale = kind.positionScale,
                                     .softCap = model.attentionCap},
                       .ones = {}});
    }
    for (auto* tensor :
         {&residual,     &normed,     &queries, &keys,  &values,         &headNormed, &attended,
          &gate,         &up,         &logits,  &added, &addedNormed,    &lowRank,    &keptResidual,
          &keptAttended, &keptNormed, &scores,  &kept,  &keptNormedRows, &perLayer,   &ofLayer}) {
      *tensor = backend.makeTensor();
    }
  }

  void load(const WeightSource& source, const DecoderOptions& options);
  bool own(std::size_t bytes, const std::stop_token& stop);
  void ownBefore(std::size_t rows, const std::stop_token& stop);
  Passes makePasses(const Batch& batch, const compute::KvShape& store);
  void runLayers(const Batch& batch, const Passes& passes, compute::KvStore& store);
  void multiply(const Tensor& x, const Linear& weight, bool accumulate, Tensor& out) {
    backend.matmul(x, *weight.matrix, weight.bias.get(), accumulate, out);
    if (!weight.down) return;
    backend.matmul(x, *weight.down, nullptr, false, *lowRank);
    backend.matmul(*lowRank, *weight.up, nullptr, true, out);
  }
  void norm(const Tensor& x, const Weight& weight, Tensor& out) {
    if (config.normKind == NormKind::Layer) return backend.layerNorm(x, weight, config.normEpsilon, out);
    backend.rmsNorm(x, weight, config.normEpsilon, out);
  }
  /// Norms each head of all rows separately.
  void normHeads(const Weight& weight, std::unique_ptr<Tensor>& rows) {
    norm(*rows, weight, *headNormed);
    std::swap(rows, headNormed);
  }
  compute::Pass& passOf(const Passes& passes, std::int32_t layer) const {
    return *passes[config.kindOf(layer)];
  }
  void narrow(const Batch& batch, std::int32_t layer, const Passes& passes, const compute::KvStore& store);
  /// Returns the rows that enter a part of a layer. The rows are normed if there is a norm before the part.
  Tensor& entering(Tensor& x, const std::unique_ptr<Weight>& weight) {
    if (!weight) return x;
    norm(x, *weight, *normed);
    return *normed;
  }
  /// Adds the output of a part of a layer to the residual.
  void add(const Tensor& rows, const Linear& weight, const std::unique_ptr<Weight>& weightOfNorm, Tensor& x);
  void addSum(const Tensor& sum, const std::unique_ptr<Weight>& weightOfNorm, Tensor& x);
  void selfAttention(const Batch& batch, std::size_t index, const Passes& passes, compute::KvStore& store);
  void embedForLayers(const compute::Pass& pass);
  void keepWantedRows(const compute::Pass& pass);
  void feedForward(std::size_t index, const Tensor& seen, Tensor& x);
  void computeLogits(const Batch& batch, compute::Pass& pass);
};

void Decoder::Impl::load(const WeightSource& source, const DecoderOptions& options) {
  const Adapter* const given = options.adapter;
  lender = options.lender;
  WeightReader reader(source, backend.info().threads, options.hashesWeights);
  const std::optional<Adapter> arranged =
      given == nullptr ? std::nullopt : std::optional(arrange(*given, config));
  const Adapter* const adapter = arranged ? &*arranged : nullptr;
  std::set<std::string> adapted;
  std::set<std::string> used;
  const auto prepare = [&](const std::string& name, std::int64_t rows, std::int64_t columns, WeightUse use) {
    compute::HostMatrix matrix = source.get(name, rows, columns);
    matrix.stays = lender != nullptr;
    if (used.insert(name).second) {
      tensors.push_back({name, rows, columns});
      reader.add(name, matrix);
    }
    auto weight = backend.prepare(matrix, use);
    source.requireWhole();
    weightBytes += weight->bytes();
    parameterCount += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    if (weight->isBorrowed()) borrowed.push_back(weight.get());
    return weight;
  };
  const auto vector = [&](const std::string& name, std::int64_t size) {
    return prepare(name, 1, size, WeightUse::Vector);
  };
  const auto linear = [&](const std::string& name, std::int64_t rows, std::int64_t columns, bool bias) {
    Linear result;
    result.matrix = prepare(name + ".weight", rows, columns, WeightUse::Matrix);
    if (bias) result.bias = vector(name + ".bias", rows);
    if (const LowRankPair* pair = pairFor(adapter, name, rows, columns)) {
      adapted.insert(name);
      result.down = backend.prepare(pair->downMatrix(), WeightUse::Matrix);
      result.up = backend.prepare(pair->upMatrix(), WeightUse::Matrix);
      weightBytes += result.down->bytes() + result.up->bytes();
    }
    return result;
  };
  const std::int64_t hidden = config.hiddenSize;
  const NormNames norms = normsOf(config.norms);
  embedding = prepare("model.embed_tokens.weight", config.vocabularySize, hidden, WeightUse::Embedding);
  layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    Layer& layer = layers[i];
    const auto number = static_cast<std::int32_t>(i);
    const AttentionKind& kind = config.kind(config.kindOf(number));
    const std::int64_t headSize = config.headSizeOf(kind);
    const std::int64_t queryWidth = config.heads * headSize;
    const std::int64_t keyWidth = config.keyValueHeadsOf(kind) * headSize;
    const std::int64_t inner = config.intermediateSizeOf(number);
    const bool isSharing = config.isSharing(number);
    const auto norm = [&](const char* name) {
      return name == nullptr ? nullptr : vector(prefix + name + ".weight", hidden);
    };
    layer.beforeAttention = norm(norms.beforeAttention);
    layer.afterAttention = norm(norms.afterAttention);
    layer.beforeGate = norm(norms.beforeGate);
    layer.afterGate = norm(norms.afterGate);
    layer.query = linear(prefix + "self_attn.q_proj", queryWidth, hidden, config.attentionBias);
    if (!isSharing) layer.key = linear(prefix + "self_attn.k_proj", keyWidth, hidden, config.attentionBias);
    if (!isSharing && !kind.valuesAreKeys)
      layer.value = linear(prefix + "self_attn.v_proj", keyWidth, hidden, config.attentionBias);
    layer.output = linear(prefix + "self_attn.o_proj", hidden, queryWidth, config.outputBias);
    if (config.queryKeyNorm != QueryKeyNorm::None) {
      const bool isOfHeads = config.queryKeyNorm == QueryKeyNorm::Heads;
      layer.queryNorm = vector(prefix + "self_attn.q_norm.weight", isOfHeads ? headSize : queryWidth);
      if (!isSharing)
        layer.keyNorm = vector(prefix + "self_attn.k_norm.weight", isOfHeads ? headSize : keyWidth);
    }
    if (config.attentionSinks) layer.sinks = vector(prefix + kSinks, config.heads);
    const auto gated = [&](const std::string& name, std::int64_t width) {
      layer.gate = linear(name + "gate_proj", width, hidden, config.mlpBias);
      layer.up = linear(name + "up_proj", width, hidden, config.mlpBias);
      layer.down = linear(name + "down_proj", hidden, width, config.mlpBias);
    };
    if (config.experts.count > 0) {
      layer.router = linear(prefix + kRouter, config.experts.count, hidden, config.experts.routerBias);
      for (std::int32_t expert = 0; expert < config.experts.count; ++expert) {
        const std::string name = prefix + expertName(expert);
        layer.expertMatrices.push_back(linear(name + "gate_proj", inner, hidden, config.mlpBias));
        layer.expertMatrices.push_back(linear(name + "up_proj", inner, hidden, config.mlpBias));
        layer.expertMatrices.push_back(linear(name + "down_proj", hidden, inner, config.mlpBias));
      }
      layer.gatherExperts();
      if (config.experts.sharedSize > 0) gated(prefix + kSharedExpert, config.experts.sharedSize);
    } else {
      gated(prefix + "mlp.", inner);
    }
    if (config.perLayerSize > 0) {
      const std::int64_t size = config.perLayerSize;
      layer.perLayerGate = linear(prefix + "per_layer_input_gate", size, hidden, false);
      layer.perLayerProjection = linear(prefix + "per_layer_projection", hidden, size, false);
      layer.afterPerLayer = vector(prefix + "post_per_layer_input_norm.weight", hidden);
    }
    if (config.layerScale) {
      const std::string name = prefix + kLayerScale;
      const compute::HostMatrix matrix = source.get(name, 1, 1);
      compute::widen(matrix.format, matrix.data, 1, &layer.scale);
      used.insert(name);
      tensors.push_back({name, 1, 1});
      reader.add(name, matrix);
    }
  }
  if (config.perLayerSize > 0) {
    const std::int64_t all = std::int64_t{config.perLayerSize} * config.layers;
    perLayerEmbedding =
        prepare("model.embed_tokens_per_layer.weight", config.vocabularySize, all, WeightUse::Embedding);
    perLayerInput = linear("model.per_layer_model_projection", all, hidden, false);
    perLayerNorm = vector("model.per_layer_projection_norm.weight", config.perLayerSize);
  }
  for (Kind& kind : kinds) {
    if (!config.valueNorm) continue;
    const std::vector<float> ones(static_cast<std::size_t>(kind.attention.headSize), 1.0F);
    kind.ones = backend.prepare({.data = std::as_bytes(std::span(ones)).data(),
                                 .format = compute::WeightFormat::F32,
                                 .rows = 1,
                                 .columns = std::ssize(ones)},
                                WeightUse::Vector);
  }
  finalNorm = vector("model.norm.weight", hidden);
  // Lookup and product need different layouts. A tied table is therefore prepared for both uses.
  constexpr const char* kTable = "model.embed_tokens.weight";
  constexpr const char* kHead = "lm_head.weight";
  if (config.tiedEmbeddings && source.has(kHead)) checkTied(config, source, kTable, kHead);
  const char* logitName = config.tiedEmbeddings ? kTable : kHead;
  logitMatrix = prepare(logitName, config.vocabularySize, hidden, WeightUse::Logits);
  if (config.tiedEmbeddings) {
    parameterCount -= static_cast<std::size_t>(config.vocabularySize) * static_cast<std::size_t>(hidden);
  }
  refuseSurplus(config, source, used);
  if (adapter != nullptr) refuseSurplus(config, *adapter, adapted);
  reader.finish();
  weightsDigest = reader.digest();
  if (borrowed.empty()) lender.reset();
  std::ranges::reverse(borrowed);
}

bool Decoder::Impl::own(std::size_t bytes, const std::stop_token& stop) {
  for (std::size_t taken = 0; !borrowed.empty() && taken < bytes && !stop.stop_requested();
       borrowed.pop_back()) {
    backend.own(*borrowed.back());
    lender->requireUnchanged();
    taken += borrowed.back()->bytes();
  }
  if (borrowed.empty()) lender.reset();
  return !borrowed.empty();
}

/// Copies borrowed weights before a forward pass, unless the forward pass has many rows. Many rows share the
/// cost of arranging the borrowed weights. The first forward pass never copies, so that the first tokens do
/// not wait. A later forward pass with few rows copies once.
void Decoder::Impl::ownBefore(std::size_t rows, const std::stop_token& stop) {
  constexpr std::size_t kManyRows = 128;
  if (std::exchange(hasRun, true) && rows < kManyRows) own(std::numeric_limits<std::size_t>::max(), stop);
}

/// Leaves out the rows that differ least from their stored keys or values.
void Decoder::Impl::narrow(const Batch& batch, std::int32_t layer, const Passes& passes,
                           const compute::KvStore& store) {
  const bool isByKeys = batch.narrowedBy == compute::StoredPart::Keys;
  backend.deviations(passOf(passes, layer), batch.narrowedBy, isByKeys ? *keys : *values, layer, store,
                     *scores);
  for (const auto& pass : passes) backend.narrow(*pass, *scores);
  std::vector<std::unique_ptr<Tensor>*> rows{&residual, &keys, &values};
  if (layers[static_cast<std::size_t>(layer)].beforeAttention) rows.push_back(&normed);
  if (config.perLayerSize > 0) rows.push_back(&perLayer);
  for (auto* const each : rows) {
    backend.gatherRows(*passes.front(), compute::RowList::Chosen, **each, *kept);
    std::swap(*each, kept);
  }
}

void Decoder::Impl::add(const Tensor& rows, const Linear& weight, const std::unique_ptr<Weight>& weightOfNorm,
                        Tensor& x) {
  if (!weightOfNorm && config.residualScale == 1) {
    multiply(rows, weight, true, x);
    return;
  }
  multiply(rows, weight, false, *added);
  addSum(*added, weightOfNorm, x);
}

void Decoder::Impl::addSum(const Tensor& sum, const std::unique_ptr<Weight>& weightOfNorm, Tensor& x) {
  if (weightOfNorm) norm(sum, *weightOfNorm, *addedNormed);
  backend.addScaled(weightOfNorm ? *addedNormed : sum, config.residualScale, x);
}

/// Attention of one layer up to `attended`.
void Decoder::Impl::selfAttention(const Batch& batch, std::size_t index, const Passes& passes,
                                  compute::KvStore& store) {
  const Layer& layer = layers[index];
  const auto number = static_cast<std::int32_t>(index);
  compute::Pass& pass = passOf(passes, number);
  const bool observed = std::ranges::find(batch.massLayers, number) != batch.massLayers.end();

  const bool isAttended = observed || index + 1 < layers.size() || wantsRows(batch) || batch.vectorsWanted;
  const bool isNarrowed = std::ranges::find(batch.narrowingLayers, number) != batch.narrowingLayers.end();

  const Tensor& all = entering(*residual, layer.beforeAttention);
  // These calls are consecutive, so that a device can compute products of the same rows together.
  if (isAttended && !isNarrowed) multiply(all, layer.query, false, *queries);
  if (!config.isSharing(number)) {
    const Kind& kind = kinds[config.kindOf(number)];
    multiply(all, layer.key, false, *keys);
    multiply(all, layer.value.matrix ? layer.value : layer.key, false, *values);
    if (layer.keyNorm) normHeads(*layer.keyNorm, keys);
    if (kind.ones) normHeads(*kind.ones, values);
    if (isNarrowed) narrow(batch, number, passes, store);
    backend.storeKeysValues(pass, *keys, *values, number, store);
  }
  if (!isAttended) return;

  // Only for the remaining rows.
  if (isNarrowed) multiply(layer.beforeAttention ? *normed : *residual, layer.query, false, *queries);
  if (layer.queryNorm) normHeads(*layer.queryNorm, queries);
  if (batch.vectorsWanted) {
    backend.fetch(*passes.front(), *queries);
    if (!config.isSharing(number)) backend.fetch(*passes.front(), *keys);
  }
  backend.attend(pass, *queries, store, config.keyLayerOf(number), observed, *attended, layer.sinks.get());
}

/// After the last layer's attention, only the requested rows continue.
void Decoder::Impl::keepWantedRows(const compute::Pass& pass) {
  const auto keep = [&](std::unique_ptr<Tensor>& rows, std::unique_ptr<Tensor>& wanted) {
    backend.gatherRows(pass, compute::RowList::Wanted, *rows, *wanted);
  };
  keep(residual, keptResidual);
  keep(attended, keptAttended);
  if (config.norms == NormPlace::Shared) {
    keep(normed, keptNormedRows);
    std::swap(normed, keptNormedRows);
  }
  if (config.perLayerSize == 0) return;
  keep(perLayer, kept);
  std::swap(perLayer, kept);
}

/// Computes the vectors of the tokens for each layer: from a table of tokens, and from the embeddings in
/// `residual`.
void Decoder::Impl::embedForLayers(const compute::Pass& pass) {
  const auto size = static_cast<double>(config.perLayerSize);
  multiply(*residual, perLayerInput, false, *ofLayer);
  backend.scale(*ofLayer, static_cast<float>(1 / std::sqrt(static_cast<double>(config.hiddenSize))));
  norm(*ofLayer, *perLayerNorm, *perLayer);
  backend.embed(pass, *perLayerEmbedding, *ofLayer);
  // The mean of both, times √2.
  backend.scale(*perLayer, static_cast<float>(std::sqrt(0.5)));
  backend.addScaled(*ofLayer, static_cast<float>(std::sqrt(size / 2)), *perLayer);
}

/// Computes the rest of a layer after attention. `seen` is the attention's result, x the residual.
void Decoder::Impl::feedForward(std::size_t index, const Tensor& seen, Tensor& x) {
  const Layer& layer = layers[index];
  add(seen, layer.output, layer.afterAttention, x);
  const Tensor& rows = config.norms == NormPlace::Shared ? *normed : entering(x, layer.beforeGate);
  if (!layer.experts.empty()) {
    multiply(rows, layer.router, false, *scores);
    backend.mixExperts(rows, *scores, layer.experts, config.experts.choice, config.activation, *added);
    if (layer.gate.matrix) {
      multiply(rows, layer.gate, false, *gate);
      multiply(rows, layer.up, false, *up);
      backend.multiplyGated(config.activation, *gate, *up, *gate);
      multiply(*gate, layer.down, true, *added);
    }
    addSum(*added, layer.afterGate, x);
  } else {
    multiply(rows, layer.gate, false, *gate);
    multiply(rows, layer.up, false, *up);
    backend.multiplyGated(config.activation, *gate, *up, *gate);
    add(*gate, layer.down, layer.afterGate, x);
  }
  if (config.perLayerSize > 0) {
    multiply(x, layer.perLayerGate, false, *gate);
    backend.takeColumns(*perLayer, static_cast<std::int64_t>(index) * config.perLayerSize,
                        config.perLayerSize, *ofLayer);
    backend.multiplyGated(config.activation, *gate, *ofLayer, *gate);
    add(*gate, layer.perLayerProjection, layer.afterPerLayer, x);
  }
  if (config.layerScale) backend.scale(x, layer.scale);
}

/// Makes the inputs of one forward pass for each kind of layer. All these inputs have the same rows, but
/// different keys and distances. The first inputs also serve operations that concern only rows.
Passes Decoder::Impl::makePasses(const Batch& batch, const compute::KvShape& store) {
  Passes passes;
  for (const Kind& kind : kinds) {
    compute::KvShape ofKind = store;
    ofKind.heads = kind.attention.keyHeads;
    ofKind.headSize = kind.attention.headSize;
    passes.push_back(backend.makePass(kind.attention, kind.rotary, ofKind, batch));
  }
  return passes;
}

/// Returns soon after a stop. The results are then meaningless.
void Decoder::Impl::runLayers(const Batch& batch, const Passes& passes, compute::KvStore& store) {
  compute::Pass& pass = *passes.front();
  backend.embed(pass, *embedding, *residual);
  if (config.embeddingScale != 1) backend.scale(*residual, config.embeddingScale);
  if (config.perLayerSize > 0) embedForLayers(pass);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (backend.stopped()) return;
    // Only results need the layers without keys and values.
    const bool isObserved = !batch.massLayers.empty() || batch.vectorsWanted;
    if (config.isSharing(static_cast<std::int32_t>(i)) && !wantsRows(batch) && !isObserved) return;
    selfAttention(batch, i, passes, store);
    if (i + 1 < layers.size()) {
      feedForward(i, *attended, *residual);
      continue;
    }
    if (!wantsRows(batch)) return;
    keepWantedRows(pass);
    feedForward(i, *keptAttended, *keptResidual);
  }
  norm(*keptResidual, *finalNorm, *normed);
  if (!batch.hiddenRows.empty()) backend.fetch(pass, *normed);
  if (!batch.logitRows.empty()) computeLogits(batch, pass);
}

/// Computes the logits of the rows in `normed`. The first rows of `normed` are the rows whose logits are
/// requested.
void Decoder::Impl::computeLogits(const Batch& batch, compute::Pass& pass) {
  const Tensor* rows = normed.get();
  if (!batch.hiddenRows.empty()) {
    backend.gatherRows(pass, compute::RowList::Logits, *normed, *keptNormed);
    rows = keptNormed.get();
  }
  backend.matmul(*rows, *logitMatrix, nullptr, false, *logits);
  if (config.logitScale != 1) backend.scale(*logits, config.logitScale);
  if (config.logitCap > 0) backend.softCap(*logits, config.logitCap);
  if (backend.stopped()) return;
  if (!batch.draws.empty()) backend.sample(pass, *logits);
  if (batch.logitsWanted) backend.fetch(pass, *logits);
}

Decoder::Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend,
                 const DecoderOptions& options)
    : m_impl(std::make_unique<Impl>(config, weights.name(), backend)) {
  checkDevice(config, backend.info());
  m_impl->load(weights, options);
}

Decoder::~Decoder() = default;

const ModelConfig& Decoder::config() const {
  return m_impl->config;
}
std::size_t Decoder::weightBytes() const {
  return m_impl->weightBytes;
}
const std::string& Decoder::weightsDigest() const {
  return m_impl->weightsDigest;
}
void Decoder::readWeightsDigest(const WeightSource& weights) {
  WeightReader reader(weights, m_impl->backend.info().threads, true);
  for (const auto& [name, rows, columns] : m_impl->tensors)
    reader.add(name, weights.get(name, rows, columns));
  reader.finish();
  m_impl->weightsDigest = reader.digest();
}
std::size_t Decoder::parameterCount() const {
  return m_impl->parameterCount;
}

bool Decoder::own(std::size_t bytes) {
  return m_impl->own(bytes, {});
}

compute::KvShape Decoder::kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const {
  return kvShapeOf(m_impl->config, blocks, blockSize, type);
}

ForwardResult Decoder::forward(const Batch& batch, compute::KvStore& store, std::stop_token stop) {
  checkBatch(batch, m_impl->config, store.shape());
  if (batch.tokens.empty()) return {};
  Impl& impl = *m_impl;
  impl.ownBefore(batch.tokens.size(), stop);
  impl.backend.begin(std::move(stop));
  const Passes passes = impl.makePasses(batch, store.shape());
  impl.runLayers(batch, passes, store);
  compute::PassResults results = impl.backend.finish(*passes.front());
  nameLayers(impl.config, batch, 0, results.mass);
  for (std::size_t kind = 1; kind < passes.size(); ++kind) {
    std::vector<LayerMass> others = impl.backend.finish(*passes[kind]).mass;
    nameLayers(impl.config, batch, kind, others);
    std::move(others.begin(), others.end(), std::back_inserter(results.mass));
  }
  std::ranges::sort(results.mass, {}, &LayerMass::layer);
  if (impl.lender != nullptr) impl.lender->requireUnchanged();
  ForwardResult result;
  result.stopped = results.stopped;
  if (result.stopped) return result;

  for (const LayerMass& layer : results.mass) {
    for (const compute::RunMass& run : layer.runs) checkResult(run.mass, "attention masses", impl.modelName);
  }
  result.mass = std::move(results.mass);
  result.keptRows = std::move(results.keptRows);
  auto fetched = results.fetched.begin();
  for (std::int32_t layer = 0; batch.vectorsWanted && layer < impl.config.layers; ++layer) {
    const Impl::Kind& kind = impl.kinds[impl.config.kindOf(layer)];
    LayerVectors& vectors = result.vectors.emplace_back(
        LayerVectors{.queries = {}, .keys = {}, .rotary = kind.rotary, .shape = kind.attention});
    vectors.queries = std::move(*fetched++);
    if (impl.config.isSharing(layer)) {
      vectors.keys = result.vectors[static_cast<std::size_t>(impl.config.keyLayerOf(layer))].keys;
    } else {
      vectors.keys = std::move(*fetched++);
    }
    checkResult(vectors.queries, "queries", impl.modelName);
    checkResult(vectors.keys, "keys", impl.modelName);
  }
  if (!batch.hiddenRows.empty()) {
    result.hidden = std::move(*fetched++);
    const std::size_t others = batch.logitRows.size() * static_cast<std::size_t>(impl.config.hiddenSize);
    result.hidden.erase(result.hidden.begin(), result.hidden.begin() + static_cast<std::ptrdiff_t>(others));
  }
  if (!batch.logitRows.empty() && batch.logitsWanted) {
    result.logits = std::move(*fetched);
    checkResult(result.logits, "logits", impl.modelName);
  }
  checkResult(result.hidden, "hidden states", impl.modelName);
  for (const compute::SampledToken& token : results.tokens) checkToken(token, impl.modelName);
  result.tokens = std::move(results.tokens);
  return result;
}

}  // namespace spanscope::model
