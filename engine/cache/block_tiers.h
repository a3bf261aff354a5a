// SPDX-License-Identifier: GPL-3.0-or-later
// What the cache asks of whoever keeps keys and values outside of the pool. It moves bytes between a tier and
// a block of the pool at once, when it is asked to; the cache says of which content they are.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/patience.h"
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
  std::int64_t base = 0;    ///< base position of the segment it was stored for
};

/// A content of the pool.
struct PooledBlock {
  BlockId block = kNullBlock;
  StoredFacts facts;
  std::uint64_t chain = 0;  ///< equal for blocks that were stored for one segment
  std::int32_t place = 0;   ///< in it
};

struct Spilled {
  trace::StoreTier tier = trace::StoreTier::Host;
  std::uint64_t bytes = 0;
};

class BlockTiers {
 public:
  virtual ~BlockTiers() = default;

  /// How contents are named; as long as this lives.
  virtual const ContentNaming& naming() const = 0;

  /// Takes notice of what others stored and removed.
  virtual void refresh() = 0;
  virtual std::optional<TierHit> find(const ContentName& name) const = 0;
  /// The bytes of what was found, checked, so that little can go wrong when they are loaded. Nothing where
  /// they are not what they should be; then it should not be found any more.
  virtual std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent,
                                           std::int32_t tokens) = 0;
  /// Puts the first slots of it into a block. Returns the nanoseconds that took, fetching included. Throws
  /// Failure, and what the block holds means nothing, where the bytes were lost since they were checked.
  virtual std::int64_t load(const StoredBytes& bytes, BlockId target, std::int32_t slots) = 0;

  /// A block is about to be given to another content. Nothing where no tier takes it, or has it already.
  virtual std::optional<Spilled> spill(const PooledBlock& block) = 0;
  /// Takes copies of these contents, which are to outlive the session. Returns how many of the first were
  /// taken, or are kept already, before the patience was over; `taken` is called with each that was taken.
  virtual std::size_t keep(std::span<const PooledBlock> blocks, const Patience& patience,
                           const std::function<void(const PooledBlock&, const Spilled&)>& taken) = 0;
  /// What became of one.
  virtual KeptState stateOf(const ContentName& name) const = 0;
  /// Has what was taken written. False where not all of it was in time.
  virtual bool finishKeeping(const Patience& patience) = 0;
  /// Gives up what a session alone has.
  virtual void clear() = 0;

  /// One that finds the same but moves nothing, for predictions. It may outlive this one.
  virtual std::shared_ptr<BlockTiers> forecast() const = 0;

  /// What else is asked of such a one.
  struct Foresight {
    bool isUnread = false;  ///< nobody has looked at what is on the disk
    bool mayFind = false;   ///< something is in a tier, or may be
    bool gaveUp = false;    ///< something, for lack of room in host memory
    /// Whether a run has what was found in host memory: it is left alone once loading has taken longer than
    /// computing, which is measured.
    bool isHostSure = true;
  };
  virtual Foresight foresight() const { return {}; }
};

}  // namespace spanscope::cache
