// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_simulators.h"

#include <algorithm>
#include <utility>

namespace spanscope::workbench {

namespace {

/// Returns a number that a cache simulator accepts. 0: the server reported no number, or a number that is too
/// large for a simulator.
template <class Number>
Number within(std::optional<std::int64_t> said, std::int64_t most) {
  return static_cast<Number>(said.value_or(0) > 0 && *said <= most ? *said : 0);
}

SimulatorSetup llamaSetup(std::optional<std::int64_t> slots, const remote::CacheFacts& cache) {
  constexpr std::int64_t kMostSlots = 4096;
  constexpr std::int64_t kMostContext = std::int64_t{1} << 30U;
  // By default, llama-server has four slots that share one context. With any number in its options, each slot
  // has its own context. The server does not report this option, and users rarely choose four slots.
  constexpr std::int64_t kByItself = 4;
  SimulatorSetup setup{.settings = {}, .isAsSaid = slots.has_value()};
  const bool isShared = slots.value_or(kByItself) == kByItself;
  if (!isShared) setup.settings.slots = within<std::int32_t>(slots, kMostSlots);
  const auto parts = std::max<std::int64_t>(1, setup.settings.slots);
  if (cache.slotTokens && *cache.slotTokens <= kMostContext)
    setup.settings.cacheTokens = within<std::int64_t>(*cache.slotTokens * parts, kMostContext);
  return setup;
}

}  // namespace

SimulatorSetup simulatorSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                              const remote::CacheFacts& cache) {
  if (kind == remote::ServerKind::LlamaCpp) return llamaSetup(slots, cache);
  constexpr std::int64_t kMostBlockSize = std::int64_t{1} << 20U;
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 30U;
  SimulatorSetup setup{.settings = {}, .isAsSaid = cache.blockSize || cache.cacheTokens};
  setup.settings.blockSize = within<std::int32_t>(cache.blockSize, kMostBlockSize);
  setup.settings.cacheTokens = within<std::int64_t>(cache.cacheTokens, kMostTokens);
  if (setup.settings.cacheTokens < setup.settings.blockSize) setup.settings.cacheTokens = 0;
  if (!cache.findsPrefixes.value_or(true)) setup.problem = "the prefix caching of the server is off";
  return setup;
}

std::string simulatorTitle(const simulator::Server& server, const std::string& version) {
  const std::string title = std::string(server.title) + " ";
  if (version.empty() || version == server.version) return title + server.version;
  return title + version + " by the rules of " + server.version;
}

std::optional<ServerSimulators::Sent> ServerSimulators::send(const std::string& server,
                                                             const remote::ServerFacts& facts,
                                                             std::vector<TokenId> prompt) {
  const simulator::Server* const kind = simulator::findServer(remote::infoOf(facts.kind).name);
  if (kind == nullptr || prompt.empty()) return std::nullopt;
  const SimulatorSetup setup = simulatorSetup(facts.kind, facts.slots, facts.cache);
  if (!setup.problem.empty()) return std::nullopt;
  const std::lock_guard lock(m_mutex);
  Known& own = m_simulators[server];
  const bool isAsBefore = own.kind == facts.kind && own.slots == facts.slots && own.cache == facts.cache;
  if (own.simulator == nullptr || !isAsBefore)
    own = {.kind = facts.kind,
           .slots = facts.slots,
           .cache = facts.cache,
           .simulator = kind->open(setup.settings)};
  const std::unique_ptr<simulator::Simulator> now = own.simulator->copy();
  for (const UnderWay& each : own.sent) serve(*now, each);
  UnderWay sent{.number = ++m_last, .prompt = std::move(prompt), .isBeside = !own.sent.empty()};
  const simulator::Answer answer = serve(*now, sent);
  Sent made{.predicted = {.prompt = static_cast<std::int64_t>(sent.prompt.size()),
                          .found = answer.cached,
                          .simulator = simulatorTitle(*kind, facts.version)},
            .number = sent.number};
  own.sent.push_back(std::move(sent));
  return made;
}

void ServerSimulators::end(const std::string& server, std::uint64_t number,
                           std::optional<std::vector<TokenId>> answer) {
  const std::lock_guard lock(m_mutex);
  const auto own = m_simulators.find(server);
  if (own == m_simulators.end()) return;
  std::vector<UnderWay>& sent = own->second.sent;
  const auto ended = std::find_if(sent.begin(), sent.end(),
                                  [number](const UnderWay& each) { return each.number == number; });
  // The server may have restarted with other settings since then.
  if (ended == sent.end()) return;
  if (answer) {
    ended->answer = std::move(*answer);
    ended->hasEnded = true;
  } else {
    // The next prompt is concurrent with the prompts that this prompt was concurrent with.
    if (const auto next = ended + 1; next != sent.end()) next->isBeside = next->isBeside && ended->isBeside;
    sent.erase(ended);
  }
  const auto first =
      std::find_if(sent.begin(), sent.end(), [](const UnderWay& each) { return !each.hasEnded; });
  for (auto each = sent.begin(); each != first; ++each) serve(*own->second.simulator, *each);
  sent.erase(sent.begin(), first);
}

simulator::Answer ServerSimulators::serve(simulator::Simulator& simulator, const UnderWay& sent) {
  return simulator.serve(
      {.prompt = sent.prompt, .answer = sent.answer, .salt = {}, .isBeside = sent.isBeside});
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
