// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/cache_reporter.h"

#include "engine/simulator/servers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace spanscope::gateway {

namespace {

/// Evicted contents are kept up to this number, so that memory does not grow.
constexpr std::size_t kMostRemoved = std::size_t{1} << 17U;

}  // namespace

trace::PoolState CacheReporter::pool() const {
  const auto blocks = static_cast<std::size_t>(m_shape.blocks) + 1;
  trace::PoolState pool{.blockSize = m_shape.blockSize,
                        .blocks = std::vector<trace::BlockState>(blocks),
                        .freeOrder = std::vector<BlockId>(blocks - 1)};
  std::iota(pool.freeOrder.begin(), pool.freeOrder.end(), 1);
  return pool;
}

void CacheReporter::follow(simulator::TracedRequest request, bool isPrompt) {
  m_request = std::move(request);
  m_isPrompt = isPrompt;
  if (m_removed > kMostRemoved) forgetRemoved();
}

std::uint64_t CacheReporter::emit(trace::Payload payload) {
  return m_sink.send(m_request.run, m_request.request, m_request.node, std::move(payload));
}

CacheReporter::Block& CacheReporter::at(BlockId block) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= m_blocks.size()) m_blocks.resize(index + 1);
  return m_blocks[index];
}

void CacheReporter::noteStoredBy(BlockId block, trace::BlockLookedUp& facts) const {
  const Block& own = m_blocks[static_cast<std::size_t>(block)];
  facts.block = block;
  facts.storedByRun = own.storedBy.run;
  facts.storedByRequest = own.storedBy.request;
  facts.storedByNode = own.storedBy.node;
}

void CacheReporter::lookedUp(const std::string& /*request*/, const simulator::PromptLookup& lookup) {
  if (!m_isPrompt) return;
  const auto size = static_cast<std::size_t>(m_shape.blockSize);
  const std::size_t found = lookup.found.size();
  const std::size_t hits = found + lookup.moved.size();
  m_sums = {.promptTokens = static_cast<std::int64_t>(lookup.prompt.size())};
  for (std::size_t i = 0; i * size < lookup.prompt.size(); ++i) {
    trace::BlockLookedUp facts;
    facts.virtualIndex = static_cast<std::int32_t>(i);
    facts.wanted = static_cast<std::int32_t>(std::min(size, lookup.prompt.size() - i * size));
    if (i < hits) {
      noteStoredBy(i < found ? lookup.found[i] : lookup.moved[i - found].block, facts);
      facts.outcome = i < found ? trace::LookupOutcome::Hit : trace::LookupOutcome::Relocated;
      facts.tokens = facts.wanted;
      if (i >= found) {
        const std::int64_t from = lookup.moved[i - found].from;
        facts.storedBase = (from - static_cast<std::int64_t>(i)) * m_shape.blockSize;
        m_sums.relocatedTokens += facts.tokens;
      }
    } else {
      explain(lookup, i, i == hits, facts);
    }
    m_sums.cachedTokens += facts.tokens;
    emit(std::move(facts));
  }
}

void CacheReporter::explain(const simulator::PromptLookup& lookup, std::size_t index, bool isFirst,
                            trace::BlockLookedUp& facts) const {
  using trace::MissReason;
  const bool isFull = index < lookup.keys.size();
  if (!lookup.usesCache || (isFirst && !isFull)) {
    facts.reason = MissReason::CacheOff;
    return;
  }
  const auto content = isFull ? m_contents.find(lookup.keys[index]) : m_contents.end();
  const bool isKnown = content != m_contents.end();
  const bool isStored = isKnown && !content->second.blocks.empty();
  if (isStored) noteStoredBy(content->second.blocks.front(), facts);
  if (isFirst && index < lookup.kept) {
    facts.reason = MissReason::LastToken;
  } else if (isKnown && !isStored) {
    facts.reason = MissReason::Evicted;
    facts.evictedBy = content->second.removedBy;
  } else if (!isFirst) {
    facts.reason = MissReason::AfterMiss;
  } else {
    explainDifference(lookup, index, facts);
  }
}

/// Compares the block with the most similar block that is stored after the same parent.
void CacheReporter::explainDifference(const simulator::PromptLookup& lookup, std::size_t index,
                                      trace::BlockLookedUp& facts) const {
  const auto size = static_cast<std::size_t>(m_shape.blockSize);
  const std::span<const TokenId> tokens = lookup.prompt.subspan(index * size, size);
  const Content* nearest = nullptr;
  std::size_t common = 0;
  if (const auto children = m_children.find(index == 0 ? lookup.root : lookup.keys[index - 1]);
      children != m_children.end()) {
    for (const trace::BlockKey& key : children->second) {
      const Content& content = m_contents.at(key);
      if (content.blocks.empty()) continue;
      const auto parted = std::ranges::mismatch(content.tokens, tokens);
      const auto same = static_cast<std::size_t>(parted.in2 - tokens.begin());
      if (same == size || (nearest != nullptr && same <= common)) continue;
      nearest = &content;
      common = same;
    }
  }
  // At the beginning of a prompt, any other text is a neighbour.
  const bool isNear = index > 0 || common > 0;
  facts.reason = isNear ? trace::MissReason::TokensDiffer : trace::MissReason::NeverSeen;
  if (!isNear) return;
  facts.differsAt = static_cast<std::int32_t>(index * size + common);
  facts.tokenWanted = tokens[common];
  if (nearest == nullptr) return;
  facts.tokenStored = common < nearest->tokens.size() ? nearest->tokens[common] : -1;
  noteStoredBy(nearest->blocks.front(), facts);
}

void CacheReporter::admitted(const std::string& /*request*/) {
  if (m_isPrompt) emit(m_sums);
}

void CacheReporter::refused(const std::string& /*request*/) {
  emit(trace::MessageLogged{.severity = Severity::Warning,
                            .text = simulator::fateSentence(simulator::Fate::TooLittle)});
}

void CacheReporter::shared(const std::string& /*request*/, BlockId block, std::size_t index) {
  const std::int32_t references = ++at(block).references;
  emit(trace::BlockShared{.block = block,
                          .segment = 0,
                          .virtualIndex = static_cast<std::int32_t>(index),
                          .references = references});
}

void CacheReporter::taken(const std::string& /*request*/, BlockId block, std::size_t index) {
  at(block).references = 1;
  emit(trace::BlockAllocated{.block = block, .segment = 0, .virtualIndex = static_cast<std::int32_t>(index)});
}

void CacheReporter::stored(const std::string& /*request*/, BlockId block, std::size_t index,
                           const trace::BlockKey& key, const trace::BlockKey& parent,
                           std::span<const TokenId> tokens) {
  Block& own = at(block);
  if (own.isCached) std::erase(m_contents[own.key].blocks, block);
  own.isCached = true;
  own.key = key;
  own.storedBy = m_request;
  const auto [content, isNew] = m_contents.try_emplace(key);
  if (isNew) {
    content->second.tokens.assign(tokens.begin(), tokens.end());
    m_children[parent].push_back(key);
  }
  content->second.blocks.push_back(block);
  emit(trace::BlockStored{.block = block,
                          .key = key,
                          .parent = parent,
                          .segment = 0,
                          .virtualIndex = static_cast<std::int32_t>(index),
                          .base = 0,
                          .tokens = {tokens.begin(), tokens.end()}});
}

void CacheReporter::removed(const std::string& /*request*/, BlockId block, trace::RemovalReason reason) {
  Block& own = at(block);
  own.isCached = false;
  Content& content = m_contents[own.key];
  std::erase(content.blocks, block);
  m_removed += content.blocks.empty() ? 1 : 0;
  content.removedBy = emit(trace::BlockRemoved{.block = block, .key = own.key, .reason = reason});
}

void CacheReporter::released(const std::string& /*request*/, BlockId block) {
  const std::int32_t references = --at(block).references;
  emit(trace::BlockReleased{.block = block, .references = references});
}

void CacheReporter::savedToHost(const std::string& /*request*/, BlockId block) {
  emit(trace::BlockSpilled{.block = block,
                           .key = at(block).key,
                           .tier = trace::StoreTier::Host,
                           .tokens = m_shape.blockSize,
                           .bytes = 0});
}

void CacheReporter::loadedFromHost(const std::string& /*request*/, BlockId block, std::size_t index,
                                   const trace::BlockKey& key) {
  emit(trace::BlockLoaded{.block = block,
                          .key = key,
                          .tier = trace::StoreTier::Host,
                          .segment = 0,
                          .virtualIndex = static_cast<std::int32_t>(index),
                          .tokens = m_shape.blockSize,
                          .bytes = 0,
                          .nanoseconds = 0});
}

void CacheReporter::forgetRemoved() {
  std::erase_if(m_contents, [](const auto& content) { return content.second.blocks.empty(); });
  for (auto& [parent, keys] : m_children)
    std::erase_if(keys, [this](const trace::BlockKey& key) { return !m_contents.contains(key); });
  std::erase_if(m_children, [](const auto& parent) { return parent.second.empty(); });
  m_removed = 0;
}

}  // namespace spanscope::gateway
