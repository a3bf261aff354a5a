// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/session_fixture.h"

#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "tests/support/tested_device.h"

namespace spanscope::test {
namespace {

std::filesystem::path spanletDirectory() {
  return std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet";
}

model::ModelConfig spanletConfig(bool blockAttention, std::int32_t maxPositions) {
  model::ModelConfig config = model::readConfig(spanletDirectory());
  config.blockAttention = blockAttention;
  if (maxPositions > 0) config.maxPositions = maxPositions;
  return config;
}

}  // namespace

std::uint64_t RecordingSink::send(RunId run, RequestId request, const NodePath& node,
                                  trace::Payload payload) {
  trace::Event event;
  event.sequence = events.size() + 1;
  event.run = run;
  event.request = request;
  event.node = node;
  event.payload = std::move(payload);
  events.push_back(std::move(event));
  if (onEvent) onEvent(events.back());
  return events.size();
}

model::ModelConfig tinyConfig() {
  model::ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.vocabularySize = 61;
  config.hiddenSize = 32;
  config.intermediateSize = 48;
  config.layers = 2;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 8;
  config.tiedEmbeddings = true;
  config.maxPositions = 4096;
  config.blockAttention = true;
  return config;
}

std::vector<NamedConfig> familyConfigs() {
  using namespace model;
  ModelConfig windows = tinyConfig();  // as Gemma 3
  windows.layers = 3;
  windows.norms = NormPlace::Around;
  windows.queryKeyNorm = QueryKeyNorm::Heads;
  windows.activation = compute::Activation::GeluTanh;
  windows.embeddingScale = 5.5F;
  windows.attention.window = 9;
  windows.otherKinds = {AttentionKind{}};
  windows.otherKinds.front().rotary->theta = 1e6;
  windows.layerKinds = {0, 1, 0};

  ModelConfig still = tinyConfig();  // as SmolLM3, with a part of each head turned by YaRN
  still.layers = 3;
  still.attention.rotary->turned = 4;
  still.attention.rotary->yarn = YarnScaling{.factor = 4, .originalMaxPositions = 64};
  still.attention.rotary->attentionScale = 1.14F;
  still.otherKinds = {AttentionKind{.rotary = std::nullopt}};
  still.layerKinds = {0, 0, 1};

  ModelConfig after = tinyConfig();  // as OLMo 2
  after.norms = NormPlace::After;
  after.queryKeyNorm = QueryKeyNorm::Rows;

  ModelConfig scaled = tinyConfig();  // as Granite, with a window in all layers
  scaled.embeddingScale = 6;
  scaled.residualScale = 0.22F;
  scaled.attentionScale = 0.3F;
  scaled.logitScale = 0.5F;
  scaled.attention.window = 14;

  ModelConfig stepped = tinyConfig();  // as Ministral 3, with steps that lie within prompts
  stepped.attention.positionScale = {.beta = 0.6F, .step = 11};

  ModelConfig mixture = tinyConfig();  // as Qwen3 with experts
  mixture.queryKeyNorm = QueryKeyNorm::Heads;
  mixture.intermediateSize = 24;
  mixture.experts = {.count = 5, .choice = {.used = 2}};

  ModelConfig beside = mixture;  // as Granite with a gated product besides the experts
  beside.experts.sharedSize = 20;

  ModelConfig sinks = mixture;  // as gpt-oss
  sinks.queryKeyNorm = QueryKeyNorm::None;
  sinks.attentionBias = sinks.outputBias = sinks.mlpBias = sinks.experts.routerBias = true;
  sinks.attentionSinks = true;
  sinks.activation = compute::Activation::ClampedSwiglu;
  sinks.attention.window = 9;
  sinks.layers = 3;
  sinks.otherKinds = {AttentionKind{}};
  sinks.layerKinds = {0, 1, 0};

  ModelConfig capped = tinyConfig();  // as Gemma 2
  capped.layers = 3;
  capped.norms = NormPlace::Around;
  capped.attentionCap = 2;
  capped.logitCap = 3;
  capped.attention.window = 9;
  capped.otherKinds = {AttentionKind{}};
  capped.layerKinds = {0, 1, 0};

  ModelConfig shared = tinyConfig();  // as Command R7B
  shared.layers = 3;
  shared.norms = NormPlace::Shared;
  shared.normKind = NormKind::Layer;
  shared.attention.window = 9;
  shared.otherKinds = {AttentionKind{.rotary = std::nullopt}};
  shared.layerKinds = {0, 1, 0};

  ModelConfig layered = windows;  // as Gemma 4
  layered.layers = 5;
  layered.layerKinds = {0, 1, 0, 1, 0};
  layered.otherKinds.front().headSize = 12;
  layered.otherKinds.front().keyValueHeads = 1;
  layered.otherKinds.front().valuesAreKeys = true;
  layered.otherKinds.front().rotary->firstPairs = 2;
  layered.sharingLayers = 2;
  layered.sharingIsWide = true;
  layered.valueNorm = true;
  layered.perLayerSize = 6;
  layered.layerScale = true;
  layered.attentionScale = 1;
  std::vector<NamedConfig> families = {{"llama", tinyConfig()}, {"gemma3", windows}, {"smollm3", still},
                                       {"olmo2", after},        {"granite", scaled}, {"ministral3", stepped},
                                       {"gemma2", capped},      {"cohere2", shared}, {"gemma4", layered}};
  static const bool kHasExperts = makeTestedBackend(1)->info().mixesExperts;
  if (kHasExperts)
    families.insert(families.end(),
                    {{"qwen3moe", mixture}, {"granitemoeshared", beside}, {"gpt-oss", sinks}});
  return families;
}

TinySession::TinySession(int threads, const run::SessionConfig& config, const model::ModelConfig& shape)
    : weights(model::makeRandomWeights(shape, 1)),
      backend(makeTestedBackend(threads)),
      decoder(std::make_unique<model::Decoder>(shape, *weights, *backend)),
      session(std::make_unique<run::Session>(config, *decoder, *backend, weights->fingerprint(),
                                             weights->name(), nullptr, nullptr, sink)) {}

SpanletSession::SpanletSession(const run::SessionConfig& sessionConfig, int threads, bool blockAttention,
                               std::int32_t maxPositions)
    : config(spanletConfig(blockAttention, maxPositions)),
      tokenizer(text::loadTokenizer(spanletDirectory())),
      weights(model::openSafetensors(spanletDirectory())),
      backend(makeTestedBackend(threads)),
      decoder(std::make_unique<model::Decoder>(config, *weights, *backend)),
      session(std::make_unique<run::Session>(sessionConfig, *decoder, *backend, weights->fingerprint(),
                                             weights->name(), tokenizer.get(),
                                             &text::findChatTemplate(spanletDirectory()), sink)) {}

RandomSession::RandomSession(const run::SessionConfig& config, bool endTokens, std::int32_t maxPositions,
                             const model::ModelConfig& family)
    : shape(family),
      tokenizer(text::loadTokenizer(spanletDirectory())),
      chat(&text::findChatTemplate(spanletDirectory())) {
  const model::ModelConfig spanlet = model::readConfig(spanletDirectory());
  shape.vocabularySize = spanlet.vocabularySize;
  if (maxPositions > 0) shape.maxPositions = maxPositions;
  if (endTokens) {
    // Many, so that answers of all lengths occur.
    for (TokenId token = 5; token < shape.vocabularySize; token += 6)
      addEndToken(shape.endTokens, token, "the test");
    shape.endTokens.insert(shape.endTokens.end(), spanlet.endTokens.begin(), spanlet.endTokens.end());
  }
  weights = model::makeRandomWeights(shape, 1);
  backend = makeTestedBackend(1);
  decoder = std::make_unique<model::Decoder>(shape, *weights, *backend);
  session = std::make_unique<run::Session>(config, *decoder, *backend, weights->fingerprint(), "random",
                                           tokenizer.get(), chat, sink);
}

}  // namespace spanscope::test
