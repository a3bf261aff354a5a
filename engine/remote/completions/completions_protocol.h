// SPDX-License-Identifier: GPL-3.0-or-later
// Conversations as prompts of text completions, under a chat template.
#pragma once

#include "engine/remote/protocol.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>

namespace spanscope::remote {

/// As text, with the template's control pieces spelled out, up to where the reply begins. What opens every
/// prompt (a token that begins a text) is left out: servers put it there. The template must outlive it.
PromptWriter textPrompt(const text::ChatTemplate& chat);

/// As the tokens of a model, all of them: servers add none to a prompt of tokens. The template must outlive
/// it.
PromptWriter tokenPrompt(const text::ChatTemplate& chat, std::shared_ptr<const text::Tokenizer> tokenizer);

}  // namespace spanscope::remote
