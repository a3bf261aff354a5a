// SPDX-License-Identifier: GPL-3.0-or-later
// Renders whole conversations with any chat template: an entry of the table, or a program of Jinja. Open this
// file to send a conversation to a server, or to count its tokens.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/chat_template.h"
#include "engine/text/piece_renderer.h"
#include "engine/text/template_program.h"
#include "engine/text/tokenizer.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::text {

/// Ids of a conversation.
struct RenderedConversation {
  std::vector<TokenId> opening;  ///< before the first message
  std::vector<RenderedMessage> messages;
  std::vector<TokenId> generationPrompt;

  /// Returns all ids in order.
  std::vector<TokenId> ids() const;
};

/// Renders a conversation. Throws like render(), and like TemplateProgram::render().
RenderedConversation renderConversation(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                        std::span<const ConversationMessage> messages,
                                        const EncodeLimits& limits = {});

/// Returns the ids of the bytes `range` of a conversation's text. Ids of the messages' own texts are never
/// control pieces. `controls`: the control pieces of the tokenizer.
RenderedMessage renderRange(const ConversationText& conversation, TextRange range, const Tokenizer& tokenizer,
                            const ControlPieces& controls, const EncodeLimits& limits = {});

/// Returns the text of a conversation with its generation prompt, with control pieces spelled out. Throws
/// like renderConversation().
std::string spellConversation(const ChatTemplate& chat, std::span<const ConversationMessage> messages);

}  // namespace spanscope::text
