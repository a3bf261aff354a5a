// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between the cache and the tiers: whatever keeps keys and values outside of the pool. Each
// call moves bytes between a tier and a block of the pool before it returns. The cache says which content the
// bytes belong to.
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
  std::int64_t base = 0;    ///< base position of the segment that the content was stored for
};

/// A content that stands in a block of the pool.
struct PooledBlock {
  BlockId block = kNullBlock;
  StoredFacts facts;
  std::uint64_t chain = 0;               ///< equal for blocks that were stored for one segment
  std::int32_t place = 0;                ///< place of the block in the chain
  std::span<const TokenId> tokens = {};  ///< valid until the cache changes
};

struct Spilled {
  trace::StoreTier tier = trace::StoreTier::Host;
  std::uint64_t bytes = 0;
};

class BlockTiers {
 public:
  virtual ~BlockTiers() = default;

  /// Makes the names of contents. The reference is valid as long as this object lives.
  virtual const ContentNaming& naming() const = 0;

  /// Notices what other processes have stored and removed.
  virtual void refresh() = 0;
  virtual std::optional<TierHit> find(const ContentName& name) const = 0;
  /// The checked bytes of a content that was found, so that little can go wrong when they are loaded. Nothing
  /// if the bytes are gone or not what they should be; find() should then no longer find the content.
  virtual std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent,
                                           std::int32_t tokens) = 0;
  /// Loads the first `slots` token slots into a block. Returns the nanoseconds that loading took, fetching
  /// included. Throws Failure if the bytes were lost since they were checked; what the block holds then means
  /// nothing.
  virtual std::int64_t load(const StoredBytes& bytes, BlockId target, std::int32_t slots) = 0;

  /// Call this before a block is given to another content. Nothing if no tier takes the content, or a tier
  /// has it already.
  virtual std::optional<Spilled> spill(const PooledBlock& block) = 0;
  /// Copies contents so that they outlive the session, in the given order, until `patience` is over. Returns
  /// how many leading contents were copied or are kept already. Calls `taken` for each content that was
  /// copied.
  virtual std::size_t keep(std::span<const PooledBlock> blocks, const Patience& patience,
                           const std::function<void(const PooledBlock&, const Spilled&)>& taken) = 0;
  /// What became of a content that was given to keep().
  virtual KeptState stateOf(const ContentName& name) const = 0;
  /// Writes everything that keep() has copied. False if not everything was written in time.
  virtual bool finishKeeping(const Patience& patience) = 0;
  /// Drops what only this session has.
  virtual void clear() = 0;

  /// A BlockTiers for predictions: it finds the same contents but moves no bytes. It may outlive this one.
  virtual std::shared_ptr<BlockTiers> forecast() const = 0;

  /// Further facts that a prediction needs; forecast() objects report them.
  struct Foresight {
    bool isUnread = false;  ///< nobody has looked at what is on the disk
    bool mayFind = false;   ///< a tier holds something, or may hold something
    bool gaveUp = false;    ///< host memory was too small, so the forecast dropped a content
    /// Whether a run would load what is found in host memory. A run stops using host memory once its
    /// measurements show that loading takes longer than computing.
    bool isHostSure = true;
  };
  virtual Foresight foresight() const { return {}; }
};

}  // namespace spanscope::cache
