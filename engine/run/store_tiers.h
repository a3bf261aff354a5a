// SPDX-License-Identifier: GPL-3.0-or-later
// Connects the span store to a device. Moves contents between the tiers of the store and the blocks of a
// pool. Open this file when a tier is slow or skipped.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_tiers.h"
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

// Measures whether loading from a tier is faster than computing, on this machine with this model.

/// Any thread may call any function.
class TierRates {
 public:
  /// Min number of tokens that were loaded from a tier, and that were computed, before the two times are
  /// compared.
  static constexpr std::int64_t kFewestTokens = 1024;

  void noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds);
  /// Notes a forward pass that computed rows of prompts. A forward pass with single rows of answers is slower
  /// per row. Do not note such a forward pass.
  void noteComputed(std::int64_t rows, std::int64_t nanoseconds);

  /// Returns false after loading a token from the tier took longer on average than computing a token. The
  /// result then stays false, because a tier that is not used is not measured.
  bool isWorthIt(trace::StoreTier tier) const;

  /// Returns the number of tokens that were loaded from the tier so far.
  std::int64_t loadedTokens(trace::StoreTier tier) const;

  /// Returns sentences about the measurements since the last call.
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
  /// Returns the first words of a block from its tokens. Without this function, the words are unknown.
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
  std::shared_ptr<cache::BlockTiers> prediction() const override;

  /// From now on, `stop` ends the wait for space in the store. A content that leaves the pool and finds no
  /// space is then lost.
  void setStop(std::stop_token stop) { m_stop = std::move(stop); }

  /// Returns the measurements that decide whether a tier is still searched. A tier gives no more hits after
  /// loading from the tier took longer than computing.
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

// The text of a block, in a few words for the user.

/// Returns the longest text between control pieces, without the role that a chat template writes before it.
/// The text has one line of at most 64 bytes, and ends with a whole character. Empty if there is no text.
std::string blockText(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens);

// The tiers of the span store in a prediction. The store's own code simulates host memory, with its limit and
// its order. For the disk, only the tables are read. No content is read, written or moved.

class PredictionTiers final : public cache::BlockTiers {
 public:
  /// The tiers of a session: a copy of its host memory, and the disk as it is at each lookup. `slotBytes` is
  /// the number of bytes of one token.
  PredictionTiers(std::shared_ptr<cache::SpanStore> store, std::shared_ptr<const TierRates> rates,
                  std::uint32_t slotBytes);
  /// The tiers of a session that has not begun: host memory is empty, and the disk is not searched.
  PredictionTiers(const cache::SpanStoreConfig& config, std::uint32_t slotBytes);

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
  /// A content that this prediction put on the disk counts as written.
  cache::KeptState stateOf(const cache::ContentName& name) const override;
  bool finishKeeping(const cache::Patience& /*patience*/) override { return true; }
  void clear() override { m_host.clear(); }
  std::shared_ptr<cache::BlockTiers> prediction() const override;
  PredictionFacts predictionFacts() const override;

 private:
  PredictionTiers(const PredictionTiers& other);

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
      m_written;                      ///< contents that this prediction wrote to the disk
  std::int64_t m_loadedFromHost = 0;  ///< tokens
  bool m_gaveUp = false;
};

}  // namespace spanscope::run
