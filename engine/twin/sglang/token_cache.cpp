// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/sglang/token_cache.h"

#include <numeric>
#include <utility>

namespace spanscope::twin::sglang {

std::int64_t TokenCache::pagesOf(std::size_t tokens) const {
  const auto size = static_cast<std::size_t>(m_tree.pageSize());
  return static_cast<std::int64_t>((tokens + size - 1) / size * size);
}

void TokenCache::makeRoom(std::int64_t tokens) {
  if (tokens <= m_free) return;
  const std::vector<std::int64_t> evicted = m_tree.evict(tokens - m_free);
  m_free += std::accumulate(evicted.begin(), evicted.end(), std::int64_t{0});
  m_evicted.insert(m_evicted.end(), evicted.begin(), evicted.end());
}

Admission TokenCache::admit(const std::string& request, std::vector<TokenId> prompt, Realm realm) {
  // The next token is sampled from what comes of the last one, so that one is always computed.
  const RadixTree::Match match = m_tree.match(realm, std::span(prompt).first(prompt.size() - 1));
  m_tree.lock(match.last);
  Admission admission{.cached = static_cast<std::int64_t>(match.tokens)};
  const std::int64_t needed = pagesOf(prompt.size()) - admission.cached;
  if (needed > m_free + m_tree.evictable()) {
    m_tree.unlock(match.last);
    admission.isRefused = true;
    return admission;
  }
  // With pages, room is made for one more than the tokens may need.
  const std::int64_t spare = m_tree.pageSize() > 1 ? m_tree.pageSize() : 0;
  makeRoom(static_cast<std::int64_t>(prompt.size() - match.tokens) + spare);
  m_free -= needed;
  Running running{.realm = std::move(realm), .tokens = std::move(prompt)};
  running.promptSize = running.tokens.size();
  running.kept = match.tokens;
  running.node = match.last;
  keep(running);
  m_requests.insert_or_assign(request, std::move(running));
  return admission;
}

void TokenCache::keep(Running& running) {
  const std::size_t there = m_tree.insert(running.realm, running.tokens);
  // A second insertion, of the prompt alone, parts it from the reply: so the reply can go without the prompt.
  m_tree.insert(running.realm, std::span(running.tokens).first(running.promptSize));
  // What another request has kept meanwhile is not kept twice.
  if (there > running.kept) m_free += static_cast<std::int64_t>(there - running.kept);
  const RadixTree::Match match = m_tree.match(running.realm, running.tokens);
  m_tree.unlock(running.node);
  m_tree.lock(match.last);
  running.node = match.last;
  running.kept = match.tokens;
}

void TokenCache::release(const Running& running) {
  m_free += pagesOf(running.tokens.size()) - static_cast<std::int64_t>(running.kept);
  m_tree.unlock(running.node);
}

bool TokenCache::decode(const std::string& request, TokenId token) {
  const auto found = m_requests.find(request);
  Running& running = found->second;
  const auto page = static_cast<std::int64_t>(m_tree.pageSize());
  // Room for a page is made for every token, as if each began one.
  makeRoom(page);
  const std::int64_t needed = pagesOf(running.tokens.size() + 1) - pagesOf(running.tokens.size());
  if (needed > m_free) {
    release(running);
    m_requests.erase(found);
    return false;
  }
  m_free -= needed;
  running.tokens.push_back(token);
  return true;
}

void TokenCache::free(const std::string& request) {
  const auto found = m_requests.find(request);
  if (found == m_requests.end()) return;
  keep(found->second);
  release(found->second);
  m_requests.erase(found);
}

bool TokenCache::reset() {
  if (!m_requests.empty()) return false;
  m_tree.clear();
  m_free = m_room;
  return true;
}

std::vector<std::int64_t> TokenCache::takeEvicted() {
  return std::exchange(m_evicted, {});
}

}  // namespace spanscope::twin::sglang
