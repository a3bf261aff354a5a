// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/watched_cache.h"

#include "engine/base/counted.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <variant>

namespace spanscope::watch {

namespace {

constexpr std::int64_t kFirstCapacity = 1024;
constexpr std::size_t kMostRemoved = 1U << 16U;       // remembered removals
constexpr std::int64_t kLayoutDelay = 1'000'000'000;  // nanoseconds
constexpr TokenId kUnknownToken = -1;
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 26U;  // larger reports are not believed

constexpr StepIndex kSequences = 0;
constexpr StepIndex kTotals = 1;

std::vector<std::string> kindsOf(const WatchedServer& server) {
  const std::string place = server.program + " at " + server.address;
  std::vector<std::string> kinds{"Block sequences that " + place + " stored"};
  if (server.countsTokens) kinds.push_back("Prompt tokens that " + place + " counted");
  return kinds;
}

}  // namespace

WatchedCache::WatchedCache(trace::Sink& sink, WatchedServer server, std::function<std::string(TokenId)> show)
    : m_runs(sink, server, kindsOf(server)), m_show(std::move(show)) {
  if (server.blockSize > 0) openSession(server.blockSize);
}

/// Sends an event about a sequence, or about no request.
std::uint64_t WatchedCache::send(RunId run, RequestId request, trace::Payload payload) {
  return request == 0 ? m_runs.send(std::move(payload))
                      : m_runs.send(run, request, kSequences, std::move(payload));
}

// ---- the pool ----------------------------------------------------------------------------

void WatchedCache::openSession(std::int32_t blockSize) {
  m_isOpen = true;
  m_blockSize = blockSize;
  const WatchedServer& server = m_runs.server();
  if (server.hasBlocks)
    m_capacity = server.blocks > 0 ? std::min(server.blocks, kMostBlocks) : kFirstCapacity;
  m_runs.openSession(server.hasBlocks ? pool() : trace::PoolState());
}

void WatchedCache::openTrace(std::int64_t now) {
  if (!m_isOpen) openSession(std::max(1, m_runs.server().blockSize));
  m_runs.open(now);
}

/// A group with larger blocks than before needs a pool with larger blocks.
void WatchedCache::growBlocks(std::int32_t blockSize) {
  if (!m_isOpen) return openSession(blockSize);
  if (blockSize <= m_blockSize) return;
  m_blockSize = blockSize;
  sendPool(0);
}

trace::BlockKey WatchedCache::parentKey(std::size_t lane, const Entry& entry) const {
  if (entry.parent) return keyOf(lane, *entry.parent);
  std::string extra;
  if (entry.extra) {
    for (const std::string& key : *entry.extra) extra += key + '\0';
  }
  const std::uint64_t root = extra.empty() ? 0 : hash128(extra).low;
  return {.high = root, .low = std::uint64_t{1} << 32U | (lane + 1)};
}

trace::PoolState WatchedCache::pool() const {
  trace::PoolState state;
  state.blockSize = std::max(1, m_blockSize);
  state.blocks.resize(static_cast<std::size_t>(m_capacity) + 1);
  for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
    for (const auto& [hash, entry] : m_lanes[lane].entries) {
      for (const BlockId id : entry.blocks) {
        trace::BlockState& block = state.blocks[static_cast<std::size_t>(id)];
        block.cached = true;
        block.key = keyOf(lane, hash);
        block.parent = parentKey(lane, entry);
        block.virtualIndex = entry.index;
        if (entry.isUnknown()) continue;
        block.tokens = entry.tokens;
        block.fill = static_cast<std::int32_t>(entry.tokens.size());
        block.storedByRun = entry.run;
        block.storedByRequest = entry.request;
        block.storedByNode = m_runs.node(kSequences);
      }
    }
  }
  for (const BlockId id : m_unknown) state.blocks[static_cast<std::size_t>(id)].cached = true;
  state.freeOrder.resize(static_cast<std::size_t>(m_capacity));
  std::iota(state.freeOrder.begin(), state.freeOrder.end(), 1);
  return state;
}

void WatchedCache::sendPool(std::uint64_t lost) {
  if (m_isOpen) m_runs.send(trace::Snapshot{.pool = pool(), .lost = lost});
}

BlockId WatchedCache::allocate() {
  if (!m_free.empty()) {
    const BlockId block = m_free.back();
    m_free.pop_back();
    return block;
  }
  if (m_fresh > m_capacity && !m_unknown.empty()) {
    giveBack(m_unknown.back());
    m_unknown.pop_back();
    send(m_runs.run(), 0,
         trace::BlockRemoved{.block = m_free.back(), .key = {}, .reason = trace::RemovalReason::Cleared});
    return allocate();
  }
  if (m_fresh > m_capacity) {
    m_capacity = std::min<std::int64_t>(2 * m_capacity, std::numeric_limits<BlockId>::max() - 1);
    sendPool(0);
  }
  return m_fresh++;
}

void WatchedCache::giveBack(BlockId block) {
  m_free.push_back(block);
}

std::int64_t WatchedCache::unknownBlocks() const {
  auto count = static_cast<std::int64_t>(m_unknown.size());
  if (m_late.empty() && !m_isInGap) return count;
  for (const Lane& lane : m_lanes) {
    for (const auto& [hash, entry] : lane.entries) {
      if (entry.isUnknown()) count += static_cast<std::int64_t>(entry.blocks.size());
    }
  }
  return count;
}

// ---- sequences ---------------------------------------------------------------------------

void WatchedCache::layOut(RequestId request, Sequence& sequence) {
  if (sequence.laidOut == sequence.tokens.size()) return;
  sequence.laidOut = sequence.tokens.size();
  trace::SegmentInfo segment;
  segment.node = m_runs.node(kSequences);
  segment.tokens = sequence.tokens;
  if (m_show) {
    segment.texts.reserve(segment.tokens.size());
    for (const TokenId token : segment.tokens)
      segment.texts.push_back(token == kUnknownToken ? "?" : m_show(token));
  }
  segment.runs.push_back({.count = static_cast<std::int32_t>(segment.tokens.size()),
                          .source = trace::TokenSource::Text,
                          .node = m_runs.node(kSequences) + "/g/input"});
  send(sequence.run, request, trace::SpanTableLaidOut{.segments = {std::move(segment)}});
}

void WatchedCache::finish(RequestId request) {
  const auto found = m_sequences.find(request);
  if (found == m_sequences.end()) return;
  Sequence& sequence = found->second;
  layOut(request, sequence);
  send(sequence.run, request,
       trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::EndToken, .text = {}});
  m_lanes[sequence.lane].tails.erase(sequence.tail);
  m_sequences.erase(found);
}

/// Returns the open sequence that the event continues, or a new sequence. A new sequence begins with the
/// known blocks before the stored ones.
RequestId WatchedCache::sequenceFor(std::size_t lane, const server::KvBlocksStored& event, std::int64_t now) {
  Lane& own = m_lanes[lane];
  if (event.parent) {
    if (const auto tail = own.tails.find(*event.parent); tail != own.tails.end()) {
      const RequestId request = tail->second;
      own.tails.erase(tail);
      return request;
    }
  }
  if (m_sequences.size() >= kMostOpen) {
    finish(std::ranges::min_element(m_sequences, {}, [](const auto& each) {
             return std::pair(each.second.changedAt, each.first);
           })->first);
  }
  std::vector<std::pair<std::uint64_t, const Entry*>> before;
  for (std::optional<std::uint64_t> hash = event.parent; hash;) {
    const auto found = own.entries.find(*hash);
    // A hostile publisher could name a block as its own ancestor.
    if (found == own.entries.end() || found->second.isUnknown() || before.size() > own.entries.size()) break;
    before.emplace_back(*hash, &found->second);
    hash = found->second.parent;
  }
  std::ranges::reverse(before);

  const RequestId request = m_runs.begin(kSequences);
  Sequence& sequence = m_sequences[request];
  sequence.lane = lane;
  sequence.run = m_runs.run();
  sequence.changedAt = now;
  for (const auto& [hash, entry] : before)
    sequence.tokens.insert(sequence.tokens.end(), entry->tokens.begin(), entry->tokens.end());
  sequence.blocks = static_cast<std::int32_t>(before.size());
  const std::size_t cached = sequence.tokens.size();
  sequence.tokens.insert(sequence.tokens.end(), event.tokens.begin(), event.tokens.end());
  layOut(request, sequence);
  sequence.tokens.resize(cached);
  if (!own.isDevice) return request;
  std::int32_t index = 0;
  for (const auto& [hash, entry] : before) {
    if (entry->blocks.empty()) continue;
    const auto tokens = static_cast<std::int32_t>(entry->tokens.size());
    send(m_runs.run(), request,
         trace::BlockLookedUp{.virtualIndex = index,
                              .block = entry->blocks.front(),
                              .outcome = trace::LookupOutcome::Hit,
                              .tokens = tokens,
                              .wanted = tokens,
                              .storedByRun = entry->run,
                              .storedByRequest = entry->request,
                              .storedByNode = m_runs.node(kSequences)});
    send(m_runs.run(), request,
         trace::BlockShared{.block = entry->blocks.front(), .virtualIndex = index++, .references = 1});
    send(m_runs.run(), request, trace::BlockReleased{.block = entry->blocks.front(), .references = 0});
  }
  return request;
}

// ---- events ------------------------------------------------------------------------------

std::size_t WatchedCache::laneOf(std::size_t publisher, const std::optional<std::int64_t>& group,
                                 const std::optional<std::string>& medium) {
  const std::string name = medium.value_or(server::kDeviceMedium);
  for (std::size_t i = 0; i < m_lanes.size(); ++i) {
    const WatchedLane& facts = m_lanes[i].facts;
    if (facts.publisher == publisher && facts.group == group.value_or(0) && facts.medium == name) return i;
  }
  constexpr std::size_t kMostLanes = 4096;
  if (m_lanes.size() >= kMostLanes)
    throw Failure(errorAt(
        "KV events",
        "more than " + std::to_string(kMostLanes) + " combinations of KV cache group and storage medium",
        "fewer"));
  Lane& lane = m_lanes.emplace_back();
  lane.facts = {.publisher = publisher, .group = group.value_or(0), .medium = name};
  lane.isDevice = name == server::kDeviceMedium;
  return m_lanes.size() - 1;
}

void WatchedCache::take(std::size_t publisher, const server::KvBatch& batch, std::int64_t now) {
  for (const server::KvEvent& event : batch.events) {
    if (const auto* stored = std::get_if<server::KvBlocksStored>(&event))
      store(publisher, *stored, now);
    else if (const auto* removed = std::get_if<server::KvBlocksRemoved>(&event))
      remove(publisher, *removed, now);
    else
      clear(publisher, now);
  }
}

void WatchedCache::store(std::size_t publisher, const server::KvBlocksStored& event, std::int64_t now) {
  if (event.hashes.empty()) return;
  growBlocks(event.blockSize);
  openTrace(now);
  const std::size_t lane = laneOf(publisher, event.group, event.medium);
  if (!m_lanes[lane].isDevice) return storeElsewhere(publisher, lane, event);
  const RequestId request = sequenceFor(lane, event, now);
  Sequence& sequence = m_sequences.at(request);
  const auto size = static_cast<std::size_t>(event.blockSize);
  std::optional<std::uint64_t> before = event.parent;
  for (std::size_t i = 0; i < event.hashes.size(); ++i) {
    Entry made;
    made.parent = before;
    made.index = sequence.blocks++;
    made.run = sequence.run;
    made.request = request;
    if (event.extraKeys && i < event.extraKeys->size()) made.extra = (*event.extraKeys)[i];
    const std::size_t begin = std::min(i * size, event.tokens.size());
    const std::size_t end = std::min(begin + size, event.tokens.size());
    made.tokens.assign(event.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                       event.tokens.begin() + static_cast<std::ptrdiff_t>(end));
    if (made.tokens.empty()) made.tokens.push_back(kUnknownToken);
    sequence.tokens.insert(sequence.tokens.end(), made.tokens.begin(), made.tokens.end());
    before = event.hashes[i];
    storeBlock(lane, event.hashes[i], std::move(made), request, sequence);
  }
  sequence.tail = event.hashes.back();
  sequence.changedAt = now;
  m_lanes[lane].tails[sequence.tail] = request;
  // Few layouts of a long sequence, because a layout has all tokens.
  if (sequence.laidOut > sequence.tokens.size()) sequence.laidOut = 0;
  if (sequence.tokens.size() >= sequence.laidOut + sequence.laidOut / 8) layOut(request, sequence);
}

void WatchedCache::storeBlock(std::size_t lane, std::uint64_t hash, Entry made, RequestId request,
                              const Sequence& owner) {
  using trace::MissReason;
  const auto [place, isNew] = m_lanes[lane].entries.try_emplace(hash);
  Entry& entry = place->second;
  // The event says that an unknown block has this content. It is probably the same block.
  const bool isConfirmed = !isNew && entry.isUnknown() && !entry.blocks.empty();
  const auto virtualIndex = made.index;
  const auto fill = static_cast<std::int32_t>(made.tokens.size());
  trace::BlockStored stored{.block = isConfirmed ? entry.blocks.front() : allocate(),
                            .key = keyOf(lane, hash),
                            .parent = {},
                            .virtualIndex = virtualIndex,
                            .tokens = std::move(made.tokens)};
  if (!isConfirmed) {
    trace::BlockLookedUp lookup;
    lookup.virtualIndex = virtualIndex;
    lookup.wanted = fill;
    const auto removed = m_removedBy.find({lane, hash});
    if (removed != m_removedBy.end()) {
      lookup.reason = MissReason::Evicted;
      lookup.evictedBy = removed->second;
    } else if (!m_late.contains(m_lanes[lane].facts.publisher)) {
      lookup.reason = MissReason::NeverSeen;
    }
    send(owner.run, request, std::move(lookup));
    send(owner.run, request, trace::BlockAllocated{.block = stored.block, .virtualIndex = virtualIndex});
    entry.blocks.push_back(stored.block);
    ++entry.copies;
    ++m_lanes[lane].facts.blocks;
  }
  entry.parent = made.parent;
  entry.extra = std::move(made.extra);
  entry.index = made.index;
  entry.isInGap = false;
  entry.isLost = false;
  entry.run = made.run;
  entry.request = made.request;
  entry.tokens = stored.tokens;
  stored.parent = parentKey(lane, entry);
  const BlockId block = stored.block;
  send(owner.run, request, std::move(stored));
  if (!isConfirmed) send(owner.run, request, trace::BlockReleased{.block = block, .references = 0});
}

/// A block in host memory or on a disk is a copy of a block of the device.
void WatchedCache::storeElsewhere(std::size_t publisher, std::size_t lane,
                                  const server::KvBlocksStored& event) {
  const auto device = std::ranges::find_if(m_lanes, [&](const Lane& each) {
    return each.isDevice && each.facts.publisher == publisher && each.facts.group == event.group.value_or(0);
  });
  const auto tier =
      m_lanes[lane].facts.medium.starts_with("CPU") ? trace::StoreTier::Host : trace::StoreTier::Disk;
  for (const std::uint64_t hash : event.hashes) {
    ++m_lanes[lane].entries[hash].copies;
    ++m_lanes[lane].facts.blocks;
    if (device == m_lanes.end()) continue;
    const auto found = device->entries.find(hash);
    if (found == device->entries.end() || found->second.blocks.empty()) continue;
    send(m_runs.run(), 0,
         trace::BlockSpilled{.block = found->second.blocks.front(),
                             .key = keyOf(static_cast<std::size_t>(device - m_lanes.begin()), hash),
                             .tier = tier,
                             .tokens = event.blockSize,
                             .bytes = 0});
  }
}

void WatchedCache::rememberRemoval(const std::pair<std::size_t, std::uint64_t>& block, std::uint64_t event) {
  m_removedBy[block] = event;
  if (m_removed.size() < kMostRemoved) return m_removed.push_back(block);
  if (m_removed[m_nextRemoved] != block) m_removedBy.erase(m_removed[m_nextRemoved]);
  m_removed[m_nextRemoved] = block;
  m_nextRemoved = (m_nextRemoved + 1) % kMostRemoved;
}

void WatchedCache::removeBlock(std::size_t lane, std::uint64_t hash, trace::RemovalReason reason) {
  const auto found = m_lanes[lane].entries.find(hash);
  Entry& entry = found->second;
  --entry.copies;
  --m_lanes[lane].facts.blocks;
  if (!entry.blocks.empty()) {
    const BlockId block = entry.blocks.back();
    entry.blocks.pop_back();
    const std::uint64_t event = send(
        m_runs.run(), 0, trace::BlockRemoved{.block = block, .key = keyOf(lane, hash), .reason = reason});
    if (reason == trace::RemovalReason::Evicted) rememberRemoval({lane, hash}, event);
    giveBack(block);
  }
  if (entry.copies == 0) m_lanes[lane].entries.erase(found);
}

void WatchedCache::remove(std::size_t publisher, const server::KvBlocksRemoved& event, std::int64_t now) {
  openTrace(now);
  const std::size_t lane = laneOf(publisher, event.group, event.medium);
  for (const std::uint64_t hash : event.hashes) {
    if (m_lanes[lane].entries.contains(hash)) {
      removeBlock(lane, hash, trace::RemovalReason::Evicted);
    } else if (m_late.contains(publisher)) {
      if (m_unknown.empty() || !m_lanes[lane].isDevice) continue;
      const BlockId block = m_unknown.back();
      m_unknown.pop_back();
      send(m_runs.run(), 0,
           trace::BlockRemoved{.block = block, .key = {}, .reason = trace::RemovalReason::Evicted});
      giveBack(block);
    } else {
      ++m_contradictions;
    }
  }
}

void WatchedCache::clear(std::size_t publisher, std::int64_t now) {
  openTrace(now);
  std::vector<RequestId> ended;
  for (const auto& [request, sequence] : m_sequences) {
    if (m_lanes[sequence.lane].facts.publisher == publisher) ended.push_back(request);
  }
  for (const RequestId request : ended) finish(request);
  m_late.erase(publisher);
  const bool isAlone = std::ranges::all_of(m_lanes, [publisher](const Lane& lane) {
    return lane.facts.publisher == publisher || lane.entries.empty();
  });
  if (isAlone) {
    for (Lane& lane : m_lanes) {
      lane.entries.clear();
      lane.facts.blocks = 0;
    }
    m_unknown.clear();
    m_free.clear();
    m_fresh = 1;
    send(m_runs.run(), 0, trace::CacheCleared{});
    return;
  }
  for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
    if (m_lanes[lane].facts.publisher != publisher) continue;
    std::vector<std::uint64_t> hashes;
    for (const auto& [hash, entry] : m_lanes[lane].entries) hashes.push_back(hash);
    for (const std::uint64_t hash : hashes) {
      while (m_lanes[lane].entries.contains(hash)) removeBlock(lane, hash, trace::RemovalReason::Cleared);
    }
  }
}

// ---- missing messages --------------------------------------------------------------------

void WatchedCache::startLate(std::size_t publisher, std::int64_t now) {
  m_late.insert(publisher);
  say(Severity::Warning,
      m_runs.server().blocks > 0
          ? "The server's earlier events are missing. The content of all blocks that were stored earlier is "
            "unknown."
          : "The server's earlier events are missing. Blocks that were stored earlier are not shown.",
      now);
  if (m_runs.server().blocks == 0) return;
  for (; m_fresh <= m_capacity; ++m_fresh) m_unknown.push_back(m_fresh);
  std::ranges::reverse(m_unknown);
  sendPool(0);
}

void WatchedCache::beginGap(std::size_t publisher, std::uint64_t missing, std::int64_t now) {
  say(Severity::Warning,
      counted(missing, "message is", "messages are") +
          " missing. The content of the blocks is unknown until the server sends the missing messages again.",
      now);
  m_isInGap = true;
  for (Lane& lane : m_lanes) {
    if (lane.facts.publisher != publisher) continue;
    for (auto& [hash, entry] : lane.entries) entry.isInGap = true;
  }
  sendPool(0);
}

void WatchedCache::endGap(std::size_t publisher, bool isFilled, std::int64_t now) {
  for (Lane& lane : m_lanes) {
    if (lane.facts.publisher != publisher) continue;
    for (auto& [hash, entry] : lane.entries) {
      // Blocks from messages that were replayed before the lost ones are unknown, too.
      entry.isLost = entry.isLost || !isFilled;
      entry.isInGap = false;
    }
  }
  m_isInGap = false;
  if (!isFilled) {
    m_late.insert(publisher);
    say(Severity::Warning,
        "The server could not send the missing messages again. The content of blocks stays unknown until the "
        "server reports these blocks again.",
        now);
    sendPool(0);
    return;
  }
  say(Severity::Note, "The server sent the missing messages again.", now);
  sendPool(0);
}

void WatchedCache::restart(std::size_t publisher, std::int64_t now) {
  say(Severity::Note, "The server was restarted, so its cache is empty.", now);
  clear(publisher, now);
}

// ---- time --------------------------------------------------------------------------------

void WatchedCache::count(const TokenTotals& totals, std::int64_t now) {
  if (!m_isOpen) openSession(std::max(1, m_runs.server().blockSize));
  m_counted.take(totals);
  writeTotals(m_runs, kTotals, m_counted.last(), now);
}

void WatchedCache::tick(std::int64_t now) {
  std::vector<RequestId> quiet;
  for (auto& [request, sequence] : m_sequences) {
    if (now - sequence.changedAt >= kQuietTime)
      quiet.push_back(request);
    else if (now - sequence.changedAt >= kLayoutDelay)
      layOut(request, sequence);
  }
  for (const RequestId request : quiet) finish(request);
  m_runs.tick(now);
}

void WatchedCache::end(std::int64_t /*now*/) {
  while (!m_sequences.empty()) finish(m_sequences.begin()->first);
  m_runs.close();
}

// ---- the state ---------------------------------------------------------------------------

std::vector<WatchedLane> WatchedCache::lanes() const {
  std::vector<WatchedLane> lanes;
  for (const Lane& lane : m_lanes) lanes.push_back(lane.facts);
  return lanes;
}

std::vector<std::uint64_t> WatchedCache::hashes(const WatchedLane& lane) const {
  std::vector<std::uint64_t> hashes;
  for (const Lane& each : m_lanes) {
    const WatchedLane& facts = each.facts;
    if (facts.publisher != lane.publisher || facts.group != lane.group || facts.medium != lane.medium)
      continue;
    for (const auto& [hash, entry] : each.entries) hashes.insert(hashes.end(), entry.copies, hash);
  }
  std::ranges::sort(hashes);
  return hashes;
}

}  // namespace spanscope::watch
