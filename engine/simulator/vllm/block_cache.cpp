// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/vllm/block_cache.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace spanscope::simulator::vllm {

namespace {

/// Returns the end of a name. The server publishes the last 64 bits of a name.
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
  // The last token is always computed, because the next token is sampled from its output.
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

void BlockCache::traceLookup(const std::string& request, const BlockChain& chain,
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
  // A hit that is not in use also leaves the free blocks.
  std::int64_t needed = blocksFor(tokens) - static_cast<std::int64_t>(admission.hitBlocks.size());
  for (const BlockId block : admission.hitBlocks)
    if (at(block).users == 0) ++needed;
  if (needed > m_free.size()) {
    admission.isRefused = true;
    admission.hitBlocks.clear();
    if (m_observer != nullptr) m_observer->refused(request);
    return admission;
  }
  if (m_observer != nullptr) traceLookup(request, running.chain, admission.hitBlocks);
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
  // The end of a request is freed before its beginning, because other requests more likely share the
  // beginning.
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
  // The first of these blocks is allocated next, so its event comes last.
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

namespace {

enum class CborKind : std::uint8_t { Unsigned = 0, Negative = 1, Bytes = 2, Text = 3, Array = 4 };

/// Writes the subset of canonical CBOR that block names need.
class CborText {
 public:
  void addHead(CborKind kind, std::uint64_t number) {
    const auto first = static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5U);
    if (number < 24) {
      m_bytes.push_back(static_cast<std::uint8_t>(first | number));
      return;
    }
    const unsigned log = number < 0x100 ? 0 : number < 0x10000 ? 1 : number < 0x100000000 ? 2 : 3;
    m_bytes.push_back(static_cast<std::uint8_t>(first | (24 + log)));
    for (unsigned byte = 1U << log; byte-- > 0;)
      m_bytes.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
  }
  void add(std::int64_t number) {
    if (number < 0) {
      addHead(CborKind::Negative, static_cast<std::uint64_t>(-(number + 1)));
    } else {
      addHead(CborKind::Unsigned, static_cast<std::uint64_t>(number));
    }
  }
  void add(std::string_view text) {
    addHead(CborKind::Text, text.size());
    m_bytes.insert(m_bytes.end(), text.begin(), text.end());
  }
  void add(const BlockName& name) {
    addHead(CborKind::Bytes, name.size());
    m_bytes.insert(m_bytes.end(), name.begin(), name.end());
  }
  void addNull() { m_bytes.push_back(0xf6); }

  BlockName name() const { return sha256(m_bytes); }

 private:
  std::vector<std::uint8_t> m_bytes;
};

void addExtraKeys(CborText& text, const ExtraKeys& extra, std::int64_t begin, std::int64_t end) {
  std::vector<const Medium*> media;
  for (const Medium& medium : extra.media)
    if (medium.begin < end && medium.begin + medium.count > begin) media.push_back(&medium);
  const bool hasSalt = begin == 0 && !extra.salt.empty();
  const std::size_t count = (extra.adapter ? 1U : 0U) + media.size() + (hasSalt ? 1U : 0U);
  if (count == 0) {
    text.addNull();
    return;
  }
  text.addHead(CborKind::Array, count);
  if (extra.adapter) {
    text.addHead(CborKind::Array, 3);
    text.add("lora");
    text.add(extra.adapter->name);
    text.add(extra.adapter->path);
  }
  for (const Medium* medium : media) {
    text.addHead(CborKind::Array, 3);
    text.add("mm");
    text.add(medium->id);
    text.add(medium->begin - begin);
  }
  if (hasSalt) {
    text.addHead(CborKind::Array, 2);
    text.add("cache_salt");
    text.add(extra.salt);
  }
}

}  // namespace

BlockName standardRoot() {
  CborText text;
  text.add("vllm-none-hash");
  return text.name();
}

BlockChain::BlockChain(std::int32_t blockSize, const BlockName& root, ExtraKeys extra,
                       std::vector<TokenId> tokens)
    : m_blockSize(static_cast<std::size_t>(blockSize)),
      m_root(root),
      m_extra(std::move(extra)),
      m_tokens(std::move(tokens)) {
  nameFullBlocks();
}

void BlockChain::append(TokenId token) {
  m_tokens.push_back(token);
  nameFullBlocks();
}

std::span<const TokenId> BlockChain::tokensOf(std::size_t block) const {
  return std::span(m_tokens).subspan(block * m_blockSize, m_blockSize);
}

BlockName blockName(const BlockName& parent, std::span<const TokenId> tokens, const ExtraKeys& extra,
                    std::int64_t begin) {
  CborText text;
  text.addHead(CborKind::Array, 3);
  text.add(parent);
  text.addHead(CborKind::Array, tokens.size());
  for (const TokenId token : tokens) text.add(std::int64_t{token});
  addExtraKeys(text, extra, begin, begin + static_cast<std::int64_t>(tokens.size()));
  return text.name();
}

void BlockChain::nameFullBlocks() {
  while ((m_names.size() + 1) * m_blockSize <= m_tokens.size()) {
    const std::size_t begin = m_names.size() * m_blockSize;
    m_names.push_back(blockName(m_names.empty() ? m_root : m_names.back(), tokensOf(m_names.size()), m_extra,
                                static_cast<std::int64_t>(begin)));
  }
}

std::int64_t BlockQueue::size() const {
  return blanks() + static_cast<std::int64_t>(m_last.size());
}

BlockId BlockQueue::take() {
  if (!m_first.empty()) {
    const BlockId block = m_first.back();
    m_first.pop_back();
    return block;
  }
  if (m_fresh < m_end) return m_fresh++;
  const auto oldest = m_last.begin();
  const BlockId block = oldest->second;
  m_last.erase(oldest);
  m_times.erase(block);
  return block;
}

void BlockQueue::takeOut(BlockId block) {
  const auto time = m_times.find(block);
  m_last.erase(time->second);
  m_times.erase(time);
}

void BlockQueue::giveBackFirst(std::span<const BlockId> blocks) {
  m_first.insert(m_first.end(), blocks.rbegin(), blocks.rend());
}

void BlockQueue::giveBackLast(BlockId block) {
  m_times[block] = m_now;
  m_last.emplace(m_now++, block);
}

}  // namespace spanscope::simulator::vllm
