// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_twins.h"

#include "engine/twin/servers.h"

#include <algorithm>
#include <utility>

namespace spanscope::workbench {

std::optional<Foretold> ServerTwins::foretell(const std::string& server, const remote::ServerFacts& facts,
                                              const std::vector<TokenId>& prompt) {
  const twin::Server* const kind = twin::findServer(remote::infoOf(facts.kind).name);
  if (kind == nullptr || prompt.empty()) return std::nullopt;
  const std::lock_guard lock(m_mutex);
  std::unique_ptr<twin::Twin>& own = m_twins[server];
  if (own == nullptr) {
    twin::Settings settings;
    settings.slots = static_cast<std::int32_t>(std::min<std::int64_t>(facts.slots.value_or(0), 4096));
    own = kind->open(settings);
  }
  const twin::Answer answer = own->copy()->serve({.prompt = prompt, .reply = {}, .salt = {}});
  return Foretold{.prompt = static_cast<std::int64_t>(prompt.size()),
                  .found = answer.cached,
                  .twin = std::string(kind->title) + " " + kind->version};
}

void ServerTwins::note(const std::string& server, const std::vector<TokenId>& prompt,
                       const std::vector<TokenId>& reply) {
  const std::lock_guard lock(m_mutex);
  const auto own = m_twins.find(server);
  if (own != m_twins.end() && !prompt.empty())
    own->second->serve({.prompt = prompt, .reply = reply, .salt = {}});
}

std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat) {
  const bool startsWithSystem = !messages.empty() && messages.front().role == query::Role::System;
  std::vector<TokenId> ids = text::renderOpening(chat, tokenizer, startsWithSystem);
  const auto append = [&ids](const std::vector<TokenId>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    append(text::render(chat, tokenizer, messages[i].role, messages[i].content,
                        i == 0 ? text::Place::First : text::Place::Later)
               .ids);
  }
  append(text::renderPieces(chat.generationPrompt, tokenizer));
  return ids;
}

}  // namespace spanscope::workbench
