// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/store_tiers.h"

#include "engine/cache/store/pack_file.h"
#include "engine/run/forecast_tiers.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace spanscope::run {
namespace {

std::int64_t nanosecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

StoreTiers::StoreTiers(std::shared_ptr<cache::SpanStore> store, compute::Backend& backend,
                       compute::KvStore& pool, std::string fingerprint, std::string model, TextOf textOf)
    : m_store(std::move(store)),
      m_backend(backend),
      m_pool(pool),
      m_owner(std::make_shared<cache::StoreOwner>(
          cache::StoreOwner{.fingerprint = std::move(fingerprint),
                            .model = std::move(model),
                            .slotBytes = static_cast<std::uint32_t>(compute::slotBytes(pool.shape()))})),
      m_textOf(std::move(textOf)) {}

std::optional<cache::TierHit> StoreTiers::find(const cache::ContentName& name) const {
  const std::optional<cache::SpanStore::Found> found = m_store->find(name);
  if (!found || !m_rates->isWorthIt(found->tier)) return std::nullopt;
  return cache::TierHit{found->tier, found->tokens, found->base};
}

std::optional<cache::StoredBytes> StoreTiers::fetch(const cache::ContentName& name,
                                                    const cache::ContentName& parent, std::int32_t tokens) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<cache::StoredBytes> bytes = m_store->fetch(name, parent, tokens, m_owner->slotBytes);
  if (bytes) bytes->nanoseconds = nanosecondsSince(begin);
  return bytes;
}

std::int64_t StoreTiers::load(const cache::StoredBytes& bytes, BlockId target, std::int32_t slots) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t size = static_cast<std::size_t>(slots) * m_owner->slotBytes;
  const compute::BlockFromHost block{target, slots, bytes.bytes.first(size)};
  m_backend.writeBlocks(std::span(&block, 1), m_pool);
  if (bytes.pack != nullptr) bytes.pack->requireWhole();
  const std::int64_t nanoseconds = bytes.nanoseconds + nanosecondsSince(begin);
  m_rates->noteLoaded(bytes.tier, slots, nanoseconds);
  return nanoseconds;
}

cache::HeldBlock StoreTiers::read(const cache::PooledBlock& block) const {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(block.facts.tokens) *
                                                        m_owner->slotBytes);
  const compute::BlockToHost read{block.block, block.facts.tokens, *bytes};
  m_backend.readBlocks(std::span(&read, 1), m_pool);
  return {.facts = block.facts,
          .owner = m_owner,
          .chain = block.chain,
          .place = block.place,
          .text = m_textOf ? m_textOf(block.tokens) : std::string(),
          .bytes = std::move(bytes)};
}

std::optional<cache::Spilled> StoreTiers::spill(const cache::PooledBlock& block) {
  // If only the disk is in use, a block that lies there already need not be read.
  if (m_store->config().hostBytes == 0 && m_store->isOnDisk(block.facts.name)) return std::nullopt;
  cache::HeldBlock held = read(block);
  const std::uint64_t bytes = held.bytes->size();
  const std::optional<trace::StoreTier> tier = m_store->spill(std::move(held), {.stop = m_stop});
  if (!tier) return std::nullopt;
  return cache::Spilled{*tier, bytes};
}

std::size_t StoreTiers::keep(
    std::span<const cache::PooledBlock> blocks, const cache::Patience& patience,
    const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& taken) {
  if (!m_store->config().usesDisk()) return blocks.size();
  const auto end = std::chrono::steady_clock::now() + patience.most;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (m_store->isOnDisk(blocks[i].facts.name)) continue;
    if (patience.stop.stop_requested()) return i;
    const auto left = std::max(
        std::chrono::milliseconds(0),
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
    cache::HeldBlock held = read(blocks[i]);
    const cache::Spilled spilled{trace::StoreTier::Disk, held.bytes->size()};
    if (!m_store->keep(std::move(held), {.stop = patience.stop, .most = left})) return i;
    taken(blocks[i], spilled);
  }
  m_store->startFlush();
  return blocks.size();
}

std::shared_ptr<cache::BlockTiers> StoreTiers::forecast() const {
  return std::make_shared<ForecastTiers>(m_store, m_rates, m_owner->slotBytes);
}

}  // namespace spanscope::run
