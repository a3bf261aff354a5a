// SPDX-License-Identifier: GPL-3.0-or-later
// What every payload is made of, said once: `fields(visit, value)` calls visit(name, member) for each member
// in file order. The binary codec, the JSON form, the schema fingerprint and the tests' random values are
// made from it. A new payload needs its struct and variant entry in event.h, and here a fields() and a name.
#pragma once

#include "engine/trace/event.h"

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace spanscope::trace {

/// `T` is `X` or `const X`: one fields() serves reading and writing.
template <class T, class X>
concept Is = std::same_as<std::remove_const_t<T>, X>;

// ---- enumerations: the names in the order of their values
// ------------------------------------------------------

template <class E>
struct EnumNames;

template <>
struct EnumNames<RunOutcome> {
  static constexpr std::array<std::string_view, 3> kNames{"finished", "stopped", "failed"};
};
template <>
struct EnumNames<FragmentRanking> {
  static constexpr std::array<std::string_view, 3> kNames{"lexical", "embedding", "hybrid"};
};
template <>
struct EnumNames<StepOutcome> {
  static constexpr std::array<std::string_view, 5> kNames{"end_token", "token_limit", "context_limit",
                                                          "stopped", "failed"};
};
template <>
struct EnumNames<TokenSource> {
  static constexpr std::array<std::string_view, 3> kNames{"template", "text", "output"};
};
template <>
struct EnumNames<LookupOutcome> {
  static constexpr std::array<std::string_view, 4> kNames{"hit", "relocated", "partial", "miss"};
};
template <>
struct EnumNames<MissReason> {
  static constexpr std::array<std::string_view, 8> kNames{
      "none",    "never_seen", "tokens_differ", "context_differs",
      "evicted", "after_miss", "last_token",    "cache_off"};
};
template <>
struct EnumNames<RemovalReason> {
  static constexpr std::array<std::string_view, 3> kNames{"evicted", "grown", "cleared"};
};
template <>
struct EnumNames<StoreTier> {
  static constexpr std::array<std::string_view, 2> kNames{"host", "disk"};
};
template <>
struct EnumNames<LayoutRole> {
  static constexpr std::array<std::string_view, 3> kNames{"pad", "plus_marker", "cross_marker"};
};
template <>
struct EnumNames<Severity> {
  static constexpr std::array<std::string_view, 3> kNames{"note", "warning", "error"};
};

/// The name of an enumeration's value; "?" for a value it does not have.
template <class E>
constexpr std::string_view enumName(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < EnumNames<E>::kNames.size() ? EnumNames<E>::kNames[index] : std::string_view("?");
}

// ---- nested structs
// --------------------------------------------------------------------------------------------

template <class V, Is<BlockKey> X>
void fields(V&& v, X& x) {
  v("high", x.high);
  v("low", x.low);
}
template <class V, Is<BlockState> X>
void fields(V&& v, X& x) {
  v("references", x.references);
  v("cached", x.cached);
  v("key", x.key);
  v("parent", x.parent);
  v("fill", x.fill);
  v("base", x.base);
  v("virtualIndex", x.virtualIndex);
  v("storedByRun", x.storedByRun);
  v("storedByRequest", x.storedByRequest);
  v("storedByNode", x.storedByNode);
  v("tokens", x.tokens);
}
template <class V, Is<PoolState> X>
void fields(V&& v, X& x) {
  v("blockSize", x.blockSize);
  v("blocks", x.blocks);
  v("freeOrder", x.freeOrder);
}
template <class V, Is<PlannedStep> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("node", x.node);
  v("copy", x.copy);
  v("ply", x.ply);
  v("needs", x.needs);
}
template <class V, Is<FragmentInfo> X>
void fields(V&& v, X& x) {
  v("hash", x.hash);
  v("source", x.source);
  v("place", x.place);
  v("level", x.level);
  v("text", x.text);
  v("rank", x.rank);
  v("score", x.score);
  v("lexicalRank", x.lexicalRank);
  v("lexicalScore", x.lexicalScore);
  v("embeddingRank", x.embeddingRank);
  v("embeddingScore", x.embeddingScore);
  v("pinned", x.pinned);
  v("dropped", x.dropped);
  v("inPrompt", x.inPrompt);
}
template <class V, Is<TokenRunInfo> X>
void fields(V&& v, X& x) {
  v("count", x.count);
  v("source", x.source);
  v("node", x.node);
}
template <class V, Is<SegmentInfo> X>
void fields(V&& v, X& x) {
  v("node", x.node);
  v("independent", x.independent);
  v("hidden", x.hidden);
  v("scope", x.scope);
  v("depth", x.depth);
  v("base", x.base);
  v("visibleBegin", x.visibleBegin);
  v("sees", x.sees);
  v("tokens", x.tokens);
  v("texts", x.texts);
  v("runs", x.runs);
}
template <class V, Is<FidelityToken> X>
void fields(V&& v, X& x) {
  v("token", x.token);
  v("divergence", x.divergence);
  v("policyBest", x.policyBest);
  v("fullBest", x.fullBest);
  v("policyProbability", x.policyProbability);
  v("fullProbability", x.fullProbability);
}
template <class V, Is<BatchEntry> X>
void fields(V&& v, X& x) {
  v("request", x.request);
  v("segment", x.segment);
  v("begin", x.begin);
  v("count", x.count);
  v("decode", x.decode);
  v("repeated", x.repeated);
}

template <class V, Is<StoreTierState> X>
void fields(V&& v, X& x) {
  v("tier", x.tier);
  v("blocks", x.blocks);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
  v("limit", x.limit);
}
template <class V, Is<StoredPack> X>
void fields(V&& v, X& x) {
  v("tier", x.tier);
  v("name", x.name);
  v("model", x.model);
  v("ofThisModel", x.ofThisModel);
  v("blocks", x.blocks);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
  v("age", x.age);
  v("unused", x.unused);
}

// ---- payloads
// --------------------------------------------------------------------------------------------------

template <class Payload>
inline constexpr const char* kEventName = nullptr;

template <>
inline constexpr const char* kEventName<SessionStarted> = "session_started";
template <class V, Is<SessionStarted> X>
void fields(V&& v, X& x) {
  v("program", x.program);
  v("model", x.model);
  v("backend", x.backend);
  v("threads", x.threads);
  v("layers", x.layers);
  v("heads", x.heads);
  v("pool", x.pool);
}

template <>
inline constexpr const char* kEventName<RunStarted> = "run_started";
template <class V, Is<RunStarted> X>
void fields(V&& v, X& x) {
  v("queryJson", x.queryJson);
  v("policy", x.policy);
  v("seed", x.seed);
}

template <>
inline constexpr const char* kEventName<RunFinished> = "run_finished";
template <class V, Is<RunFinished> X>
void fields(V&& v, X& x) {
  v("outcome", x.outcome);
  v("answer", x.answer);
}

template <>
inline constexpr const char* kEventName<PlanMade> = "plan_made";
template <class V, Is<PlanMade> X>
void fields(V&& v, X& x) {
  v("steps", x.steps);
  v("explain", x.explain);
}

template <>
inline constexpr const char* kEventName<StepStarted> = "step_started";
template <class V, Is<StepStarted> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("copy", x.copy);
}

template <>
inline constexpr const char* kEventName<StepFinished> = "step_finished";
template <class V, Is<StepFinished> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("outcome", x.outcome);
  v("text", x.text);
}

template <>
inline constexpr const char* kEventName<SpanTableLaidOut> = "span_table_laid_out";
template <class V, Is<SpanTableLaidOut> X>
void fields(V&& v, X& x) {
  v("segments", x.segments);
}

template <>
inline constexpr const char* kEventName<BlockLookedUp> = "block_looked_up";
template <class V, Is<BlockLookedUp> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("block", x.block);
  v("outcome", x.outcome);
  v("reason", x.reason);
  v("tokens", x.tokens);
  v("wanted", x.wanted);
  v("base", x.base);
  v("storedBase", x.storedBase);
  v("storedByRun", x.storedByRun);
  v("storedByRequest", x.storedByRequest);
  v("storedByNode", x.storedByNode);
  v("differsAt", x.differsAt);
  v("tokenWanted", x.tokenWanted);
  v("tokenStored", x.tokenStored);
  v("evictedBy", x.evictedBy);
  v("contextDiffersAt", x.contextDiffersAt);
}

template <>
inline constexpr const char* kEventName<BlockAllocated> = "block_allocated";
template <class V, Is<BlockAllocated> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
}

template <>
inline constexpr const char* kEventName<BlockShared> = "block_shared";
template <class V, Is<BlockShared> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("references", x.references);
}

template <>
inline constexpr const char* kEventName<BlockStored> = "block_stored";
template <class V, Is<BlockStored> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("parent", x.parent);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("base", x.base);
  v("tokens", x.tokens);
}

template <>
inline constexpr const char* kEventName<BlockRemoved> = "block_removed";
template <class V, Is<BlockRemoved> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("reason", x.reason);
}

template <>
inline constexpr const char* kEventName<BlockCopied> = "block_copied";
template <class V, Is<BlockCopied> X>
void fields(V&& v, X& x) {
  v("source", x.source);
  v("target", x.target);
  v("slots", x.slots);
}

template <>
inline constexpr const char* kEventName<BlockReleased> = "block_released";
template <class V, Is<BlockReleased> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("references", x.references);
}

template <>
inline constexpr const char* kEventName<CacheCleared> = "cache_cleared";
template <class V, Is<CacheCleared> X>
void fields(V&&, X&) {}

template <>
inline constexpr const char* kEventName<RequestAdmitted> = "request_admitted";
template <class V, Is<RequestAdmitted> X>
void fields(V&& v, X& x) {
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("relocatedTokens", x.relocatedTokens);
  v("resumed", x.resumed);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
inline constexpr const char* kEventName<RequestPreempted> = "request_preempted";
template <class V, Is<RequestPreempted> X>
void fields(V&& v, X& x) {
  v("requester", x.requester);
  v("blocks", x.blocks);
  v("computedTokens", x.computedTokens);
}

template <>
inline constexpr const char* kEventName<RequestDeferred> = "request_deferred";
template <class V, Is<RequestDeferred> X>
void fields(V&& v, X& x) {
  v("reason", x.reason);
  v("waitFor", x.waitFor);
}

template <>
inline constexpr const char* kEventName<BatchComputed> = "batch_computed";
template <class V, Is<BatchComputed> X>
void fields(V&& v, X& x) {
  v("entries", x.entries);
  v("nanoseconds", x.nanoseconds);
}

template <>
inline constexpr const char* kEventName<TokenGenerated> = "token_generated";
template <class V, Is<TokenGenerated> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("token", x.token);
  v("text", x.text);
  v("shown", x.shown);
  v("probability", x.probability);
  v("segmentMass", x.segmentMass);
}

template <>
inline constexpr const char* kEventName<AttentionMass> = "attention_mass";
template <class V, Is<AttentionMass> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("keySpan", x.keySpan);
  v("keyBlocks", x.keyBlocks);
  v("heads", x.heads);
  v("mass", x.mass);
}

template <>
inline constexpr const char* kEventName<SegmentAttention> = "segment_attention";
template <class V, Is<SegmentAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("layers", x.layers);
  v("heads", x.heads);
  v("mass", x.mass);
  v("first", x.first);
}

template <>
inline constexpr const char* kEventName<AttentionReplayed> = "attention_replayed";
template <class V, Is<AttentionReplayed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("head", x.head);
  v("singleKeys", x.singleKeys);
  v("firstRow", x.firstRow);
  v("rows", x.rows);
  v("cachedTokens", x.cachedTokens);
  v("recomputedTokens", x.recomputedTokens);
}

template <class V, Is<RecomputedTokens> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("tokens", x.tokens);
}
template <>
inline constexpr const char* kEventName<TokensRecomputed> = "tokens_recomputed";
template <class V, Is<TokensRecomputed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("tokens", x.tokens);
  v("segments", x.segments);
}
template <>
inline constexpr const char* kEventName<ReplayedMass> = "replayed_mass";
template <class V, Is<ReplayedMass> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("mass", x.mass);
}

template <>
inline constexpr const char* kEventName<FidelityMeasured> = "fidelity_measured";
template <class V, Is<FidelityMeasured> X>
void fields(V&& v, X& x) {
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("recomputedTokens", x.recomputedTokens);
  v("tokens", x.tokens);
  v("fullAnswer", x.fullAnswer);
  v("fullText", x.fullText);
  v("sameText", x.sameText);
  v("attentionRows", x.attentionRows);
  v("attentionDeviation", x.attentionDeviation);
}

template <class V, Is<LayoutRun> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("begin", x.begin);
  v("count", x.count);
  v("role", x.role);
}
template <class V, Is<CroppedRun> X>
void fields(V&& v, X& x) {
  v("before", x.before);
  v("node", x.node);
  v("tokens", x.tokens);
  v("texts", x.texts);
}
template <>
inline constexpr const char* kEventName<LayoutChosen> = "layout_chosen";
template <class V, Is<LayoutChosen> X>
void fields(V&& v, X& x) {
  v("layout", x.layout);
  v("blockSize", x.blockSize);
  v("pad", x.pad);
  v("plus", x.plus);
  v("cross", x.cross);
}
template <>
inline constexpr const char* kEventName<LayoutApplied> = "layout_applied";
template <class V, Is<LayoutApplied> X>
void fields(V&& v, X& x) {
  v("runs", x.runs);
  v("cropped", x.cropped);
}

template <>
inline constexpr const char* kEventName<TeamFormed> = "team_formed";
template <class V, Is<TeamFormed> X>
void fields(V&& v, X& x) {
  v("requests", x.requests);
}
template <>
inline constexpr const char* kEventName<TeammateAttention> = "teammate_attention";
template <class V, Is<TeammateAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("requests", x.requests);
  v("mass", x.mass);
}

template <>
inline constexpr const char* kEventName<StepMetrics> = "step_metrics";
template <class V, Is<StepMetrics> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("relocatedTokens", x.relocatedTokens);
  v("computedTokens", x.computedTokens);
  v("generatedTokens", x.generatedTokens);
  v("timeToFirstToken", x.timeToFirstToken);
  v("interTokenLatency", x.interTokenLatency);
  v("queueTime", x.queueTime);
  v("preemptions", x.preemptions);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
inline constexpr const char* kEventName<MessageLogged> = "message_logged";
template <class V, Is<MessageLogged> X>
void fields(V&& v, X& x) {
  v("severity", x.severity);
  v("text", x.text);
}

template <>
inline constexpr const char* kEventName<Snapshot> = "snapshot";
template <class V, Is<Snapshot> X>
void fields(V&& v, X& x) {
  v("pool", x.pool);
  v("lost", x.lost);
}

template <>
inline constexpr const char* kEventName<AttentionLeftOut> = "attention_left_out";
template <class V, Is<AttentionLeftOut> X>
void fields(V&& v, X& x) {
  v("leftOut", x.leftOut);
  v("recorded", x.recorded);
  v("limit", x.limit);
}

template <>
inline constexpr const char* kEventName<FragmentsRetrieved> = "fragments_retrieved";
template <class V, Is<FragmentsRetrieved> X>
void fields(V&& v, X& x) {
  v("question", x.question);
  v("ranking", x.ranking);
  v("documents", x.documents);
  v("fragments", x.fragments);
}

template <>
inline constexpr const char* kEventName<BlockLoaded> = "block_loaded";
template <class V, Is<BlockLoaded> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("tier", x.tier);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
  v("nanoseconds", x.nanoseconds);
}

template <>
inline constexpr const char* kEventName<BlockSpilled> = "block_spilled";
template <class V, Is<BlockSpilled> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("tier", x.tier);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
}

template <>
inline constexpr const char* kEventName<StoreReported> = "store_reported";
template <class V, Is<StoreReported> X>
void fields(V&& v, X& x) {
  v("tiers", x.tiers);
  v("packs", x.packs);
}

}  // namespace spanscope::trace
