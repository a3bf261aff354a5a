// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/architectures/architecture.h"

namespace spanscope::model {

extern const Architecture kLlama;    ///< Llama 2 and 3, SmolLM2, Tulu 3, Yi
extern const Architecture kMistral;  ///< Mistral 7B and Nemo
extern const Architecture kQwen2;    ///< Qwen2 and Qwen2.5, DeepSeek-R1-Distill-Qwen
extern const Architecture kQwen3;    ///< Qwen3 without experts

/// Throws Failure if some layers see only a window of what stands before a token.
void refuseWindows(const checkpoint::JsonPlace& config);

}  // namespace spanscope::model
