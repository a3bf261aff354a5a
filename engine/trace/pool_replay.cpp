// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/pool_replay.h"

#include "engine/base/counted.h"
#include "engine/trace/memory_bytes.h"

#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::trace {

namespace {

std::string blockPlace(std::int64_t block) {
  return "block " + std::to_string(block);
}

}  // namespace

std::optional<Error> PoolReplay::check(const PoolState& state) {
  constexpr auto kMostBlocks = static_cast<std::size_t>(std::numeric_limits<BlockId>::max());
  if (state.blockSize < 1) {
    return errorAt("pool", /*id:block-size*/ "a block size of " + std::to_string(state.blockSize),
                   "at least 1");
  }
  if (state.blocks.size() > kMostBlocks) {
    return errorAt("pool", std::to_string(state.blocks.size()) + " blocks",
                   "at most " + std::to_string(kMostBlocks));
  }
  std::size_t unreferenced = 0;
  for (std::size_t i = 0; i < state.blocks.size(); ++i) {
    const BlockState& block = state.blocks[i];
    const auto place = [i] { return blockPlace(static_cast<std::int64_t>(i)); };
    if (block.references < 0) {
      return errorAt(place(), std::to_string(block.references) + " references", "at least 0");
    }
    if (block.fill < 0 || block.fill > state.blockSize) {
      return errorAt(place(), "a fill of " + std::to_string(block.fill),
                     "0 to " + std::to_string(state.blockSize));
    }
    if (static_cast<std::size_t>(block.fill) != block.tokens.size()) {
      return errorAt(
          place(), counted(block.tokens.size(), "token"),
          std::to_string(block.fill) + /*id:fill-of-block*/ ", the number of filled slots of the block");
    }
    if (i == 0 && (block.cached || block.references != 0)) {
      return errorAt(place(), /*id:null-block-use*/ "a null block in use",
                     /*id:nobody-refers-finds*/ "a null block without references and content");
    }
    if (i != 0 && block.references == 0) ++unreferenced;
  }
  if (state.freeOrder.size() != unreferenced) {
    return errorAt("free list", counted(state.freeOrder.size(), "block"),
                   std::to_string(unreferenced) +
                       /*id:blocks-nobody-refers*/ ", the number of blocks without references");
  }
  std::vector<bool> seen(state.blocks.size(), false);
  for (const BlockId id : state.freeOrder) {
    if (id < 1 || static_cast<std::size_t>(id) >= state.blocks.size()) {
      return errorAt("free list", blockPlace(id), /*id:block-pool-pool-replay*/ "a block of the pool");
    }
    const auto index = static_cast<std::size_t>(id);
    if (seen[index]) return errorAt("free list", blockPlace(id) + " twice", "each block once");
    if (state.blocks[index].references != 0) {
      return errorAt("free list", blockPlace(id) + /*id:which-is-referred*/ ", which has references",
                     /*id:blocks-nobody-refers-pool-replay*/ "blocks without references");
    }
    seen[index] = true;
  }
  return std::nullopt;
}

PoolReplay::PoolReplay(PoolState state) {
  if (std::optional<Error> error = check(state)) throw Failure(std::move(*error));
  m_blockSize = state.blockSize;
  m_blocks = SharedVector<BlockState>(std::move(state.blocks));
  rebuildLists(state.freeOrder);
  for (const BlockState& block : m_blocks) m_cachedCount += block.cached ? 1 : 0;
}

void PoolReplay::rebuildLists(const std::vector<BlockId>& freeOrder) {
  std::vector<BlockId> next(m_blocks.size(), kNullBlock);
  std::vector<BlockId> previous(m_blocks.size(), kNullBlock);
  BlockId last = kNullBlock;
  for (const BlockId id : freeOrder) {
    next[static_cast<std::size_t>(last)] = id;
    previous[static_cast<std::size_t>(id)] = last;
    last = id;
  }
  if (!previous.empty()) previous[0] = last;
  m_next = SharedVector<BlockId>(std::move(next));
  m_previous = SharedVector<BlockId>(std::move(previous));
  m_freeCount = freeOrder.size();
}

void PoolReplay::leaveFreeList(BlockId block) {
  const auto index = static_cast<std::size_t>(block);
  const BlockId next = m_next[index];
  const BlockId previous = m_previous[index];
  m_next.edit(static_cast<std::size_t>(previous)) = next;
  m_previous.edit(static_cast<std::size_t>(next)) = previous;
  --m_freeCount;
}

void PoolReplay::joinFreeList(BlockId block, bool atFront) {
  const auto index = static_cast<std::size_t>(block);
  const BlockId previous = atFront ? kNullBlock : m_previous[0];
  const BlockId next = m_next[static_cast<std::size_t>(previous)];
  m_previous.edit(index) = previous;
  m_next.edit(index) = next;
  m_next.edit(static_cast<std::size_t>(previous)) = block;
  m_previous.edit(static_cast<std::size_t>(next)) = block;
  ++m_freeCount;
}

void PoolReplay::forget(std::size_t index) {
  if (!m_blocks[index].cached) return;
  --m_cachedCount;
  BlockState& block = m_blocks.edit(index);
  const std::int32_t references = block.references;
  block = BlockState{};
  block.references = references;
}

std::vector<BlockId> PoolReplay::freeOrder() const {
  std::vector<BlockId> order;
  order.reserve(m_freeCount);
  if (m_blocks.empty()) return order;
  for (BlockId id = m_next[0]; id != kNullBlock; id = m_next[static_cast<std::size_t>(id)])
    order.push_back(id);
  return order;
}

PoolState PoolReplay::state() const {
  return PoolState{m_blockSize, m_blocks.values(), freeOrder()};
}

/// Has one function per payload that changes the pool. The last function accepts all other payloads.
struct PoolReplay::Applier {
  PoolReplay& pool;
  const Event& event;

  using Result = std::optional<Error>;

  Result outOfRange(BlockId block) const {
    if (block >= 1 && static_cast<std::size_t>(block) < pool.m_blocks.size()) return std::nullopt;
    if (pool.m_blocks.empty())
      return errorAt("block", std::to_string(block), "no block, because the trace has no pool");
    return errorAt("block", std::to_string(block), "1 to " + std::to_string(pool.m_blocks.size() - 1));
  }
  const BlockState& at(BlockId block) const { return pool.m_blocks[static_cast<std::size_t>(block)]; }
  BlockState& edit(BlockId block) const { return pool.m_blocks.edit(static_cast<std::size_t>(block)); }

  Result replace(const PoolState& state) const {
    if (Result error = check(state)) return error;
    pool = PoolReplay(state);
    return std::nullopt;
  }
  Result operator()(const SessionStarted& payload) const { return replace(payload.pool); }
  Result operator()(const Snapshot& payload) const { return replace(payload.pool); }

  Result operator()(const BlockAllocated& payload) const {
    if (Result error = outOfRange(payload.block)) return error;
    const BlockState& block = at(payload.block);
    if (block.references != 0) {
      return errorAt(blockPlace(payload.block), "allocated with " + counted(block.references, "reference"),
                     "a free block");
    }
    if (block.cached) {
      return errorAt(blockPlace(payload.block),
                     /*id:allocated-while-lookups*/ "an allocated block with stored content",
                     /*id:block-without-content*/ "a block without content");
    }
    edit(payload.block).references = 1;
    pool.leaveFreeList(payload.block);
    return std::nullopt;
  }
  Result operator()(const BlockShared& payload) const {
    if (Result error = outOfRange(payload.block)) return error;
    const BlockState& block = at(payload.block);
    if (payload.references != std::int64_t{block.references} + 1) {
      return errorAt(blockPlace(payload.block), "shared: " + counted(payload.references, "reference"),
                     std::to_string(std::int64_t{block.references} + 1));
    }
    if (block.references == 0) pool.leaveFreeList(payload.block);
    edit(payload.block).references = payload.references;
    return std::nullopt;
  }
  Result operator()(const BlockStored& payload) const {
    if (Result error = outOfRange(payload.block)) return error;
    if (payload.tokens.empty() || payload.tokens.size() > static_cast<std::size_t>(pool.m_blockSize)) {
      return errorAt(blockPlace(payload.block),
                     "stored with " + std::to_string(payload.tokens.size()) + " tokens",
                     "1 to " + std::to_string(pool.m_blockSize));
    }
    BlockState& block = edit(payload.block);
    if (!block.cached) ++pool.m_cachedCount;
    block.cached = true;
    block.key = payload.key;
    block.parent = payload.parent;
    block.fill = static_cast<std::int32_t>(payload.tokens.size());
    block.base = payload.base;
    block.virtualIndex = payload.virtualIndex;
    block.storedByRun = event.run;
    block.storedByRequest = event.request;
    block.storedByNode = event.node;
    block.tokens = payload.tokens;
    return std::nullopt;
  }
  Result operator()(const BlockRemoved& payload) const {
    if (Result error = outOfRange(payload.block)) return error;
    const BlockState& block = at(payload.block);
    if (!block.cached) {
      return errorAt(blockPlace(payload.block),
                     /*id:removed-though-lookups*/ "a removed block without stored content",
                     /*id:block-with-content*/ "a block with stored content");
    }
    if (block.key != payload.key) {
      return errorAt(blockPlace(payload.block),
                     /*id:removed-under-another*/ "a removed block with another key",
                     /*id:key-stored-under*/ "the key of the stored content");
    }
    pool.forget(static_cast<std::size_t>(payload.block));
    return std::nullopt;
  }
  Result operator()(const BlockCopied& payload) const {
    if (Result error = outOfRange(payload.source)) return error;
    if (Result error = outOfRange(payload.target)) return error;
    if (payload.slots < 0 || payload.slots > pool.m_blockSize) {
      return errorAt(blockPlace(payload.target), std::to_string(payload.slots) + " slots copied",
                     "0 to " + std::to_string(pool.m_blockSize));
    }
    return std::nullopt;
  }
  Result operator()(const BlockReleased& payload) const {
    if (Result error = outOfRange(payload.block)) return error;
    const BlockState& block = at(payload.block);
    if (block.references == 0) {
      return errorAt(blockPlace(payload.block),
                     /*id:released-though-nobody*/ "released without references",
                     /*id:block-use*/ "a block in use");
    }
    if (payload.references != block.references - 1) {
      return errorAt(blockPlace(payload.block), "released: " + counted(payload.references, "reference"),
                     std::to_string(block.references - 1));
    }
    edit(payload.block).references = payload.references;
    if (payload.references == 0) pool.joinFreeList(payload.block, !at(payload.block).cached);
    return std::nullopt;
  }
  Result operator()(const CacheCleared&) const {
    if (pool.m_blocks.empty()) return std::nullopt;
    if (pool.m_freeCount + 1 != pool.m_blocks.size()) {
      return errorAt("pool", /*id:cleared-while-blocks*/ "a cleared pool with blocks in use",
                     /*id:nobody-referring-block*/ "a pool without blocks in use");
    }
    for (std::size_t i = 0; i < pool.m_blocks.size(); ++i) pool.forget(i);
    std::vector<BlockId> order(pool.m_blocks.size() - 1);
    std::iota(order.begin(), order.end(), 1);
    pool.rebuildLists(order);
    return std::nullopt;
  }

  template <class Other>
  Result operator()(const Other&) const {
    return std::nullopt;
  }
};

std::optional<Error> PoolReplay::apply(const Event& event) {
  return std::visit(Applier{*this, event}, event.payload);
}

std::uint64_t PoolReplay::bytesBeside(const PoolReplay& before) const {
  std::uint64_t bytes = 0;
  m_blocks.visitBeside(before.m_blocks, [&bytes](const BlockState& block) {
    bytes += sizeof(BlockState) + heapBytes(block.storedByNode) + heapBytes(block.tokens);
  });
  const auto count = [&bytes](BlockId) { bytes += sizeof(BlockId); };
  m_next.visitBeside(before.m_next, count);
  m_previous.visitBeside(before.m_previous, count);
  return bytes;
}

}  // namespace spanscope::trace
