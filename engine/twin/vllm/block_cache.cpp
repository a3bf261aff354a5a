// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/vllm/block_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace spanscope::twin::vllm {
namespace {

/// The end of a name, whose last 64 bits are what the server publishes.
trace::BlockKey keyOf(const BlockName& name) {
  trace::BlockKey key;
  for (std::size_t byte = name.size() - 16; byte < name.size() - 8; ++byte)
    key.high = key.high << 8U | name[byte];
  for (std::size_t byte = name.size() - 8; byte < name.size(); ++byte) key.low = key.low << 8U | name[byte];
  return key;
}

}  // namespace

std::size_t BlockCache::NameHash::operator()(const BlockName& name) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, name.data(), sizeof hash);
  return hash;
}

BlockCache::BlockCache(std::int32_t blockSize, BlockId blockCount, const BlockName& root)
    : m_blockSize(blockSize), m_blockCount(blockCount), m_root(root), m_free(blockCount) {}

std::int64_t BlockCache::blocksFor(std::size_t tokens) const {
  const auto size = static_cast<std::size_t>(m_blockSize);
  return static_cast<std::int64_t>((tokens + size - 1) / size);
}

std::vector<BlockId> BlockCache::findPrefix(const BlockChain& chain) const {
  // The last token is always computed, because the next one is sampled from what comes of it.
  const std::size_t most = (chain.tokens().size() - 1) / static_cast<std::size_t>(m_blockSize);
  std::vector<BlockId> found;
  for (const BlockName& name : chain.names()) {
    if (found.size() == most) break;
    const auto blocks = m_byName.find(name);
    if (blocks == m_byName.end()) break;
    found.push_back(blocks->second.front());
  }
  return found;
}

BlockCache::Block& BlockCache::at(BlockId block) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= m_blocks.size()) m_blocks.resize(index + 1);
  return m_blocks[index];
}

trace::BlockKey BlockCache::parentKey(const BlockChain& chain, std::size_t block) const {
  return keyOf(block == 0 ? m_root : chain.names()[block - 1]);
}

void BlockCache::tellLookup(const std::string& request, const BlockChain& chain,
                            const std::vector<BlockId>& found) const {
  std::vector<trace::BlockKey> keys;
  keys.reserve(chain.names().size());
  for (const BlockName& name : chain.names()) keys.push_back(keyOf(name));
  std::size_t kept = found.size();
  while (kept < chain.names().size() && knows(chain.names()[kept])) ++kept;
  m_observer->lookedUp(request, {.prompt = chain.tokens(),
                                 .keys = keys,
                                 .root = keyOf(m_root),
                                 .found = found,
                                 .moved = {},
                                 .kept = kept});
}

std::vector<BlockId> BlockCache::grow(const std::string& request, Running& running, std::size_t tokens) {
  std::vector<BlockId> taken;
  for (auto left = blocksFor(tokens) - static_cast<std::int64_t>(running.blocks.size()); left > 0; --left)
    taken.push_back(m_free.take());
  for (const BlockId number : taken) {
    Block& block = at(number);
    block.users = 1;
    if (block.name) {
      const auto named = m_byName.find(*block.name);
      std::erase(named->second, number);
      if (named->second.empty()) m_byName.erase(named);
      m_events.emplace_back(Removed{*block.name});
      block.name.reset();
      if (m_observer != nullptr) m_observer->removed(request, number, trace::RemovalReason::Evicted);
    }
    if (m_observer != nullptr) m_observer->taken(request, number, running.blocks.size());
    running.blocks.push_back(number);
  }
  return taken;
}

void BlockCache::storeFullBlocks(const std::string& request, Running& running) {
  const BlockChain& chain = running.chain;
  if (running.stored >= chain.names().size()) return;
  Stored event;
  if (running.stored > 0) event.parent = chain.names()[running.stored - 1];
  for (; running.stored < chain.names().size(); ++running.stored) {
    const BlockName& name = chain.names()[running.stored];
    const BlockId block = running.blocks[running.stored];
    at(block).name = name;
    m_byName[name].push_back(block);
    event.names.push_back(name);
    const auto tokens = chain.tokensOf(running.stored);
    event.tokens.insert(event.tokens.end(), tokens.begin(), tokens.end());
    if (m_observer != nullptr) {
      m_observer->stored(request, block, running.stored, keyOf(name), parentKey(chain, running.stored),
                         tokens);
    }
  }
  m_events.emplace_back(std::move(event));
}

Admission BlockCache::admit(const std::string& request, std::vector<TokenId> prompt, ExtraKeys extra) {
  Running running{.chain = BlockChain(m_blockSize, m_root, std::move(extra), std::move(prompt)),
                  .blocks = {}};
  const std::size_t tokens = running.chain.tokens().size();
  Admission admission;
  admission.hitBlocks = findPrefix(running.chain);
  admission.cached = static_cast<std::int64_t>(admission.hitBlocks.size()) * m_blockSize;
  // What is found but not in use leaves the free blocks as well.
  std::int64_t needed = blocksFor(tokens) - static_cast<std::int64_t>(admission.hitBlocks.size());
  for (const BlockId block : admission.hitBlocks)
    if (at(block).users == 0) ++needed;
  if (needed > m_free.size()) {
    admission.isRefused = true;
    admission.hitBlocks.clear();
    if (m_observer != nullptr) m_observer->refused(request);
    return admission;
  }
  if (m_observer != nullptr) tellLookup(request, running.chain, admission.hitBlocks);
  for (std::size_t index = 0; index < admission.hitBlocks.size(); ++index) {
    const BlockId number = admission.hitBlocks[index];
    Block& block = at(number);
    if (block.users++ == 0) m_free.takeOut(number);
    if (m_observer != nullptr) m_observer->shared(request, number, index);
  }
  running.blocks = admission.hitBlocks;
  running.stored = running.blocks.size();
  admission.newBlocks = grow(request, running, tokens);
  if (m_observer != nullptr) m_observer->admitted(request);
  storeFullBlocks(request, running);
  m_requests.insert_or_assign(request, std::move(running));
  return admission;
}

std::optional<std::vector<BlockId>> BlockCache::decode(const std::string& request, TokenId token) {
  Running& running = m_requests.at(request);
  running.chain.append(token);
  if (m_observer != nullptr) m_observer->sampled(request, token);
  const std::size_t tokens = running.chain.tokens().size();
  if (blocksFor(tokens) - static_cast<std::int64_t>(running.blocks.size()) > m_free.size()) {
    free(request);
    return std::nullopt;
  }
  std::vector<BlockId> taken = grow(request, running, tokens);
  storeFullBlocks(request, running);
  return taken;
}

void BlockCache::free(const std::string& request) {
  const auto found = m_requests.find(request);
  if (found == m_requests.end()) return;
  // The end of a request is given up before its beginning, which others are more likely to share.
  std::vector<BlockId> nameless;
  const std::vector<BlockId>& blocks = found->second.blocks;
  for (auto number = blocks.rbegin(); number != blocks.rend(); ++number) {
    Block& block = at(*number);
    if (--block.users > 0) {
      if (m_observer != nullptr) m_observer->released(request, *number);
      continue;
    }
    if (block.name) {
      m_free.giveBackLast(*number);
      if (m_observer != nullptr) m_observer->released(request, *number);
    } else {
      nameless.push_back(*number);
    }
  }
  m_free.giveBackFirst(nameless);
  // The first of them is the next to be taken, so it is the last to be told.
  for (auto number = nameless.rbegin(); m_observer != nullptr && number != nameless.rend(); ++number)
    m_observer->released(request, *number);
  m_requests.erase(found);
}

bool BlockCache::reset() {
  if (m_free.size() != m_blockCount - 1) return false;
  for (std::size_t number = 0; number < m_blocks.size(); ++number) {
    if (!m_blocks[number].name) continue;
    m_blocks[number].name.reset();
    if (m_observer != nullptr)
      m_observer->removed({}, static_cast<BlockId>(number), trace::RemovalReason::Cleared);
  }
  m_byName.clear();
  m_events.emplace_back(Cleared{});
  return true;
}

const std::vector<BlockName>& BlockCache::names(const std::string& request) const {
  return m_requests.at(request).chain.names();
}

std::vector<CacheEvent> BlockCache::takeEvents() {
  return std::exchange(m_events, {});
}

}  // namespace spanscope::twin::vllm
