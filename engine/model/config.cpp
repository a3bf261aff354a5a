// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/config.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/rotary_reading.h"
#include "engine/model/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <locale>
#include <numbers>
#include <sstream>
#include <system_error>

namespace spanscope::model {

namespace {

using checkpoint::inQuotes;
using checkpoint::JsonPlace;

constexpr const char* kConfiguration = "the configuration of a model";
/// The source of an end token that no file names.
constexpr const char* kFamilyDefaults = "the defaults of the model type";

/// Returns the found part of an error for a name that is no computable family.
std::string foundFor(const std::string& name, const JsonPlace& config) {
  const std::optional<std::string> reason = whyNotComputed(name, config);
  return inQuotes(name) + (reason ? ", which Spanscope cannot compute: " + *reason : "");
}

/// Returns the family that the file names in one or two fields. Two fields must not differ.
const Architecture& findArchitecture(const JsonPlace& config) {
  const auto names = config.texts("architectures");
  const auto type = config.text("model_type");
  const Architecture* named = nullptr;
  for (const std::string& name : names) {
    if (named == nullptr) named = architectureByName(name);
  }
  const Architecture* typed = type ? architectureByModelType(*type) : nullptr;
  if (!names.empty() && named == nullptr) {
    // A model of pictures has the type of its text part, or its text part has the type of the model.
    const bool isKnown = otherArchitecture(names.front()).has_value() || typed != nullptr || !type;
    throw config.field("architectures")
        .fail(foundFor(isKnown ? names.front() : *type, config), "a model of the type " + modelTypes());
  }
  if (!type) {
    if (named != nullptr) return *named;
    throw config.field("model_type").fail("no model type and no architectures", modelTypes());
  }
  if (typed != nullptr && (named == nullptr || named == typed)) return *typed;
  if (named != nullptr) throw config.field("model_type").fail(inQuotes(*type), inQuotes(named->modelType));
  throw config.field("model_type").fail(foundFor(*type, config), modelTypes());
}

constexpr const char* kPlainWeights = "weights in F32, F16 or BF16, or a GGUF file";

struct Quantizer {
  std::string_view method;  ///< as in `quant_method`
  std::string_view name;
};

constexpr std::array kQuantizers = {Quantizer{"awq", "AWQ"},
                                    Quantizer{"gptq", "GPTQ"},
                                    Quantizer{"bitsandbytes", "bitsandbytes"},
                                    Quantizer{"fp8", "FP8"},
                                    Quantizer{"mxfp4", "MXFP4"},
                                    Quantizer{"compressed-tensors", "compressed-tensors"},
                                    Quantizer{"hqq", "HQQ"},
                                    Quantizer{"aqlm", "AQLM"},
                                    Quantizer{"torchao", "torchao"},
                                    Quantizer{"quanto", "Quanto"}};

/// Returns "a checkpoint that AWQ quantized".
std::string quantisedBy(const JsonPlace& settings) {
  const JsonPlace method = settings.value().is_object() ? settings.field("quant_method") : settings;
  const std::string stated = method.value().is_string() ? method.textOrEmpty() : std::string();
  for (const Quantizer& quantizer : kQuantizers) {
    if (quantizer.method == stated) return "a checkpoint that " + std::string(quantizer.name) + " quantized";
  }
  return "a quantized checkpoint" + (stated.empty() ? "" : " (" + inQuotes(stated) + ")");
}

/// Older tools wrote their settings into a file of their own.
void refuseQuantizerFiles(const std::filesystem::path& directory) {
  for (const auto& [file, name] :
       {std::pair("quantize_config.json", "GPTQ"), std::pair("quant_config.json", "AWQ")}) {
    std::error_code error;
    if (std::filesystem::exists(directory / file, error)) {
      throw Failure({(directory / file).string(), "", "a checkpoint that " + std::string(name) + " quantized",
                     kPlainWeights});
    }
  }
}

/// Whether the family reads the packed weights of the file.
bool isReadAsPacked(const JsonPlace& config, const Architecture& family) {
  const JsonPlace settings = config.field("quantization_config");
  return family.readsMxfp4 && settings.value().is_object() &&
         settings.text("quant_method").value_or(std::string()) == "mxfp4";
}

void refuseOtherArithmetic(const JsonPlace& config, const Architecture& family) {
  if (config.has("quantization")) {
    throw config.field("quantization")
        .fail(/*id:quantised-by-mlx*/ "a quantized checkpoint of MLX", kPlainWeights);
  }
  if (config.has("quantization_config") && !isReadAsPacked(config, family)) {
    throw config.field("quantization_config")
        .fail(quantisedBy(config.field("quantization_config")), kPlainWeights);
  }
}

/// The fields of a file. Missing fields have the family's defaults.
nlohmann::json withDefaults(const nlohmann::json& stated, const Architecture& architecture) {
  nlohmann::json whole = nlohmann::json::parse(architecture.defaults);
  // The older name of the same field.
  if (stated.contains("rope_scaling") && !stated["rope_scaling"].is_null()) whole.erase("rope_parameters");
  whole.update(stated);
  return whole;
}

/// The field may have either name.
compute::Activation parseActivation(const JsonPlace& config) {
  const char* field = config.has("hidden_activation") ? "hidden_activation" : "hidden_act";
  const std::string name = config.text(field).value_or("silu");
  if (name == "silu") return compute::Activation::Silu;
  if (name == "gelu_pytorch_tanh") return compute::Activation::GeluTanh;
  throw config.field(field).fail(inQuotes(name), "\"silu\" or \"gelu_pytorch_tanh\"");
}

void parseHeads(const JsonPlace& config, ModelConfig& result) {
  result.heads = narrow(config.integer("num_attention_heads", 1, kMaxHeads));
  result.keyValueHeads = narrow(config.integer("num_key_value_heads", 1, kMaxHeads, result.heads));
  if (result.heads % result.keyValueHeads != 0) {
    throw config.field("num_key_value_heads")
        .fail(std::to_string(result.keyValueHeads),
              "a divisor of the " + counted(result.heads, "attention head"));
  }
  if (!config.has("head_dim") && result.hiddenSize % result.heads != 0) {
    throw config.field("hidden_size")
        .fail(std::to_string(result.hiddenSize),
              "a multiple of the " + std::to_string(result.heads) + " attention heads, or a head_dim");
  }
  result.headSize = narrow(config.integer("head_dim", 2, kMaxHeadSize, result.hiddenSize / result.heads));
  if (result.headSize < 2 || result.headSize > kMaxHeadSize || result.headSize % 2 != 0) {
    throw config.field("head_dim")
        .fail(std::to_string(result.headSize), "an even number up to " + std::to_string(kMaxHeadSize));
  }
}

/// Adds end tokens from all files. No file removes end tokens of another file, because each file was written
/// for one program.
void addEndTokens(const JsonPlace& fields, const std::string& source, ModelConfig& result) {
  const std::string file = std::filesystem::path(source).filename().string();
  for (const std::int64_t id : fields.integers("eos_token_id", 0, result.vocabularySize - 1))
    addEndToken(result.endTokens, narrow(id), file);
}

/// Adds the family's end tokens if the file names none. In a vocabulary of another size, such a token may not
/// exist.
void addDefaultEndToken(const JsonPlace& stated, const JsonPlace& config, ModelConfig& result) {
  if (stated.value().contains("eos_token_id")) return;
  for (const std::int64_t id : config.integers("eos_token_id", 0, kMaxVocabulary)) {
    if (id < result.vocabularySize) addEndToken(result.endTokens, narrow(id), kFamilyDefaults);
  }
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ModelConfig readDirectory(const std::filesystem::path& directory) {
  refuseQuantizerFiles(directory);
  const checkpoint::MappedFile file(directory / "config.json");
  ModelConfig result = file.read([&](std::span<const std::byte> bytes) {
    return parseConfig(textOf(bytes), (directory / "config.json").string());
  });

  const std::filesystem::path generation = directory / "generation_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(generation, ignored)) return result;
  // The file generation_config.json is only for generation, so its values override the defaults of the other
  // file.
  std::erase_if(result.endTokens,
                [](const EndToken& end) { return end.sources == std::vector<std::string>{kFamilyDefaults}; });
  const checkpoint::MappedFile generationFile(generation);
  const std::string source = generation.string();
  return generationFile.read([&](std::span<const std::byte> bytes) {
    checkpoint::readJsonText(
        textOf(bytes), source, "how a model generates",
        [&](const JsonPlace& fields) {
          addEndTokens(fields, source, result);
          result.maxNewTokens =
              narrow(fields.integer("max_new_tokens", 1, std::numeric_limits<std::int32_t>::max(), 0));
        },
        checkpoint::kConfigurationRules);
    return result;
  });
}

}  // namespace

std::vector<TokenId> ModelConfig::endTokenIds() const {
  std::vector<TokenId> ids;
  std::ranges::transform(endTokens, std::back_inserter(ids), [](const EndToken& end) { return end.token; });
  return ids;
}

ModelConfig parseConfig(std::string_view json, const std::string& source) {
  return checkpoint::readJsonText(
      json, source, kConfiguration,
      [&source](const JsonPlace& stated) {
        const Architecture& architecture = findArchitecture(stated);
        refuseOtherArithmetic(stated, architecture);
        const nlohmann::json whole = withDefaults(stated.value(), architecture);
        const JsonPlace config(whole, stated.pointer(), stated.file());
        ModelConfig result;
        result.architecture = architecture.name;
        result.vocabularySize = narrow(config.integer("vocab_size", 1, kMaxVocabulary));
        result.hiddenSize = narrow(config.integer("hidden_size", 1, kMaxHiddenSize));
        result.intermediateSize = narrow(config.integer("intermediate_size", 1, kMaxIntermediateSize));
        result.layers = narrow(config.integer("num_hidden_layers", 1, kMaxLayers));
        parseHeads(config, result);
        result.maxPositions = config.integer("max_position_embeddings", 1, kMaxPositions, 2048);
        result.normEpsilon = static_cast<float>(config.number("rms_norm_eps", 1e-12, 1, 1e-6));
        result.activation = parseActivation(config);
        result.attention.rotary = parseRotary(config, result, architecture.ropeTheta);
        result.tiedEmbeddings = config.flag("tie_word_embeddings", false);
        architecture.readJson(config, result);
        fixContext(result, 0);
        addEndTokens(stated, source, result);
        addDefaultEndToken(stated, config, result);
        result.blockAttention = config.flag("block_attention", false);
        result.madeFor = config.text("made_for").value_or(std::string());
        if (result.madeFor.size() > ModelConfig::kMostMadeFor) {
          throw config.field("made_for")
              .fail(counted(result.madeFor.size(), "byte"),
                    "at most " + std::to_string(ModelConfig::kMostMadeFor) + " bytes");
        }
        return result;
      },
      checkpoint::kConfigurationRules);
}

namespace {

/// Reads the file in which sentence-transformers describes its pooling.
Pooling readPooling(const std::filesystem::path& directory) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20U;
  const std::filesystem::path file = directory / "1_Pooling" / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return Pooling::None;
  return checkpoint::readJsonFile(file, kMostBytes, "the pooling of a model", [](const JsonPlace& fields) {
    if (fields.flag("pooling_mode_lasttoken", false)) return Pooling::Last;
    return fields.flag("pooling_mode_mean_tokens", false) ? Pooling::Mean : Pooling::None;
  });
}

/// Whether the checkpoint was saved without the matrix that makes logits, as models of embeddings are.
bool lacksHead(const checkpoint::Checkpoint& checkpoint) {
  try {
    return !openSafetensors(checkpoint)->has("lm_head.weight");
  } catch (const Failure&) {
    return false;  // opening the weights reports the reason
  }
}

}  // namespace

ModelConfig readConfig(const checkpoint::Checkpoint& checkpoint) {
  if (const std::optional<std::filesystem::path> gguf = checkpoint.gguf())
    return configOf(checkpoint::GgufFile(*gguf));
  ModelConfig result = readDirectory(checkpoint.path());
  result.pooling = readPooling(checkpoint.path());
  if (!result.tiedEmbeddings && lacksHead(checkpoint)) {
    result.tiedEmbeddings = true;
    result.lacksHead = true;
  }
  result.blockAttention = result.blockAttention || isPublishedForBlockAttention(checkpoint.path());
  return result;
}

void fixContext(ModelConfig& config, std::int64_t tokens) {
  const auto fix = [&](AttentionKind& kind) {
    if (!kind.rotary || !kind.rotary->longRope) return;
    LongRope& rope = *kind.rotary->longRope;
    rope.isLong = tokens > rope.originalMaxPositions;
    rope.longMaxPositions = std::max(rope.longMaxPositions, config.maxPositions);
    config.maxPositions =
        rope.isLong ? rope.longMaxPositions : std::min(rope.longMaxPositions, rope.originalMaxPositions);
  };
  fix(config.attention);
  for (AttentionKind& kind : config.otherKinds) fix(kind);
}

namespace {

void write(std::ostringstream& text, const std::vector<float>& factors) {
  for (const float factor : factors) text << "/" << factor;
}

/// Writes everything except the base of the frequencies.
void writeScaling(std::ostringstream& text, const AttentionKind& kind) {
  if (kind.rotary) {
    const RotarySpec& rotary = *kind.rotary;
    if (rotary.llama3) {
      text << "/llama3," << rotary.llama3->factor << "," << rotary.llama3->lowFrequencyFactor << ","
           << rotary.llama3->highFrequencyFactor << "," << rotary.llama3->originalMaxPositions;
    }
    write(text, rotary.factors);
    if (rotary.turned > 0) text << "/turned" << rotary.turned;
    if (rotary.firstPairs > 0) text << "/pairs" << rotary.firstPairs;
    if (rotary.linearFactor != 1) text << "/linear" << rotary.linearFactor;
    if (rotary.attentionScale != 1) text << "/scale" << rotary.attentionScale;
    if (rotary.yarn) {
      text << "/yarn," << rotary.yarn->factor << "," << rotary.yarn->betaFast << "," << rotary.yarn->betaSlow
           << "," << rotary.yarn->originalMaxPositions << "," << rotary.yarn->truncates;
    }
    if (rotary.longRope) {
      text << (rotary.longRope->isLong ? "/long" : "/short");
      write(text, rotary.longRope->isLong ? rotary.longRope->longFactors : rotary.longRope->shortFactors);
    }
  }
  if (kind.window > 0) text << "/window" << kind.window;
  if (kind.positionScale.isOn())
    text << "/positions" << kind.positionScale.beta << "x" << kind.positionScale.step;
  if (kind.headSize > 0 || kind.keyValueHeads > 0)
    text << "/heads" << kind.keyValueHeads << "x" << kind.headSize;
  if (kind.valuesAreKeys) text << "/same";
}

void writeBase(std::ostringstream& text, const AttentionKind& kind) {
  if (kind.rotary) {
    text << "/" << kind.rotary->theta;
  } else {
    text << "/still";
  }
}

}  // namespace

std::int32_t ModelConfig::keyLayerOf(std::int32_t layer) const {
  if (!isSharing(layer)) return layer;
  for (std::int32_t other = storingLayers() - 1; other > 0; --other) {
    if (kindOf(other) == kindOf(layer)) return other;
  }
  return 0;  // the readers of configurations refuse a kind without such a layer
}

compute::KvShape kvShapeOf(const ModelConfig& config, std::int32_t blocks, std::int32_t blockSize,
                           compute::DType type) {
  compute::KvShape shape{config.storingLayers(), blocks,          blockSize,
                         config.keyValueHeads,   config.headSize, type};
  std::vector<compute::KvHeads> byLayer;
  for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
    const AttentionKind& kind = config.kind(config.kindOf(layer));
    byLayer.push_back({config.keyValueHeadsOf(kind), config.headSizeOf(kind)});
  }
  if (std::ranges::all_of(byLayer, [&](const compute::KvHeads& heads) { return heads == shape.headsOf(0); }))
    return shape;
  const compute::KvHeads most = *std::ranges::max_element(byLayer, {}, &compute::KvHeads::elements);
  shape.heads = most.heads;
  shape.headSize = most.headSize;
  shape.byLayer = std::move(byLayer);
  return shape;
}

std::int64_t positionStepOf(const ModelConfig& config) {
  for (std::size_t kind = 0; kind < config.kinds(); ++kind) {
    if (config.kind(kind).positionScale.isOn()) return config.kind(kind).positionScale.step;
  }
  return 0;
}

std::vector<std::int32_t> windowsOf(const ModelConfig& config) {
  std::vector<std::int32_t> windows;
  bool hasAny = false;
  for (std::int32_t layer = 0; layer < config.layers; ++layer) {
    windows.push_back(config.kind(config.kindOf(layer)).window);
    hasAny = hasAny || windows.back() > 0;
  }
  return hasAny ? windows : std::vector<std::int32_t>();
}

std::string fingerprint(const ModelConfig& config) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::hexfloat << config.architecture << "/" << config.vocabularySize << "x" << config.hiddenSize
       << "x" << config.intermediateSize << "x" << config.layers << "/" << config.heads << ":"
       << config.keyValueHeads << "x" << config.headSize << "/" << config.normEpsilon;
  writeBase(text, config.attention);
  text << (config.attentionBias ? "/ab" : "") << (config.mlpBias ? "/mb" : "")
       << (config.outputBias != config.attentionBias ? "/ob" : "");
  if (config.queryKeyNorm != QueryKeyNorm::None)
    text << (config.queryKeyNorm == QueryKeyNorm::Heads ? "/qk" : "/qkrows");
  writeScaling(text, config.attention);
  // Usual values are left out.
  if (config.norms != NormPlace::Before) text << "/norms" << static_cast<int>(config.norms);
  if (config.activation != compute::Activation::Silu) text << "/act" << static_cast<int>(config.activation);
  if (config.experts.count > 0) {
    text << "/experts" << config.experts.count << ":" << config.experts.choice.used
         << (config.experts.choice.isNormalised ? "n" : "") << (config.experts.routerBias ? "b" : "");
    if (config.experts.sharedSize > 0) text << "/shared" << config.experts.sharedSize;
  }
  if (config.attentionSinks) text << "/sinks";
  if (config.embeddingScale != 1) text << "/embedding" << config.embeddingScale;
  if (config.residualScale != 1) text << "/residual" << config.residualScale;
  if (config.attentionScale != 0) text << "/scores" << config.attentionScale;
  if (config.logitScale != 1) text << "/logits" << config.logitScale;
  if (config.normKind != NormKind::Rms) text << "/layernorm";
  if (config.attentionCap > 0) text << "/cap" << config.attentionCap;
  if (config.logitCap > 0) text << "/logitcap" << config.logitCap;
  if (config.sharingLayers > 0)
    text << "/sharing" << config.sharingLayers << (config.sharingIsWide ? "wide" : "");
  if (config.valueNorm) text << "/vnorm";
  if (config.perLayerSize > 0) text << "/perlayer" << config.perLayerSize;
  if (config.layerScale) text << "/layerscale";
  for (const AttentionKind& kind : config.otherKinds) {
    text << "/kind";
    writeBase(text, kind);
    writeScaling(text, kind);
  }
  for (const std::uint8_t kind : config.layerKinds) text << "." << static_cast<int>(kind);
  return text.str();
}

namespace {

/// The names on the Hugging Face hub: ldsjmdy/Tulu3-Block-FT and the checkpoints of hxia7.
constexpr std::array<std::string_view, 5> kNames = {"Tulu3-Block-FT", "Llama-3.2-1B-Block-FT",
                                                    "Llama-3.1-8B-Block-FT", "Qwen3-8B-Block-FT",
                                                    "qwen3-4b-blockdist"};

bool isNamed(const std::string& folder, std::string_view name) {
  return folder == name || (folder.starts_with("models--") && folder.ends_with("--" + std::string(name)));
}

}  // namespace

bool isPublishedForBlockAttention(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  return std::ranges::any_of(whole, [](const std::filesystem::path& part) {
    const std::string folder = part.string();
    return std::ranges::any_of(kNames, [&folder](std::string_view name) { return isNamed(folder, name); });
  });
}

namespace {

std::string numberText(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(10);
  text << value;
  return text.str();
}

std::vector<std::int64_t> layersByKind(const ModelConfig& config) {
  std::vector<std::int64_t> counts(config.kinds());
  for (std::int32_t layer = 0; layer < config.layers; ++layer) ++counts[config.kindOf(layer)];
  return counts;
}

std::string kindText(const AttentionKind& kind) {
  std::string text = kind.window == 0 ? "all tokens" : counted(kind.window, "token");
  if (!kind.rotary) return text + ", not rotated";
  text += ", base " + numberText(kind.rotary->theta);
  if (kind.rotary->turned > 0) text += ", the first " + std::to_string(kind.rotary->turned) + " of each head";
  if (kind.rotary->firstPairs > 0)
    text += ", the first " + counted(kind.rotary->firstPairs, "pair") + " of each head";
  const std::string scaling = scalingText(kind);
  if (scaling != "none") text += ", " + scaling;
  if (kind.positionScale.isOn()) {
    text += /*id:queries-scaled-every*/ ", queries scaled at every " +
            counted(kind.positionScale.step, "token") + " by 1 + " +
            numberText(std::round(kind.positionScale.beta * 1e6) / 1e6) + " ln(1 + step)";
  }
  return text;
}

}  // namespace

std::string scalingText(const AttentionKind& kind) {
  if (!kind.rotary) return "not rotated";
  const RotarySpec& rotary = *kind.rotary;
  if (rotary.linearFactor != 1) return "linear, × " + numberText(rotary.linearFactor);
  if (rotary.llama3 || !rotary.factors.empty()) return "llama3";
  if (rotary.yarn) {
    return "YaRN, × " + numberText(rotary.yarn->factor) + " from " +
           counted(rotary.yarn->originalMaxPositions, "token");
  }
  if (rotary.longRope) {
    const std::string original = counted(rotary.longRope->originalMaxPositions, "token");
    return "LongRoPE, for " + (rotary.longRope->isLong ? "more than " + original : "up to " + original);
  }
  return "none";
}

std::string attentionText(const ModelConfig& config) {
  const std::vector<std::int64_t> counts = layersByKind(config);
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (!text.empty()) text += "; ";
    text += counted(counts[kind], "layer") + (counts[kind] == 1 ? " attends to " : " attend to ") +
            kindText(config.kind(kind));
  }
  if (config.sharingLayers > 0) {
    text += "; the last " + counted(config.sharingLayers, "layer") +
            /*id:layers-read-other-keys*/ " read keys and values that earlier layers computed";
  }
  if (config.attentionCap > 0)
    text += /*id:soft-cap-bounds-scores*/ "; a soft cap bounds scores to " + numberText(config.attentionCap);
  return text;
}

std::string relocationText(const ModelConfig& config) {
  std::string text =
      /*id:same-at-every-place*/
      "scores depend only on the distance of two tokens, so a stored span is the same at every position";
  const std::vector<std::int64_t> counts = layersByKind(config);
  std::int64_t windowed = 0;
  std::int32_t widest = 0;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (config.kind(kind).window == 0) continue;
    windowed += counts[kind];
    widest = std::max(widest, config.kind(kind).window);
  }
  if (const std::int64_t step = positionStepOf(config); step > 0) {
    text = "queries are scaled by their absolute position, in steps of " + counted(step, "token") +
           ": a stored span is the same at every position up to the first step. After the first step, a "
           "stored span is the same only at its own position. Otherwise, scores depend only on the distance "
           "of two tokens";
  }
  if (windowed == 0) return text;
  return text + "; in " + std::to_string(windowed) + " of " + counted(config.layers, "layer") +
         /*id:token-sees-last*/ " a token attends only to the last " + counted(widest, "token") +
         " that can be attended to. Information from more distant tokens comes only through other layers";
}

namespace {

/// Frequency scaling of Llama 3.1, as in its reference implementation (meta-llama/llama-models,
/// models/llama3/reference_impl/model.py, apply_scaling). The wavelength is λ = 2π/f. L is the context length
/// of the first training.
/// - λ < L/high keeps f.
/// - λ > L/low gives f/factor.
/// - Between the two, the frequency changes linearly in L/λ.
double scaled(double frequency, const Llama3Scaling& scaling) {
  const double turns = static_cast<double>(scaling.originalMaxPositions) * frequency / (2 * std::numbers::pi);
  if (turns > scaling.highFrequencyFactor) return frequency;
  if (turns < scaling.lowFrequencyFactor) return frequency / scaling.factor;
  const double kept =
      (turns - scaling.lowFrequencyFactor) / (scaling.highFrequencyFactor - scaling.lowFrequencyFactor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

/// YaRN, with limits counted in pairs:
/// - Pairs with at least betaFast rotations over the original context keep their frequency.
/// - The factor divides the frequency of pairs with fewer than betaSlow rotations.
/// - Between the two limits, the frequency changes linearly.
class YarnRamp {
 public:
  YarnRamp(const YarnScaling& scaling, double theta, std::int32_t turned) : m_factor(scaling.factor) {
    const auto pairOf = [&](double turns) {
      const double length = static_cast<double>(scaling.originalMaxPositions);
      return turned * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
    };
    m_low = pairOf(scaling.betaFast);
    m_high = pairOf(scaling.betaSlow);
    if (scaling.truncates) {
      m_low = std::floor(m_low);
      m_high = std::ceil(m_high);
    }
    m_low = std::max(m_low, 0.0);
    m_high = std::min(m_high, turned - 1.0);
    if (m_low == m_high) m_high += 0.001;
  }

  double scaled(double frequency, std::int32_t pair) const {
    const double divided = std::clamp((pair - m_low) / (m_high - m_low), 0.0, 1.0);
    return frequency / m_factor * divided + frequency * (1 - divided);
  }

 private:
  double m_factor;
  double m_low = 0;
  double m_high = 0;
};

}  // namespace

compute::RotaryTable makeRotaryTable(const AttentionKind& kind, std::int32_t headSize) {
  compute::RotaryTable table;
  table.inverseFrequencies.assign(static_cast<std::size_t>(headSize / 2), 0);
  if (!kind.rotary) return table;
  const RotarySpec& rotary = *kind.rotary;
  table.attentionScale = rotary.attentionScale;
  const std::int32_t turned = rotary.turned > 0 ? rotary.turned : headSize;
  const std::vector<float>* divisors = &rotary.factors;
  if (rotary.longRope)
    divisors = rotary.longRope->isLong ? &rotary.longRope->longFactors : &rotary.longRope->shortFactors;
  std::optional<YarnRamp> ramp;
  if (rotary.yarn) ramp.emplace(*rotary.yarn, rotary.theta, turned);
  const std::int32_t pairs = rotary.firstPairs > 0 ? rotary.firstPairs : turned / 2;
  for (std::int32_t i = 0; i < pairs; ++i) {
    const auto pair = static_cast<std::size_t>(i);
    const double divisor = divisors->empty() ? 1 : static_cast<double>((*divisors)[pair]);
    double frequency = std::pow(rotary.theta, -2.0 * i / turned) / divisor / rotary.linearFactor;
    if (rotary.llama3) frequency = scaled(frequency, *rotary.llama3);
    if (ramp) frequency = ramp->scaled(frequency, i);
    table.inverseFrequencies[pair] = frequency;
  }
  return table;
}

}  // namespace spanscope::model
