// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/llama_cpp/slots.h"

#include <algorithm>
#include <utility>

namespace spanscope::simulator::llama_cpp {

namespace {

constexpr std::int32_t kRoomStep = 256;  // the space of a sequence is a multiple of this number of tokens
constexpr float kMuch = 0.5F;

std::int32_t roomOf(const ServerSettings& settings) {
  const std::int64_t room = settings.isUnified ? settings.context : settings.context / settings.slots;
  return static_cast<std::int32_t>((room + kRoomStep - 1) / kRoomStep * kRoomStep);
}

trace::BlockKey llamaRoot() {
  return rootKey("llama.cpp");
}

/// Finds runs of `prompt` in `held`, after the first `begin` tokens of both lists. Returns the indices of
/// these tokens in `held`. The search never goes back in `held`, so the search does not find runs in another
/// order.
std::vector<std::size_t> movedRuns(std::span<const TokenId> held, std::span<const TokenId> prompt,
                                   std::size_t begin, std::size_t least) {
  std::vector<std::size_t> places;
  std::size_t from = begin;
  std::size_t to = begin;
  while (from < held.size() && to < prompt.size()) {
    const std::size_t run = commonBeginning(held.subspan(from), prompt.subspan(to));
    if (run >= least) {
      for (std::size_t token = 0; token < run; ++token) places.push_back(from + token);
      from += run;
      to += run;
    } else {
      ++from;
    }
  }
  return places;
}

}  // namespace

Slots::Slots(const ServerSettings& settings)
    : m_settings(settings), m_slotRoom(roomOf(settings)), m_slots(static_cast<std::size_t>(settings.slots)) {
  if (settings.hostMebibytes == 0) return;
  const std::uint64_t most =
      settings.hostMebibytes < 0 ? 0 : static_cast<std::uint64_t>(settings.hostMebibytes) << 20U;
  const auto room = static_cast<std::uint64_t>(m_slotRoom);
  m_store.emplace(most, settings.isUnified ? room : room * m_slots.size(), settings.stateSize);
}

std::size_t Slots::choose(const Completion& request, bool& losesMuch) const {
  std::optional<std::size_t> chosen;
  if (request.slot) chosen = static_cast<std::size_t>(*request.slot) % m_slots.size();
  losesMuch = false;
  if (m_settings.similarity != 0.0F) {
    const auto wanted = static_cast<float>(request.prompt.size());
    float best = 0;
    for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
      // The server wraps a slot number that is too large, but compares the number before wrapping. No slot
      // then counts as similar.
      if (request.slot && slot != static_cast<std::size_t>(*request.slot)) continue;
      if (m_slots[slot].tokens.empty() || m_slots[slot].isBusy) continue;
      const float share = static_cast<float>(commonBeginning(m_slots[slot].tokens, request.prompt)) / wanted;
      if (share <= best || share <= m_settings.similarity) continue;
      best = share;
      chosen = slot;
    }
    if (chosen) {
      // An empty slot loses no tokens. The share 0 / 0 of such a slot is not below any limit.
      const float kept = best * wanted / static_cast<float>(m_slots[*chosen].tokens.size());
      losesMuch = kept < kMuch;
    }
  }
  if (chosen) return *chosen;
  losesMuch = true;
  // The least recently used slot. If several slots were never used, the last of these slots.
  std::optional<std::size_t> oldest;
  for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
    if (m_slots[slot].isBusy) continue;
    if (!oldest || m_slots[slot].lastUsed <= m_slots[*oldest].lastUsed) oldest = slot;
  }
  return *oldest;
}

CacheShape Slots::shape() const {
  const auto parts = m_settings.isUnified ? std::int64_t{1} : std::int64_t{m_settings.slots};
  return {.blockSize = 1, .blocks = parts * m_slotRoom};
}

std::vector<const Tokens*> Slots::kept() const {
  std::vector<const Tokens*> kept;
  for (const Slot& slot : m_slots) kept.push_back(&slot.tokens);
  if (!m_store) return kept;
  for (const Tokens& state : m_store->states()) kept.push_back(&state);
  return kept;
}

void Slots::drop(BlockId cell, const std::string& request) {
  if (m_observer != nullptr) m_observer->removed(request, cell, trace::RemovalReason::Evicted);
  m_numbers.giveBack(cell);
}

void Slots::clear(Slot& slot, const std::string& request) {
  for (auto cell = slot.cells.rbegin(); cell != slot.cells.rend(); ++cell) drop(*cell, request);
  slot.cells.clear();
  slot.tokens.clear();
}

bool Slots::save(const Slot& slot, const std::string& request) {
  if (!m_store->save(slot.tokens)) return false;
  for (const BlockId cell : slot.cells)
    if (m_observer != nullptr) m_observer->savedToHost(request, cell);
  return true;
}

void Slots::load(Slot& slot, const Completion& request, std::size_t room) {
  Slot old;
  std::swap(old.cells, slot.cells);
  if (!m_store->load(slot.tokens, request.prompt, room)) {
    std::swap(old.cells, slot.cells);
    return;
  }
  clear(old, request.name);
  const std::vector<trace::BlockKey> keys =
      m_observer == nullptr ? std::vector<trace::BlockKey>() : chainKeys(llamaRoot(), slot.tokens, 1);
  const std::size_t common = commonBeginning(slot.tokens, request.prompt);
  for (std::size_t token = 0; token < slot.tokens.size(); ++token) {
    const BlockId cell = m_numbers.take();
    slot.cells.push_back(cell);
    if (m_observer == nullptr) continue;
    // A token that differs from the prompt has no index in the prompt.
    const std::string owner = token < common ? request.name : std::string();
    m_observer->taken(owner, cell, token);
    if (token < common) m_observer->loadedFromHost(owner, cell, token, keys[token]);
    m_observer->stored(owner, cell, token, keys[token], token == 0 ? llamaRoot() : keys[token - 1],
                       std::span(slot.tokens).subspan(token, 1));
    m_observer->released(owner, cell);
  }
}

void Slots::saveIdle(std::size_t chosen, const std::string& request) {
  if (!m_settings.savesIdle || !m_store) return;
  for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
    if (slot == chosen || m_slots[slot].isBusy) continue;
    if (save(m_slots[slot], request)) m_store->fit();
    // Clearing a slot frees space for other slots only if slots share their space.
    if (m_settings.isUnified) clear(m_slots[slot], request);
  }
}

void Slots::makeRoom(std::size_t chosen, const std::string& request) {
  if (!m_settings.isUnified) return;
  std::size_t used = 0;
  for (const Slot& slot : m_slots) used += slot.tokens.size();
  for (std::size_t slot = 0; slot < m_slots.size() && used > static_cast<std::size_t>(m_slotRoom); ++slot) {
    if (slot == chosen || m_slots[slot].isBusy) continue;
    used -= m_slots[slot].tokens.size();
    clear(m_slots[slot], request);
  }
}

void Slots::fill(std::size_t chosen, const Completion& request, std::size_t found,
                 const std::vector<std::size_t>& moved, bool isKeptWhole) {
  Slot& slot = m_slots[chosen];
  const std::vector<BlockId> before = std::move(slot.cells);
  std::vector<BlockId> cells(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(found));
  std::vector<bool> isUsed(before.size());
  std::fill_n(isUsed.begin(), found, true);
  PromptLookup lookup{.prompt = request.prompt,
                      .keys = {},
                      .root = llamaRoot(),
                      .found = cells,
                      .moved = {},
                      .kept = found + moved.size() + (isKeptWhole ? 1 : 0),
                      .usesCache = request.usesCache};
  for (const std::size_t from : moved) {
    lookup.moved.push_back({.block = before[from], .from = static_cast<std::int32_t>(from)});
    cells.push_back(before[from]);
    isUsed[from] = true;
  }
  const std::string& name = request.name;
  const std::vector<trace::BlockKey> keys =
      m_observer == nullptr ? std::vector<trace::BlockKey>() : chainKeys(llamaRoot(), slot.tokens, 1);
  const auto traceStored = [&](std::size_t token) {
    m_observer->stored(name, cells[token], token, keys[token], token == 0 ? llamaRoot() : keys[token - 1],
                       std::span(slot.tokens).subspan(token, 1));
  };
  if (m_observer != nullptr) {
    lookup.keys = std::span(keys).first(request.prompt.size());
    m_observer->lookedUp(name, lookup);
    for (std::size_t token = 0; token < cells.size(); ++token) m_observer->shared(name, cells[token], token);
  }
  for (std::size_t token = before.size(); token-- > 0;)
    if (!isUsed[token]) drop(before[token], name);
  makeRoom(chosen, name);
  const auto take = [&] {
    cells.push_back(m_numbers.take());
    if (m_observer != nullptr) m_observer->taken(name, cells.back(), cells.size() - 1);
  };
  while (cells.size() < request.prompt.size()) take();
  if (m_observer != nullptr) {
    m_observer->admitted(name);
    for (std::size_t token = found; token < cells.size(); ++token) traceStored(token);
  }
  for (const TokenId sampled : request.answer) {
    if (m_observer != nullptr) m_observer->sampled(name, sampled);
    if (cells.size() == slot.tokens.size()) break;
    take();
    if (m_observer != nullptr) traceStored(cells.size() - 1);
  }
  for (std::size_t token = cells.size(); m_observer != nullptr && token-- > 0;)
    m_observer->released(name, cells[token]);
  slot.cells = std::move(cells);
}

void Slots::freeSlots(const Completion& request) {
  if (!request.times) {
    const bool waits = request.slot || std::ranges::all_of(m_slots, &Slot::isBusy);
    if (!request.isBeside || waits)
      for (Slot& slot : m_slots) slot.isBusy = false;
    return;
  }
  const auto freeUntil = [this](std::int64_t time) {
    for (Slot& slot : m_slots) slot.isBusy = slot.isBusy && slot.end > time;
  };
  freeUntil(request.times->arrival);
  if (request.slot) {
    if (const Slot& slot = m_slots[static_cast<std::size_t>(*request.slot) % m_slots.size()]; slot.isBusy)
      freeUntil(slot.end);
  } else if (std::ranges::all_of(m_slots, &Slot::isBusy)) {
    freeUntil(std::ranges::min_element(m_slots, {}, &Slot::end)->end);
  }
}

Completed Slots::complete(const Completion& request) {
  freeSlots(request);
  bool losesMuch = false;
  const std::size_t chosen = choose(request, losesMuch);
  Slot& slot = m_slots[chosen];
  slot.isBusy = true;
  slot.end = request.times ? request.times->end : 0;
  if (losesMuch && m_store) {
    save(slot, request.name);
    // Slots with shared space are cleared later. Until then, their contents need space.
    std::size_t others = 0;
    for (std::size_t other = 0; m_settings.isUnified && other < m_slots.size(); ++other)
      if (other != chosen) others += m_slots[other].tokens.size();
    const auto room = static_cast<std::size_t>(m_slotRoom);
    load(slot, request, room - std::min(room, others));
    m_store->fit();
  }
  saveIdle(chosen, request.name);
  Completed completed{.slot = static_cast<std::int32_t>(chosen)};
  slot.lastUsed = m_now++;
  if (request.prompt.size() >= static_cast<std::size_t>(m_slotRoom)) {
    completed.isRefused = true;
    completed.held = static_cast<std::int32_t>(slot.tokens.size());
    if (m_observer != nullptr) m_observer->refused(request.name);
    return completed;
  }
  const std::size_t before = slot.tokens.size();
  const std::size_t common = commonBeginning(slot.tokens, request.prompt);
  std::size_t found = 0;
  std::vector<std::size_t> moved;
  if (request.usesCache) {
    found = common;
    const std::int32_t chunk = request.chunk.value_or(m_settings.chunk);
    if (chunk > 0) moved = movedRuns(slot.tokens, request.prompt, found, static_cast<std::size_t>(chunk));
    // The next token is sampled from the output of the last prompt token. The last token is therefore always
    // computed.
    completed.isKeptWhole = found + moved.size() == request.prompt.size();
    if (completed.isKeptWhole && !moved.empty()) {
      moved.pop_back();
    } else if (completed.isKeptWhole) {
      --found;
    }
  }
  slot.tokens.assign(request.prompt.begin(), request.prompt.end());
  // The last token of the answer is sampled, but not computed.
  if (!request.answer.empty())
    slot.tokens.insert(slot.tokens.end(), request.answer.begin(), request.answer.end() - 1);
  fill(chosen, request, found, moved, completed.isKeptWhole);
  completed.found = static_cast<std::int32_t>(found);
  completed.moved = static_cast<std::int32_t>(moved.size());
  completed.computed = static_cast<std::int32_t>(request.prompt.size() - found - moved.size());
  completed.before = static_cast<std::int32_t>(before);
  completed.common = static_cast<std::int32_t>(common);
  completed.held = static_cast<std::int32_t>(slot.tokens.size());
  return completed;
}

namespace {

constexpr float kLeastKept = 0.25F;

/// Returns a share with the precision of the server's comparisons.
float shareOf(std::size_t part, std::size_t whole) {
  return static_cast<float>(part) / static_cast<float>(whole);
}

}  // namespace

std::size_t commonBeginning(std::span<const TokenId> one, std::span<const TokenId> other) {
  const auto end = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<std::size_t>(end.first - one.begin());
}

std::uint64_t PromptStore::bytesOf(const Tokens& tokens) const {
  return m_size.fixed + tokens.size() * m_size.perToken;
}

std::uint64_t PromptStore::bytes() const {
  std::uint64_t sum = 0;
  for (const Tokens& state : m_states) sum += bytesOf(state);
  return sum;
}

std::uint64_t PromptStore::tokens() const {
  std::uint64_t sum = 0;
  for (const Tokens& state : m_states) sum += state.size();
  return sum;
}

bool PromptStore::save(const Tokens& tokens) {
  if (tokens.empty()) return false;
  const auto holds = [&tokens](const Tokens& state) {
    return commonBeginning(state, tokens) == tokens.size();
  };
  if (std::ranges::any_of(m_states, holds)) return false;
  if (m_mostBytes > 0 && bytesOf(tokens) > m_mostBytes) return false;
  m_states.remove_if(
      [&tokens](const Tokens& state) { return commonBeginning(state, tokens) == state.size(); });
  if (m_mostBytes > 0) {
    while (!m_states.empty() && bytes() + bytesOf(tokens) > m_mostBytes) m_states.pop_front();
  }
  m_states.push_back(tokens);
  return true;
}

bool PromptStore::load(Tokens& tokens, std::span<const TokenId> wanted, std::size_t room) {
  const std::size_t common = commonBeginning(tokens, wanted);
  // A slot without tokens is always cleared first.
  float bestKept = tokens.empty() ? -1.0F : shareOf(common, tokens.size());
  float bestFound = shareOf(common, wanted.size());
  auto best = m_states.end();
  for (auto state = m_states.begin(); state != m_states.end(); ++state) {
    const std::size_t beginning = commonBeginning(*state, wanted);
    const float kept = shareOf(beginning, state->size());
    const float found = shareOf(beginning, wanted.size());
    if (kept < kLeastKept || kept <= bestKept || found <= bestFound) continue;
    bestKept = kept;
    bestFound = found;
    best = state;
  }
  if (best == m_states.end()) return false;
  if (best->size() > room) {
    tokens.clear();
    return true;
  }
  tokens = std::move(*best);
  m_states.erase(best);
  return true;
}

void PromptStore::fit() {
  if (m_mostBytes > 0) {
    while (!m_states.empty() && bytes() > m_mostBytes) m_states.pop_front();
  }
  std::uint64_t most = m_mostTokens;
  if (m_mostBytes > 0) {
    const float perToken = std::max(
        1.0F, static_cast<float>(bytes()) / static_cast<float>(std::max<std::uint64_t>(1, tokens())));
    most = std::max(most, static_cast<std::uint64_t>(static_cast<float>(m_mostBytes) / perToken));
  }
  if (m_mostTokens == 0) return;
  while (!m_states.empty() && tokens() > most) m_states.pop_front();
}

}  // namespace spanscope::simulator::llama_cpp
