// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/kv_cache.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/cache/admission_plan.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/cache_state.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace spanscope::cache {

namespace {

CacheConfig checked(CacheConfig config) {
  const auto fail = [](const char* place, std::int64_t found, const std::string& expected) {
    throw Failure(Error{"", place, std::to_string(found), expected});
  };
  if (config.blockSize < 1 || config.blockSize > kMaxBlockSize) {
    fail("block size", config.blockSize, "1 to " + std::to_string(kMaxBlockSize) + " tokens");
  }
  if (config.blockCount < kMinBlockCount || config.blockCount > kMaxBlockCount) {
    fail("block count", config.blockCount,
         std::to_string(kMinBlockCount) + " to " + std::to_string(kMaxBlockCount) + " blocks");
  }
  const std::int64_t slots = std::int64_t{config.blockSize} * config.blockCount;
  if (slots > kMaxTokenSlots) {
    fail("block count", config.blockCount, "at most 2^31 - 1 token slots in all blocks");
  }
  return config;
}

}  // namespace

struct KvCache::Impl {
  Impl(CacheConfig config, trace::Sink& sink, KeyHash hash, std::shared_ptr<BlockTiers> tiers)
      : state(checked(std::move(config)), hash, std::move(tiers)), m_sink(sink) {}

  CacheState state;

  RunningRequest& running(RequestId request) {
    const auto found = state.running.find(request);
    if (found == state.running.end()) throw std::logic_error("no such request is running");
    return found->second;
  }

  bool fetchLoads(AdmissionPlan& plan);
  Admission admit(const RequestSpec& request, AdmissionPlan& plan);
  void beginKeeping() { m_nextToKeep = 1; }
  bool keepSome(const Patience& patience);
  void releaseCopySources(RequestId id, RunningRequest& request);
  void store(RequestId id, RunningRequest& request, std::uint32_t segment, std::int32_t end);
  std::optional<Slot> append(RequestId id, RunningRequest& request, TokenId token);
  std::int64_t blocksKept() const;
  void finish(RequestId id, RunningRequest& request);
  std::int64_t evictUnused(const RequestSpec& request);
  void clear();

 private:
  /// The run, request and node of an event.
  struct Origin {
    RunId run = 0;
    RequestId request = 0;
    const NodePath& node;
  };

  std::uint64_t send(const Origin& origin, trace::Payload payload) {
    return m_sink.send(origin.run, origin.request, origin.node, std::move(payload));
  }
  std::optional<StoredContent>& content(BlockId block) {
    return state.contents[static_cast<std::size_t>(block)];
  }

  void share(const Origin& origin, BlockId block, std::uint32_t segment, std::int32_t virtualIndex);
  /// `isUse`: the request used exactly the content by which lookups find the block. False if the request only
  /// copied from the block, or if the block has more tokens than requested. In these cases, another pool
  /// might have used another block.
  void release(const Origin& origin, BlockId block, bool isUse);
  BlockId allocate(const Origin& origin, std::uint32_t segment, std::int32_t virtualIndex);
  void evict(const Origin& origin, BlockId block);
  void rememberRemoval(BlockId block, std::uint64_t sequence);
  PooledBlock pooled(BlockId block);
  void traceKept();
  void traceSpilled(const Origin& origin, const PooledBlock& block, const Spilled& spilled);
  void load(const Origin& origin, const RunningSegment& segment, const PlannedBlock& planned,
            const NodeRef& node, BlockId block);
  bool storeBlock(const Origin& origin, RunningSegment& segment, std::uint32_t segmentIndex,
                  std::size_t index, std::size_t fill);

  /// A content that was given to a tier. The event is sent when the content has reached the tier.
  struct KeptBlock {
    RunId run = 0;
    RequestId request = 0;
    NodePath path;
    trace::BlockSpilled event;
  };

  trace::Sink& m_sink;
  BlockId m_nextToKeep = 1;  ///< all blocks before this one were examined
  std::unordered_map<ContentName, KeptBlock, ContentNameHasher> m_toTell;
};

// ---- blocks
// ----------------------------------------------------------------------------------------------------

void KvCache::Impl::share(const Origin& origin, BlockId block, std::uint32_t segment,
                          std::int32_t virtualIndex) {
  const std::int32_t references = state.pool.share(block);
  ++state.touches;
  send(origin, trace::BlockShared{block, segment, virtualIndex, references});
}

void KvCache::Impl::release(const Origin& origin, BlockId block, bool isUse) {
  const FreeEnd end = content(block) ? FreeEnd::Back : FreeEnd::Front;
  const std::int64_t inFront = state.pool.freeCount();
  const std::int32_t references = state.pool.release(block, end);
  if (isUse)
    state.reachedAt[static_cast<std::size_t>(block)] = state.touches + static_cast<std::uint64_t>(inFront);
  send(origin, trace::BlockReleased{block, references});
}

BlockId KvCache::Impl::allocate(const Origin& origin, std::uint32_t segment, std::int32_t virtualIndex) {
  const BlockId block = state.pool.front();
  if (block == kNullBlock) throw std::logic_error("no free block");
  if (content(block)) evict(origin, block);
  state.pool.take();
  state.reachedAt[static_cast<std::size_t>(block)] = 0;
  ++state.touches;
  send(origin, trace::BlockAllocated{block, segment, virtualIndex});
  return block;
}

/// Evicts the content of a block that no request uses.
void KvCache::Impl::evict(const Origin& origin, BlockId block) {
  const NodeId node = content(block)->node.id();
  if (state.tiers) {
    const PooledBlock leaving = pooled(block);
    if (const auto spilled = state.tiers->spill(leaving)) traceSpilled(origin, leaving, *spilled);
  }
  state.trie.detach(node, block);
  const std::uint64_t sequence =
      send(origin, trace::BlockRemoved{block, state.trie.key(node), trace::RemovalReason::Evicted});
  rememberRemoval(block, sequence);
  ++state.evicted;
  content(block).reset();
}

/// Remembers only contents that lookups can no longer find.
void KvCache::Impl::rememberRemoval(BlockId block, std::uint64_t sequence) {
  const StoredContent& removed = *content(block);
  const std::uint64_t reachedAt = state.reachedAt[static_cast<std::size_t>(block)];
  if (!state.trie.blocks(removed.node.id()).empty()) return;
  state.evictions.remember(state.trie.key(removed.node.id()), sequence, reachedAt);
  for (const trace::BlockKey& key : removed.grownFrom) state.evictions.remember(key, sequence, reachedAt);
}

// ---- tiers
// -----------------------------------------------------------------------------------------------------

PooledBlock KvCache::Impl::pooled(BlockId block) {
  const StoredContent& stored = *content(block);
  const NodeId node = stored.node.id();
  return {
      .block = block,
      .facts = {.name = state.trie.name(node),
                .parent = state.trie.name(state.trie.parent(node)),
                .tokens = static_cast<std::int32_t>(state.trie.tokens(node).size()),
                .base = stored.base},
      .chain = mixBits(mixBits((std::uint64_t{stored.run} << 32U) + stored.request) + hash64(stored.path)),
      .place = stored.virtualIndex,
      .tokens = state.trie.tokens(node)};
}

void KvCache::Impl::traceSpilled(const Origin& origin, const PooledBlock& block, const Spilled& spilled) {
  send(origin, trace::BlockSpilled{.block = block.block,
                                   .key = state.trie.key(content(block.block)->node.id()),
                                   .tier = spilled.tier,
                                   .tokens = block.facts.tokens,
                                   .bytes = spilled.bytes});
}

/// Fetches the bytes of all loads. Returns false if bytes are missing or damaged.
bool KvCache::Impl::fetchLoads(AdmissionPlan& plan) {
  for (PlannedSegment& segment : plan.segments) {
    for (PlannedBlock& block : segment.blocks) {
      if (!block.load) continue;
      PlannedLoad& load = *block.load;
      load.bytes = state.tiers->fetch(load.name, load.parent, load.tokens);
      if (!load.bytes) return false;
    }
  }
  return true;
}

/// Loads bytes into a new block. Lookups can find a completely loaded block immediately.
void KvCache::Impl::load(const Origin& origin, const RunningSegment& segment, const PlannedBlock& planned,
                         const NodeRef& node, BlockId block) {
  const PlannedLoad& load = *planned.load;
  const trace::BlockLookedUp& facts = planned.facts;
  const std::int64_t nanoseconds = state.tiers->load(*load.bytes, block, load.slots);
  const std::size_t bytes =
      load.bytes->bytes.size() * static_cast<std::size_t>(load.slots) / static_cast<std::size_t>(load.tokens);
  send(origin, trace::BlockLoaded{.block = block,
                                  .key = state.trie.key(node.id()),
                                  .tier = load.bytes->tier,
                                  .segment = facts.segment,
                                  .virtualIndex = facts.virtualIndex,
                                  .tokens = load.slots,
                                  .bytes = bytes,
                                  .nanoseconds = nanoseconds});
  if (planned.source != PlannedBlock::Source::Tier) return;
  content(block) = StoredContent{.node = node,
                                 .base = segment.base,
                                 .virtualIndex = facts.virtualIndex,
                                 .run = origin.run,
                                 .request = origin.request,
                                 .path = origin.node,
                                 .grownFrom = {}};
  state.trie.attach(node.id(), block);
  state.evictions.forget(state.trie.key(node.id()));
  const std::span<const TokenId> tokens = state.trie.tokens(node.id());
  send(origin,
       trace::BlockStored{block, state.trie.key(node.id()), state.trie.key(state.trie.parent(node.id())),
                          facts.segment, facts.virtualIndex, segment.base,
                          std::vector<TokenId>(tokens.begin(), tokens.end())});
}

bool KvCache::Impl::keepSome(const Patience& patience) {
  if (!state.tiers) return true;
  const auto end = std::chrono::steady_clock::now() + patience.most;
  std::vector<PooledBlock> blocks;
  for (BlockId block = m_nextToKeep; block < state.pool.count(); ++block) {
    if (content(block)) blocks.push_back(pooled(block));
  }
  const std::size_t kept =
      state.tiers->keep(blocks, patience, [this](const PooledBlock& block, const Spilled& spilled) {
        const StoredContent& stored = *content(block.block);
        m_toTell.insert_or_assign(block.facts.name,
                                  KeptBlock{.run = stored.run,
                                            .request = stored.request,
                                            .path = stored.path,
                                            .event = {.block = block.block,
                                                      .key = state.trie.key(stored.node.id()),
                                                      .tier = spilled.tier,
                                                      .tokens = block.facts.tokens,
                                                      .bytes = spilled.bytes}});
      });
  m_nextToKeep = kept < blocks.size() ? blocks[kept].block : state.pool.count();
  const auto left =
      std::max(std::chrono::milliseconds(0),
               std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
  if (kept == blocks.size()) state.tiers->finishKeeping({.stop = patience.stop, .most = left});
  traceKept();
  return kept == blocks.size() && m_toTell.empty();
}

/// Sends the events of contents that have reached the disk, in the order of their blocks.
void KvCache::Impl::traceKept() {
  std::vector<KeptBlock> kept;
  std::erase_if(m_toTell, [&](auto& entry) {
    const KeptState now = state.tiers->stateOf(entry.first);
    if (now == KeptState::Kept) kept.push_back(std::move(entry.second));
    return now != KeptState::Waiting;
  });
  std::ranges::sort(kept,
                    [](const KeptBlock& a, const KeptBlock& b) { return a.event.block < b.event.block; });
  for (const KeptBlock& block : kept) send(Origin{block.run, block.request, block.path}, block.event);
}

// ---- admission
// -------------------------------------------------------------------------------------------------

Admission KvCache::Impl::admit(const RequestSpec& request, AdmissionPlan& plan) {
  const auto origin = [&request](std::size_t segment) {
    return Origin{request.run, request.id, request.segments[segment].node};
  };
  RunningRequest running;
  running.run = request.run;
  running.lookahead = request.lookahead;
  running.reservedBlocks = plan.growthBlocks;
  Admission admission;
  std::exception_ptr lost;

  for (std::size_t segment = 0; segment < plan.segments.size(); ++segment) {
    for (const PlannedBlock& block : plan.segments[segment].blocks) send(origin(segment), block.facts);
  }
  // All hits are referenced before any block is allocated, so that no allocation evicts a hit.
  for (std::size_t segment = 0; segment < plan.segments.size(); ++segment) {
    for (const PlannedBlock& block : plan.segments[segment].blocks) {
      const BlockId taken = block.source == PlannedBlock::Source::Pool ? block.found : block.copyFrom;
      if (taken == kNullBlock) continue;
      share(origin(segment), taken, block.facts.segment, block.facts.virtualIndex);
      if (block.copyFrom != kNullBlock) running.copySources.push_back({block.copyFrom, block.facts.segment});
    }
  }
  std::vector<BlockId> allocated;
  allocated.reserve(plan.allocations);
  for (std::size_t index = 0; index < plan.segments.size(); ++index) {
    const SegmentSpec& spec = request.segments[index];
    PlannedSegment& planned = plan.segments[index];
    RunningSegment segment;
    ++state.touches;
    segment.path = spec.node;
    segment.base = spec.base;
    segment.tokens = spec.tokens;
    segment.isPrivate = spec.isPrivate;
    segment.view.computeFrom = planned.computeFrom;
    segment.firstUnstored = planned.computeFrom / state.config.blockSize;
    for (std::size_t place = 0; place < planned.blocks.size(); ++place) {
      const PlannedBlock& block = planned.blocks[place];
      const trace::BlockLookedUp& facts = block.facts;
      BlockId used = block.found;
      if (block.source == PlannedBlock::Source::Sibling) {
        used = allocated[block.allocation];
        share(origin(index), used, facts.segment, facts.virtualIndex);
      } else if (block.source != PlannedBlock::Source::Pool) {
        used = allocate(origin(index), facts.segment, facts.virtualIndex);
        allocated.push_back(used);
        try {
          if (block.load) load(origin(index), segment, block, planned.nodes[place], used);
        } catch (...) {
          // This block is released later, together with all other blocks of the request.
          lost = std::current_exception();
        }
        if (block.copyFrom != kNullBlock) {
          admission.copies.push_back({block.copyFrom, used, facts.tokens});
          send(origin(index), trace::BlockCopied{block.copyFrom, used, facts.tokens});
        }
        const bool isOwn = index + 1 == plan.segments.size() && request.alwaysFrom >= 0 &&
                           facts.virtualIndex * state.config.blockSize + facts.wanted > request.alwaysFrom;
        if (block.source == PlannedBlock::Source::New && state.config.enabled && !spec.isPrivate && !isOwn &&
            (state.config.cacheTails || facts.wanted == state.config.blockSize)) {
          state.trie.addPending(planned.nodes[place].id(), request.id);
          running.pending.push_back(planned.nodes[place]);
        }
      }
      segment.view.blocks.push_back(used);
      segment.own.push_back(block.source == PlannedBlock::Source::New);
      if (facts.outcome == trace::LookupOutcome::Relocated) admission.relocatedTokens += facts.tokens;
    }
    segment.root = std::move(planned.root);
    segment.nodes = std::move(planned.nodes);
    if (!spec.repeats) admission.promptTokens += static_cast<std::int64_t>(spec.tokens.size());
    admission.cachedTokens += planned.computeFrom;
    if (!request.computedBefore.empty()) {
      admission.recomputedTokens += std::max(0, request.computedBefore[index] - planned.computeFrom);
    }
    admission.segments.push_back(segment.view);
    running.segments.push_back(std::move(segment));
  }
  send(origin(request.segments.size() - 1),
       trace::RequestAdmitted{.promptTokens = admission.promptTokens,
                              .cachedTokens = admission.cachedTokens,
                              .relocatedTokens = admission.relocatedTokens,
                              .resumed = !request.computedBefore.empty(),
                              .recomputedTokens = admission.recomputedTokens});
  RunningRequest& admitted = state.running.emplace(request.id, std::move(running)).first->second;
  if (lost) {
    finish(request.id, admitted);
    std::rethrow_exception(lost);
  }
  return admission;
}

void KvCache::Impl::releaseCopySources(RequestId id, RunningRequest& request) {
  for (const CopySource& source : request.copySources) {
    release(Origin{request.run, id, request.segments[source.segment].path}, source.block, false);
  }
  request.copySources.clear();
}

// ---- storing
// ---------------------------------------------------------------------------------------------------

/// Returns false if another request uses the shorter content in the block.
bool KvCache::Impl::storeBlock(const Origin& origin, RunningSegment& segment, std::uint32_t segmentIndex,
                               std::size_t index, std::size_t fill) {
  const std::size_t begin = index * static_cast<std::size_t>(state.config.blockSize);
  const std::span<const TokenId> tokens = std::span<const TokenId>(segment.tokens).subspan(begin, fill);
  const NodeId parent = index == 0 ? segment.root.id() : segment.nodes[index - 1].id();
  // The node is needed even while lookups cannot find the block as this node. The chain of the next block
  // contains this node.
  if (index == segment.nodes.size()) {
    segment.nodes.push_back(state.trie.child(parent, tokens));
  } else if (state.trie.tokens(segment.nodes[index].id()).size() != fill) {
    segment.nodes[index] = state.trie.child(parent, tokens);
  }
  const NodeId node = segment.nodes[index].id();
  const BlockId block = segment.view.blocks[index];

  StoredContent stored;
  if (content(block)) {
    const NodeId shorter = content(block)->node.id();
    if (shorter == node) return true;
    if (state.pool.references(block) > 1) return false;
    stored.grownFrom = std::move(content(block)->grownFrom);
    stored.grownFrom.push_back(state.trie.key(shorter));
    state.trie.detach(shorter, block);
    send(origin, trace::BlockRemoved{block, state.trie.key(shorter), trace::RemovalReason::Grown});
  }
  stored.node = segment.nodes[index];
  stored.base = segment.base;
  stored.virtualIndex = static_cast<std::int32_t>(index);
  stored.run = origin.run;
  stored.request = origin.request;
  stored.path = origin.node;
  content(block) = std::move(stored);
  state.trie.attach(node, block);
  state.trie.dropPending(node, origin.request);
  state.evictions.forget(state.trie.key(node));
  send(origin, trace::BlockStored{block, state.trie.key(node), state.trie.key(parent), segmentIndex,
                                  static_cast<std::int32_t>(index), segment.base,
                                  std::vector<TokenId>(tokens.begin(), tokens.end())});
  return true;
}

void KvCache::Impl::store(RequestId id, RunningRequest& request, std::uint32_t segmentIndex,
                          std::int32_t end) {
  RunningSegment& segment = request.segments[segmentIndex];
  segment.computedEnd = std::max(segment.computedEnd, end);
  if (!state.config.enabled || segment.isPrivate) return;
  const std::int32_t size = state.config.blockSize;
  const auto length = static_cast<std::int32_t>(segment.tokens.size());
  const auto blocks = static_cast<std::int32_t>(segment.view.blocks.size());
  for (std::int32_t index = segment.firstUnstored; index < blocks; ++index) {
    const std::int32_t fill = std::min(size, length - index * size);
    if (index * size + fill > segment.computedEnd) break;
    if (fill < size && !state.config.cacheTails) break;
    const auto place = static_cast<std::size_t>(index);
    const bool done = !segment.own[place] || storeBlock(Origin{request.run, id, segment.path}, segment,
                                                        segmentIndex, place, static_cast<std::size_t>(fill));
    if (done && fill == size && index == segment.firstUnstored) ++segment.firstUnstored;
  }
}

// ---- growing and ending
// ----------------------------------------------------------------------------------------

/// Returns the number of free blocks that are reserved for running requests.
std::int64_t KvCache::Impl::blocksKept() const {
  std::int64_t kept = 0;
  for (const auto& [id, request] : state.running) {
    kept += request.reservedBlocks;
    const BlockId tail = request.growingTail(state.config.blockSize);
    if (tail != kNullBlock && state.pool.references(tail) > 1) ++kept;
  }
  return kept;
}

std::optional<Slot> KvCache::Impl::append(RequestId id, RunningRequest& request, TokenId token) {
  const auto segmentIndex = static_cast<std::uint32_t>(request.segments.size() - 1);
  RunningSegment& segment = request.segments.back();
  const Origin origin{request.run, id, segment.path};
  const auto length = static_cast<std::int32_t>(segment.tokens.size());
  const std::int32_t index = length / state.config.blockSize;
  Slot slot;
  slot.slot = length % state.config.blockSize;
  const bool takesBlock = slot.slot == 0 || state.pool.references(segment.view.blocks.back()) > 1;
  if (takesBlock && request.lookahead == 0 && state.pool.freeCount() <= blocksKept()) return std::nullopt;
  if (slot.slot == 0) {
    slot.block = allocate(origin, segmentIndex, index);
    if (request.lookahead > 0) --request.reservedBlocks;
    segment.view.blocks.push_back(slot.block);
    segment.own.push_back(true);
  } else {
    slot.block = segment.view.blocks.back();
    if (takesBlock) {
      // The request keeps its own reference on the source until the copy is done.
      const BlockId source = slot.block;
      slot.block = allocate(origin, segmentIndex, index);
      slot.copy = BlockCopy{source, slot.block, slot.slot};
      request.copySources.push_back({source, segmentIndex});
      segment.view.blocks.back() = slot.block;
      send(origin, trace::BlockCopied{source, slot.block, slot.slot});
    }
  }
  segment.tokens.push_back(token);
  if (request.lookahead > 0) --request.lookahead;
  return slot;
}

void KvCache::Impl::finish(RequestId id, RunningRequest& request) {
  releaseCopySources(id, request);
  for (auto segment = request.segments.rbegin(); segment != request.segments.rend(); ++segment) {
    const std::vector<BlockId>& blocks = segment->view.blocks;
    for (std::size_t place = blocks.size(); place-- > 0;) {
      const std::optional<StoredContent>& stored = content(blocks[place]);
      const bool isUse =
          stored && place < segment->nodes.size() && stored->node.id() == segment->nodes[place].id();
      release(Origin{request.run, id, segment->path}, blocks[place], isUse);
    }
  }
  for (const NodeRef& node : request.pending) state.trie.dropPending(node.id(), id);
  state.running.erase(id);
}

std::int64_t KvCache::Impl::evictUnused(const RequestSpec& request) {
  const Origin origin{request.run, request.id, request.segments.back().node};
  std::int64_t contents = 0;
  for (BlockId block = state.pool.front(); block != kNullBlock; block = state.pool.after(block)) {
    if (!content(block)) continue;
    evict(origin, block);
    ++contents;
  }
  return contents;
}

void KvCache::Impl::clear() {
  const NodePath nowhere;
  const std::uint64_t sequence = send(Origin{0, 0, nowhere}, trace::CacheCleared{});
  state.clearedAt = sequence;
  state.evicted = 0;
  for (BlockId block = 1; block < state.pool.count(); ++block) {
    if (!content(block)) continue;
    state.trie.detach(content(block)->node.id(), block);
    rememberRemoval(block, sequence);
    content(block).reset();
  }
  if (state.tiers) state.tiers->clear();
  state.pool.reset();
}

// ---- KvCache
// ---------------------------------------------------------------------------------------------------

KvCache::KvCache(CacheConfig config, trace::Sink& sink, KeyHash hash, std::shared_ptr<BlockTiers> tiers)
    : m_impl(std::make_unique<Impl>(std::move(config), sink, hash, std::move(tiers))) {}

KvCache::~KvCache() = default;

const CacheConfig& KvCache::config() const {
  return m_impl->state.config;
}

std::unique_ptr<KvCache> KvCache::copy(trace::Sink& sink) const {
  const CacheState& from = m_impl->state;
  if (!from.running.empty()) throw std::logic_error("a cache can be copied only while no request is running");
  auto copied = std::make_unique<KvCache>(from.config, sink, from.hash,
                                          from.tiers ? from.tiers->prediction() : nullptr);
  CacheState& to = copied->m_impl->state;
  to.trie.assignNodes(from.trie);
  for (std::size_t block = 0; block < from.contents.size(); ++block) {
    const std::optional<StoredContent>& content = from.contents[block];
    if (!content) continue;
    to.contents[block] = StoredContent{.node = to.trie.hold(content->node.id()),
                                       .base = content->base,
                                       .virtualIndex = content->virtualIndex,
                                       .run = content->run,
                                       .request = content->request,
                                       .path = content->path,
                                       .grownFrom = content->grownFrom};
  }
  to.pool = from.pool;
  to.evictions = from.evictions;
  to.evicted = from.evicted;
  to.touches = from.touches;
  to.reachedAt = from.reachedAt;
  to.clearedAt = from.clearedAt;
  return copied;
}

std::vector<SegmentLookup> KvCache::lookup(const RequestSpec& request) const {
  const AdmissionPlan plan = planAdmission(m_impl->state, request);
  std::vector<SegmentLookup> lookups;
  lookups.reserve(plan.segments.size());
  for (const PlannedSegment& segment : plan.segments) {
    SegmentLookup lookup;
    lookup.cachedTokens = segment.computeFrom;
    lookup.blocks.reserve(segment.blocks.size());
    for (const PlannedBlock& block : segment.blocks) {
      lookup.blocks.push_back(block.facts);
      lookup.tiers.push_back(block.load ? std::optional(block.load->tier) : std::nullopt);
    }
    lookups.push_back(std::move(lookup));
  }
  return lookups;
}

std::variant<Admission, Refusal> KvCache::admit(const RequestSpec& request, std::int64_t spareBlocks) {
  if (m_impl->state.running.contains(request.id)) throw std::logic_error("the request is already running");
  // When stored bytes turn out to be damaged, the next plan has fewer hits.
  constexpr int kMostPlans = 64;
  if (m_impl->state.tiers) m_impl->state.tiers->refresh();
  AdmissionPlan plan = planAdmission(m_impl->state, request, spareBlocks);
  for (int plans = 1; plan.fits() && plan.waitFor.request == 0 && !m_impl->fetchLoads(plan); ++plans)
    plan = planAdmission(m_impl->state, request, spareBlocks, plans < kMostPlans);
  Refusal refusal;
  refusal.neededBlocks = plan.neededBlocks;
  refusal.availableBlocks = plan.availableBlocks;
  const std::int64_t usable = std::int64_t{config().blockCount} - 1;
  // A request may fit only because it shares contents of other requests. Without these contents, the request
  // would fail later.
  if (plan.smallestNeed > usable) {
    refusal.reason = Refusal::Reason::NeverFits;
    refusal.neededBlocks = plan.smallestNeed;
    refusal.availableBlocks = usable;
    return refusal;
  }
  if (plan.waitFor.request != 0) {
    refusal.reason = Refusal::Reason::WaitForOther;
    refusal.waitFor = plan.waitFor;
    return refusal;
  }
  if (!plan.fits()) return refusal;
  return m_impl->admit(request, plan);
}

std::int64_t KvCache::evictUnused(const RequestSpec& request) {
  checkRequest(request);
  return m_impl->evictUnused(request);
}

bool KvCache::isBeingComputed(const AwaitedContent& content) const {
  return m_impl->state.running.contains(content.request) &&
         m_impl->state.trie.isPendingBy(content.content, content.request);
}

bool KvCache::standsElsewhere(RequestId request) const {
  const CacheState& state = m_impl->state;
  for (const RunningSegment& segment : m_impl->running(request).segments) {
    for (std::size_t i = 0; i < segment.nodes.size(); ++i) {
      const auto& found = state.contents[static_cast<std::size_t>(segment.view.blocks[i])];
      if (segment.own[i] || !found) continue;
      for (const NodeId node : state.trie.continuations(segment.nodes[i].id())) {
        const RequestId pending = state.trie.pendingBy(node);
        if (pending != 0 && pending != request) return true;
        const std::vector<BlockId>& blocks = state.trie.blocks(node);
        if (std::ranges::any_of(blocks, [&](BlockId block) {
              return state.contents[static_cast<std::size_t>(block)]->base != found->base;
            }))
          return true;
      }
    }
  }
  return false;
}

void KvCache::copied(RequestId request) {
  m_impl->releaseCopySources(request, m_impl->running(request));
}

void KvCache::computed(RequestId request, std::uint32_t segment, std::int32_t end) {
  RunningRequest& running = m_impl->running(request);
  if (segment >= running.segments.size()) throw std::logic_error("the request has no such segment");
  if (end < 0 || static_cast<std::size_t>(end) > running.segments[segment].tokens.size()) {
    throw std::logic_error("the segment has fewer tokens");
  }
  m_impl->store(request, running, segment, end);
}

std::optional<Slot> KvCache::append(RequestId request, TokenId token) {
  return m_impl->append(request, m_impl->running(request), token);
}

const SegmentBlocks& KvCache::blocks(RequestId request, std::uint32_t segment) const {
  const RunningRequest& running = m_impl->running(request);
  if (segment >= running.segments.size()) throw std::logic_error("the request has no such segment");
  return running.segments[segment].view;
}

void KvCache::finish(RequestId request) {
  m_impl->finish(request, m_impl->running(request));
}

void KvCache::beginKeeping() {
  m_impl->beginKeeping();
}

bool KvCache::keepSome(const Patience& patience) {
  return m_impl->keepSome(patience);
}

bool KvCache::clear() {
  if (!m_impl->state.running.empty()) return false;
  m_impl->clear();
  return true;
}

trace::PoolState KvCache::dump() const {
  const CacheState& state = m_impl->state;
  trace::PoolState pool;
  pool.blockSize = state.config.blockSize;
  pool.blocks.resize(static_cast<std::size_t>(state.config.blockCount));
  for (BlockId block = 1; block < state.pool.count(); ++block) {
    trace::BlockState& entry = pool.blocks[static_cast<std::size_t>(block)];
    entry.references = state.pool.references(block);
    const std::optional<StoredContent>& content = state.contents[static_cast<std::size_t>(block)];
    if (!content) continue;
    const NodeId node = content->node.id();
    const std::span<const TokenId> tokens = state.trie.tokens(node);
    entry.cached = true;
    entry.key = state.trie.key(node);
    entry.parent = state.trie.key(state.trie.parent(node));
    entry.fill = static_cast<std::int32_t>(tokens.size());
    entry.base = content->base;
    entry.virtualIndex = content->virtualIndex;
    entry.storedByRun = content->run;
    entry.storedByRequest = content->request;
    entry.storedByNode = content->path;
    entry.tokens.assign(tokens.begin(), tokens.end());
  }
  pool.freeOrder = state.pool.freeOrder();
  return pool;
}

std::optional<std::uint64_t> KvCache::blocksToKeep(std::uint64_t sequence) const {
  const CacheState& state = m_impl->state;
  if (sequence <= state.clearedAt) return std::nullopt;
  const std::optional<std::uint64_t> number = state.evictions.numberOf(sequence);
  if (!number) return std::nullopt;
  const std::uint64_t passed = state.touches > *number ? state.touches - *number : 1;
  return std::min(passed, state.evicted);
}

trace::BlockKey KvCache::plainRoot(const std::string& salt) const {
  return rootKey(m_impl->state.hash, config().fingerprint, salt, {});
}

const BlockTiers* KvCache::tiers() const {
  return m_impl->state.tiers.get();
}

std::int64_t KvCache::freeBlocks() const {
  return m_impl->state.pool.freeCount();
}

std::int64_t KvCache::blocksPerRequest(const RequestSpec& request) const {
  checkRequest(request);
  const std::int32_t size = config().blockSize;
  std::int64_t blocks = 0;
  for (const SegmentSpec& segment : request.segments) {
    blocks += blocksFor(static_cast<std::int64_t>(segment.tokens.size()), size);
  }
  const std::int64_t last = static_cast<std::int64_t>(request.segments.back().tokens.size());
  return blocks + blocksFor(last + request.lookahead, size) - blocksFor(last, size);
}

std::int64_t KvCache::blocksTogether(std::span<const RequestSpec> requests) const {
  return smallestNeed(m_impl->state, requests);
}

std::size_t KvCache::contentCount() const {
  return m_impl->state.trie.size();
}

}  // namespace spanscope::cache
