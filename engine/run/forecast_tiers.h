// SPDX-License-Identifier: GPL-3.0-or-later
// The tiers of the span store as a rehearsal meets them. The code of the store itself simulates host memory,
// with its limit and its order. Of the disk, only its tables are asked. Nothing is read, written or moved.
#pragma once

#include "engine/cache/block_tiers.h"
#include "engine/cache/store/host_store.h"
#include "engine/cache/store/span_store.h"
#include "engine/run/tier_rates.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace spanscope::run {

class ForecastTiers final : public cache::BlockTiers {
 public:
  /// The tiers of a session: host memory as it is now, the disk as it is whenever it is asked. `slotBytes`:
  /// bytes of one token.
  ForecastTiers(std::shared_ptr<cache::SpanStore> store, std::shared_ptr<const TierRates> rates,
                std::uint32_t slotBytes);
  /// The tiers of a session that has not begun: host memory is empty, and nobody looks at the disk.
  ForecastTiers(const cache::SpanStoreConfig& config, std::uint32_t slotBytes);

  const cache::ContentNaming& naming() const override;
  void refresh() override;
  std::optional<cache::TierHit> find(const cache::ContentName& name) const override;
  std::optional<cache::StoredBytes> fetch(const cache::ContentName& name, const cache::ContentName& parent,
                                          std::int32_t tokens) override;
  std::int64_t load(const cache::StoredBytes& bytes, BlockId target, std::int32_t slots) override;
  std::optional<cache::Spilled> spill(const cache::PooledBlock& block) override;
  std::size_t keep(
      std::span<const cache::PooledBlock> blocks, const cache::Patience& patience,
      const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& taken) override;
  /// A content that this forecast put on the disk counts as written there.
  cache::KeptState stateOf(const cache::ContentName& name) const override;
  bool finishKeeping(const cache::Patience& /*patience*/) override { return true; }
  void clear() override { m_host.clear(); }
  std::shared_ptr<cache::BlockTiers> forecast() const override;
  Foresight foresight() const override;

 private:
  ForecastTiers(const ForecastTiers& other);

  bool isWorthIt(trace::StoreTier tier) const { return !m_rates || m_rates->isWorthIt(tier); }
  /// A content that waits in memory to be written counts as on the disk.
  std::optional<cache::TierHit> findOnDisk(const cache::ContentName& name) const;
  void putOnDisk(const cache::StoredFacts& facts);

  std::shared_ptr<cache::SpanStore> m_store;  ///< null if the session has not begun
  std::shared_ptr<const TierRates> m_rates;   ///< null if the session has not begun
  cache::ContentNaming m_ownNaming;           ///< used if there is no store
  bool m_usesDisk;
  std::uint32_t m_slotBytes;
  cache::HostStore m_host;
  std::unordered_map<cache::ContentName, cache::TierHit, cache::ContentNameHasher>
      m_written;                      ///< contents that this forecast wrote to the disk
  std::int64_t m_loadedFromHost = 0;  ///< tokens
  bool m_gaveUp = false;
};

}  // namespace spanscope::run
