// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/why/why_changes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

template <class Payload>
const Payload* payloadAt(const TraceStore& trace, std::size_t index) {
  return std::get_if<Payload>(&trace.event(index).payload);
}

/// Lookups of one request are told together: this one, after those before it in its segment.
std::vector<trace::BlockLookedUp> lookupsUpTo(const TraceStore& trace, std::size_t index) {
  const RequestId request = trace.event(index).request;
  const std::uint32_t segment = payloadAt<trace::BlockLookedUp>(trace, index)->segment;
  const auto isOne = [&](std::size_t at) {
    const auto* lookup = payloadAt<trace::BlockLookedUp>(trace, at);
    return lookup != nullptr && trace.event(at).request == request && lookup->segment == segment;
  };
  std::size_t begin = index;
  while (begin > 0 && isOne(begin - 1)) --begin;
  std::vector<trace::BlockLookedUp> lookups;
  for (std::size_t at = begin; at <= index; ++at)
    lookups.push_back(*payloadAt<trace::BlockLookedUp>(trace, at));
  return lookups;
}

/// Key of what sees nothing: the parent of any block that begins a segment which sees nothing.
std::optional<trace::BlockKey> plainRootOf(const trace::Replay& state, const trace::PoolState& pool) {
  const auto& requests = state.progress().requests;
  for (const trace::BlockState& block : pool.blocks) {
    if (!block.cached || block.virtualIndex != 0) continue;
    const auto by = requests.find(block.storedByRequest);
    if (by == requests.end()) continue;
    for (const trace::SegmentInfo& segment : by->second.segments) {
      const bool isIt = segment.node == block.storedByNode && segment.base == block.base &&
                        segment.tokens.size() >= block.tokens.size() &&
                        std::equal(block.tokens.begin(), block.tokens.end(), segment.tokens.begin());
      if (isIt && segment.sees.empty()) return block.parent;
    }
  }
  return std::nullopt;
}

/// So many blocks more would have kept what the event took: one for each eviction since it was stored, or for
/// each block that was taken or used since then, and each segment that may have found something to copy
/// from, beyond those that were free before it. The engine counts from the last use, which is nearer.
std::optional<std::uint64_t> blocksToKeep(const TraceStore& trace, std::uint64_t evictedBy,
                                          std::size_t lookup) {
  const std::optional<std::size_t> taken = trace.indexOf(evictedBy);
  if (!taken || !trace.stateAt(lookup).progress().whole) return std::nullopt;
  const auto* removed = payloadAt<trace::BlockRemoved>(trace, *taken);
  if (removed == nullptr) return std::nullopt;
  std::size_t stored = *taken;
  const auto isStored = [&](std::size_t at) {
    const auto* event = payloadAt<trace::BlockStored>(trace, at);
    return event != nullptr && event->block == removed->block && event->key == removed->key;
  };
  while (stored > 0 && !isStored(stored)) --stored;
  if (!isStored(stored)) return std::nullopt;
  std::uint64_t evicted = 0;
  std::uint64_t touched = 0;
  std::optional<std::size_t> released;
  for (std::size_t at = stored; at < lookup; ++at) {
    if (payloadAt<trace::CacheCleared>(trace, at) != nullptr) return std::nullopt;
    // What failed for want of blocks would have taken more of a larger pool.
    const auto* ended = payloadAt<trace::RunFinished>(trace, at);
    if (ended != nullptr && ended->outcome == trace::RunOutcome::Failed) return std::nullopt;
    const auto* release = payloadAt<trace::BlockReleased>(trace, at);
    if (!released && release != nullptr && release->block == removed->block && release->references == 0)
      released = at;
    const auto* eviction = payloadAt<trace::BlockRemoved>(trace, at);
    if (eviction != nullptr && eviction->reason == trace::RemovalReason::Evicted) ++evicted;
    if (!released) continue;
    const auto* segment = payloadAt<trace::BlockLookedUp>(trace, at);
    if (payloadAt<trace::BlockAllocated>(trace, at) != nullptr ||
        payloadAt<trace::BlockShared>(trace, at) != nullptr ||
        (segment != nullptr && segment->virtualIndex == 0))
      ++touched;
  }
  if (!released) return std::nullopt;
  const std::uint64_t inFront = trace.stateAt(*released).pool().freeCount();
  return std::max<std::uint64_t>(1, std::min(evicted, touched > inFront ? touched - inFront : 1));
}

}  // namespace

WhyChanges whyChanges(const ViewInput& input, const BlockRef& place, WhyChangesMemo* memo) {
  WhyChanges result;
  const TraceStore& trace = *input.trace;
  std::uint64_t sequence = 0;
  {
    const auto& requests = input.state().progress().requests;
    const auto request = requests.find(place.request);
    if (request == requests.end()) return result;
    const auto block = request->second.blocks.find({place.segment, place.virtualIndex});
    if (block != request->second.blocks.end()) sequence = block->second.lookup;
  }
  const std::optional<std::size_t> index = sequence == 0 ? std::nullopt : trace.indexOf(sequence);
  if (!index || payloadAt<trace::BlockLookedUp>(trace, *index) == nullptr) return result;
  if (memo != nullptr && memo->trace == input.trace && memo->lookup == sequence) return memo->changes;
  const trace::Replay then = trace.stateAt(*index);
  const auto request = then.progress().requests.find(place.request);
  if (then.progress().gap || request == then.progress().requests.end()) return result;
  const trace::PoolState pool = then.pool().state();
  const std::vector<trace::BlockLookedUp> lookups = lookupsUpTo(trace, *index);
  cache::WhatIfInput asked{
      .pool = pool,
      .lookups = lookups,
      .segments = {},
      .plainRoot = plainRootOf(then, pool),
      .blocksToKeep = [&](std::uint64_t evictedBy) { return blocksToKeep(trace, evictedBy, *index); }};
  for (const trace::SegmentInfo& segment : request->second.segments) {
    asked.segments.push_back({.tokens = segment.tokens,
                              .seesOthers = !segment.sees.empty(),
                              .messages = cache::messageBegins(segment.runs)});
  }
  result.changes = cache::whatIf(asked).back();
  for (const cache::WhatIf& change : result.changes) {
    if (change.block != kNullBlock)
      result.stored[change.block] = pool.blocks[static_cast<std::size_t>(change.block)];
  }
  result.blockCount = static_cast<std::int64_t>(pool.blocks.size());
  if (memo != nullptr) *memo = {.trace = input.trace, .lookup = sequence, .changes = result};
  return result;
}

}  // namespace spanscope::ui
