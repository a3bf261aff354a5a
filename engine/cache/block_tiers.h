// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between the cache and the tiers, which store keys and values outside of the pool. Each call
// moves bytes between a tier and a block of the pool before the call returns. The cache identifies the bytes
// by a content name. Open this file to add a tier.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/stored_block.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace spanscope::cache {

struct TierHit {
  trace::StoreTier tier = trace::StoreTier::Host;
  std::int32_t tokens = 0;  ///< token slots of the content
  std::int64_t base = 0;    ///< start position of the segment at the time of storing
};

/// A content in a block of the pool.
struct PooledBlock {
  BlockId block = kNullBlock;
  StoredFacts facts;
  std::uint64_t chain = 0;  ///< number of the chain; the blocks of one stored segment have the same number
  std::int32_t place = 0;   ///< index of the block in the chain
  std::span<const TokenId> tokens = {};  ///< valid until the cache changes
};

struct Spilled {
  trace::StoreTier tier = trace::StoreTier::Host;
  std::uint64_t bytes = 0;
};

class BlockTiers {
 public:
  virtual ~BlockTiers() = default;

  /// Makes the names of contents. The reference is valid as long as this object exists.
  virtual const ContentNaming& naming() const = 0;

  /// Notices contents that other processes have stored and removed.
  virtual void refresh() = 0;
  virtual std::optional<TierHit> find(const ContentName& name) const = 0;
  /// Returns the checked bytes of a hit. Loading these bytes then seldom fails. Returns nothing if the bytes
  /// are lost or damaged. After such a failure, find() should not find the content.
  virtual std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent,
                                           std::int32_t tokens) = 0;
  /// Loads the first `slots` token slots into a block. Returns the nanoseconds of loading, including
  /// fetching. Throws Failure if the bytes were lost after the check. The content of the block is then
  /// undefined.
  virtual std::int64_t load(const StoredBytes& bytes, BlockId target, std::int32_t slots) = 0;

  /// Offers a content to the tiers. Call this before its block gets another content. Returns nothing if no
  /// tier takes the content, or if a tier already has the content.
  virtual std::optional<Spilled> spill(const PooledBlock& block) = 0;
  /// Copies contents to a tier that outlives the session, in the given order, as long as `patience` allows.
  /// Calls `taken` for each copied content. Returns the number of leading contents that are now in that tier.
  virtual std::size_t keep(std::span<const PooledBlock> blocks, const Patience& patience,
                           const std::function<void(const PooledBlock&, const Spilled&)>& taken) = 0;
  /// Returns the state of a content that was given to keep().
  virtual KeptState stateOf(const ContentName& name) const = 0;
  /// Writes all contents that keep() has copied. Returns false if a content was not written in time.
  virtual bool finishKeeping(const Patience& patience) = 0;
  /// Drops the contents that belong only to this session.
  virtual void clear() = 0;

  /// Returns a BlockTiers for predictions. The returned object finds the same contents but moves no bytes.
  /// The returned object may outlive this object.
  virtual std::shared_ptr<BlockTiers> prediction() const = 0;

  /// Additional facts for a prediction. Only objects made by prediction() report these facts.
  struct PredictionFacts {
    bool isUnread = false;  ///< the disk has not been searched
    bool mayFind = false;   ///< a tier has contents or may have contents
    bool gaveUp = false;    ///< Host memory was too small, so the prediction dropped a content.
    /// True if a run would load the hits in host memory. A run stops using host memory when its measurements
    /// show that loading takes longer than computing.
    bool isHostSure = true;
  };
  virtual PredictionFacts predictionFacts() const { return {}; }
};

}  // namespace spanscope::cache
