// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/span_store.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace spanscope::cache {

namespace {

/// Min size of a pack. A pack is closed after the chain that exceeds this size. There are therefore few
/// files, and blocks that are used together are in one file.
constexpr std::uint64_t kPackBytes = 4ULL << 20;

/// Returns a secret for a store that ends with the process.
std::array<std::uint8_t, 32> randomSecret() {
  std::array<std::uint8_t, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    throw Failure(errorAt("span store", "no random numbers", "random numbers of the system"));
  return secret;
}

/// Returns the name for all blocks of a model in host memory. The returned name replaces the file name of a
/// pack.
std::string hostName(std::string_view fingerprint) {
  return "host-" + hash128(fingerprint).hex();
}

/// Returns null if no disk is used. If another process has the folder's lock, reports a problem and returns
/// null.
std::unique_ptr<DiskStore> openDisk(const SpanStoreConfig& config, std::vector<Error>& problems) {
  if (!config.usesDisk()) return nullptr;
  try {
    return std::make_unique<DiskStore>(DiskStoreConfig{.folder = config.folder,
                                                       .limit = config.diskBytes,
                                                       .opening = config.lockWait,
                                                       .beforeStep = config.beforeStep});
  } catch (const StoreBusy& busy) {
    problems.push_back(busy.error());
    return nullptr;
  }
}

}  // namespace

SpanStore::SpanStore(SpanStoreConfig config)
    : m_config(std::move(config)),
      m_disk(openDisk(m_config, m_problems)),
      m_naming(m_disk ? m_disk->folder().secret() : randomSecret()),
      m_host(m_config.hostBytes) {
  if (m_disk) m_writer = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

SpanStore::~SpanStore() = default;

void SpanStore::refresh() {
  const std::lock_guard lock(m_mutex);
  if (m_disk) m_disk->refresh();
}

std::optional<SpanStore::Found> SpanStore::find(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  const HeldBlock* held = m_host.find(name);
  if (const auto waiting = m_waiting.find(name); held == nullptr && waiting != m_waiting.end())
    held = &waiting->second.block;
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
    const HeldBlock& held = waiting->second.block;
    return Found{trace::StoreTier::Host, held.facts.tokens, held.facts.base, held.size()};
  }
  if (!m_disk) return std::nullopt;
  const std::optional<DiskStore::Found> found = m_disk->find(name);
  if (!found) return std::nullopt;
  return Found{trace::StoreTier::Disk, found->tokens, found->base, found->bytes};
}

HostStore SpanStore::hostPrediction() const {
  const std::lock_guard lock(m_mutex);
  return m_host.prediction();
}

bool SpanStore::isOnDisk(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  return m_disk && (m_disk->has(name) || m_waiting.contains(name));
}

KeptState SpanStore::stateOf(const ContentName& name) const {
  const std::lock_guard lock(m_mutex);
  if (m_waiting.contains(name)) return KeptState::Waiting;
  return m_disk && m_disk->has(name) ? KeptState::Kept : KeptState::Lost;
}

std::optional<StoredBytes> SpanStore::fetch(const ContentName& name, const ContentName& parent,
                                            std::int32_t tokens, std::uint32_t slotBytes) {
  const std::lock_guard lock(m_mutex);
  if (auto held = m_host.fetch(name, parent, tokens, unixMilliseconds())) return held;
  if (const auto waiting = m_waiting.find(name); waiting != m_waiting.end()) {
    const HeldBlock& block = waiting->second.block;
    if (block.facts.parent == parent && block.facts.tokens == tokens)
      return StoredBytes{
          .facts = block.facts, .tier = trace::StoreTier::Host, .bytes = *block.bytes, .holder = block.bytes};
  }
  return m_disk ? m_disk->fetch(name, parent, tokens, slotBytes) : std::nullopt;
}

std::optional<trace::StoreTier> SpanStore::spill(HeldBlock block, const Patience& patience) {
  Lock lock(m_mutex);
  block.storedAt = block.usedAt = unixMilliseconds();
  if (m_host.limit() == 0) {
    if (!await(lock, std::move(block), patience)) return std::nullopt;
    return trace::StoreTier::Disk;
  }
  const ContentName name = block.facts.name;
  if (m_host.find(name) != nullptr) {
    m_host.put(std::move(block));
    return std::nullopt;
  }
  bool isHeld = true;
  bool isAwaited = false;
  for (HeldBlock& gone : m_host.put(std::move(block))) {
    const bool isItself = gone.facts.name == name;  // the block is too large for host memory
    const bool waits = await(lock, std::move(gone), patience);
    if (!isItself) continue;
    isHeld = false;
    isAwaited = waits;
  }
  if (isHeld) return trace::StoreTier::Host;
  if (!isAwaited) return std::nullopt;
  return trace::StoreTier::Disk;
}

bool SpanStore::keep(HeldBlock block, const Patience& patience) {
  Lock lock(m_mutex);
  block.storedAt = block.usedAt = unixMilliseconds();
  const ContentName name = block.facts.name;
  return await(lock, std::move(block), patience) || (m_disk && m_disk->has(name)) || m_waiting.contains(name);
}

/// Adds the block to the queue for the disk. Returns whether the block was added.
bool SpanStore::await(Lock& lock, HeldBlock block, const Patience& patience) {
  if (!m_disk || m_disk->has(block.facts.name) || m_waiting.contains(block.facts.name)) return false;
  const std::uint64_t size = block.bytes->size();
  const auto isRoom = [&] { return m_waiting.empty() || m_waitingBytes + size <= m_config.waitingBytes; };
  if (!isRoom()) {
    // Blocks that are being written free their space when their write is complete.
    if (m_unwrittenBytes == m_waitingBytes) m_isFlushing = true;
    m_changed.notify_all();
    if (!m_changed.wait_for(lock, patience.stop, patience.most, isRoom)) return false;
  }
  const ContentName name = block.facts.name;
  if (!m_waiting.try_emplace(name, Waiting{.block = std::move(block)}).second) return false;
  m_waitingBytes += size;
  m_unwrittenBytes += size;
  m_changed.notify_all();
  return true;
}

void SpanStore::startFlush() {
  const std::lock_guard lock(m_mutex);
  m_isFlushing = m_unwrittenBytes > 0;
  m_changed.notify_all();
}

bool SpanStore::flush(const Patience& patience) {
  Lock lock(m_mutex);
  const std::uint64_t failures = m_failures;
  const auto isDone = [&] {
    // Blocks that arrive during the flush are written too.
    if (m_unwrittenBytes > 0 && !std::exchange(m_isFlushing, true)) m_changed.notify_all();
    return m_waiting.empty();
  };
  return m_changed.wait_for(lock, patience.stop, patience.most, isDone) && m_failures == failures;
}

/// The loop of the writing thread. The loop writes the waiting blocks in batches, so that new blocks get
/// space early.
void SpanStore::work(const std::stop_token& stop) {
  const std::uint64_t batchBytes = m_config.waitingBytes / 4;
  Lock lock(m_mutex);
  while (m_changed.wait(
      lock, stop, [&] { return m_unwrittenBytes > 0 && (m_isFlushing || m_unwrittenBytes >= batchBytes); })) {
    if (stop.stop_requested()) return;
    m_isFlushing = false;
    write(lock, takeBatch(), stop);
  }
}

/// Returns all blocks that are not being written yet, ordered by chain.
std::vector<HeldBlock> SpanStore::takeBatch() {
  std::vector<HeldBlock> blocks;
  for (auto& [name, waiting] : m_waiting) {
    if (!std::exchange(waiting.isBeingWritten, true)) blocks.push_back(waiting.block);
  }
  m_unwrittenBytes = 0;
  std::ranges::sort(blocks, [](const HeldBlock& a, const HeldBlock& b) {
    return std::tie(a.owner->fingerprint, a.chain, a.place, a.facts.name) <
           std::tie(b.owner->fingerprint, b.chain, b.place, b.facts.name);
  });
  return blocks;
}

void SpanStore::write(Lock& lock, std::vector<HeldBlock> blocks, const std::stop_token& stop) {
  const std::uint64_t most = std::clamp(m_disk->limit() / 4, std::uint64_t{1}, SpanStoreConfig::kMostWaiting);
  std::vector<HeldBlock> pack;
  std::uint64_t size = 0;
  const auto writePack = [&] {
    if (pack.empty() || stop.stop_requested()) return;
    writeOne(lock, pack, stop);
    pack.clear();
    size = 0;
  };
  for (HeldBlock& block : blocks) {
    if (!pack.empty()) {
      const HeldBlock& previous = pack.back();
      const bool isOfOther = previous.owner->fingerprint != block.owner->fingerprint;
      const bool isChainEnd = isOfOther || previous.chain != block.chain;
      const std::uint64_t next = size + packBytesOfBlock(block.bytes->size());
      if (isOfOther || (isChainEnd && size >= kPackBytes) || next > most) writePack();
    }
    size += packBytesOfBlock(block.bytes->size());
    // The bytes of the block are freed together with its pack.
    pack.push_back(std::move(block));
  }
  writePack();
}

void SpanStore::writeOne(Lock& lock, const std::vector<HeldBlock>& blocks, const std::stop_token& stop) {
  std::vector<BlockToKeep> kept;
  kept.reserve(blocks.size());
  for (const HeldBlock& block : blocks)
    kept.push_back({.facts = block.facts, .text = block.text, .bytes = block.bytes});
  m_disk->leaveOutKnown(kept);
  if (!kept.empty()) {
    const StoreOwner& owner = *blocks.front().owner;
    // Lookups do not wait for the disk.
    lock.unlock();
    // After one failed wait for the lock, the next packs do not wait. The process with the lock may be
    // suspended.
    const auto lockWait = m_isBusy ? std::chrono::milliseconds(0) : m_config.lockWait.most;
    const WrittenPack written =
        m_disk->writer().write({owner.fingerprint, owner.model, owner.slotBytes, kept}, stop, lockWait);
    lock.lock();
    m_isBusy = written.isBusy;
    if (!m_disk->take(written)) ++m_failures;
  }
  settle(blocks);
}

/// Removes blocks from the queue. These blocks are on the disk now, or their write failed.
void SpanStore::settle(const std::vector<HeldBlock>& blocks) {
  for (const HeldBlock& block : blocks) {
    m_waitingBytes -= block.bytes->size();
    m_waiting.erase(block.facts.name);
  }
  m_changed.notify_all();
}

void SpanStore::clearHost(const Patience& patience) {
  flush(patience);
  const std::lock_guard lock(m_mutex);
  m_host.clear();
  if (m_disk) m_disk->unmapAll();
}

trace::StoreReported SpanStore::report(const std::string& fingerprint) {
  const std::lock_guard lock(m_mutex);
  const std::int64_t time = unixMilliseconds();
  trace::StoreReported report;
  if (m_host.limit() > 0) {
    report.tiers.push_back({.tier = trace::StoreTier::Host,
                            .blocks = m_host.count(),
                            .tokens = m_host.tokens(),
                            .bytes = m_host.bytes(),
                            .limit = m_host.limit()});
    // Host memory keeps single blocks. The report combines the blocks of each model.
    std::map<std::string, trace::StoredPack> byOwner;
    for (const HeldBlock& block : m_host.blocks()) {
      trace::StoredPack& pack = byOwner[block.owner->fingerprint];
      const std::int64_t age = std::max<std::int64_t>(0, time - block.storedAt);
      const std::int64_t unused = std::max<std::int64_t>(0, time - block.usedAt);
      pack.name = hostName(block.owner->fingerprint);
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
  std::ranges::stable_sort(report.packs, [](const auto& a, const auto& b) { return a.unused < b.unused; });
  if (report.packs.size() > trace::kMostPacksReported) report.packs.resize(trace::kMostPacksReported);
  return report;
}

trace::StoreTextsReported SpanStore::packTexts() {
  const std::lock_guard lock(m_mutex);
  trace::StoreTextsReported texts;
  std::map<std::string_view, std::vector<WordedBlock>> byOwner;
  for (const HeldBlock& block : m_host.blocks())
    byOwner[block.owner->fingerprint].push_back({.facts = &block.facts, .text = block.text});
  for (const auto& [fingerprint, blocks] : byOwner) {
    if (texts.packs.size() == trace::kMostPacksReported) break;
    if (std::string text = firstWords(blocks); !text.empty())
      texts.packs.push_back({.name = hostName(fingerprint), .text = std::move(text)});
  }
  if (!m_disk) return texts;
  for (PackSummary& pack : m_disk->list()) {
    if (texts.packs.size() == trace::kMostPacksReported) break;
    if (pack.text.empty()) continue;
    texts.packs.push_back({.name = std::move(pack.name), .text = std::move(pack.text)});
  }
  return texts;
}

std::vector<Error> SpanStore::takeProblems() {
  const std::lock_guard lock(m_mutex);
  std::vector<Error> problems = std::exchange(m_problems, {});
  if (m_disk) {
    for (Error& problem : m_disk->takeProblems()) problems.push_back(std::move(problem));
  }
  return problems;
}

std::uint64_t HostStore::bytesOf(const HeldBlock& block) {
  // Bytes of the nodes of the list and of the table, and of the allocator.
  constexpr std::uint64_t kBesides = sizeof(HeldBlock) + sizeof(ContentName) + 128;
  return block.size() + kBesides;
}

HostStore HostStore::prediction() const {
  HostStore copy(m_limit);
  copy.m_bytes = m_bytes;
  copy.m_tokens = m_tokens;
  for (const HeldBlock& block : m_order) {
    HeldBlock& copied = copy.m_order.emplace_back(block);
    copied.predictionSize = block.size();
    copied.bytes.reset();
    copy.m_blocks.emplace(copied.facts.name, std::prev(copy.m_order.end()));
  }
  return copy;
}

std::vector<HeldBlock> HostStore::put(HeldBlock block) {
  std::vector<HeldBlock> gone;
  const std::uint64_t size = bytesOf(block);
  if (const auto found = m_blocks.find(block.facts.name); found != m_blocks.end()) {
    found->second->usedAt = block.usedAt;
    m_order.splice(m_order.begin(), m_order, found->second);
    return gone;
  }
  if (size > m_limit) {
    gone.push_back(std::move(block));
    return gone;
  }
  while (m_bytes + size > m_limit) {
    HeldBlock& last = m_order.back();
    m_bytes -= bytesOf(last);
    m_tokens -= static_cast<std::uint64_t>(last.facts.tokens);
    m_blocks.erase(last.facts.name);
    gone.push_back(std::move(last));
    m_order.pop_back();
  }
  m_bytes += size;
  m_tokens += static_cast<std::uint64_t>(block.facts.tokens);
  m_order.push_front(std::move(block));
  m_blocks.emplace(m_order.front().facts.name, m_order.begin());
  return gone;
}

const HeldBlock* HostStore::find(const ContentName& name) const {
  const auto found = m_blocks.find(name);
  return found == m_blocks.end() ? nullptr : &*found->second;
}

std::optional<StoredBytes> HostStore::fetch(const ContentName& name, const ContentName& parent,
                                            std::int32_t tokens, std::int64_t now) {
  const auto found = m_blocks.find(name);
  if (found == m_blocks.end()) return std::nullopt;
  HeldBlock& block = *found->second;
  if (block.facts.parent != parent || block.facts.tokens != tokens) return std::nullopt;
  block.usedAt = now;
  m_order.splice(m_order.begin(), m_order, found->second);
  return StoredBytes{
      .facts = block.facts,
      .tier = trace::StoreTier::Host,
      .bytes = block.bytes ? std::span<const std::byte>(*block.bytes) : std::span<const std::byte>(),
      .holder = block.bytes};
}

void HostStore::clear() {
  m_blocks.clear();
  m_order.clear();
  m_bytes = 0;
  m_tokens = 0;
}

}  // namespace spanscope::cache
