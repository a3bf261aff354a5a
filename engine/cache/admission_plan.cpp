// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/admission_plan.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace spanscope::cache {

namespace {

using trace::LookupOutcome;
using trace::MissReason;

/// Returns whether the content begins with these tokens.
bool beginsWith(const ContentTrie& trie, NodeId node, std::span<const TokenId> tokens) {
  const std::span<const TokenId> own = trie.tokens(node);
  return own.size() >= tokens.size() && std::equal(tokens.begin(), tokens.end(), own.begin());
}

/// Makes one plan. The planner looks up the segments in order, block by block. After the first block that is
/// not completely a hit, all later blocks of the segment are misses.
class Planner {
 public:
  /// `needed`: contents of the requests that will run together with this request. The planner adds the
  /// contents of this request.
  Planner(CacheState& state, const RequestSpec& request, bool usesTiers, std::unordered_set<NodeId>& needed)
      : m_state(state),
        m_request(request),
        m_tiers(usesTiers ? state.tiers.get() : nullptr),
        m_needed(needed) {}

  AdmissionPlan plan() {
    m_plan.segments.resize(m_request.segments.size());
    for (std::size_t segment = 0; segment < m_request.segments.size(); ++segment) {
      internContent(segment);
      lookUp(segment);
    }
    const std::int64_t length = static_cast<std::int64_t>(m_request.segments.back().tokens.size());
    m_plan.growthBlocks =
        blocksFor(length + m_request.lookahead, blockSize()) - blocksFor(length, blockSize());
    m_plan.smallestNeed = m_plan.growthBlocks + m_ownBlocks;
    return std::move(m_plan);
  }

 private:
  /// A block that this request is going to compute. Equal content later in the request shares the block.
  struct Sibling {
    std::size_t allocation = 0;
    std::size_t segment = 0;
  };

  /// The virtual block that is being looked up.
  struct Place {
    std::size_t segment = 0;
    std::span<const TokenId> tokens;  ///< tokens of the block
    NodeId node = kNoNode;
    NodeId parent = kNoNode;
    std::int32_t keepable = 0;  ///< number of leading tokens that are reused if they are stored

    bool isKeepable() const { return keepable == static_cast<std::int32_t>(tokens.size()); }
  };

  std::int32_t blockSize() const { return m_state.config.blockSize; }
  bool isTail(const Place& place) const {
    return static_cast<std::int32_t>(place.tokens.size()) < blockSize();
  }
  bool canBeKeyed(const Place& place) const { return m_state.config.cacheTails || !isTail(place); }

  void internContent(std::size_t segment) {
    const SegmentSpec& spec = m_request.segments[segment];
    if (!m_state.config.enabled || spec.isPrivate) return;
    PlannedSegment& planned = m_plan.segments[segment];
    std::vector<SeenEnd> seen;
    seen.reserve(spec.sees.size());
    for (const SeenSegment& entry : spec.sees) {
      const PlannedSegment& other = m_plan.segments[entry.segment];
      const NodeId end = other.nodes.empty() ? other.root.id() : other.nodes.back().id();
      seen.push_back({end, entry.distance, entry.visibleBegin});
    }
    planned.root = m_state.trie.root(m_request.salt, seen, fixedBaseOf(segment));
    NodeId parent = planned.root.id();
    const std::span<const TokenId> tokens = spec.tokens;
    const auto size = static_cast<std::size_t>(blockSize());
    for (std::size_t begin = 0; begin < tokens.size(); begin += size) {
      planned.nodes.push_back(
          m_state.trie.child(parent, tokens.subspan(begin, std::min(size, tokens.size() - begin))));
      parent = planned.nodes.back().id();
    }
  }

  /// Returns the segment's start position if another start gives other keys and values; otherwise 0. A
  /// segment that crosses no step of the position scale gives the same keys and values everywhere. The last
  /// segment grows, so this segment may cross a step later.
  std::int64_t fixedBaseOf(std::size_t segment) const {
    const SegmentSpec& spec = m_request.segments[segment];
    const std::int64_t step = m_state.config.positionStep;
    const bool isLast = segment + 1 == m_request.segments.size();
    // Positions before 0 have the scale of position 0.
    const std::int64_t end =
        std::max<std::int64_t>(spec.base, 0) + static_cast<std::int64_t>(spec.tokens.size());
    if (step == 0 || (!isLast && end <= step)) return 0;
    return spec.base;
  }

  void lookUp(std::size_t segment) {
    const SegmentSpec& spec = m_request.segments[segment];
    PlannedSegment& planned = m_plan.segments[segment];
    const std::span<const TokenId> tokens = spec.tokens;
    const auto size = static_cast<std::size_t>(blockSize());
    bool missed = false;
    for (std::size_t begin = 0; begin < tokens.size(); begin += size) {
      const std::size_t index = begin / size;
      PlannedBlock block;
      Place place;
      place.segment = segment;
      place.tokens = tokens.subspan(begin, std::min(size, tokens.size() - begin));
      place.keepable = static_cast<std::int32_t>(place.tokens.size());
      if (segment + 1 == m_request.segments.size()) {
        const auto last = static_cast<std::int32_t>(tokens.size()) - 1;
        const std::int32_t from = m_request.alwaysFrom < 0 ? last : m_request.alwaysFrom;
        place.keepable = std::clamp(from - static_cast<std::int32_t>(begin), 0, place.keepable);
      }
      block.facts.segment = static_cast<std::uint32_t>(segment);
      block.facts.virtualIndex = static_cast<std::int32_t>(index);
      block.facts.wanted = static_cast<std::int32_t>(place.tokens.size());
      block.facts.base = spec.base;
      if (spec.isPrivate) {
        tellPrivate(spec, index, block.facts);
        ++m_ownBlocks;
      } else if (m_state.config.enabled) {
        place.node = planned.nodes[index].id();
        place.parent = index == 0 ? planned.root.id() : planned.nodes[index - 1].id();
        countNeed(place);
        if (missed) {
          explainAfterMiss(place, block);
        } else if (!place.isKeepable() || !findWhole(place, block)) {
          missed = true;
          findPart(place, block);
        }
      } else {
        block.facts.reason = MissReason::CacheOff;
        ++m_ownBlocks;
      }
      if (block.source == PlannedBlock::Source::New || block.source == PlannedBlock::Source::Tier)
        allocate(place, block);
      if (!spec.isPrivate) planned.computeFrom += block.facts.tokens;
      planned.blocks.push_back(std::move(block));
    }
  }

  /// Sets the lookup of a private block to the lookup of the block that it repeats. The lookup names the
  /// block to copy from, or the reason of the miss.
  void tellPrivate(const SegmentSpec& spec, std::size_t index, trace::BlockLookedUp& facts) const {
    facts.reason = MissReason::CacheOff;
    if (!spec.repeats) return;
    const trace::BlockLookedUp own = facts;
    facts = m_plan.segments[*spec.repeats].blocks[index].facts;
    facts.segment = own.segment;
    facts.base = own.base;
    if (facts.outcome == LookupOutcome::Hit || facts.outcome == LookupOutcome::Relocated)
      facts.outcome = LookupOutcome::Partial;
  }

  /// Counts the blocks that the request needs in an empty pool. Equal contents share a block. A partial block
  /// shares the block of an earlier content of the request that begins with it. Every other content needs its
  /// own block.
  void countNeed(const Place& place) {
    if (!place.isKeepable() || !canBeKeyed(place)) {
      ++m_ownBlocks;
      return;
    }
    std::vector<NodeId>& siblings = m_neededOf[place.parent];
    if (isTail(place) && longerOf(siblings, place) != kNoNode) return;
    siblings.push_back(place.node);
    if (m_needed.insert(place.node).second) ++m_ownBlocks;
  }

  /// Returns the first of the contents that begins with the block, or kNoNode.
  NodeId longerOf(const std::vector<NodeId>& nodes, const Place& place) const {
    const auto found = std::ranges::find_if(
        nodes, [&](NodeId node) { return beginsWith(m_state.trie, node, place.tokens); });
    return found == nodes.end() ? kNoNode : *found;
  }

  void allocate(const Place& place, PlannedBlock& block) {
    block.allocation = m_plan.allocations++;
    if (place.node != kNoNode && canBeKeyed(place)) {
      m_siblings.emplace(place.node, Sibling{block.allocation, place.segment});
      if (m_state.config.cacheTails) m_siblingsOf[place.parent].push_back(place.node);
    }
  }

  /// Returns the block with equal content of this request, or with a content that continues the partial
  /// block.
  const Sibling* siblingOf(const Place& place) const {
    const auto equal = m_siblings.find(place.node);
    if (equal != m_siblings.end()) return &equal->second;
    const auto others = m_siblingsOf.find(place.parent);
    if (!isTail(place) || others == m_siblingsOf.end()) return nullptr;
    const NodeId longer = longerOf(others->second, place);
    return longer == kNoNode ? nullptr : &m_siblings.at(longer);
  }

  /// Returns a block with this content. Prefers a block that is in use, because such a block costs no free
  /// block.
  BlockId blockOf(NodeId node) const {
    const std::vector<BlockId>& blocks = m_state.trie.blocks(node);
    if (blocks.empty()) return kNullBlock;
    const auto used =
        std::ranges::find_if(blocks, [this](BlockId block) { return m_state.pool.references(block) > 0; });
    return used == blocks.end() ? blocks.front() : *used;
  }

  void traceStored(BlockId block, trace::BlockLookedUp& facts) const {
    const StoredContent& content = *m_state.contents[static_cast<std::size_t>(block)];
    facts.block = block;
    facts.storedBase = content.base;
    facts.storedByRun = content.run;
    facts.storedByRequest = content.request;
    facts.storedByNode = content.path;
  }

  bool findWhole(const Place& place, PlannedBlock& block) {
    BlockId found = blockOf(place.node);
    if (found == kNullBlock && isTail(place) && m_state.config.cacheTails) {
      // A segment may end within a stored block whose other tokens belong to another content.
      const auto nearest = m_state.trie.nearest(place.parent, place.tokens);
      if (nearest && nearest->common == block.facts.wanted) found = blockOf(nearest->node);
    }
    if (found != kNullBlock) {
      block.source = PlannedBlock::Source::Pool;
      block.found = found;
      traceStored(found, block.facts);
    } else {
      const Sibling* sibling = siblingOf(place);
      if (sibling == nullptr) return findWholeInTier(place, block);
      block.source = PlannedBlock::Source::Sibling;
      block.allocation = sibling->allocation;
      block.facts.storedBase = m_request.segments[sibling->segment].base;
      block.facts.storedByRun = m_request.run;
      block.facts.storedByRequest = m_request.id;
      block.facts.storedByNode = m_request.segments[sibling->segment].node;
    }
    block.facts.tokens = block.facts.wanted;
    block.facts.outcome =
        block.facts.storedBase == block.facts.base ? LookupOutcome::Hit : LookupOutcome::Relocated;
    return true;
  }

  void takeFromTier(const TierHit& hit, const ContentName& name, const Place& place, std::int32_t slots,
                    PlannedBlock& block) const {
    block.load = PlannedLoad{.name = name,
                             .parent = m_state.trie.name(place.parent),
                             .tokens = hit.tokens,
                             .slots = slots,
                             .tier = hit.tier,
                             .bytes = {}};
    block.facts.tokens = slots;
    block.facts.storedBase = hit.base;
  }

  bool findWholeInTier(const Place& place, PlannedBlock& block) const {
    if (m_tiers == nullptr || !canBeKeyed(place)) return false;
    const ContentName& name = m_state.trie.name(place.node);
    const std::optional<TierHit> hit = m_tiers->find(name);
    if (!hit || hit->tokens != block.facts.wanted) return false;
    block.source = PlannedBlock::Source::Tier;
    takeFromTier(*hit, name, place, hit->tokens, block);
    block.facts.outcome = hit->base == block.facts.base ? LookupOutcome::Hit : LookupOutcome::Relocated;
    return true;
  }

  /// Searches a tier for more than `usable` leading tokens of the block. If the last token of the block is
  /// always computed, the whole block is looked up. Otherwise, shorter partial blocks that the block
  /// continues are looked up. Tiers find contents only by name, so each length needs a lookup.
  bool findPartInTier(const Place& place, std::int32_t usable, PlannedBlock& block) const {
    constexpr std::int32_t kMostLengths = 64;
    if (m_tiers == nullptr || !m_state.config.cacheTails) return false;
    const auto wanted = static_cast<std::int32_t>(place.tokens.size());
    for (std::int32_t length = wanted; length > std::max(0, wanted - kMostLengths); --length) {
      const std::int32_t slots = std::min(length, place.keepable);
      if (slots <= usable) return false;
      const ContentName name =
          length == wanted ? m_state.trie.name(place.node)
                           : m_tiers->naming().block(m_state.trie.name(place.parent),
                                                     place.tokens.first(static_cast<std::size_t>(length)));
      const std::optional<TierHit> hit = m_tiers->find(name);
      if (!hit || hit->tokens != length) continue;
      takeFromTier(*hit, name, place, slots, block);
      block.facts.outcome = LookupOutcome::Partial;
      if (length == wanted) {
        block.facts.reason = MissReason::LastToken;
      } else {
        block.facts.reason = MissReason::TokensDiffer;
        block.facts.differsAt = block.facts.virtualIndex * blockSize() + length;
        block.facts.tokenWanted = place.tokens[static_cast<std::size_t>(length)];
      }
      return true;
    }
    return false;
  }

  /// Handles the first block that is not completely a hit. The first tokens of the block may be a hit, and
  /// the miss gets a reason.
  void findPart(const Place& place, PlannedBlock& block) {
    trace::BlockLookedUp& facts = block.facts;
    if (!canBeKeyed(place)) {
      facts.reason = MissReason::CacheOff;
      return;
    }
    const auto nearest = m_state.trie.nearest(place.parent, place.tokens);
    const std::int32_t common = nearest ? nearest->common : 0;
    const std::int32_t usable = usableOf(place, common);
    const bool isInTier = findPartInTier(place, usable, block);
    awaitMore(place, isInTier ? facts.tokens : usable);
    if (isInTier) return;
    if (usable > 0) {
      block.copyFrom = blockOf(nearest->node);
      facts.outcome = LookupOutcome::Partial;
      facts.tokens = usable;
    }
    if (common > 0) {
      traceStored(blockOf(nearest->node), facts);
      if (common < facts.wanted) tellDifference(place, *nearest, facts);
    }
    if (common == facts.wanted) {
      facts.reason = MissReason::LastToken;
    } else if (const auto evictedBy = m_state.evictions.find(m_state.trie.key(place.node));
               evictedBy && !(common > 0 && isCleared(*evictedBy))) {
      facts.reason = MissReason::Evicted;
      facts.evictedBy = *evictedBy;
    } else if (common > 0) {
      facts.reason = MissReason::TokensDiffer;
    } else if (const auto other = otherContext(place)) {
      facts.reason = MissReason::ContextDiffers;
      facts.contextDiffersAt = other->differsAt;
      traceStored(blockOf(other->node), facts);
    } else if (nearest && !m_state.trie.isPlainRoot(place.parent)) {
      // At a plain root, any other text is a neighbour. At other nodes, a neighbour is a text with the same
      // prefix.
      facts.reason = MissReason::TokensDiffer;
      traceStored(blockOf(nearest->node), facts);
      tellDifference(place, *nearest, facts);
    } else {
      facts.reason = MissReason::NeverSeen;
    }
  }

  /// Returns the number of reused leading tokens of the block if `common` leading tokens are stored.
  std::int32_t usableOf(const Place& place, std::int32_t common) const {
    const auto wanted = static_cast<std::int32_t>(place.tokens.size());
    if (!m_state.config.cacheTails) return common == wanted && place.isKeepable() ? wanted : 0;
    return std::min(common, place.keepable);
  }

  /// Makes the request wait for a running request that is going to store more of the block than is stored
  /// now.
  void awaitMore(const Place& place, std::int32_t usable) {
    if (m_plan.waitFor.request != 0) return;
    const auto pending = m_state.trie.nearestPending(place.parent, place.tokens);
    if (!pending || usableOf(place, pending->common) <= usable) return;
    m_plan.waitFor = {m_state.trie.pendingBy(pending->node), pending->node};
  }

  std::optional<OtherContext> otherContext(const Place& place) const {
    if (place.parent != m_plan.segments[place.segment].root.id()) return std::nullopt;
    return m_state.trie.otherContext(place.parent, place.tokens);
  }

  void tellDifference(const Place& place, const NearestNode& nearest, trace::BlockLookedUp& facts) const {
    const std::span<const TokenId> stored = m_state.trie.tokens(nearest.node);
    const auto at = static_cast<std::size_t>(nearest.common);
    facts.differsAt = facts.virtualIndex * blockSize() + nearest.common;
    facts.tokenWanted = place.tokens[at];
    if (at < stored.size()) facts.tokenStored = stored[at];
  }

  void explainAfterMiss(const Place& place, PlannedBlock& block) const {
    block.facts.reason = MissReason::AfterMiss;
    const BlockId unreachable = blockOf(place.node);
    if (unreachable != kNullBlock) {
      traceStored(unreachable, block.facts);
    } else if (const auto evictedBy = m_state.evictions.find(m_state.trie.key(place.node))) {
      block.facts.reason = MissReason::Evicted;
      block.facts.evictedBy = *evictedBy;
    }
  }

  /// Whether the user emptied the cache. The reason of a later miss is then what the cache has now.
  bool isCleared(std::uint64_t evictedBy) const { return evictedBy == m_state.clearedAt; }

  CacheState& m_state;
  const RequestSpec& m_request;
  BlockTiers* m_tiers;
  AdmissionPlan m_plan;
  std::unordered_map<NodeId, Sibling> m_siblings;
  std::unordered_map<NodeId, std::vector<NodeId>> m_siblingsOf;  ///< by parent
  std::unordered_set<NodeId>& m_needed;
  std::unordered_map<NodeId, std::vector<NodeId>> m_neededOf;  ///< contents of this request, by parent
  std::int64_t m_ownBlocks = 0;  ///< blocks that the request needs in an empty pool, besides the blocks of
                                 ///< earlier requests
};

/// Returns the pool blocks on which the plan takes references.
std::unordered_set<BlockId> foundBlocks(const AdmissionPlan& plan) {
  std::unordered_set<BlockId> found;
  for (const PlannedSegment& segment : plan.segments) {
    for (const PlannedBlock& block : segment.blocks) {
      if (block.source == PlannedBlock::Source::Pool) found.insert(block.found);
      if (block.copyFrom != kNullBlock) found.insert(block.copyFrom);
    }
  }
  return found;
}

void countBlocks(const CacheState& state, std::int64_t spareBlocks, AdmissionPlan& plan) {
  const std::unordered_set<BlockId> found = foundBlocks(plan);
  plan.neededBlocks = static_cast<std::int64_t>(plan.allocations) + plan.growthBlocks + spareBlocks;
  plan.availableBlocks = state.pool.freeCount();
  for (const BlockId block : found) {
    if (state.pool.references(block) == 0) ++plan.neededBlocks;
  }
  // If another request uses a partial block, the running request copies the block before it continues. One
  // block is reserved for this copy. The request that starts the sharing needs this block.
  for (const auto& [id, running] : state.running) {
    plan.availableBlocks -= running.reservedBlocks;
    const BlockId tail = running.growingTail(state.config.blockSize);
    if (tail == kNullBlock) continue;
    if (state.pool.references(tail) > 1) {
      --plan.availableBlocks;
    } else if (found.contains(tail)) {
      ++plan.neededBlocks;
    }
  }
}

AdmissionPlan withoutCopies(const AdmissionPlan& plan) {
  AdmissionPlan without = plan;
  for (PlannedSegment& segment : without.segments) {
    for (PlannedBlock& block : segment.blocks) {
      if (block.copyFrom == kNullBlock) continue;
      block.copyFrom = kNullBlock;
      block.facts.outcome = LookupOutcome::Miss;
      segment.computeFrom -= block.facts.tokens;
      block.facts.tokens = 0;
    }
  }
  return without;
}

/// Sets the block numbers of siblings and loads. The order of the free list determines the allocated blocks.
void nameSiblings(const CacheState& state, AdmissionPlan& plan) {
  const std::unordered_set<BlockId> found = foundBlocks(plan);
  std::vector<BlockId> allocated;
  for (BlockId block = state.pool.front(); block != kNullBlock && allocated.size() < plan.allocations;
       block = state.pool.after(block)) {
    if (!found.contains(block)) allocated.push_back(block);
  }
  for (PlannedSegment& segment : plan.segments) {
    for (PlannedBlock& block : segment.blocks) {
      if (block.source != PlannedBlock::Source::Sibling && !block.load) continue;
      if (block.allocation < allocated.size()) block.facts.block = allocated[block.allocation];
    }
  }
}

}  // namespace

std::int64_t blocksFor(std::int64_t tokens, std::int32_t blockSize) {
  return (tokens + blockSize - 1) / blockSize;
}

void checkRequest(const RequestSpec& request) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
  };
  require(request.id != 0, "request numbers begin at 1");
  require(!request.segments.empty(), "a request has at least one segment");
  require(!request.segments.back().tokens.empty(), "the last segment has at least one token");
  require(request.lookahead >= 0, "the lookahead is not negative");
  require(request.alwaysFrom < static_cast<std::int64_t>(request.segments.back().tokens.size()),
          "the last token is always computed");
  require(request.computedBefore.empty() || request.computedBefore.size() == request.segments.size(),
          "tokens computed before are listed by segment");
  for (std::size_t segment = 0; segment < request.segments.size(); ++segment) {
    const SegmentSpec& spec = request.segments[segment];
    require(spec.tokens.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "a segment has fewer than 2^31 tokens");
    if (spec.repeats) {
      require(spec.isPrivate && *spec.repeats < segment,
              "only a private segment repeats a segment, which is earlier");
      require(request.segments[*spec.repeats].tokens == spec.tokens,
              /*id:repeated-same-tokens*/ "a repeated segment has the same tokens");
    }
    for (const SeenSegment& seen : spec.sees) {
      require(seen.segment < segment, "a segment attends only to earlier segments");
      require(spec.isPrivate || !request.segments[seen.segment].isPrivate,
              "only private segments attend to private segments");
      const std::size_t length = request.segments[seen.segment].tokens.size();
      require(seen.visibleBegin >= 0 && static_cast<std::size_t>(seen.visibleBegin) <= length,
              "visibleBegin is a position in the attended segment");
    }
  }
}

AdmissionPlan planAdmission(CacheState& state, const RequestSpec& request, std::int64_t spareBlocks,
                            bool usesTiers) {
  checkRequest(request);
  std::unordered_set<NodeId> needed;
  AdmissionPlan plan = Planner(state, request, usesTiers, needed).plan();
  countBlocks(state, spareBlocks, plan);
  if (!plan.fits()) {
    AdmissionPlan without = withoutCopies(plan);
    countBlocks(state, spareBlocks, without);
    if (without.fits()) plan = std::move(without);
  }
  nameSiblings(state, plan);
  return plan;
}

std::int64_t smallestNeed(CacheState& state, std::span<const RequestSpec> requests) {
  std::vector<AdmissionPlan> plans;  // the plans keep the nodes
  std::unordered_set<NodeId> needed;
  std::int64_t blocks = 0;
  for (const RequestSpec& request : requests) {
    checkRequest(request);
    plans.push_back(Planner(state, request, false, needed).plan());
    blocks += plans.back().smallestNeed;
  }
  return blocks;
}

}  // namespace spanscope::cache
