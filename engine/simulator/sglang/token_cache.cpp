// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/sglang/token_cache.h"

#include <queue>

#include <algorithm>
#include <utility>

namespace spanscope::simulator::sglang {

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
    // The end of a run is freed before its beginning. The beginning is therefore allocated next.
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

void TokenCache::traceLookup(const std::string& request, const Running& running) const {
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
  // The next token is sampled from the output of the last prompt token. The last token is therefore always
  // computed.
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
  if (m_observer != nullptr) traceLookup(request, running);
  // With pages, space is freed for one page more than the tokens may need.
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
  // A second insertion of only the prompt splits the node between prompt and answer. The answer can then be
  // evicted without the prompt.
  m_tree.insert(running.realm, std::span(running.tokens).first(running.promptSize));
  // Contents that another request has stored in the meantime are not stored twice.
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
  // Space for a page is freed for every token, as if each token began a page.
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

RadixTree::RadixTree(std::int32_t pageSize) : m_pageSize(static_cast<std::size_t>(pageSize)) {
  clear();
}

void RadixTree::clear() {
  m_nodes.assign(1, Node{});
  m_nodes[0].isUsed = true;
  m_nodes[0].locks = 1;
  m_unused.clear();
  m_evictable = 0;
  m_locked = 0;
}

std::span<const TokenId> RadixTree::wholePages(std::span<const TokenId> tokens) const {
  return tokens.first(tokens.size() / m_pageSize * m_pageSize);
}

RadixTree::ChildKey RadixTree::keyOf(const Realm& realm, std::span<const TokenId> tokens) const {
  const auto page = tokens.first(m_pageSize);
  return {realm, Page(page.begin(), page.end())};
}

std::size_t RadixTree::common(const Node& node, std::span<const TokenId> tokens) const {
  const auto parted = std::mismatch(node.tokens.begin(), node.tokens.end(), tokens.begin(), tokens.end());
  return static_cast<std::size_t>(parted.first - node.tokens.begin()) / m_pageSize * m_pageSize;
}

// `realm` is passed by value. A reference could point into the list of nodes, which moves when the list
// grows.
RadixTree::NodeId RadixTree::make(NodeId parent, Realm realm, std::span<const TokenId> tokens,
                                  std::span<const BlockId> places) {
  NodeId made = m_nodes.size();
  if (m_unused.empty()) {
    m_nodes.emplace_back();
  } else {
    made = m_unused.back();
    m_unused.pop_back();
  }
  Node& node = m_nodes[made];
  node.parent = parent;
  node.realm = std::move(realm);
  node.tokens.assign(tokens.begin(), tokens.end());
  node.places.assign(places.begin(), places.end());
  node.lastUse = ++m_now;
  node.isUsed = true;
  return made;
}

RadixTree::NodeId RadixTree::split(NodeId node, std::size_t tokens) {
  const std::vector<TokenId> all = m_nodes[node].tokens;
  const std::span<const TokenId> run(all);
  const std::vector<BlockId> places = m_nodes[node].places;
  const std::size_t pages = places.empty() ? 0 : tokens / m_pageSize;
  const NodeId parent = m_nodes[node].parent;
  const NodeId upper = make(parent, m_nodes[node].realm, run.first(tokens), std::span(places).first(pages));
  Node& lower = m_nodes[node];
  Node& made = m_nodes[upper];
  made.locks = lower.locks;
  made.children.emplace(keyOf(lower.realm, run.subspan(tokens)), node);
  m_nodes[parent].children[keyOf(lower.realm, run)] = upper;
  lower.parent = upper;
  lower.tokens.erase(lower.tokens.begin(), lower.tokens.begin() + static_cast<std::ptrdiff_t>(tokens));
  lower.places.erase(lower.places.begin(), lower.places.begin() + static_cast<std::ptrdiff_t>(pages));
  return upper;
}

RadixTree::Match RadixTree::match(const Realm& realm, std::span<const TokenId> tokens) {
  std::span<const TokenId> left = wholePages(tokens);
  Match match;
  const std::uint64_t now = ++m_now;
  while (!left.empty()) {
    const auto& children = m_nodes[match.last].children;
    const auto child = children.find(keyOf(realm, left));
    if (child == children.end()) break;
    const NodeId node = child->second;
    m_nodes[node].lastUse = now;
    const std::size_t size = common(m_nodes[node], left);
    match.tokens += size;
    if (size < m_nodes[node].tokens.size()) {
      // Both nodes count as used: the lower node now, the upper node when it was made.
      match.last = split(node, size);
      break;
    }
    match.last = node;
    left = left.subspan(size);
  }
  return match;
}

std::size_t RadixTree::matchedTokens(const Realm& realm, std::span<const TokenId> tokens) const {
  std::span<const TokenId> left = wholePages(tokens);
  std::size_t matched = 0;
  NodeId at = 0;
  while (!left.empty()) {
    const auto& children = m_nodes[at].children;
    const auto child = children.find(keyOf(realm, left));
    if (child == children.end()) break;
    at = child->second;
    const std::size_t size = common(m_nodes[at], left);
    matched += size;
    if (size < m_nodes[at].tokens.size()) break;
    left = left.subspan(size);
  }
  return matched;
}

std::size_t RadixTree::insert(const Realm& realm, std::span<const TokenId> tokens,
                              std::span<const BlockId> places) {
  const std::span<const TokenId> all = wholePages(tokens);
  const Match there = match(realm, all);
  const std::span<const TokenId> left = all.subspan(there.tokens);
  if (!left.empty()) {
    const auto own =
        places.empty() ? places : places.subspan(there.tokens / m_pageSize, left.size() / m_pageSize);
    const NodeId leaf = make(there.last, realm, left, own);
    m_nodes[there.last].children[keyOf(realm, left)] = leaf;
    m_evictable += static_cast<std::int64_t>(left.size());
  }
  return there.tokens;
}

std::vector<BlockId> RadixTree::placesTo(NodeId node) const {
  std::vector<NodeId> path;
  for (; node != 0; node = m_nodes[node].parent) path.push_back(node);
  std::vector<BlockId> places;
  for (auto each = path.rbegin(); each != path.rend(); ++each)
    places.insert(places.end(), m_nodes[*each].places.begin(), m_nodes[*each].places.end());
  return places;
}

std::vector<BlockId> RadixTree::places() const {
  std::vector<BlockId> places;
  for (const Node& node : m_nodes) places.insert(places.end(), node.places.begin(), node.places.end());
  return places;
}

void RadixTree::lock(NodeId node) {
  for (; node != 0; node = m_nodes[node].parent) {
    Node& locked = m_nodes[node];
    if (locked.locks++ > 0) continue;
    m_evictable -= static_cast<std::int64_t>(locked.tokens.size());
    m_locked += static_cast<std::int64_t>(locked.tokens.size());
  }
}

void RadixTree::unlock(NodeId node) {
  for (; node != 0; node = m_nodes[node].parent) {
    Node& locked = m_nodes[node];
    if (--locked.locks > 0) continue;
    m_evictable += static_cast<std::int64_t>(locked.tokens.size());
    m_locked -= static_cast<std::int64_t>(locked.tokens.size());
  }
}

std::vector<RadixTree::Evicted> RadixTree::evict(std::int64_t tokens) {
  using Leaf = std::pair<std::uint64_t, NodeId>;
  std::priority_queue<Leaf, std::vector<Leaf>, std::greater<>> leaves;
  const auto isFree = [this](NodeId node) {
    return m_nodes[node].isUsed && m_nodes[node].locks == 0 && m_nodes[node].children.empty();
  };
  for (NodeId node = 0; node < m_nodes.size(); ++node)
    if (isFree(node)) leaves.emplace(m_nodes[node].lastUse, node);
  std::vector<Evicted> evicted;
  for (std::int64_t sum = 0; sum < tokens && !leaves.empty(); sum += evicted.back().tokens) {
    const NodeId leaf = leaves.top().second;
    leaves.pop();
    Node node = std::exchange(m_nodes[leaf], Node{});
    m_unused.push_back(leaf);
    m_nodes[node.parent].children.erase(keyOf(node.realm, node.tokens));
    if (isFree(node.parent)) leaves.emplace(m_nodes[node.parent].lastUse, node.parent);
    evicted.push_back(
        {.tokens = static_cast<std::int64_t>(node.tokens.size()), .places = std::move(node.places)});
    m_evictable -= evicted.back().tokens;
  }
  return evicted;
}

}  // namespace spanscope::simulator::sglang
