// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/forecast_tiers.h"

#include <utility>

namespace spanscope::run {
namespace {

/// The secret for names of contents in forecasts that have no store.
constexpr std::array<std::uint8_t, 1> kSecret{};

}  // namespace

ForecastTiers::ForecastTiers(std::shared_ptr<cache::SpanStore> store, std::shared_ptr<const TierRates> rates,
                             std::uint32_t slotBytes)
    : m_store(std::move(store)),
      m_rates(std::move(rates)),
      m_ownNaming(kSecret),
      m_usesDisk(m_store->config().usesDisk()),
      m_slotBytes(slotBytes),
      m_host(m_store->hostForecast()) {}

ForecastTiers::ForecastTiers(const cache::SpanStoreConfig& config, std::uint32_t slotBytes)
    : m_ownNaming(kSecret), m_usesDisk(config.usesDisk()), m_slotBytes(slotBytes), m_host(config.hostBytes) {}

ForecastTiers::ForecastTiers(const ForecastTiers& other)
    : m_store(other.m_store),
      m_rates(other.m_rates),
      m_ownNaming(kSecret),
      m_usesDisk(other.m_usesDisk),
      m_slotBytes(other.m_slotBytes),
      m_host(other.m_host.forecast()),
      m_written(other.m_written),
      m_loadedFromHost(other.m_loadedFromHost),
      m_gaveUp(other.m_gaveUp) {}

const cache::ContentNaming& ForecastTiers::naming() const {
  return m_store ? m_store->naming() : m_ownNaming;
}

void ForecastTiers::refresh() {
  if (m_store) m_store->refresh();
}

std::optional<cache::TierHit> ForecastTiers::findOnDisk(const cache::ContentName& name) const {
  using trace::StoreTier;
  if (m_store) {
    if (const auto found = m_store->findOnDisk(name)) {
      if (!isWorthIt(found->tier)) return std::nullopt;
      return cache::TierHit{StoreTier::Disk, found->tokens, found->base};
    }
  }
  const auto written = m_written.find(name);
  // A run may look for the content before or after it is written.
  if (written == m_written.end() || !(isWorthIt(StoreTier::Host) || isWorthIt(StoreTier::Disk)))
    return std::nullopt;
  return written->second;
}

std::optional<cache::TierHit> ForecastTiers::find(const cache::ContentName& name) const {
  const cache::HeldBlock* const held = m_host.find(name);
  if (held == nullptr) return findOnDisk(name);
  if (!isWorthIt(trace::StoreTier::Host)) return std::nullopt;
  return cache::TierHit{trace::StoreTier::Host, held->facts.tokens, held->facts.base};
}

std::optional<cache::StoredBytes> ForecastTiers::fetch(const cache::ContentName& name,
                                                       const cache::ContentName& parent,
                                                       std::int32_t tokens) {
  if (auto held = m_host.fetch(name, parent, tokens, 0)) return held;
  const std::optional<cache::TierHit> hit = findOnDisk(name);
  if (!hit) return std::nullopt;
  return cache::StoredBytes{.facts = {.name = name, .parent = parent, .tokens = tokens, .base = hit->base},
                            .tier = hit->tier,
                            .bytes = {},
                            .holder = {}};
}

std::int64_t ForecastTiers::load(const cache::StoredBytes& bytes, BlockId /*target*/, std::int32_t slots) {
  if (bytes.tier == trace::StoreTier::Host) m_loadedFromHost += slots;
  return 0;
}

void ForecastTiers::putOnDisk(const cache::StoredFacts& facts) {
  if (!m_usesDisk) return;
  m_written.try_emplace(facts.name, cache::TierHit{trace::StoreTier::Disk, facts.tokens, facts.base});
}

std::optional<cache::Spilled> ForecastTiers::spill(const cache::PooledBlock& block) {
  if (m_host.limit() == 0) {
    putOnDisk(block.facts);
    return std::nullopt;
  }
  cache::HeldBlock held;
  held.facts = block.facts;
  held.foretoldSize = static_cast<std::uint64_t>(block.facts.tokens) * m_slotBytes;
  for (const cache::HeldBlock& gone : m_host.put(std::move(held))) {
    m_gaveUp = true;
    putOnDisk(gone.facts);
  }
  return std::nullopt;
}

std::size_t ForecastTiers::keep(
    std::span<const cache::PooledBlock> blocks, const cache::Patience& /*patience*/,
    const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& /*taken*/) {
  for (const cache::PooledBlock& block : blocks) putOnDisk(block.facts);
  return blocks.size();
}

cache::KeptState ForecastTiers::stateOf(const cache::ContentName& name) const {
  if (m_written.contains(name)) return cache::KeptState::Kept;
  return m_store ? m_store->stateOf(name) : cache::KeptState::Lost;
}

std::shared_ptr<cache::BlockTiers> ForecastTiers::forecast() const {
  return std::shared_ptr<ForecastTiers>(new ForecastTiers(*this));
}

cache::BlockTiers::Foresight ForecastTiers::foresight() const {
  const std::int64_t loaded =
      m_loadedFromHost + (m_rates ? m_rates->loadedTokens(trace::StoreTier::Host) : 0);
  return {.isUnread = !m_store && m_usesDisk,
          .mayFind = m_host.count() > 0 || m_usesDisk,
          .gaveUp = m_gaveUp,
          .isHostSure = loaded < TierRates::kFewestTokens};
}

}  // namespace spanscope::run
