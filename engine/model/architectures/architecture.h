// SPDX-License-Identifier: GPL-3.0-or-later
// The families of models that can be computed. A family is one file in this folder and one line in the table
// of architectures.cpp. It says what of a configuration is its own, as facts of ModelConfig; nothing else
// asks for the family.
#pragma once

#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"
#include "engine/model/gguf_config.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::model {

struct Architecture {
  const char* name = "";       ///< in the list `architectures` of config.json
  const char* modelType = "";  ///< `model_type` there
  const char* ggufName = "";   ///< `general.architecture` of GGUF files
  /// Whether GGUF files hold the two rows of queries and keys that are turned together one behind the other.
  /// Hugging Face and the decoder hold them half a head apart.
  bool pairsRowsInGguf = false;
  /// Whether files of Hugging Face hold the weights of norms less 1. GGUF files never do.
  bool normsLackOne = false;
  /// What config.json means where it lacks a field: the defaults of the family's configuration class in
  /// transformers 5.24, as a JSON object. A field that is null does not count as lacking here.
  const char* defaults = "{}";
  double ropeTheta = kDefaultRopeTheta;  ///< where no field has the base of the frequencies
  /// Reads what the family has beside the common fields. Throws Failure for what is not supported.
  void (*readJson)(const checkpoint::JsonPlace& config, ModelConfig& result) = nullptr;
  void (*readGguf)(const GgufKeys& keys, ModelConfig& result) = nullptr;
};

std::span<const Architecture* const> architectures();

/// Each returns null for a family that is not here.
const Architecture* architectureByName(std::string_view name);
const Architecture* architectureByModelType(std::string_view type);
const Architecture* architectureByGguf(std::string_view name);

/// "\"llama\", \"mistral\" or …", for errors.
std::string modelTypes();
std::string ggufArchitectures();

extern const Architecture kGemma3;   ///< Gemma 3 without pictures
extern const Architecture kGranite;  ///< Granite 3 without experts
extern const Architecture kLlama;    ///< Llama 2 and 3, SmolLM2, Tulu 3, Yi
extern const Architecture kMistral;  ///< Mistral 7B and Nemo
/// Ministral 3 and Devstral 2; of GGUF files also what calls itself so of Mistral Small 3.
extern const Architecture kMistral3;
extern const Architecture kOlmo2;
extern const Architecture kOlmo3;
extern const Architecture kPhi3;   ///< Phi-3, Phi-3.5 and Phi-4 without pictures or experts
extern const Architecture kQwen2;  ///< Qwen2 and Qwen2.5, DeepSeek-R1-Distill-Qwen
extern const Architecture kQwen3;  ///< Qwen3 without experts
extern const Architecture kSmolLm3;

// Parts that several families share.

/// `sliding_window`; 0 if it is null or missing.
std::int32_t windowOf(const checkpoint::JsonPlace& config);

/// By layer, whether `layer_types` says that it has a window. Empty without that field. Throws Failure for
/// kinds that are neither "full_attention" nor "sliding_attention", and for a list of another length.
std::vector<bool> windowedLayers(const checkpoint::JsonPlace& config, const ModelConfig& model);

/// The Qwens: windows count only with `use_sliding_window`, from layer `max_window_layers` on.
void readSwitchedWindows(const checkpoint::JsonPlace& config, ModelConfig& result);

/// Makes the kinds of a model from one for each layer.
void setKinds(ModelConfig& config, const std::vector<AttentionKind>& byLayer);

/// What tensors say of biases.
void readBiases(const GgufKeys& keys, ModelConfig& result);

}  // namespace spanscope::model
