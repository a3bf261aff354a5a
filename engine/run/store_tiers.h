// SPDX-License-Identifier: GPL-3.0-or-later
// Connects the span store to a device: moves contents that the cache gives up or lacks between the tiers of
// the store and the blocks of a pool.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/store/host_store.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/backend.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::run {

// Measures in a session whether loading from a tier takes less time than computing, on this machine with this
// model.

/// Any thread may call any function.
class TierRates {
 public:
  /// Tokens that must have been loaded from a tier, and tokens that must have been computed, before the two
  /// times are compared.
  static constexpr std::int64_t kFewestTokens = 1024;

  void noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds);
  /// Notes a pass that computed rows of prompts. A pass with single rows of replies takes longer a row, so it
  /// says nothing about prompts and is not noted.
  void noteComputed(std::int64_t rows, std::int64_t nanoseconds);

  /// False once loading a token from the tier took longer on average than computing one. It then stays false,
  /// because a tier that is not loaded from is not measured again.
  bool isWorthIt(trace::StoreTier tier) const;

  /// Tokens that were loaded from the tier so far.
  std::int64_t loadedTokens(trace::StoreTier tier) const;

  /// Sentences about what was found since the last call.
  std::vector<std::string> takeVerdicts();

 private:
  struct Sum {
    std::int64_t tokens = 0;
    std::int64_t nanoseconds = 0;
    double each() const { return static_cast<double>(nanoseconds) / static_cast<double>(tokens); }
  };
  struct Tier {
    Sum loaded;
    bool isTooSlow = false;
  };

  void judge(trace::StoreTier which);
  Tier& at(trace::StoreTier tier) { return m_tiers[static_cast<std::size_t>(tier)]; }

  mutable std::mutex m_mutex;
  Sum m_computed;
  std::array<Tier, 2> m_tiers;
  std::vector<std::string> m_verdicts;
};

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

// What stands in a block, in a few words for people.

/// The longest text between control pieces, without the role that a chat template writes before it, in one
/// line of at most 64 bytes, cut at a character. Empty if there is no text.
std::string blockText(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens);

// The tiers of the span store as a rehearsal meets them. The code of the store itself simulates host memory,
// with its limit and its order. Of the disk, only its tables are asked. Nothing is read, written or moved.

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
