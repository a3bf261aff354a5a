// SPDX-License-Identifier: GPL-3.0-or-later
// Lists architectures that are known but not computed, with the reason. Files of these architectures are
// refused with that reason before weights are read. Open this file to name a reason for a refused model.
#pragma once

#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::model {

/// The reason why models of an architecture are not computed.
enum class NotComputed : std::uint8_t {
  RunningState,      ///< some layers keep a state of everything before a token
  LatentAttention,   ///< layers store a compressed form of keys and values
  LearnedPositions,  ///< positions are added to the tokens
  PositionBias,      ///< positions are a bias on scores
  PositionScale,     ///< query vectors are scaled by their absolute position
  Encoder,           ///< tokens attend to later tokens
  Diffusion,         ///< tokens are sampled in any order, and attend to later tokens
  Experts,           ///< a router chooses a part of the weights for each token
  SharedLayers,  ///< layers read the keys and values of other layers, or vectors of their own for each token
  Media,         ///< a text model inside a model of pictures or sound
  NotYet         ///< a dense decoder that Spanscope does not describe yet
};

/// The number of layers with a running state, if the file reports it.
struct StateLayers {
  std::int64_t with = 0;
  std::int64_t all = 0;
};

/// Finds an architecture by any of its names in config.json or GGUF files: "qwen3_next", "qwen3next",
/// "Qwen3NextForCausalLM". Returns nothing for unknown names.
std::optional<NotComputed> otherArchitecture(std::string_view name);

/// Returns a clause that follows a name: "it keeps a running state in 24 of 32 layers, …".
std::string reasonText(NotComputed reason, const std::optional<StateLayers>& state = std::nullopt);

/// Returns the clause for a name in a configuration, with the layers that the configuration describes.
/// Returns nothing for unknown names.
std::optional<std::string> whyNotComputed(std::string_view name, const checkpoint::JsonPlace& config);
std::optional<std::string> whyNotComputed(std::string_view name, const checkpoint::GgufMetadata& metadata);

}  // namespace spanscope::model
