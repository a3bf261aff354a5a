// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/conversation.h"

#include "engine/base/utf8.h"

#include <algorithm>

namespace spanscope::text {
namespace {

bool startsWithSystem(std::span<const ConversationMessage> messages) {
  return !messages.empty() && messages.front().role == query::Role::System;
}

/// Max bytes of a control piece that are compared.
constexpr std::size_t kLongestControl = 1024;

Place placeOf(std::size_t message) {
  return message == 0 ? Place::First : Place::Later;
}

/// Whether the white space before `at` follows a control piece that takes the white space. The piece may be
/// in the text of another message.
bool isTakenBefore(const ConversationText& conversation, std::size_t at, const ControlPieces& controls) {
  const std::string_view text = conversation.text;
  const std::size_t end = endWithoutSpace(text.substr(0, at));
  std::size_t begin = 0;
  for (const OwnText& own : conversation.own) {
    if (own.range.begin >= end) break;
    begin = own.range.end;
  }
  bool isTaken = false;
  while (begin < end) {
    const std::optional<ControlPieces::Found> found = controls.find(text.substr(begin, end - begin));
    if (!found) return false;
    begin += found->begin + found->length;
    isTaken = found->takenSpace.after && begin == end;
  }
  return isTaken;
}

/// Whether the white space after `at` precedes a control piece that takes the white space.
bool isTakenAfter(const ConversationText& conversation, std::size_t at, const ControlPieces& controls) {
  const std::string_view text = conversation.text;
  const std::size_t begin = at + beginWithoutSpace(text.substr(at));
  for (const OwnText& own : conversation.own) {
    if (own.range.begin <= begin && begin < own.range.end) return false;
  }
  const std::optional<ControlPieces::Found> found = controls.find(text.substr(begin, kLongestControl));
  return found && found->begin == 0 && found->takenSpace.before;
}

}  // namespace

std::vector<TokenId> RenderedConversation::ids() const {
  std::vector<TokenId> all = opening;
  for (const RenderedMessage& message : messages)
    all.insert(all.end(), message.ids.begin(), message.ids.end());
  all.insert(all.end(), generationPrompt.begin(), generationPrompt.end());
  return all;
}

RenderedMessage renderRange(const ConversationText& conversation, TextRange range, const Tokenizer& tokenizer,
                            const ControlPieces& controls, const EncodeLimits& limits) {
  PieceRenderer renderer(tokenizer, limits, &controls);
  const std::string_view text = conversation.text;
  std::size_t at = range.begin;
  if (isTakenBefore(conversation, at, controls)) renderer.takeSpaceAtBegin();
  for (const OwnText& own : conversation.own) {
    const std::size_t begin = std::max(own.range.begin, at);
    const std::size_t end = std::min(own.range.end, range.end);
    if (begin >= end) continue;
    renderer.addRaw(text.substr(at, begin - at));
    renderer.addOwn(text.substr(begin, end - begin));
    at = end;
  }
  renderer.addRaw(text.substr(at, range.end - at));
  if (isTakenAfter(conversation, range.end, controls)) renderer.takeSpaceAtEnd();
  return renderer.finish();
}

RenderedConversation renderConversation(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                        std::span<const ConversationMessage> messages,
                                        const EncodeLimits& limits) {
  RenderedConversation rendered;
  if (chat.program == nullptr) {
    rendered.opening = renderOpening(chat, tokenizer, startsWithSystem(messages));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      rendered.messages.push_back(
          render(chat, tokenizer, messages[i].role, messages[i].text, placeOf(i), limits));
    }
    rendered.generationPrompt = renderPieces(chat.generationPrompt, tokenizer);
    return rendered;
  }
  const ConversationText text = chat.program->render(messages, !chat.generationPrompt.empty(), limits.stop);
  const ControlPieces controls(tokenizer);
  const auto idsOf = [&](TextRange range) { return renderRange(text, range, tokenizer, controls, limits); };
  rendered.opening = idsOf({0, text.openingEnd}).ids;
  for (const MessageText& message : text.messages) {
    rendered.messages.push_back(idsOf(message.range));
    rendered.messages.back().change = message.change;
  }
  rendered.generationPrompt = idsOf({text.promptBegin, text.text.size()}).ids;
  return rendered;
}

std::string spellConversation(const ChatTemplate& chat, std::span<const ConversationMessage> messages) {
  if (chat.program != nullptr) return chat.program->render(messages, !chat.generationPrompt.empty()).text;
  std::string text = spellOpening(chat, startsWithSystem(messages));
  for (std::size_t i = 0; i < messages.size(); ++i)
    text += spellMessage(chat, messages[i].role, messages[i].text, placeOf(i));
  return text + spell(chat.generationPrompt);
}

}  // namespace spanscope::text
