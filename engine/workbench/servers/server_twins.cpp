// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_twins.h"

#include "engine/twin/servers.h"

#include <algorithm>
#include <utility>

namespace spanscope::workbench {

namespace {

/// A number that a twin takes; 0: the server said none, or one that no twin has room for, which is as much as
/// is needed then.
template <class Number>
Number within(std::optional<std::int64_t> said, std::int64_t most) {
  return static_cast<Number>(said.value_or(0) > 0 && *said <= most ? *said : 0);
}

TwinSetup llamaSetup(std::optional<std::int64_t> slots, const remote::CacheFacts& cache) {
  constexpr std::int64_t kMostSlots = 4096;
  constexpr std::int64_t kMostContext = std::int64_t{1} << 30U;
  // llama-server starts with four slots that share one context; whoever wants another number of slots gets
  // slots with a context each. It does not say which, and four are rarely asked for.
  constexpr std::int64_t kByItself = 4;
  TwinSetup setup{.settings = {}, .isAsSaid = slots.has_value()};
  const bool isShared = slots.value_or(kByItself) == kByItself;
  if (!isShared) setup.settings.slots = within<std::int32_t>(slots, kMostSlots);
  const auto parts = std::max<std::int64_t>(1, setup.settings.slots);
  if (cache.slotTokens && *cache.slotTokens <= kMostContext)
    setup.settings.cacheTokens = within<std::int64_t>(*cache.slotTokens * parts, kMostContext);
  return setup;
}

}  // namespace

TwinSetup twinSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                    const remote::CacheFacts& cache) {
  if (kind == remote::ServerKind::LlamaCpp) return llamaSetup(slots, cache);
  constexpr std::int64_t kMostBlockSize = std::int64_t{1} << 20U;
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 30U;
  TwinSetup setup{.settings = {}, .isAsSaid = cache.blockSize || cache.cacheTokens};
  setup.settings.blockSize = within<std::int32_t>(cache.blockSize, kMostBlockSize);
  setup.settings.cacheTokens = within<std::int64_t>(cache.cacheTokens, kMostTokens);
  if (setup.settings.cacheTokens < setup.settings.blockSize) setup.settings.cacheTokens = 0;
  if (!cache.findsPrefixes.value_or(true))
    setup.problem = "it says that it does not look for beginnings: its cache of prefixes is switched off";
  return setup;
}

std::optional<Foretold> ServerTwins::foretell(const std::string& server, const remote::ServerFacts& facts,
                                              const std::vector<TokenId>& prompt) {
  const twin::Server* const kind = twin::findServer(remote::infoOf(facts.kind).name);
  if (kind == nullptr || prompt.empty()) return std::nullopt;
  const TwinSetup setup = twinSetup(facts.kind, facts.slots, facts.cache);
  if (!setup.problem.empty()) return std::nullopt;
  const std::lock_guard lock(m_mutex);
  Known& own = m_twins[server];
  const bool isAsBefore = own.kind == facts.kind && own.slots == facts.slots && own.cache == facts.cache;
  if (own.twin == nullptr || !isAsBefore)
    own = {
        .kind = facts.kind, .slots = facts.slots, .cache = facts.cache, .twin = kind->open(setup.settings)};
  const twin::Answer answer = own.twin->copy()->serve({.prompt = prompt, .reply = {}, .salt = {}});
  return Foretold{.prompt = static_cast<std::int64_t>(prompt.size()),
                  .found = answer.cached,
                  .twin = std::string(kind->title) + " " + kind->version};
}

void ServerTwins::note(const std::string& server, const std::vector<TokenId>& prompt,
                       const std::vector<TokenId>& reply) {
  const std::lock_guard lock(m_mutex);
  const auto own = m_twins.find(server);
  if (own != m_twins.end() && own->second.twin != nullptr && !prompt.empty())
    own->second.twin->serve({.prompt = prompt, .reply = reply, .salt = {}});
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
