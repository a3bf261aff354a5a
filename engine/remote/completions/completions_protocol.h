// SPDX-License-Identifier: GPL-3.0-or-later
// Writes conversations as prompts of text completions, under a chat template. Open this file to change such
// prompts.
#pragma once

#include "engine/remote/protocol.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>

namespace spanscope::remote {

/// Writes a prompt as text up to the beginning of the answer. Control tokens of the template are text, too.
/// The token that begins every prompt is left out, because servers add this token. The template must outlive
/// the writer.
PromptWriter textPrompt(const text::ChatTemplate& chat);

/// Writes a prompt as token ids, with the first token: servers add no tokens to such a prompt. The template
/// must outlive the writer.
PromptWriter tokenPrompt(const text::ChatTemplate& chat, std::shared_ptr<const text::Tokenizer> tokenizer);

}  // namespace spanscope::remote
