// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template_table.h"

namespace spanscope::text {
namespace {

KnownChatTemplate spanlet() {
  ChatTemplate chat;
  chat.name = "spanlet";
  const TemplatePiece space{false, " "};
  const TemplatePiece end{true, "<|end|>"};
  const auto index = [](query::Role role) { return static_cast<std::size_t>(role); };
  chat.prefix[index(query::Role::System)] = {{true, "<|system|>"}, space};
  chat.prefix[index(query::Role::User)] = {{true, "<|user|>"}, space};
  chat.prefix[index(query::Role::Assistant)] = {{true, "<|assistant|>"}, space};
  for (std::vector<TemplatePiece>& suffix : chat.suffix) suffix = {end};
  chat.generationPrompt = {{true, "<|assistant|>"}};
  chat.replySuffix = {end};
  chat.replyLeading = " ";
  return {std::move(chat),
          "{% for m in messages %}<|{{ m['role'] }}|> {{ m['content'] }}<|end|>{% endfor %}"
          "{% if add_generation_prompt %}<|assistant|>{% endif %}"};
}

}  // namespace

const std::vector<KnownChatTemplate>& knownChatTemplates() {
  static const std::vector<KnownChatTemplate> known = {spanlet()};
  return known;
}

}  // namespace spanscope::text
