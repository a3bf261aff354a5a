// SPDX-License-Identifier: GPL-3.0-or-later
// Drives a cache as a scheduler would. For every token slot of the pool it notes what a model would have
// written there: not values, but the identity of everything on which these values depend. Everything that the
// cache hands out is checked against these notes.
#pragma once

#include "tests/engine/cache/cache_fixture.h"

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace spanscope::cache::test {

/// Represents everything on which a key and a value depend: salt, the visible segments, and all tokens up to
/// this one. 0: unwritten.
using Identity = std::int32_t;
using Identities = std::vector<Identity>;

class IdentityBook {
 public:
  Identity root(const std::string& salt,
                const std::vector<std::tuple<Identity, std::int64_t, std::int32_t>>& seen) {
    Identity& identity = m_roots[{salt, seen}];
    if (identity == 0) identity = next(-1);
    return identity;
  }
  Identity after(Identity before, TokenId token) {
    Identity& identity = m_tokens[{before, token}];
    if (identity == 0) identity = next(token);
    return identity;
  }
  TokenId token(Identity identity) const { return m_token.at(static_cast<std::size_t>(identity)); }

 private:
  Identity next(TokenId token) {
    m_token.push_back(token);
    return static_cast<Identity>(m_token.size() - 1);
  }

  using Root = std::pair<std::string, std::vector<std::tuple<Identity, std::int64_t, std::int32_t>>>;
  std::map<Root, Identity> m_roots;
  std::map<std::pair<Identity, TokenId>, Identity> m_tokens;
  std::vector<TokenId> m_token{-1};
};

/// Drives and checks a cache. If the cache does something wrong, it throws std::runtime_error with a
/// sentence.
class CacheDriver {
 public:
  explicit CacheDriver(const CacheConfig& config, KeyHash hash = xxh3Key)
      : sink(config), cache(config, sink, hash), m_slots(static_cast<std::size_t>(config.blockCount)) {
    for (Identities& slots : m_slots) slots.resize(static_cast<std::size_t>(config.blockSize), 0);
    sink.onEvent = [this](const trace::Event& event) { watch(event); };
  }

  struct Live {
    RequestSpec spec;
    std::vector<Identities> identities;      ///< by segment, one for each token
    std::vector<Identity> roots;             ///< by segment
    std::vector<std::int32_t> computed;      ///< by segment: how many local tokens are in their blocks
    std::vector<std::int32_t> promptTokens;  ///< by segment, without appended tokens
    std::int32_t remaining = 0;
    std::vector<BlockId> copySources;  ///< sources of copies that are not confirmed yet
  };

  ReplayingSink sink;
  KvCache cache;

  const std::map<RequestId, Live>& live() const { return m_live; }
  std::optional<Refusal> lastRefusal;

  /// Admits a request. Returns false if the cache refuses it.
  bool admit(const RequestSpec& spec) {
    const trace::PoolState before = cache.dump();
    const std::size_t contents = cache.contentCount();
    const std::size_t events = sink.events().size();
    const std::vector<SegmentLookup> lookups = cache.lookup(spec);
    require(cache.dump() == before && sink.events().size() == events && cache.contentCount() == contents,
            "a lookup changes nothing");
    Live entry = describe(spec);
    const std::int64_t available = cache.freeBlocks() - keptBlocks();
    require(available >= 0, "what is kept is free");
    checkLookups(entry, lookups);

    const std::variant<Admission, Refusal> result = cache.admit(spec);
    if (const Refusal* refusal = std::get_if<Refusal>(&result)) {
      require(cache.dump() == before && sink.events().size() == events && cache.contentCount() == contents,
              "a refusal changes nothing");
      checkRefusal(entry, *refusal, available);
      if (refusal->reason == Refusal::Reason::WaitForOther) {
        require(computingOther(entry, lookups) != 0, "the other one computes something that is needed");
      }
      lastRefusal = *refusal;
      return false;
    }
    lastRefusal.reset();
    const Admission& admission = std::get<Admission>(result);
    require(computingOther(entry, lookups) == 0, "nobody computes what another one is computing");
    checkAdmission(spec, lookups, admission, events);
    for (std::size_t segment = 0; segment < spec.segments.size(); ++segment) {
      entry.computed.push_back(admission.segments[segment].computeFrom);
      require(cache.blocks(spec.id, static_cast<std::uint32_t>(segment)).blocks ==
                  admission.segments[segment].blocks,
              "blocks are those of the admission");
    }
    for (const BlockCopy& copy : admission.copies) {
      copySlots(copy);
      entry.copySources.push_back(copy.source);
    }
    entry.remaining = spec.lookahead;
    m_live.emplace(spec.id, std::move(entry));
    check();
    return true;
  }

  void copied(RequestId id) {
    m_live.at(id).copySources.clear();
    cache.copied(id);
    check();
  }

  /// Computes up to `rows` tokens of the first segment that is not done. Returns false if all segments are
  /// done.
  bool compute(RequestId id, std::int32_t rows) {
    Live& entry = m_live.at(id);
    for (std::size_t segment = 0; segment < entry.identities.size(); ++segment) {
      const auto length = static_cast<std::int32_t>(entry.identities[segment].size());
      verifySegment(id, segment);
      if (entry.computed[segment] == length) {
        confirmFound(id, segment);
        continue;
      }
      const SegmentBlocks& view = cache.blocks(id, static_cast<std::uint32_t>(segment));
      const std::int32_t end = std::min(length, entry.computed[segment] + rows);
      for (std::int32_t token = entry.computed[segment]; token < end; ++token) {
        slot(view, token) = entry.identities[segment][static_cast<std::size_t>(token)];
      }
      entry.computed[segment] = end;
      cache.computed(id, static_cast<std::uint32_t>(segment), end);
      check();
      return true;
    }
    return false;
  }

  /// Notifies the cache that a fully cached segment is computed, and checks that nothing is stored twice.
  void confirmFound(RequestId id, std::size_t segment) {
    const Live& entry = m_live.at(id);
    if (segment + 1 == entry.identities.size()) return;
    const std::size_t events = sink.events().size();
    cache.computed(id, static_cast<std::uint32_t>(segment), entry.computed[segment]);
    require(sink.events().size() == events, "what was found is not stored again");
  }

  void computeAll(RequestId id) {
    while (compute(id, 1 << 20)) {
    }
  }

  /// Appends a generated token. Before the next append, compute() must run, as a model would have to run for
  /// this token. Returns false if there is no room.
  bool append(RequestId id, TokenId token) {
    Live& entry = m_live.at(id);
    const trace::PoolState before = cache.dump();
    const std::size_t events = sink.events().size();
    const std::optional<Slot> given = cache.append(id, token);
    if (!given) {
      require(entry.remaining == 0 && cache.freeBlocks() <= keptBlocks(), "room that was announced is there");
      require(cache.dump() == before && sink.events().size() == events, "what is refused changes nothing");
      return false;
    }
    const Slot& slot = *given;
    if (slot.copy) {
      require(slot.copy->target == slot.block && slot.copy->slots == slot.slot,
              "the copy makes the slot's block");
      copySlots(*slot.copy);
      entry.copySources.push_back(slot.copy->source);
    }
    if (entry.remaining > 0) --entry.remaining;
    Identities& identities = entry.identities.back();
    identities.push_back(m_book.after(identities.back(), token));
    entry.spec.segments.back().tokens.push_back(token);
    const SegmentBlocks& view = cache.blocks(id, static_cast<std::uint32_t>(entry.identities.size() - 1));
    require(view.blocks.back() == slot.block, "the token goes to the last block");
    require(slot.slot == static_cast<std::int32_t>(identities.size() - 1) % cache.config().blockSize,
            "the token goes to the next slot");
    check();
    return true;
  }

  /// Finishes a request. Returns its specification with the appended tokens.
  RequestSpec finish(RequestId id) {
    RequestSpec spec = m_live.at(id).spec;
    cache.finish(id);
    m_live.erase(id);
    check();
    return spec;
  }

  /// Takes out a running request. Returns the specification with which it is resumed; nothing is kept for the
  /// request any more.
  RequestSpec preempt(RequestId id) {
    const std::vector<std::int32_t> computed = m_live.at(id).computed;
    RequestSpec spec = finish(id);
    spec.computedBefore = computed;
    spec.lookahead = 0;
    return spec;
  }

  /// Admits, computes and finishes a request.
  void run(const RequestSpec& spec) {
    require(admit(spec), "the request is admitted");
    copied(spec.id);
    computeAll(spec.id);
    finish(spec.id);
  }

  /// Checks what must hold between any two calls.
  void check() const {
    const trace::PoolState pool = cache.dump();
    require(pool == sink.pool(), "replaying the events gives the pool");
    require(pool == sink.viewedPool(), "and so does the replay that views use");
    std::vector<std::int64_t> held(pool.blocks.size(), 0);
    for (const auto& [id, entry] : m_live) {
      for (std::uint32_t segment = 0; segment < entry.spec.segments.size(); ++segment) {
        for (const BlockId block : cache.blocks(id, segment).blocks) ++held[static_cast<std::size_t>(block)];
      }
      for (const BlockId block : entry.copySources) ++held[static_cast<std::size_t>(block)];
    }
    std::vector<bool> isFree(pool.blocks.size(), false);
    for (const BlockId block : pool.freeOrder) {
      require(!isFree[static_cast<std::size_t>(block)], "a free block is listed once");
      isFree[static_cast<std::size_t>(block)] = true;
    }
    require(!isFree[0] && pool.blocks[0] == trace::BlockState{}, "the null block stays out of it");
    for (std::size_t block = 1; block < pool.blocks.size(); ++block) {
      require(pool.blocks[block].references >= 0, "references are not negative");
      require(isFree[block] == (pool.blocks[block].references == 0), "free or referenced");
      require(held[block] == pool.blocks[block].references, "references are what is held");
    }
    require(cache.freeBlocks() == static_cast<std::int64_t>(pool.freeOrder.size()),
            "free blocks are counted");
    if (m_live.empty() && m_stored.empty()) require(cache.contentCount() == 0, "nothing is kept for nobody");
  }

  static void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error(what);
  }

 private:
  Identity& slot(const SegmentBlocks& view, std::int32_t token) {
    const std::int32_t size = cache.config().blockSize;
    const BlockId block = view.blocks.at(static_cast<std::size_t>(token / size));
    return m_slots[static_cast<std::size_t>(block)][static_cast<std::size_t>(token % size)];
  }

  void copySlots(const BlockCopy& copy) {
    const Identities& source = m_slots[static_cast<std::size_t>(copy.source)];
    std::copy_n(source.begin(), copy.slots, m_slots[static_cast<std::size_t>(copy.target)].begin());
  }

  /// Checks that all computed tokens of a segment are in its blocks.
  void verifySegment(RequestId id, std::size_t segment) {
    const Live& entry = m_live.at(id);
    const SegmentBlocks& view = cache.blocks(id, static_cast<std::uint32_t>(segment));
    for (std::int32_t token = 0; token < entry.computed[segment]; ++token) {
      if (slot(view, token) == entry.identities[segment][static_cast<std::size_t>(token)]) continue;
      std::ostringstream text;
      text << "request " << id << " segment " << segment << " token " << token << " is not in its block";
      throw std::runtime_error(text.str());
    }
  }

  Live describe(const RequestSpec& spec) {
    Live entry;
    entry.spec = spec;
    for (const SegmentSpec& segment : spec.segments) {
      std::vector<std::tuple<Identity, std::int64_t, std::int32_t>> seen;
      for (const SeenSegment& other : segment.sees) {
        const Identities& chain = entry.identities[other.segment];
        seen.emplace_back(chain.empty() ? entry.roots[other.segment] : chain.back(), other.distance,
                          other.visibleBegin);
      }
      const Identity root = m_book.root(spec.salt, seen);
      Identities chain;
      for (const TokenId token : segment.tokens) {
        chain.push_back(m_book.after(chain.empty() ? root : chain.back(), token));
      }
      entry.roots.push_back(root);
      entry.promptTokens.push_back(static_cast<std::int32_t>(chain.size()));
      entry.identities.push_back(std::move(chain));
    }
    return entry;
  }

  /// The largest number of leading tokens of `wanted`, from `begin` on, that one cached block holds.
  std::int32_t bestInPool(const Identities& wanted, std::size_t begin, std::int32_t count) const {
    std::int32_t best = 0;
    for (const auto& [block, stored] : m_stored) {
      std::int32_t common = 0;
      while (common < count && common < static_cast<std::int32_t>(stored.size()) &&
             stored[static_cast<std::size_t>(common)] == wanted[begin + static_cast<std::size_t>(common)]) {
        ++common;
      }
      best = std::max(best, common);
    }
    return best;
  }

  /// Works out what each segment must find, from nothing but the content of the pool, and compares it with
  /// the lookups.
  void checkLookups(const Live& entry, const std::vector<SegmentLookup>& lookups) const {
    const CacheConfig& config = cache.config();
    std::map<std::pair<Identity, std::int32_t>, std::size_t> computedBefore;
    std::map<Identity, std::size_t> begunBefore;  // by the last token of what such a content begins with
    bool someCopied = false;
    bool someDropped = false;
    require(lookups.size() == entry.identities.size(), "a lookup for every segment");
    for (std::size_t segment = 0; segment < entry.identities.size(); ++segment) {
      const Identities& chain = entry.identities[segment];
      const std::vector<trace::BlockLookedUp>& blocks = lookups[segment].blocks;
      const auto length = static_cast<std::int32_t>(chain.size());
      require(static_cast<std::int32_t>(blocks.size()) == (length + config.blockSize - 1) / config.blockSize,
              "a lookup for every virtual block");
      bool missed = !config.enabled;
      std::int32_t found = 0;
      for (std::size_t index = 0; index < blocks.size(); ++index) {
        const trace::BlockLookedUp& facts = blocks[index];
        const std::int32_t begin = static_cast<std::int32_t>(index) * config.blockSize;
        const std::int32_t wanted = std::min(config.blockSize, length - begin);
        const bool last = segment + 1 == entry.identities.size() && index + 1 == blocks.size();
        const bool keyed = wanted == config.blockSize || config.cacheTails;
        const std::int32_t best = bestInPool(chain, static_cast<std::size_t>(begin), wanted);
        const std::pair<Identity, std::int32_t> content{chain[static_cast<std::size_t>(begin + wanted - 1)],
                                                        wanted};
        require(facts.segment == segment && facts.virtualIndex == static_cast<std::int32_t>(index) &&
                    facts.wanted == wanted && facts.base == entry.spec.segments[segment].base,
                "a lookup says what was looked for");
        found += facts.tokens;
        std::optional<std::size_t> before;
        if (const auto equal = computedBefore.find(content); equal != computedBefore.end()) {
          before = equal->second;
        } else if (const auto longer = begunBefore.find(content.first);
                   wanted < config.blockSize && longer != begunBefore.end()) {
          before = longer->second;
        }
        const bool whole = !missed && keyed && !last && (best == wanted || before);
        if (whole) {
          require(facts.tokens == wanted && facts.reason == trace::MissReason::None,
                  "what is there is found");
          require(facts.outcome == (facts.storedBase == facts.base ? trace::LookupOutcome::Hit
                                                                   : trace::LookupOutcome::Relocated),
                  "relocated means another base");
          if (best == wanted) {
            checkStoredBy(facts);
          } else {
            const SegmentSpec& sibling = entry.spec.segments[*before];
            require(facts.storedByRequest == entry.spec.id && facts.storedByRun == entry.spec.run &&
                        facts.storedByNode == sibling.node && facts.storedBase == sibling.base,
                    "what is going to be computed is said to be the request's own");
          }
          continue;
        }
        require(facts.reason != trace::MissReason::None, "a miss has a reason");
        if (missed || !keyed) {
          require(facts.outcome == trace::LookupOutcome::Miss && facts.tokens == 0,
                  "nothing is found after a miss");
        } else {
          const std::int32_t part = config.cacheTails ? std::min(best, last ? wanted - 1 : wanted) : 0;
          if (facts.outcome == trace::LookupOutcome::Partial) {
            require(part > 0 && facts.tokens == part, "as much as possible is copied");
            someCopied = true;
          } else {
            require(facts.outcome == trace::LookupOutcome::Miss && facts.tokens == 0, "else it is a miss");
            someDropped = someDropped || part > 0;
          }
          if (best > 0 && config.cacheTails) checkStoredBy(facts);
          checkReason(facts, best, last);
        }
        checkEviction(facts);
        missed = true;
        if (!keyed || last) continue;
        computedBefore.try_emplace(content, segment);
        for (std::int32_t at = begin; config.cacheTails && at < begin + wanted; ++at)
          begunBefore.try_emplace(chain[static_cast<std::size_t>(at)], segment);
      }
      require(found == lookups[segment].cachedTokens, "cached tokens are those of the blocks");
    }
    require(!(someCopied && someDropped), "copies are all made or all left out");
  }

  /// A running request that is computing more of a block than is stored, if this request needs that; else 0.
  RequestId computingOther(const Live& entry, const std::vector<SegmentLookup>& lookups) const {
    const std::int32_t size = cache.config().blockSize;
    if (!cache.config().enabled) return 0;
    for (std::size_t segment = 0; segment < entry.identities.size(); ++segment) {
      const Identities& chain = entry.identities[segment];
      for (const trace::BlockLookedUp& facts : lookups[segment].blocks) {
        const bool whole =
            facts.outcome == trace::LookupOutcome::Hit || facts.outcome == trace::LookupOutcome::Relocated;
        if (whole) continue;
        const std::int32_t begin = facts.virtualIndex * size;
        const std::int32_t end = begin + facts.wanted;
        const bool last =
            segment + 1 == entry.identities.size() && end == static_cast<std::int32_t>(chain.size());
        // If there was no room for a copy, the place where the tokens differ determines the stored count.
        std::int32_t stored = facts.tokens;
        if (facts.differsAt >= begin) stored = std::max(stored, facts.differsAt - begin);
        if (facts.reason == trace::MissReason::LastToken) stored = facts.wanted - 1;
        for (const auto& [id, other] : m_live) {
          for (std::size_t place = 0; place < other.identities.size(); ++place) {
            const std::int32_t otherEnd = std::min(begin + size, other.promptTokens[place]);
            if (other.computed[place] >= otherEnd) continue;
            std::int32_t common = 0;
            while (
                begin + common < std::min(end, otherEnd) &&
                other.identities[place][static_cast<std::size_t>(begin) + static_cast<std::size_t>(common)] ==
                    chain[static_cast<std::size_t>(begin) + static_cast<std::size_t>(common)]) {
              ++common;
            }
            if (!cache.config().cacheTails && (last || common < size)) continue;
            if (std::min(common, last ? facts.wanted - 1 : facts.wanted) > stored) return id;
          }
        }
        break;
      }
    }
    return 0;
  }

  void checkReason(const trace::BlockLookedUp& facts, std::int32_t best, bool last) const {
    using trace::MissReason;
    if (best == facts.wanted) {
      require(last && facts.reason == MissReason::LastToken, "a full hit misses only its last token");
      return;
    }
    require(facts.reason != MissReason::LastToken, "not all is there");
    require(facts.reason != MissReason::AfterMiss && facts.reason != MissReason::CacheOff,
            "it is the first miss");
    if (best > 0) {
      require(facts.reason == MissReason::TokensDiffer || facts.reason == MissReason::Evicted,
              "something alike is there");
      require(facts.differsAt == facts.virtualIndex * cache.config().blockSize + best,
              "it differs where it does");
    }
    if (facts.reason == MissReason::TokensDiffer) {
      require(facts.tokenWanted != facts.tokenStored && facts.block != kNullBlock, "different tokens differ");
    }
    if (facts.reason == MissReason::ContextDiffers) {
      require(facts.virtualIndex == 0 && (facts.contextDiffersAt >= 0 || cache.config().positionStep > 0),
              "a context begins a chain");
      const trace::BlockState& block = sink.pool().blocks.at(static_cast<std::size_t>(facts.block));
      require(block.cached && block.fill >= facts.wanted && block.virtualIndex == 0,
              "the same tokens are stored");
    }
    if (facts.reason == MissReason::NeverSeen) require(facts.block == kNullBlock, "nothing is like it");
  }

  void checkStoredBy(const trace::BlockLookedUp& facts) const {
    const trace::BlockState& block = sink.pool().blocks.at(static_cast<std::size_t>(facts.block));
    require(block.cached && block.fill >= facts.tokens && block.base == facts.storedBase &&
                block.storedByRun == facts.storedByRun && block.storedByRequest == facts.storedByRequest &&
                block.storedByNode == facts.storedByNode,
            "a lookup says who stored the block");
  }

  void checkEviction(const trace::BlockLookedUp& facts) const {
    if (facts.reason != trace::MissReason::Evicted) {
      require(facts.evictedBy == 0, "only what was evicted has such an event");
      return;
    }
    const trace::Payload& payload = sink.events().at(facts.evictedBy - 1).payload;
    const auto* removed = std::get_if<trace::BlockRemoved>(&payload);
    require((removed && removed->reason == trace::RemovalReason::Evicted) ||
                std::holds_alternative<trace::CacheCleared>(payload),
            "the event that evicted it is one");
  }

  /// The number of free blocks that running requests may still take.
  std::int64_t keptBlocks() const {
    const std::int64_t size = cache.config().blockSize;
    std::int64_t kept = 0;
    for (const auto& [id, entry] : m_live) {
      const auto length = static_cast<std::int64_t>(entry.identities.back().size());
      const SegmentBlocks& view = cache.blocks(id, static_cast<std::uint32_t>(entry.identities.size() - 1));
      kept += (length + entry.remaining + size - 1) / size - static_cast<std::int64_t>(view.blocks.size());
      if (entry.remaining > 0 && length % size != 0 &&
          sink.pool().blocks[static_cast<std::size_t>(view.blocks.back())].references > 1) {
        ++kept;
      }
    }
    return kept;
  }

  void checkRefusal(const Live& entry, const Refusal& refusal, std::int64_t available) const {
    const CacheConfig& config = cache.config();
    if (refusal.reason == Refusal::Reason::WaitForOther) {
      require(m_live.contains(refusal.waitFor.request) && refusal.waitFor.request != entry.spec.id &&
                  cache.isBeingComputed(refusal.waitFor),
              "it waits for another one");
      return;
    }
    require(refusal.neededBlocks > refusal.availableBlocks, "a refusal says what is missing");
    if (refusal.reason == Refusal::Reason::NoRoomNow) {
      require(!m_live.empty(), "a request that fits is only refused while others run");
      require(refusal.availableBlocks == available, "what is available is free and not kept");
      return;
    }
    std::map<std::pair<Identity, std::int32_t>, bool> distinct;
    std::set<Identity> begun;
    std::int64_t blocks = 0;
    for (std::size_t segment = 0; segment < entry.identities.size(); ++segment) {
      const Identities& chain = entry.identities[segment];
      const auto length = static_cast<std::int32_t>(chain.size());
      for (std::int32_t begin = 0; begin < length; begin += config.blockSize) {
        const std::int32_t fill = std::min(config.blockSize, length - begin);
        const bool last = segment + 1 == entry.identities.size() && begin + fill == length;
        const bool keyed = config.enabled && (fill == config.blockSize || config.cacheTails);
        if (last || !keyed) ++blocks;
        if (last || !keyed) continue;
        const Identity end = chain[static_cast<std::size_t>(begin + fill - 1)];
        // A partial block shares the block of an earlier content that begins with it.
        if (fill < config.blockSize && begun.contains(end)) continue;
        distinct[{end, fill}] = true;
        begun.insert(chain.begin() + begin, chain.begin() + begin + fill);
      }
    }
    const auto length = static_cast<std::int64_t>(entry.identities.back().size());
    const std::int64_t size = config.blockSize;
    blocks += (length + entry.spec.lookahead + size - 1) / size - (length + size - 1) / size;
    blocks += static_cast<std::int64_t>(distinct.size());
    require(blocks == refusal.neededBlocks && blocks > config.blockCount - 1 &&
                refusal.availableBlocks == config.blockCount - 1,
            "what never fits does not");
  }

  void checkAdmission(const RequestSpec& spec, const std::vector<SegmentLookup>& lookups,
                      const Admission& admission, std::size_t firstEvent) const {
    const std::vector<trace::Event>& events = sink.events();
    std::size_t event = firstEvent;
    std::int64_t cached = 0;
    std::int64_t relocated = 0;
    std::int64_t tokens = 0;
    for (std::size_t segment = 0; segment < lookups.size(); ++segment) {
      for (const trace::BlockLookedUp& facts : lookups[segment].blocks) {
        const auto* sent = std::get_if<trace::BlockLookedUp>(&events.at(event).payload);
        require(sent && *sent == facts, "admission tells first what a lookup told");
        require(events[event].node == spec.segments[segment].node && events[event].request == spec.id &&
                    events[event].run == spec.run,
                "an event says for whom it is");
        ++event;
        const auto index = static_cast<std::size_t>(facts.virtualIndex);
        const bool shared =
            facts.outcome == trace::LookupOutcome::Hit || facts.outcome == trace::LookupOutcome::Relocated;
        if (shared) {
          require(admission.segments[segment].blocks.at(index) == facts.block,
                  "a hit is the block that was found");
        }
        if (facts.outcome == trace::LookupOutcome::Relocated) relocated += facts.tokens;
      }
      require(admission.segments[segment].computeFrom == lookups[segment].cachedTokens,
              "computing goes on there");
      cached += lookups[segment].cachedTokens;
      tokens += static_cast<std::int64_t>(spec.segments[segment].tokens.size());
    }
    require(
        admission.segments.back().computeFrom < static_cast<std::int32_t>(spec.segments.back().tokens.size()),
        "the request computes its last token");
    const auto* sums = std::get_if<trace::RequestAdmitted>(&events.back().payload);
    std::int64_t recomputed = 0;
    for (std::size_t segment = 0; segment < spec.computedBefore.size(); ++segment) {
      recomputed += std::max(0, spec.computedBefore[segment] - admission.segments[segment].computeFrom);
    }
    const bool resumed = !spec.computedBefore.empty();
    require(sums && *sums == trace::RequestAdmitted{tokens, cached, relocated, resumed, recomputed},
            "the sums are told last");
    require(admission.promptTokens == tokens && admission.cachedTokens == cached &&
                admission.relocatedTokens == relocated && admission.recomputedTokens == recomputed,
            "the admission has the same sums");
    std::vector<trace::BlockCopied> copies;
    for (const BlockCopy& copy : admission.copies) copies.push_back({copy.source, copy.target, copy.slots});
    require(sink.all<trace::BlockCopied>(firstEvent) == copies, "every copy is told");
  }

  void watch(const trace::Event& event) {
    if (const auto* stored = std::get_if<trace::BlockStored>(&event.payload)) {
      const Identities& slots = m_slots[static_cast<std::size_t>(stored->block)];
      Identities content(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(stored->tokens.size()));
      for (std::size_t index = 0; index < content.size(); ++index) {
        require(m_book.token(content[index]) == stored->tokens[index], "what is stored stands in the block");
        if (index > 0) {
          require(m_book.after(content[index - 1], stored->tokens[index]) == content[index],
                  "what is stored is one chain");
        }
      }
      m_stored[stored->block] = std::move(content);
    } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
      m_stored.erase(removed->block);
    } else if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
      m_stored.clear();
    } else if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
      // No request may rely on what a block held before it was handed out.
      Identities& slots = m_slots[static_cast<std::size_t>(allocated->block)];
      std::fill(slots.begin(), slots.end(), 0);
    }
  }

  IdentityBook m_book;
  std::vector<Identities> m_slots;         ///< by block and slot
  std::map<BlockId, Identities> m_stored;  ///< what lookups can find
  std::map<RequestId, Live> m_live;
};

}  // namespace spanscope::cache::test
