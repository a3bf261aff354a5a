// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/span_store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace spanscope::cache {
namespace {

/// Most bytes that wait to be written.
constexpr std::uint64_t kMostWaiting = 64ULL << 20;
/// A pack ends with the chain that makes it so long: files are few, and what is used together goes together.
constexpr std::uint64_t kPackBytes = 4ULL << 20;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Names of a store that ends with the process.
std::array<std::uint8_t, 32> randomSecret() {
  std::array<std::uint8_t, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    throw Failure(errorAt("span store", "no random numbers", "those of the system"));
  return secret;
}

}  // namespace

SpanStore::SpanStore(SpanStoreConfig config)
    : m_config(std::move(config)),
      m_disk(m_config.usesDisk()
                 ? std::optional<DiskStore>(std::in_place, DiskStoreConfig{.folder = m_config.folder,
                                                                           .limit = m_config.diskBytes,
                                                                           .beforeStep = m_config.beforeStep})
                 : std::nullopt),
      m_naming(m_disk ? m_disk->folder().secret() : randomSecret()),
      m_host(m_config.hostBytes) {}

void SpanStore::refresh() {
  const std::lock_guard lock(m_mutex);
  if (m_disk) m_disk->refresh();
}

std::optional<SpanStore::Found> SpanStore::find(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  const HeldBlock* held = m_host.find(name);
  if (const auto waiting = m_waiting.find(name); held == nullptr && waiting != m_waiting.end())
    held = &waiting->second;
  if (held != nullptr)
    return Found{trace::StoreTier::Host, held->facts.tokens, held->facts.base, held->bytes->size()};
  if (!m_disk) return std::nullopt;
  const std::optional<DiskStore::Found> found = m_disk->find(name);
  if (!found) return std::nullopt;
  return Found{trace::StoreTier::Disk, found->tokens, found->base, found->bytes};
}

std::optional<SpanStore::Found> SpanStore::findOnDisk(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  if (const auto waiting = m_waiting.find(name); waiting != m_waiting.end()) {
    const HeldBlock& held = waiting->second;
    return Found{trace::StoreTier::Host, held.facts.tokens, held.facts.base, held.size()};
  }
  if (!m_disk) return std::nullopt;
  const std::optional<DiskStore::Found> found = m_disk->find(name);
  if (!found) return std::nullopt;
  return Found{trace::StoreTier::Disk, found->tokens, found->base, found->bytes};
}

HostStore SpanStore::hostForecast() const {
  const std::lock_guard lock(m_mutex);
  return m_host.forecast();
}

bool SpanStore::isOnDisk(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  return m_disk && (m_disk->has(name) || m_waiting.contains(name));
}

std::optional<StoredBytes> SpanStore::fetch(const ContentName& name, const ContentName& parent,
                                            std::int32_t tokens, std::uint32_t slotBytes) {
  const std::lock_guard lock(m_mutex);
  if (auto held = m_host.fetch(name, parent, tokens, now())) return held;
  if (const auto waiting = m_waiting.find(name); waiting != m_waiting.end()) {
    const HeldBlock& block = waiting->second;
    if (block.facts.parent == parent && block.facts.tokens == tokens)
      return StoredBytes{
          .facts = block.facts, .tier = trace::StoreTier::Host, .bytes = *block.bytes, .holder = block.bytes};
  }
  return m_disk ? m_disk->fetch(name, parent, tokens, slotBytes) : std::nullopt;
}

std::optional<trace::StoreTier> SpanStore::spill(HeldBlock block) {
  const std::lock_guard lock(m_mutex);
  block.storedAt = block.usedAt = now();
  const ContentName name = block.facts.name;
  if (m_host.limit() > 0) {
    const bool isThere = m_host.find(name) != nullptr;
    for (HeldBlock& gone : m_host.put(std::move(block))) await(std::move(gone));
    if (isThere) return std::nullopt;
    if (m_host.find(name) != nullptr) return trace::StoreTier::Host;
  } else {
    await(std::move(block));
  }
  if (!m_waiting.contains(name)) return std::nullopt;
  return trace::StoreTier::Disk;
}

void SpanStore::keep(HeldBlock block) {
  const std::lock_guard lock(m_mutex);
  block.storedAt = block.usedAt = now();
  await(std::move(block));
}

void SpanStore::await(HeldBlock block) {
  if (!m_disk || m_disk->has(block.facts.name)) return;
  const std::uint64_t size = block.bytes->size();
  const ContentName name = block.facts.name;
  if (!m_waiting.emplace(name, std::move(block)).second) return;
  m_waitingBytes += size;
  if (m_waitingBytes >= kMostWaiting) flushLocked();
}

bool SpanStore::flush() {
  const std::lock_guard lock(m_mutex);
  return flushLocked();
}

bool SpanStore::flushLocked() {
  if (!m_disk || m_waiting.empty()) return true;
  std::vector<HeldBlock> blocks;
  blocks.reserve(m_waiting.size());
  for (auto& [name, block] : m_waiting) blocks.push_back(std::move(block));
  m_waiting.clear();
  m_waitingBytes = 0;
  std::sort(blocks.begin(), blocks.end(), [](const HeldBlock& a, const HeldBlock& b) {
    return std::tie(a.owner->fingerprint, a.chain, a.place, a.facts.name) <
           std::tie(b.owner->fingerprint, b.chain, b.place, b.facts.name);
  });
  const std::uint64_t most = std::clamp(m_disk->limit() / 4, std::uint64_t{1}, kMostWaiting);
  bool isWritten = true;
  std::vector<BlockToKeep> pack;
  std::uint64_t size = 0;
  const auto write = [&](const StoreOwner& owner) {
    if (pack.empty()) return;
    isWritten =
        m_disk->put(owner.fingerprint, owner.model, owner.slotBytes, std::exchange(pack, {})) && isWritten;
    size = 0;
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const HeldBlock& block = blocks[i];
    if (i > 0) {
      const HeldBlock& previous = blocks[i - 1];
      const bool isOfOther = previous.owner->fingerprint != block.owner->fingerprint;
      const bool isChainEnd = isOfOther || previous.chain != block.chain;
      const std::uint64_t next = size + packBytesOfBlock(block.bytes->size());
      if (isOfOther || (isChainEnd && size >= kPackBytes) || next > most) write(*previous.owner);
    }
    pack.push_back({.facts = block.facts, .bytes = block.bytes});
    size += packBytesOfBlock(block.bytes->size());
  }
  if (!blocks.empty()) write(*blocks.back().owner);
  return isWritten;
}

void SpanStore::clearHost() {
  const std::lock_guard lock(m_mutex);
  flushLocked();
  m_host.clear();
  if (m_disk) m_disk->unmapAll();
}

trace::StoreReported SpanStore::report(const std::string& fingerprint) {
  const std::lock_guard lock(m_mutex);
  const std::int64_t time = now();
  trace::StoreReported report;
  if (m_host.limit() > 0) {
    report.tiers.push_back({.tier = trace::StoreTier::Host,
                            .blocks = m_host.count(),
                            .tokens = m_host.tokens(),
                            .bytes = m_host.bytes(),
                            .limit = m_host.limit()});
    // Blocks of host memory go one by one; told of together they are those of a model.
    std::map<std::string, trace::StoredPack> byOwner;
    for (const HeldBlock& block : m_host.blocks()) {
      trace::StoredPack& pack = byOwner[block.owner->fingerprint];
      const std::int64_t age = std::max<std::int64_t>(0, time - block.storedAt);
      const std::int64_t unused = std::max<std::int64_t>(0, time - block.usedAt);
      pack.model = block.owner->model;
      pack.ofThisModel = block.owner->fingerprint == fingerprint;
      pack.age = std::max(pack.age, age);
      pack.unused = pack.blocks == 0 ? unused : std::min(pack.unused, unused);
      ++pack.blocks;
      pack.tokens += static_cast<std::uint64_t>(block.facts.tokens);
      pack.bytes += HostStore::bytesOf(block);
    }
    for (auto& [owner, pack] : byOwner) report.packs.push_back(std::move(pack));
  }
  if (m_disk) {
    m_disk->refresh();
    report.tiers.push_back({.tier = trace::StoreTier::Disk,
                            .blocks = m_disk->blocks(),
                            .tokens = m_disk->tokens(),
                            .bytes = m_disk->bytes(),
                            .limit = m_disk->limit()});
    for (const PackSummary& pack : m_disk->list()) {
      if (pack.fault != PackFault::None) continue;
      report.packs.push_back({.tier = trace::StoreTier::Disk,
                              .name = pack.name,
                              .model = pack.model,
                              .ofThisModel = pack.fingerprint == fingerprint,
                              .blocks = pack.blocks,
                              .tokens = pack.tokens,
                              .bytes = pack.bytes,
                              .age = std::max<std::int64_t>(0, time - pack.storedAt),
                              .unused = std::max<std::int64_t>(0, time - pack.usedAt)});
    }
  }
  std::stable_sort(report.packs.begin(), report.packs.end(),
                   [](const auto& a, const auto& b) { return a.unused < b.unused; });
  if (report.packs.size() > trace::kMostPacksReported) report.packs.resize(trace::kMostPacksReported);
  return report;
}

std::vector<Error> SpanStore::takeProblems() {
  const std::lock_guard lock(m_mutex);
  return m_disk ? m_disk->takeProblems() : std::vector<Error>{};
}

}  // namespace spanscope::cache
