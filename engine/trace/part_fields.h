// SPDX-License-Identifier: GPL-3.0-or-later
// The names of enumeration values and the fields of structs inside events, in file order. A change in this
// file changes the file format. Open this file to add a field to such a struct.
#pragma once

#include "engine/trace/event.h"
#include "engine/trace/miss_reasons.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace spanscope::trace {

/// True if `T` is `X` or `const X`. One function fields() can therefore read and write.
template <class T, class X>
concept Is = std::same_as<std::remove_const_t<T>, X>;

// ---- enumerations: the names in the order of their values ----------------------------------

template <class E>
struct EnumNames;

template <>
struct EnumNames<RunOutcome> {
  static constexpr std::array<std::string_view, 3> kNames{"finished", "stopped", "failed"};
};
template <>
struct EnumNames<JobOutcome> {
  static constexpr std::array<std::string_view, 3> kNames{"finished", "stopped", "failed"};
};
template <class V, Is<PackedValue> X>
void fields(V&& v, X& x) {
  v("bytes", x.bytes);
}
template <>
struct EnumNames<PassageRanking> {
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
  static constexpr std::array<std::string_view, kMissReasons.size()> kNames = [] {
    std::array<std::string_view, kMissReasons.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kMissReasons[i].name;
    return names;
  }();
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
struct EnumNames<CachedState> {
  static constexpr std::array<std::string_view, 4> kNames{"found", "measured_zero", "not_reported",
                                                          "cannot_be_reported"};
};
template <>
struct EnumNames<Severity> {
  static constexpr std::array<std::string_view, 3> kNames{"note", "warning", "error"};
};

/// Returns the name of an enumeration's value, or "?" for an invalid value.
template <class E>
constexpr std::string_view enumName(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < EnumNames<E>::kNames.size() ? EnumNames<E>::kNames[index] : std::string_view("?");
}

// ---- structs ------------------------------------------------------------------------------

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
template <class V, Is<PassageInfo> X>
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
template <class V, Is<PartInfo> X>
void fields(V&& v, X& x) {
  v("node", x.node);
  v("inPlus", x.inPlus);
}
template <class V, Is<PartRange> X>
void fields(V&& v, X& x) {
  v("part", x.part);
  v("segment", x.segment);
  v("begin", x.begin);
  v("end", x.end);
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
template <class V, Is<ArithmeticToken> X>
void fields(V&& v, X& x) {
  v("token", x.token);
  v("divergence", x.divergence);
  v("best", x.best);
  v("exactBest", x.exactBest);
  v("probability", x.probability);
  v("exactProbability", x.exactProbability);
}
template <class V, Is<TokenAlternative> X>
void fields(V&& v, X& x) {
  v("token", x.token);
  v("shown", x.shown);
  v("probability", x.probability);
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
template <class V, Is<PackText> X>
void fields(V&& v, X& x) {
  v("name", x.name);
  v("text", x.text);
}
template <class V, Is<RecomputedTokens> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("tokens", x.tokens);
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

}  // namespace spanscope::trace
