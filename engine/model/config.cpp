// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/config.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/gguf/gguf_paths.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config_limits.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <system_error>

namespace spanscope::model {

namespace {

using checkpoint::inQuotes;
using checkpoint::JsonPlace;

constexpr double kMaxRopeFactor = 1e6;
constexpr const char* kConfiguration = "the configuration of a model";

/// The family that the file names, in one or two fields, which must not differ.
const Architecture& findArchitecture(const JsonPlace& config) {
  const auto names = config.texts("architectures");
  const auto type = config.text("model_type");
  const Architecture* named = nullptr;
  for (const std::string& name : names) {
    if (named == nullptr) named = architectureByName(name);
  }
  if (!names.empty() && named == nullptr)
    throw config.field("architectures").fail(inQuotes(names.front()), "a model of the type " + modelTypes());
  if (!type) {
    if (named != nullptr) return *named;
    throw config.field("model_type").fail("nothing, and no architectures either", modelTypes());
  }
  const Architecture* typed = architectureByModelType(*type);
  if (typed != nullptr && (named == nullptr || named == typed)) return *typed;
  throw config.field("model_type")
      .fail(inQuotes(*type), named != nullptr ? inQuotes(named->modelType) : modelTypes());
}

void refuseOtherArithmetic(const JsonPlace& config) {
  if (config.has("quantization_config")) {
    throw config.field("quantization_config")
        .fail("a quantised checkpoint", "weights in F32, F16 or BF16, or a GGUF file");
  }
  const auto activation = config.text("hidden_act").value_or("silu");
  if (activation != "silu")
    throw config.field("hidden_act").fail(inQuotes(activation), "the supported one, \"silu\"");
}

/// Rotating only a part of each head, as some architectures do.
void refusePartialRotation(const JsonPlace& fields) {
  if (fields.number("partial_rotary_factor", 0, 1, 1) != 1) {
    throw fields.field("partial_rotary_factor")
        .fail("a part of each head", "1; rotating a part is not supported");
  }
}

/// `rope_scaling` of older files and `rope_parameters` of newer ones say the same in the same words.
std::optional<Llama3Scaling> parseScaling(const JsonPlace& fields, std::int64_t maxPositions) {
  refusePartialRotation(fields);
  const char* typeField = fields.has("rope_type") ? "rope_type" : "type";
  const std::string type = fields.text(typeField).value_or("default");
  if (type == "default") return std::nullopt;
  if (type != "llama3")
    throw fields.field(typeField).fail(inQuotes(type), "\"default\" or \"llama3\"; others are not supported");
  Llama3Scaling scaling;
  scaling.factor = fields.number("factor", 1, kMaxRopeFactor);
  scaling.lowFrequencyFactor = fields.number("low_freq_factor", 1e-6, kMaxRopeFactor);
  scaling.highFrequencyFactor = fields.number("high_freq_factor", 1e-6, kMaxRopeFactor);
  scaling.originalMaxPositions =
      fields.integer("original_max_position_embeddings", 1, kMaxPositions, maxPositions);
  if (scaling.highFrequencyFactor <= scaling.lowFrequencyFactor) {
    throw fields.field("high_freq_factor").fail("no more than low_freq_factor", "more than low_freq_factor");
  }
  return scaling;
}

/// A file may say the same in more than one place, but not different things.
void parseRope(const JsonPlace& config, ModelConfig& result) {
  refusePartialRotation(config);
  const auto older = config.object("rope_scaling");
  const auto newer = config.object("rope_parameters");
  std::optional<Llama3Scaling> scaling;
  if (older) scaling = parseScaling(*older, result.maxPositions);
  if (newer) {
    const auto stated = parseScaling(*newer, result.maxPositions);
    if (older && stated != scaling)
      throw config.field("rope_parameters").fail("another scaling than in rope_scaling", "the same");
    scaling = stated;
  }
  result.hasLlama3Scaling = scaling.has_value();
  result.llama3 = scaling.value_or(Llama3Scaling{});

  std::optional<double> theta;
  for (const JsonPlace* fields : {&config, older ? &*older : nullptr, newer ? &*newer : nullptr}) {
    if (fields == nullptr || !fields->has("rope_theta")) continue;
    const double stated = fields->number("rope_theta", 1, kMaxRopeTheta);
    if (theta && stated != *theta)
      throw fields->field("rope_theta").fail("another value than elsewhere in the file", "the same");
    theta = stated;
  }
  result.ropeTheta = theta.value_or(kDefaultRopeTheta);
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

/// Of all files that name end tokens none takes back what another says: each was written for some program
/// that reads only it.
void addEndTokens(const JsonPlace& fields, const std::string& source, ModelConfig& result) {
  const std::string file = std::filesystem::path(source).filename().string();
  for (const std::int64_t id : fields.integers("eos_token_id", 0, result.vocabularySize - 1))
    addEndToken(result.endTokens, narrow(id), file);
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ModelConfig readDirectory(const std::filesystem::path& directory) {
  const checkpoint::MappedFile file(directory / "config.json");
  ModelConfig result = file.read([&](std::span<const std::byte> bytes) {
    return parseConfig(textOf(bytes), (directory / "config.json").string());
  });

  const std::filesystem::path generation = directory / "generation_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(generation, ignored)) return result;
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
  std::transform(endTokens.begin(), endTokens.end(), std::back_inserter(ids),
                 [](const EndToken& end) { return end.token; });
  return ids;
}

ModelConfig parseConfig(std::string_view json, const std::string& source) {
  return checkpoint::readJsonText(
      json, source, kConfiguration,
      [&source](const JsonPlace& config) {
        const Architecture& architecture = findArchitecture(config);
        refuseOtherArithmetic(config);
        ModelConfig result;
        result.architecture = architecture.name;
        result.vocabularySize = narrow(config.integer("vocab_size", 1, kMaxVocabulary));
        result.hiddenSize = narrow(config.integer("hidden_size", 1, kMaxHiddenSize));
        result.intermediateSize = narrow(config.integer("intermediate_size", 1, kMaxIntermediateSize));
        result.layers = narrow(config.integer("num_hidden_layers", 1, kMaxLayers));
        parseHeads(config, result);
        result.maxPositions = config.integer("max_position_embeddings", 1, kMaxPositions, 2048);
        result.normEpsilon = static_cast<float>(config.number("rms_norm_eps", 1e-12, 1, 1e-6));
        parseRope(config, result);
        result.tiedEmbeddings = config.flag("tie_word_embeddings", false);
        architecture.readJson(config, result);
        addEndTokens(config, source, result);
        result.blockAttention = config.flag("block_attention", false);
        return result;
      },
      checkpoint::kConfigurationRules);
}

ModelConfig readConfig(const std::filesystem::path& path) {
  if (const std::optional<std::filesystem::path> gguf = checkpoint::ggufModel(path))
    return configOf(checkpoint::GgufFile(*gguf));
  return readDirectory(path);
}

std::string fingerprint(const ModelConfig& config) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::hexfloat << config.architecture << "/" << config.vocabularySize << "x" << config.hiddenSize
       << "x" << config.intermediateSize << "x" << config.layers << "/" << config.heads << ":"
       << config.keyValueHeads << "x" << config.headSize << "/" << config.normEpsilon << "/"
       << config.ropeTheta << (config.attentionBias ? "/ab" : "") << (config.mlpBias ? "/mb" : "")
       << (config.outputBias != config.attentionBias ? "/ob" : "") << (config.queryKeyNorm ? "/qk" : "");
  if (config.hasLlama3Scaling) {
    text << "/llama3," << config.llama3.factor << "," << config.llama3.lowFrequencyFactor << ","
         << config.llama3.highFrequencyFactor << "," << config.llama3.originalMaxPositions;
  }
  for (const float factor : config.ropeFactors) text << "/" << factor;
  return text.str();
}

}  // namespace spanscope::model
