// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/sglang/token_cache.h"

#include <utility>

namespace spanscope::twin::sglang {
namespace {

trace::BlockKey rootOf(const Realm& realm) {
  return rootKey(realm.key + '\n' + realm.salt);
}

}  // namespace

std::int64_t TokenCache::pagesOf(std::size_t tokens) const {
  const auto size = static_cast<std::size_t>(m_tree.pageSize());
  return static_cast<std::int64_t>((tokens + size - 1) / size * size);
}

void TokenCache::makeRoom(const std::string& request, std::int64_t tokens) {
  if (tokens <= m_free) return;
  for (const RadixTree::Evicted& node : m_tree.evict(tokens - m_free)) {
    m_free += node.tokens;
    m_evicted.push_back(node.tokens);
    // The end of a run goes before its beginning, so the beginning is the next to be taken.
    for (auto place = node.places.rbegin(); place != node.places.rend(); ++place) {
      if (m_observer != nullptr) m_observer->removed(request, *place, trace::RemovalReason::Evicted);
      m_numbers.giveBack(*place);
    }
  }
}

void TokenCache::takePages(const std::string& request, Running& running) {
  const auto pages =
      static_cast<std::size_t>(pagesOf(running.tokens.size())) / static_cast<std::size_t>(m_tree.pageSize());
  while (running.places.size() < pages) {
    const BlockId place = m_numbers.take();
    if (m_observer != nullptr) m_observer->taken(request, place, running.places.size());
    running.places.push_back(place);
  }
}

void TokenCache::tellLookup(const std::string& request, const Running& running) const {
  const auto page = static_cast<std::size_t>(m_tree.pageSize());
  const trace::BlockKey root = rootOf(running.realm);
  const std::vector<trace::BlockKey> keys = chainKeys(root, running.tokens, page);
  m_observer->lookedUp(request, {.prompt = running.tokens,
                                 .keys = keys,
                                 .root = root,
                                 .found = running.places,
                                 .moved = {},
                                 .kept = m_tree.matchedTokens(running.realm, running.tokens) / page});
  for (std::size_t index = 0; index < running.places.size(); ++index)
    m_observer->shared(request, running.places[index], index);
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
    if (m_observer != nullptr) m_observer->refused(request);
    return admission;
  }
  Running running;
  running.realm = std::move(realm);
  running.tokens = std::move(prompt);
  running.promptSize = running.tokens.size();
  running.kept = match.tokens;
  running.node = match.last;
  running.places = m_tree.placesTo(match.last);
  if (m_observer != nullptr) tellLookup(request, running);
  // With pages, room is made for one more than the tokens may need.
  const std::int64_t spare = m_tree.pageSize() > 1 ? m_tree.pageSize() : 0;
  makeRoom(request, static_cast<std::int64_t>(running.promptSize - match.tokens) + spare);
  m_free -= needed;
  takePages(request, running);
  if (m_observer != nullptr) m_observer->admitted(request);
  keep(request, running);
  m_requests.insert_or_assign(request, std::move(running));
  return admission;
}

void TokenCache::keep(const std::string& request, Running& running) {
  const auto page = static_cast<std::size_t>(m_tree.pageSize());
  const std::size_t there = m_tree.insert(running.realm, running.tokens, running.places);
  // A second insertion, of the prompt alone, parts it from the reply: so the reply can go without the prompt.
  m_tree.insert(running.realm, std::span(running.tokens).first(running.promptSize));
  // What another request has kept meanwhile is not kept twice.
  if (there > running.kept) m_free += static_cast<std::int64_t>(there - running.kept);
  const RadixTree::Match match = m_tree.match(running.realm, running.tokens);
  m_tree.unlock(running.node);
  m_tree.lock(match.last);
  const std::vector<BlockId> places = m_tree.placesTo(match.last);
  const trace::BlockKey root = rootOf(running.realm);
  std::vector<trace::BlockKey> keys;
  if (m_observer != nullptr) keys = chainKeys(root, running.tokens, page);
  for (std::size_t index = running.kept / page; index < places.size(); ++index) {
    const BlockId own = std::exchange(running.places[index], places[index]);
    if (own != places[index]) {
      if (m_observer != nullptr) {
        m_observer->released(request, own);
        m_observer->shared(request, places[index], index);
      }
      m_numbers.giveBack(own);
    } else if (m_observer != nullptr && index >= there / page) {
      m_observer->stored(request, own, index, keys[index], index == 0 ? root : keys[index - 1],
                         std::span(running.tokens).subspan(index * page, page));
    }
  }
  running.node = match.last;
  running.kept = match.tokens;
}

void TokenCache::release(const std::string& request, const Running& running) {
  const std::size_t inTree = running.kept / static_cast<std::size_t>(m_tree.pageSize());
  for (std::size_t index = running.places.size(); index-- > 0;) {
    if (m_observer != nullptr) m_observer->released(request, running.places[index]);
    if (index >= inTree) m_numbers.giveBack(running.places[index]);
  }
  m_free += pagesOf(running.tokens.size()) - static_cast<std::int64_t>(running.kept);
  m_tree.unlock(running.node);
}

bool TokenCache::decode(const std::string& request, TokenId token) {
  const auto found = m_requests.find(request);
  Running& running = found->second;
  const auto page = static_cast<std::int64_t>(m_tree.pageSize());
  if (m_observer != nullptr) m_observer->sampled(request, token);
  // Room for a page is made for every token, as if each began one.
  makeRoom(request, page);
  const std::int64_t needed = pagesOf(running.tokens.size() + 1) - pagesOf(running.tokens.size());
  if (needed > m_free) {
    release(request, running);
    m_requests.erase(found);
    return false;
  }
  m_free -= needed;
  running.tokens.push_back(token);
  takePages(request, running);
  return true;
}

void TokenCache::free(const std::string& request) {
  const auto found = m_requests.find(request);
  if (found == m_requests.end()) return;
  keep(request, found->second);
  release(request, found->second);
  m_requests.erase(found);
}

bool TokenCache::reset() {
  if (!m_requests.empty()) return false;
  for (const BlockId place : m_tree.places()) {
    if (m_observer != nullptr) m_observer->removed({}, place, trace::RemovalReason::Cleared);
    m_numbers.giveBack(place);
  }
  m_tree.clear();
  m_free = m_room;
  return true;
}

std::vector<std::int64_t> TokenCache::takeEvicted() {
  return std::exchange(m_evicted, {});
}

}  // namespace spanscope::twin::sglang
