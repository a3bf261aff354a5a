// SPDX-License-Identifier: GPL-3.0-or-later
// Connects the span store to a device: moves contents that the cache gives up or lacks between the tiers of
// the store and the blocks of a pool.
#pragma once

#include "engine/cache/block_tiers.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/backend.h"
#include "engine/run/tier_rates.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

namespace spanscope::run {

class StoreTiers final : public cache::BlockTiers {
 public:
  /// Makes the first words of a block from its tokens; none: they are not known.
  using TextOf = std::function<std::string(std::span<const TokenId>)>;

  /// `backend` and `pool` must outlive this object.
  StoreTiers(std::shared_ptr<cache::SpanStore> store, compute::Backend& backend, compute::KvStore& pool,
             std::string fingerprint, std::string model, TextOf textOf = {});

  const cache::ContentNaming& naming() const override { return m_store->naming(); }
  void refresh() override { m_store->refresh(); }
  std::optional<cache::TierHit> find(const cache::ContentName& name) const override;
  std::optional<cache::StoredBytes> fetch(const cache::ContentName& name, const cache::ContentName& parent,
                                          std::int32_t tokens) override;
  std::int64_t load(const cache::StoredBytes& bytes, BlockId target, std::int32_t slots) override;
  std::optional<cache::Spilled> spill(const cache::PooledBlock& block) override;
  std::size_t keep(
      std::span<const cache::PooledBlock> blocks, const cache::Patience& patience,
      const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& taken) override;
  cache::KeptState stateOf(const cache::ContentName& name) const override { return m_store->stateOf(name); }
  bool finishKeeping(const cache::Patience& patience) override { return m_store->flush(patience); }
  void clear() override { m_store->clearHost({.stop = m_stop}); }
  std::shared_ptr<cache::BlockTiers> forecast() const override;

  /// From now on, a stop ends the wait for room in the store. A content that leaves the pool and finds no
  /// room is then lost.
  void setStop(std::stop_token stop) { m_stop = std::move(stop); }

  /// Decides whether a tier is still searched. Once loading from a tier takes longer than computing, nothing
  /// more is found in that tier.
  const std::shared_ptr<TierRates>& rates() const { return m_rates; }

 private:
  cache::HeldBlock read(const cache::PooledBlock& block) const;

  std::shared_ptr<cache::SpanStore> m_store;
  compute::Backend& m_backend;
  compute::KvStore& m_pool;
  std::shared_ptr<const cache::StoreOwner> m_owner;
  TextOf m_textOf;
  std::stop_token m_stop;
  std::shared_ptr<TierRates> m_rates = std::make_shared<TierRates>();
};

}  // namespace spanscope::run
