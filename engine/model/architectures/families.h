// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/architectures/architecture.h"

#include <cstdint>
#include <vector>

namespace spanscope::model {

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
