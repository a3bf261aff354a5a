// SPDX-License-Identifier: GPL-3.0-or-later
// The families of models that can be computed. A family is one file in this folder and one line in the table
// of architectures.cpp. It says what of a configuration is its own, as facts of ModelConfig; nothing else
// asks for the family.
#pragma once

#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"
#include "engine/model/config_limits.h"
#include "engine/model/gguf_keys.h"

#include <span>
#include <string>
#include <string_view>

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

}  // namespace spanscope::model
