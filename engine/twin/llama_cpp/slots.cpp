// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/llama_cpp/slots.h"

#include <algorithm>

namespace spanscope::twin::llama_cpp {
namespace {

constexpr std::int32_t kRoomStep = 256;  // the room of a sequence is a multiple of it
constexpr float kMuch = 0.5F;

std::int32_t roomOf(const ServerSettings& settings) {
  const std::int64_t room = settings.isUnified ? settings.context : settings.context / settings.slots;
  return static_cast<std::int32_t>((room + kRoomStep - 1) / kRoomStep * kRoomStep);
}

/// Tokens behind the first `begin` of `prompt` that are filled with runs of what stands behind them in
/// `held`. The search never goes back in `held`, so runs in another order are lost.
std::size_t movedRuns(std::span<const TokenId> held, std::span<const TokenId> prompt, std::size_t begin,
                      std::size_t least) {
  std::size_t from = begin;
  std::size_t to = begin;
  while (from < held.size() && to < prompt.size()) {
    const std::size_t run = commonBeginning(held.subspan(from), prompt.subspan(to));
    if (run >= least) {
      from += run;
      to += run;
    } else {
      ++from;
    }
  }
  return to - begin;
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
      // A number behind the last slot goes round, but is compared as it was given: then nothing is similar.
      if (request.slot && slot != static_cast<std::size_t>(*request.slot)) continue;
      if (m_slots[slot].tokens.empty()) continue;
      const float share = static_cast<float>(commonBeginning(m_slots[slot].tokens, request.prompt)) / wanted;
      if (share <= best || share <= m_settings.similarity) continue;
      best = share;
      chosen = slot;
    }
    if (chosen) {
      // A slot without tokens has nothing to lose: 0 / 0 is not below any limit.
      const float kept = best * wanted / static_cast<float>(m_slots[*chosen].tokens.size());
      losesMuch = kept < kMuch;
    }
  }
  if (chosen) return *chosen;
  losesMuch = true;
  // The one that was used longest ago; of those that never were, the last.
  std::size_t oldest = 0;
  for (std::size_t slot = 1; slot < m_slots.size(); ++slot)
    if (m_slots[slot].lastUsed <= m_slots[oldest].lastUsed) oldest = slot;
  return oldest;
}

void Slots::saveIdle(std::size_t chosen) {
  if (!m_settings.savesIdle || !m_store) return;
  for (std::size_t slot = 0; slot < m_slots.size(); ++slot) {
    if (slot == chosen) continue;
    if (m_store->save(m_slots[slot].tokens)) m_store->fit();
    // Only where slots share their room does clearing one make room for others.
    if (m_settings.isUnified) m_slots[slot].tokens.clear();
  }
}

void Slots::makeRoom(std::size_t chosen) {
  if (!m_settings.isUnified) return;
  std::size_t used = 0;
  for (const Slot& slot : m_slots) used += slot.tokens.size();
  for (std::size_t slot = 0; slot < m_slots.size() && used > static_cast<std::size_t>(m_slotRoom); ++slot) {
    if (slot == chosen) continue;
    used -= m_slots[slot].tokens.size();
    m_slots[slot].tokens.clear();
  }
}

Completed Slots::complete(const Completion& request) {
  bool losesMuch = false;
  const std::size_t chosen = choose(request, losesMuch);
  Slot& slot = m_slots[chosen];
  if (losesMuch && m_store) {
    m_store->save(slot.tokens);
    // Slots that share their room are cleared only later, so what they hold is in the way.
    std::size_t others = 0;
    for (std::size_t other = 0; m_settings.isUnified && other < m_slots.size(); ++other)
      if (other != chosen) others += m_slots[other].tokens.size();
    const auto room = static_cast<std::size_t>(m_slotRoom);
    m_store->load(slot.tokens, request.prompt, room - std::min(room, others));
    m_store->fit();
  }
  saveIdle(chosen);
  Completed completed{.slot = static_cast<std::int32_t>(chosen)};
  slot.lastUsed = m_now++;
  if (request.prompt.size() >= static_cast<std::size_t>(m_slotRoom)) {
    completed.isRefused = true;
    completed.held = static_cast<std::int32_t>(slot.tokens.size());
    return completed;
  }
  const std::size_t before = slot.tokens.size();
  const std::size_t common = commonBeginning(slot.tokens, request.prompt);
  std::size_t found = 0;
  std::size_t moved = 0;
  if (request.usesCache) {
    found = common;
    const std::int32_t chunk = request.chunk.value_or(m_settings.chunk);
    if (chunk > 0) moved = movedRuns(slot.tokens, request.prompt, found, static_cast<std::size_t>(chunk));
    // The next token is sampled from what comes of the last one, so that one is always computed.
    completed.isKeptWhole = found + moved == request.prompt.size();
    if (completed.isKeptWhole) --(moved > 0 ? moved : found);
  }
  slot.tokens.assign(request.prompt.begin(), request.prompt.end());
  // The last token of the reply is sampled, but not computed any more.
  if (!request.reply.empty())
    slot.tokens.insert(slot.tokens.end(), request.reply.begin(), request.reply.end() - 1);
  makeRoom(chosen);
  completed.found = static_cast<std::int32_t>(found);
  completed.moved = static_cast<std::int32_t>(moved);
  completed.computed = static_cast<std::int32_t>(request.prompt.size() - found - moved);
  completed.before = static_cast<std::int32_t>(before);
  completed.common = static_cast<std::int32_t>(common);
  completed.held = static_cast<std::int32_t>(slot.tokens.size());
  return completed;
}

}  // namespace spanscope::twin::llama_cpp
