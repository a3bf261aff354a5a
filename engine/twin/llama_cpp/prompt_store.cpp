// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/llama_cpp/prompt_store.h"

#include <algorithm>
#include <utility>

namespace spanscope::twin::llama_cpp {
namespace {

constexpr float kLeastKept = 0.25F;

/// In the precision in which the server compares shares.
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
  if (std::any_of(m_states.begin(), m_states.end(), holds)) return false;
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
  // A slot without tokens gives way to anything.
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

}  // namespace spanscope::twin::llama_cpp
