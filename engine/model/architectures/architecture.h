// SPDX-License-Identifier: GPL-3.0-or-later
// Describes a family of models that can be computed. A family is one file in this folder, and its name in
// architectures.cpp. The family writes its properties as facts of ModelConfig. Other code does not depend on
// the family. Open this file to learn what a family describes.
#pragma once

#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"
#include "engine/model/gguf_config.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::model {

struct Architecture {
  const char* name = "";       ///< in the list `architectures` of config.json
  const char* modelType = "";  ///< `model_type` in config.json
  const char* ggufName = "";   ///< `general.architecture` of GGUF files.
  /// Whether GGUF files store the two rows of a rotated pair (in query and key matrices) next to each other.
  /// In Hugging Face files and in the decoder, the two rows are half a head apart.
  bool pairsRowsInGguf = false;
  /// Whether files of Hugging Face store the weights of norms minus 1. GGUF files never do.
  bool normsLackOne = false;
  bool readsMxfp4 = false;  ///< whether folders of Hugging Face may have experts in MXFP4.
  /// Values for fields that config.json lacks: the defaults of the family's configuration class in
  /// transformers 5.24, as a JSON object. A null field does not count as missing here.
  const char* defaults = "{}";
  double ropeTheta = kDefaultRopeTheta;  ///< used if no field has the base of the frequencies
  /// Reads the family's own fields. Throws Failure for unsupported values.
  void (*readJson)(const checkpoint::JsonPlace& config, ModelConfig& result) = nullptr;
  void (*readGguf)(const GgufKeys& keys, ModelConfig& result) = nullptr;
};

/// Each function returns null for an unknown family.
const Architecture* architectureByName(std::string_view name);
const Architecture* architectureByModelType(std::string_view type);
const Architecture* architectureByGguf(std::string_view name);

/// Returns "\"llama\", \"mistral\" or …", for errors.
std::string modelTypes();
std::string ggufArchitectures();

// Functions that several families share.

/// Returns `sliding_window`, or 0 if the field is null or missing.
std::int32_t windowOf(const checkpoint::JsonPlace& config);

/// Returns by layer whether `layer_types` gives the layer a window. Empty without that field. Throws Failure
/// for kinds other than "full_attention" and "sliding_attention", and for a list of another length.
std::vector<bool> windowedLayers(const checkpoint::JsonPlace& config, const ModelConfig& model);

/// Refuses `use_bidirectional_attention` of Gemma's encoders.
void refuseBidirectional(const checkpoint::JsonPlace& config);

/// For Qwen: windows count only with `use_sliding_window`, from layer `max_window_layers` on.
void readSwitchedWindows(const checkpoint::JsonPlace& config, ModelConfig& result);

/// Read the numbers of experts. In GGUF files, `feed_forward_length` may be the width of an expert.
void readExperts(const checkpoint::JsonPlace& config, const char* countField, ModelConfig& result);
void readExperts(const GgufKeys& keys, ModelConfig& result);

/// Builds the kinds of a model from one kind for each layer.
void setKinds(ModelConfig& config, const std::vector<AttentionKind>& byLayer);

/// Reads biases from the tensors that the file has.
void readBiases(const GgufKeys& keys, ModelConfig& result);

}  // namespace spanscope::model
