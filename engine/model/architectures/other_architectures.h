// SPDX-License-Identifier: GPL-3.0-or-later
// Architectures that are known but not computed, and why. Their files are refused with that reason, before
// any weights are read.
#pragma once

#include "engine/checkpoint/gguf/gguf_metadata.h"
#include "engine/checkpoint/json_reading.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::model {

/// Why models of an architecture are not computed.
enum class NotComputed : std::uint8_t {
  RunningState,      ///< some layers hold a state of everything before a token
  LatentAttention,   ///< layers store a compressed form of keys and values
  LearnedPositions,  ///< positions are added to the tokens
  PositionBias,      ///< positions are a bias on scores
  PositionScale,     ///< queries are scaled by their absolute position
  Encoder,           ///< tokens read what comes after them
  Diffusion,         ///< tokens are drawn in any order, and read what comes after them
  Experts,           ///< a router chooses a part of the weights for each token
  SharedLayers,      ///< layers read the keys and values of others, or vectors of their own for each token
  SoftCaps,          ///< scores or logits are bounded
  Media,             ///< a model of text within one of pictures or sound
  NotYet             ///< a dense decoder that nobody has described yet
};

/// How many layers hold a running state, where a file tells.
struct StateLayers {
  std::int64_t with = 0;
  std::int64_t all = 0;
};

/// By any of its names in config.json or GGUF files: "qwen3_next", "qwen3next", "Qwen3NextForCausalLM".
/// Nothing for names that are not known.
std::optional<NotComputed> otherArchitecture(std::string_view name);

/// A sentence without its period, to be read after a name: "it keeps a running state in 24 of 32 layers, …".
std::string reasonText(NotComputed reason, const std::optional<StateLayers>& state = std::nullopt);

/// The same for a name that stands in a configuration, with what that tells of its layers. Nothing for names
/// that are not known.
std::optional<std::string> whyNotComputed(std::string_view name, const checkpoint::JsonPlace& config);
std::optional<std::string> whyNotComputed(std::string_view name, const checkpoint::GgufMetadata& metadata);

}  // namespace spanscope::model
