// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about blocks, in the pool and in the span store (engine/trace/event_fields.h). Open this
// file to change such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <optional>
#include <string>

namespace spanscope::trace {

template <>
struct Facts<BlockLookedUp> : UsualFacts {
  static constexpr const char* kName = "block_looked_up";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const BlockLookedUp& e) {
    switch (e.outcome) {
      case LookupOutcome::Hit:
        return forTranslation("Events", "Cache hit");
      case LookupOutcome::Relocated:
        return forTranslation("Events", "Relocated hit");
      case LookupOutcome::Partial:
        return forTranslation("Events", "Partial hit");
      case LookupOutcome::Miss:
        break;
    }
    return forTranslation("Events", "Cache miss");
  }
  static EventWords detail(const BlockLookedUp& e) {
    return {forTranslation("Events", "%1 of %2 tokens"),
            {std::to_string(e.tokens), std::to_string(e.wanted)}};
  }
  static std::string line(const BlockLookedUp& e) {
    std::string out = placeText(e.segment, e.virtualIndex) + ": " + std::string(enumName(e.outcome)) + ", " +
                      std::to_string(e.tokens) + " of " + counted(e.wanted, "token");
    if (e.outcome != LookupOutcome::Miss) {
      out += " in " + physicalText(e.block) + ", stored ";
      out += e.storedByRequest == 0 ? "elsewhere"
                                    : "by run " + std::to_string(e.storedByRun) + " request " +
                                          std::to_string(e.storedByRequest) + " " + escaped(e.storedByNode);
      if (e.outcome == LookupOutcome::Relocated) {
        out += ", from position " + std::to_string(e.storedBase) + " to " + std::to_string(e.base);
      }
    }
    if (e.reason != MissReason::None) out += ", " + std::string(enumName(e.reason));
    if (e.reason == MissReason::TokensDiffer) {
      out += " at token " + std::to_string(e.differsAt) + " (requested " + std::to_string(e.tokenWanted) +
             ", stored " + std::to_string(e.tokenStored) + ")";
    }
    if (e.reason == MissReason::Evicted) out += " by event " + std::to_string(e.evictedBy);
    if (e.reason == MissReason::ContextDiffers)
      out += " from attended segment " + std::to_string(e.contextDiffersAt);
    return out;
  }
};
SPANSCOPE_FIELDS(BlockLookedUp, segment, virtualIndex, block, outcome, reason, tokens, wanted, base,
                 storedBase, storedByRun, storedByRequest, storedByNode, differsAt, tokenWanted, tokenStored,
                 evictedBy, contextDiffersAt);

template <>
struct Facts<BlockAllocated> : UsualFacts {
  static constexpr const char* kName = "block_allocated";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockAllocated&) { return forTranslation("Events", "Block allocated"); }
  static EventWords detail(const BlockAllocated& e) {
    return {forTranslation("Events", "block %1"), {std::to_string(e.block)}};
  }
  static std::string line(const BlockAllocated& e) {
    return physicalText(e.block) + " for " + placeText(e.segment, e.virtualIndex);
  }
};
SPANSCOPE_FIELDS(BlockAllocated, block, segment, virtualIndex);

template <>
struct Facts<BlockShared> : UsualFacts {
  static constexpr const char* kName = "block_shared";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockShared&) { return forTranslation("Events", "Block shared"); }
  static EventWords detail(const BlockShared& e) {
    return {forTranslation("Events", "block %1, references: %2"),
            {std::to_string(e.block), std::to_string(e.references)}};
  }
  static std::string line(const BlockShared& e) {
    return physicalText(e.block) + " for " + placeText(e.segment, e.virtualIndex) + ", " +
           counted(e.references, "reference");
  }
};
SPANSCOPE_FIELDS(BlockShared, block, segment, virtualIndex, references);

template <>
struct Facts<BlockStored> : UsualFacts {
  static constexpr const char* kName = "block_stored";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockStored&) { return forTranslation("Events", "Block stored"); }
  static EventWords detail(const BlockStored& e) {
    return {forTranslation("Events", "block %1, tokens: %2"),
            {std::to_string(e.block), std::uint64_t{e.tokens.size()}}};
  }
  static std::string line(const BlockStored& e) {
    return physicalText(e.block) + " with " + counted(e.tokens.size(), "token") + " of " +
           placeText(e.segment, e.virtualIndex) + ", key " + keyText(e.key);
  }
};
SPANSCOPE_FIELDS(BlockStored, block, key, parent, segment, virtualIndex, base, tokens);

template <>
struct Facts<BlockRemoved> : UsualFacts {
  static constexpr const char* kName = "block_removed";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockRemoved& e) {
    switch (e.reason) {
      case RemovalReason::Evicted:
        return forTranslation("Events", "Block evicted");
      case RemovalReason::Grown:
        return forTranslation("Events", "Partial block extended");
      case RemovalReason::Cleared:
        break;
    }
    return forTranslation("Events", "Block cleared");
  }
  static EventWords detail(const BlockRemoved& e) {
    return {forTranslation("Events", "block %1"), {std::to_string(e.block)}};
  }
  static std::string line(const BlockRemoved& e) {
    return physicalText(e.block) + ", key " + keyText(e.key) + ", " + std::string(enumName(e.reason));
  }
};
SPANSCOPE_FIELDS(BlockRemoved, block, key, reason);

template <>
struct Facts<BlockCopied> : UsualFacts {
  static constexpr const char* kName = "block_copied";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockCopied&) { return forTranslation("Events", "Block copied"); }
  static EventWords detail(const BlockCopied& e) {
    return {forTranslation("Events", "block %1 to block %2"),
            {std::to_string(e.source), std::to_string(e.target)}};
  }
  static std::string line(const BlockCopied& e) {
    return counted(e.slots, "slot") + " of " + physicalText(e.source) + " to " + physicalText(e.target);
  }
};
SPANSCOPE_FIELDS(BlockCopied, source, target, slots);

template <>
struct Facts<BlockReleased> : UsualFacts {
  static constexpr const char* kName = "block_released";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const BlockReleased&) { return forTranslation("Events", "Block released"); }
  static EventWords detail(const BlockReleased& e) {
    return {forTranslation("Events", "block %1, references: %2"),
            {std::to_string(e.block), std::to_string(e.references)}};
  }
  static std::string line(const BlockReleased& e) {
    return physicalText(e.block) + ", " + counted(e.references, "reference");
  }
};
SPANSCOPE_FIELDS(BlockReleased, block, references);

template <>
struct Facts<CacheCleared> : UsualFacts {
  static constexpr const char* kName = "cache_cleared";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static const char* plain(const CacheCleared&) { return forTranslation("Events", "Cache emptied"); }
  static std::string line(const CacheCleared&) { return "no stored block remains"; }
  static std::optional<Severity> severity(const CacheCleared&) { return Severity::Note; }
  static EventWords words(const CacheCleared&, const Event&) {
    return {forTranslation("Events", "Cache emptied"), {}};
  }
};
template <class V, Is<CacheCleared> X>
void fields(V&&, X&) {}

template <>
struct Facts<BlockLoaded> : UsualFacts {
  static constexpr const char* kName = "block_loaded";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const BlockLoaded& e) {
    if (e.tokens >= 0 && e.nanoseconds >= 0) return std::nullopt;
    return errorAt("block loaded",
                   std::to_string(e.tokens) + " tokens in " + std::to_string(e.nanoseconds) + " ns",
                   "no negative numbers");
  }
  static const char* plain(const BlockLoaded& e) {
    return e.tier == StoreTier::Disk ? forTranslation("Events", "Block loaded from the disk")
                                     : forTranslation("Events", "Block loaded from host memory");
  }
  static EventWords detail(const BlockLoaded& e) {
    return {forTranslation("Events", "block %1, tokens: %2"),
            {std::to_string(e.block), std::to_string(e.tokens)}};
  }
  static std::string line(const BlockLoaded& e) {
    return counted(e.tokens, "token") + " of " + placeText(e.segment, e.virtualIndex) + " into " +
           physicalText(e.block) + " from " + tierText(e.tier) + ", " + bytesText(e.bytes) + " in " +
           fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) + " ms, key " + keyText(e.key);
  }
};
SPANSCOPE_FIELDS(BlockLoaded, block, key, tier, segment, virtualIndex, tokens, bytes, nanoseconds);

template <>
struct Facts<BlockSpilled> : UsualFacts {
  static constexpr const char* kName = "block_spilled";
  static constexpr bool kIsDetail = true;
  static const char* plain(const BlockSpilled& e) {
    return e.tier == StoreTier::Disk ? forTranslation("Events", "Block copied to the disk")
                                     : forTranslation("Events", "Block copied to host memory");
  }
  static EventWords detail(const BlockSpilled& e) {
    return {forTranslation("Events", "block %1, tokens: %2"),
            {std::to_string(e.block), std::to_string(e.tokens)}};
  }
  static std::string line(const BlockSpilled& e) {
    return counted(e.tokens, "token") + " of " + physicalText(e.block) + " to " + tierText(e.tier) + ", " +
           bytesText(e.bytes) + ", key " + keyText(e.key);
  }
};
SPANSCOPE_FIELDS(BlockSpilled, block, key, tier, tokens, bytes);

template <>
struct Facts<StoreReported> : UsualFacts {
  static constexpr const char* kName = "store_reported";
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const StoreReported&) { return forTranslation("Events", "Stored blocks counted"); }
  static std::string line(const StoreReported& e) {
    std::string out;
    for (const StoreTierState& tier : e.tiers) {
      if (!out.empty()) out += "; ";
      out += tierText(tier.tier) + ": " + counted(tier.blocks, "block") + " with " +
             counted(tier.tokens, "token") + ", " + bytesText(tier.bytes) + " of " + bytesText(tier.limit);
    }
    return out.empty() ? "no tier is in use" : out;
  }
};
SPANSCOPE_FIELDS(StoreReported, tiers, packs);

template <>
struct Facts<StoreTextsReported> : UsualFacts {
  static constexpr const char* kName = "store_texts_reported";
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const StoreTextsReported&) {
    return forTranslation("Events", "Texts of stored blocks reported");
  }
  static std::string line(const StoreTextsReported& e) {
    std::string out = counted(e.packs.size(), "pack");
    for (const PackText& pack : e.packs) out += "; " + escaped(pack.name) + ": " + escaped(pack.text);
    return out;
  }
};
SPANSCOPE_FIELDS(StoreTextsReported, packs);

}  // namespace spanscope::trace
