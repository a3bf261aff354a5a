// SPDX-License-Identifier: GPL-3.0-or-later
// The names of all families: of those that are computed, and of those that are not. Open this file to add a
// family, or to name a reason for a refused model.
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <vector>

namespace spanscope::model {

extern const Architecture kCohere2;  ///< Command R7B and Command A without pictures or experts
extern const Architecture kGemma2;
extern const Architecture kGemma3;  ///< Gemma 3 without pictures
extern const Architecture kGemma4;  ///< Gemma 4 without pictures, sound or experts
extern const Architecture kGlm4;    ///< GLM-4 (0414) without pictures or experts
extern const Architecture kGptOss;
extern const Architecture kGranite;           ///< Granite 3 without experts
extern const Architecture kGraniteMoe;        ///< Granite 3 with experts
extern const Architecture kGraniteMoeShared;  ///< the same, with a gated product that all tokens use
extern const Architecture kLlama;             ///< Llama 2 and 3, SmolLM2, Tulu 3, Yi
extern const Architecture kMistral;           ///< Mistral 7B and Nemo
/// Ministral 3 and Devstral 2. GGUF files of Mistral Small 3 may have the same name.
extern const Architecture kMistral3;
extern const Architecture kOlmo2;
extern const Architecture kOlmo3;
extern const Architecture kPhi3;   ///< Phi-3, Phi-3.5 and Phi-4 without pictures or experts
extern const Architecture kQwen2;  ///< Qwen2 and Qwen2.5, DeepSeek-R1-Distill-Qwen
extern const Architecture kQwen3;  ///< Qwen3 without experts
extern const Architecture kQwen3Moe;
extern const Architecture kSmolLm3;

namespace {

constexpr std::array kArchitectures = {&kLlama,  &kMistral,  &kMistral3, &kQwen2,      &kQwen3,
                                       &kGemma3, &kQwen3Moe, &kPhi3,     &kGranite,    &kOlmo2,
                                       &kOlmo3,  &kSmolLm3,  &kGptOss,   &kGraniteMoe, &kGraniteMoeShared,
                                       &kGlm4,   &kGemma2,   &kCohere2,  &kGemma4};

const Architecture* find(const char* const Architecture::*field, std::string_view wanted) {
  const auto found =
      std::ranges::find_if(kArchitectures, [&](const Architecture* one) { return one->*field == wanted; });
  return found == kArchitectures.end() ? nullptr : *found;
}

/// Each name once: "a", "b" or "c".
std::string listed(const char* const Architecture::*field) {
  std::vector<std::string> names;
  for (const Architecture* one : kArchitectures) {
    std::string name = checkpoint::inQuotes(one->*field);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

}  // namespace

const Architecture* architectureByName(std::string_view name) {
  return find(&Architecture::name, name);
}
const Architecture* architectureByModelType(std::string_view type) {
  return find(&Architecture::modelType, type);
}
const Architecture* architectureByGguf(std::string_view name) {
  return find(&Architecture::ggufName, name);
}

std::string modelTypes() {
  return listed(&Architecture::modelType);
}
std::string ggufArchitectures() {
  return listed(&Architecture::ggufName);
}

std::int32_t windowOf(const checkpoint::JsonPlace& config) {
  return narrow(config.integer("sliding_window", 1, kMaxPositions, 0));
}

std::vector<bool> windowedLayers(const checkpoint::JsonPlace& config, const ModelConfig& model) {
  const std::vector<std::string> kinds = config.texts("layer_types");
  const checkpoint::JsonPlace place = config.field("layer_types");
  if (!kinds.empty() && kinds.size() != static_cast<std::size_t>(model.layers))
    throw place.fail(counted(kinds.size(), "kind"), "one for each of " + counted(model.layers, "layer"));
  std::vector<bool> windowed;
  for (const std::string& kind : kinds) {
    const bool hasWindow = kind == "sliding_attention";
    if (!hasWindow && kind != "full_attention") {
      throw place.fail("layers of the kind " + checkpoint::inQuotes(kind),
                       "\"full_attention\" or \"sliding_attention\"");
    }
    windowed.push_back(hasWindow);
  }
  return windowed;
}

void refuseBidirectional(const checkpoint::JsonPlace& config) {
  if (!config.flag("use_bidirectional_attention", false)) return;
  throw config.field("use_bidirectional_attention")
      .fail("true",
            "false: an encoder's tokens attend to later tokens, so their keys and values cannot be reused");
}

void readSwitchedWindows(const checkpoint::JsonPlace& config, ModelConfig& result) {
  std::vector<bool> windowed = windowedLayers(config, result);
  if (!config.flag("use_sliding_window", false)) {
    if (std::ranges::find(windowed, true) == windowed.end()) return;
    throw config.field("layer_types")
        .fail("layers with a window", "only layers without a window, because use_sliding_window is off");
  }
  const std::int64_t first = config.integer("max_window_layers", 0, kMaxLayers, kMaxLayers);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back(layer >= first);
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer)
    kinds[layer].window = windowed[layer] ? windowOf(config) : 0;
  setKinds(result, kinds);
}

void setKinds(ModelConfig& config, const std::vector<AttentionKind>& byLayer) {
  config.attention = byLayer.front();
  config.otherKinds.clear();
  config.layerKinds.clear();
  for (const AttentionKind& kind : byLayer) {
    std::size_t index = 0;
    while (index < config.kinds() && config.kind(index) != kind) ++index;
    if (index == config.kinds()) config.otherKinds.push_back(kind);
    config.layerKinds.push_back(static_cast<std::uint8_t>(index));
  }
  if (config.otherKinds.empty()) config.layerKinds.clear();
}

void readBiases(const GgufKeys& keys, ModelConfig& result) {
  result.attentionBias = keys.hasTensor("blk.0.attn_q.bias");
  result.outputBias = keys.hasTensor("blk.0.attn_output.bias");
  result.mlpBias = keys.hasTensor("blk.0.ffn_up.bias");
}

namespace {

struct Row {
  NotComputed reason;
  std::string_view names;  ///< lower case, without signs, one space between them
};

/// Names from `model_type` of config.json and `general.architecture` of GGUF files, without signs.
constexpr std::array kRows = {
    Row{NotComputed::RunningState,
        R"(mamba mamba2 falconmamba rwkv rwkv4 rwkv5 rwkv6 rwkv6qwen2 rwkv7 arwkv7 xlstm jamba bamba zamba )"
        R"(zamba2 )"
        R"(nemotronh nemotronhmoe nemotronhomni falconh1 granitehybrid granitemoehybrid qwen3next qwen35 )"
        R"(qwen35text )"
        R"(qwen35moe qwen35moetext lfm2 lfm2moe lfm2vl lfm3 lfm3vl plamo2 plamo3 kimilinear kimik3 minimax )"
        R"(minimax01 )"
        "minimaxtext01 recurrentgemma griffin olmohybrid bailinghybrid maple"},
    Row{NotComputed::LatentAttention,
        R"(deepseek2 deepseek2ocr deepseek32 deepseek4 deepseekv2 deepseekv3 deepseekv32 deepseekv4 glmdsa )"
        R"(glmmoedsa )"
        R"(glm5next glm4moelite kimik2 kimik25 kimivl minicpm3 plm mistral4 mistrallarge4 longcatflash )"
        R"(sarvammla youtu)"},
    Row{NotComputed::LearnedPositions,
        "gpt2 gptbigcode starcoder gptneo gptj codegen opt xglm ctrl openaigpt imagegpt biogpt jais"},
    Row{NotComputed::PositionBias, "mpt bloom falconrw baichuan13b t5encoder jinabertv2"},
    Row{NotComputed::PositionScale, "ministral llama4 llama4text"},
    Row{NotComputed::Encoder,
        R"(bert modernbert nomicbert nomicbertmoe neobert jinabertv3 eurobert roberta xlmroberta xlmrobertaxl )"
        R"(albert )"
        R"(electra deberta debertav2 distilbert mpnet gemmaembedding embeddinggemma2 llamaembed t5 mt5 umt5 )"
        R"(byt5 )"
        R"(t5gemma t5gemma2 bart mbart pegasus m2m100 marian whisper switchtransformers nllbmoe longt5)"},
    Row{NotComputed::Diffusion, "dream llada lladamoe rnd1 diffusiongemma"},
    Row{NotComputed::Experts,
        R"(mixtral qwen2moe phimoe dbrx grok olmoe flexolmo )"
        R"(granitemoeswa )"
        R"(graniteswitch arctic deepseek bailingmoe bailingmoe2 bailingmoe3 dots1 dots3note glm4moe hunyuanmoe )"
        R"(hunyuanv1moe ernie45moe exaonemoe afmoe cohere2moe smallthinker grovemoe minimaxm2 minimaxm3 )"
        R"(mimov2flash )"
        R"(mimo2 step35 jetmoe laguna sarvammoe solaropen)"},
    Row{NotComputed::SharedLayers, "gemma3n gemma3ntext gemma4assistant"},
    Row{NotComputed::Media,
        R"(clip gemma4unified gemma4forconditionalgeneration shieldgemma2 llava llavanext llavaonevision mllama qwen2vl qwen25vl qwen3vl qwen3vlmoe qwen25omni )"
        R"(qwen3omnimoe )"
        R"(qwen2audio gemma3forconditionalgeneration mistral3forconditionalgeneration pixtral voxtral idefics2 )"
        R"(idefics3 smolvlm internvl paligemma )"
        R"(phi4multimodal )"
        R"(chameleon cogvlm ovis2 hunyuanvl paddleocr paddleocrvl glm4v glm46v aria fuyu molmo2 minicpmv )"
        R"(deepseekvl )"
        R"(wavtokenizerdec qwen3tts pockettts csm moshi)"},
    Row{NotComputed::NotYet,
        R"(gemma phi phi2 stablelm qwen glm chatglm exaone exaone4 cohere commandr internlm2 )"
        R"(internlm3 )"
        R"(minicpm nemotron olmo seedoss starcoder2 falcon baichuan deci refact plamo codeshell orion xverse )"
        R"(openelm )"
        R"(bitnet arcee ernie45 hunyuandense hunyuanv1dense apertus pangu panguembedded jais2 graniteswa )"
        R"(persimmon )"
        R"(gptneox vaultgemma helium nanochat mellum nanbeige maincoder smollm mimo talkie hyperclovax)"},
};

/// "Qwen3_5-MoE" becomes "qwen35moe".
std::string plainName(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0) plain += static_cast<char>(std::tolower(code));
  }
  return plain;
}

std::map<std::string_view, NotComputed> makeTable() {
  std::map<std::string_view, NotComputed> table;
  for (const Row& row : kRows) {
    for (const std::string_view name : splitAt(row.names, ' ')) table.emplace(name, row.reason);
  }
  return table;
}

/// The endings that Hugging Face adds to the names of classes.
constexpr std::array<std::string_view, 5> kClassEndings = {"forcausallm", "forconditionalgeneration",
                                                           "lmheadmodel", "formaskedlm", "model"};

std::string stateText(const std::optional<StateLayers>& state) {
  std::string text = /*id:keeps-running-state*/ "the model keeps a running state in ";
  text += !state                      ? /*id:some-layers*/ "some of its layers"
          : state->with == state->all ? "all of its " + counted(state->all, "layer")
                                      : std::to_string(state->with) + " of " + counted(state->all, "layer");
  return text +
         ": one value that depends on all earlier tokens and their order. Such a state cannot be cut into "
         "spans, relocated or reordered. After a changed word, nothing can be reused. An unchanged beginning "
         "can be reused only up to a stored state";
}

}  // namespace

std::optional<NotComputed> otherArchitecture(std::string_view name) {
  static const std::map<std::string_view, NotComputed> kTable = makeTable();
  std::string plain = plainName(name);
  for (const std::string_view ending : kClassEndings) {
    if (const auto found = kTable.find(plain); found != kTable.end()) return found->second;
    if (plain.size() > ending.size() && plain.ends_with(ending)) {
      std::string stem = plain.substr(0, plain.size() - ending.size());
      if (const auto found = kTable.find(stem); found != kTable.end()) return found->second;
    }
  }
  return std::nullopt;
}

std::string reasonText(NotComputed reason, const std::optional<StateLayers>& state) {
  switch (reason) {
    case NotComputed::RunningState:
      return stateText(state);
    case NotComputed::LatentAttention:
      return "the model stores a compressed form of keys and values (latent attention), which Spanscope does "
             "not support yet";
    case NotComputed::LearnedPositions:
      return "positions are learned vectors that are part of the tokens, so a stored span cannot be "
             "relocated to another position";
    case NotComputed::PositionBias:
      return "positions are a bias on attention scores, which Spanscope does not support yet";
    case NotComputed::PositionScale:
      return /*id:scales-queries-position*/
          "the model scales query vectors by their absolute position, which Spanscope does not support yet. "
          "A "
          "relocated span is exact only within the context length of pre-training";
    case NotComputed::Encoder:
      return /*id:encoder-reads-ahead*/
          "tokens attend to later tokens, so no part of a text can be stored and continued";
    case NotComputed::Diffusion:
      return "the model samples tokens in any order and attends to later tokens, so nothing can be stored "
             "and "
             "continued";
    case NotComputed::Experts:
      return /*id:router-chooses-among*/
          "a router chooses among experts for each token, which Spanscope does not support yet";
    case NotComputed::SharedLayers:
      return "some layers read keys and values of other layers, which Spanscope does not support yet";
    case NotComputed::Media:
      return /*id:model-pictures-sound*/
          "this is a model of pictures or sound, and its part for text cannot be used alone yet";
    case NotComputed::NotYet:
      break;
  }
  return "this is a decoder whose spans could be relocated, but Spanscope does not support the model yet";
}

// Returns the reason why an architecture is not computed, with the layers that a file describes.

namespace {

using checkpoint::GgufMetadata;
using checkpoint::JsonPlace;

/// Kinds of layers with attention, in lists of kinds. All other kinds keep a running state.
bool isAttention(const std::string& kind) {
  return kind == "full_attention" || kind == "sliding_attention" || kind == "attention";
}

/// Counts the layers with a running state, as far as the usual fields show. No step may fail, because the
/// caller refuses the file for a better reason.
std::optional<StateLayers> stateLayers(const JsonPlace& config) {
  const nlohmann::json& fields = config.value();
  for (const char* field : {"layer_types", "layers_block_type"}) {
    if (!fields.contains(field) || !fields[field].is_array()) continue;
    StateLayers state;
    for (const nlohmann::json& kind : fields[field]) {
      ++state.all;
      if (kind.is_string() && !isAttention(kind.get<std::string>())) ++state.with;
    }
    if (state.with > 0) return state;
  }
  const auto number = [&fields](const char* field) -> std::int64_t {
    return fields.contains(field) && fields[field].is_number_integer() ? fields[field].get<std::int64_t>()
                                                                       : 0;
  };
  const std::int64_t layers = number("num_hidden_layers");
  if (layers <= 0 || layers > kMaxLayers) return std::nullopt;
  const std::int64_t interval = number("full_attention_interval");
  if (interval > 0) return StateLayers{.with = layers - layers / interval, .all = layers};
  return std::nullopt;
}

/// Counts the layers with a running state. Such a layer has no key heads. Or, all layers except every n-th
/// layer have a running state.
std::optional<StateLayers> stateLayers(std::string_view name, const GgufMetadata& metadata) {
  const std::string architecture(name);
  try {
    if (const auto* heads = metadata.integers(architecture + ".attention.head_count_kv")) {
      const auto with = std::ranges::count(*heads, 0);
      if (with > 0) return StateLayers{.with = with, .all = static_cast<std::int64_t>(heads->size())};
    }
  } catch (const Failure&) {
    // One number for all layers.
  }
  const std::int64_t* layers = metadata.integer(architecture + ".block_count");
  const std::int64_t* interval = metadata.integer(architecture + ".full_attention_interval");
  if (layers == nullptr || interval == nullptr || *interval < 1 || *layers < 1 || *layers > kMaxLayers)
    return std::nullopt;
  return StateLayers{.with = *layers - *layers / *interval, .all = *layers};
}

}  // namespace

std::optional<std::string> whyNotComputed(std::string_view name, const JsonPlace& config) {
  const std::optional<NotComputed> reason = otherArchitecture(name);
  if (!reason) return std::nullopt;
  return reasonText(*reason, stateLayers(config));
}

std::optional<std::string> whyNotComputed(std::string_view name, const GgufMetadata& metadata) {
  const std::optional<NotComputed> reason = otherArchitecture(name);
  if (!reason) return std::nullopt;
  return reasonText(*reason, stateLayers(name, metadata));
}

}  // namespace spanscope::model
