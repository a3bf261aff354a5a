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

// The members of a list, one after the other. A macro cannot call itself, but each scan of its result expands
// one more member.
#define SPANSCOPE_SCAN(...) SPANSCOPE_SCAN_16(SPANSCOPE_SCAN_16(SPANSCOPE_SCAN_16(__VA_ARGS__)))
#define SPANSCOPE_SCAN_16(...) SPANSCOPE_SCAN_4(SPANSCOPE_SCAN_4(SPANSCOPE_SCAN_4(__VA_ARGS__)))
#define SPANSCOPE_SCAN_4(...) SPANSCOPE_SCAN_1(SPANSCOPE_SCAN_1(SPANSCOPE_SCAN_1(__VA_ARGS__)))
#define SPANSCOPE_SCAN_1(...) __VA_ARGS__
#define SPANSCOPE_PARENTHESES ()
#define SPANSCOPE_VISIT(member, ...) \
  v(#member, x.member);              \
  __VA_OPT__(SPANSCOPE_VISIT_MORE SPANSCOPE_PARENTHESES(__VA_ARGS__))
#define SPANSCOPE_VISIT_MORE() SPANSCOPE_VISIT

/// Defines fields(visit, value) for a struct. The function calls visit(name, member) for each of the given
/// members, in this order. Belongs into the namespace of the struct.
#define SPANSCOPE_FIELDS(Type, ...)                  \
  template <class V, ::spanscope::trace::Is<Type> X> \
  void fields(V&& v, X& x) {                         \
    SPANSCOPE_SCAN(SPANSCOPE_VISIT(__VA_ARGS__))     \
  }                                                  \
  static_assert(true)

// ---- enumerations: the names in the order of their values ----------------------------------

template <class E>
struct EnumNames;

/// Defines the names of an enumeration's values.
#define SPANSCOPE_NAMES(Enumeration, ...)                                          \
  template <>                                                                      \
  struct EnumNames<Enumeration> {                                                  \
    static constexpr auto kNames = std::to_array<std::string_view>({__VA_ARGS__}); \
  }

SPANSCOPE_NAMES(RunOutcome, "finished", "stopped", "failed");
SPANSCOPE_NAMES(JobOutcome, "finished", "stopped", "failed");
SPANSCOPE_FIELDS(PackedValue, bytes);
SPANSCOPE_NAMES(PassageRanking, "lexical", "embedding", "hybrid");
SPANSCOPE_NAMES(StepOutcome, "end_token", "token_limit", "context_limit", "stopped", "failed");
SPANSCOPE_NAMES(TokenSource, "template", "text", "output");
SPANSCOPE_NAMES(LookupOutcome, "hit", "relocated", "partial", "miss");
template <>
struct EnumNames<MissReason> {
  static constexpr std::array<std::string_view, kMissReasons.size()> kNames = [] {
    std::array<std::string_view, kMissReasons.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kMissReasons[i].name;
    return names;
  }();
};
SPANSCOPE_NAMES(RemovalReason, "evicted", "grown", "cleared");
SPANSCOPE_NAMES(StoreTier, "host", "disk");
SPANSCOPE_NAMES(LayoutRole, "pad", "plus_marker", "cross_marker");
SPANSCOPE_NAMES(CachedState, "found", "measured_zero", "not_reported", "cannot_be_reported");
SPANSCOPE_NAMES(Severity, "note", "warning", "error");

/// Returns the name of an enumeration's value, or "?" for an invalid value.
template <class E>
constexpr std::string_view enumName(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < EnumNames<E>::kNames.size() ? EnumNames<E>::kNames[index] : std::string_view("?");
}

// ---- structs ------------------------------------------------------------------------------

SPANSCOPE_FIELDS(BlockKey, high, low);
SPANSCOPE_FIELDS(BlockState, references, cached, key, parent, fill, base, virtualIndex, storedByRun,
                 storedByRequest, storedByNode, tokens);
SPANSCOPE_FIELDS(PoolState, blockSize, blocks, freeOrder);
SPANSCOPE_FIELDS(PlannedStep, step, node, copy, ply, needs);
SPANSCOPE_FIELDS(PassageInfo, hash, source, place, level, text, rank, score, lexicalRank, lexicalScore,
                 embeddingRank, embeddingScore, pinned, dropped, inPrompt);
SPANSCOPE_FIELDS(TokenRunInfo, count, source, node);
SPANSCOPE_FIELDS(SegmentInfo, node, independent, hidden, scope, depth, base, visibleBegin, sees, tokens,
                 texts, runs);
SPANSCOPE_FIELDS(PartInfo, node, inPlus);
SPANSCOPE_FIELDS(PartRange, part, segment, begin, end);
SPANSCOPE_FIELDS(FidelityToken, token, divergence, policyBest, fullBest, policyProbability, fullProbability);
SPANSCOPE_FIELDS(ArithmeticToken, token, divergence, best, exactBest, probability, exactProbability);
SPANSCOPE_FIELDS(TokenAlternative, token, shown, probability);
SPANSCOPE_FIELDS(BatchEntry, request, segment, begin, count, decode, repeated);

SPANSCOPE_FIELDS(StoreTierState, tier, blocks, tokens, bytes, limit);
SPANSCOPE_FIELDS(StoredPack, tier, name, model, ofThisModel, blocks, tokens, bytes, age, unused);
SPANSCOPE_FIELDS(PackText, name, text);
SPANSCOPE_FIELDS(RecomputedTokens, segment, tokens);
SPANSCOPE_FIELDS(LayoutRun, segment, begin, count, role);
SPANSCOPE_FIELDS(CroppedRun, before, node, tokens, texts);

}  // namespace spanscope::trace
