// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/completions/template_prompt.h"

#include "engine/base/error.h"

#include <cstddef>
#include <utility>

namespace spanscope::remote {
namespace {

using Messages = std::vector<exports::ChatMessage>;

bool beginsWithSystem(const Messages& messages) {
  return !messages.empty() && messages.front().role == query::Role::System;
}

text::Place placeOf(std::size_t index) {
  return index == 0 ? text::Place::First : text::Place::Later;
}

/// Throws Failure where the template has no turn for a message.
void checkTurns(const text::ChatTemplate& chat, const Messages& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const query::Role role = messages[i].role;
    const bool isOpening = i == 0 && role == query::Role::System && chat.openingSystem;
    if (isOpening || chat.turns[static_cast<std::size_t>(role)]) continue;
    throw Failure(errorAt(messages[i].node, std::string("a message of the role ") + query::roleName(role),
                          "roles that the template " + chat.name + " has"));
  }
}

}  // namespace

PromptWriter textPrompt(const text::ChatTemplate& chat) {
  return [&chat](const Messages& messages) -> PromptText {
    checkTurns(chat, messages);
    std::string text =
        text::spellOpening(chat, beginsWithSystem(messages)).substr(text::spell(chat.opening).size());
    for (std::size_t i = 0; i < messages.size(); ++i)
      text += text::spellMessage(chat, messages[i].role, messages[i].content, placeOf(i));
    return text + text::spell(chat.generationPrompt);
  };
}

PromptWriter tokenPrompt(const text::ChatTemplate& chat, std::shared_ptr<const text::Tokenizer> tokenizer) {
  return [&chat, tokenizer = std::move(tokenizer)](const Messages& messages) -> PromptText {
    std::vector<TokenId> ids = text::renderOpening(chat, *tokenizer, beginsWithSystem(messages));
    const auto append = [&ids](const std::vector<TokenId>& more) {
      ids.insert(ids.end(), more.begin(), more.end());
    };
    for (std::size_t i = 0; i < messages.size(); ++i)
      append(text::render(chat, *tokenizer, messages[i].role, messages[i].content, placeOf(i)).ids);
    append(text::renderPieces(chat.generationPrompt, *tokenizer));
    return ids;
  };
}

}  // namespace spanscope::remote
