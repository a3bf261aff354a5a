// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about computation: forward passes, tokens, attention, fidelity and jobs. Also groups of
// requests that attend to each other (engine/trace/event_fields.h). Open this file to change such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

template <>
struct Facts<BatchComputed> : UsualFacts {
  static constexpr const char* kName = "batch_computed";
  static constexpr bool kIsDetail = true;
  static constexpr Indexed kIndexed{.inSession = true, .byRequest = true};
  template <class Visit>
  static void visitRequests(const BatchComputed& e, const Event&, Visit visit) {
    for (const BatchEntry& entry : e.entries) visit(entry.request);
  }
  static const char* plain(const BatchComputed&) { return forTranslation("Events", "Forward pass computed"); }
  static EventWords detail(const BatchComputed& e) {
    std::int64_t prompt = 0;
    std::int64_t answer = 0;
    for (const BatchEntry& entry : e.entries) (entry.decode ? answer : prompt) += entry.count;
    return {forTranslation("Events", "tokens of prompts: %1, of answers: %2"),
            {std::to_string(prompt), std::to_string(answer)}};
  }
  static std::string line(const BatchComputed& e) {
    std::int64_t rows = 0;
    std::int64_t decodes = 0;
    for (const BatchEntry& entry : e.entries) {
      rows += entry.count;
      decodes += entry.decode ? 1 : 0;
    }
    return counted(rows, "row") + " of " + counted(e.entries.size(), "entry", "entries") + " (" +
           counted(decodes, "decode") + ") in " + fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) +
           " ms";
  }
};
SPANSCOPE_FIELDS(BatchComputed, entries, nanoseconds);

template <>
struct Facts<TokenGenerated> : UsualFacts {
  static constexpr const char* kName = "token_generated";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const TokenGenerated&) { return forTranslation("Events", "Token generated"); }
  static EventWords detail(const TokenGenerated& e) {
    return {forTranslation("Events", "“%1”"), {ShortText{e.text.empty() ? e.shown : e.text}}};
  }
  static std::string line(const TokenGenerated& e) {
    return "token " + std::to_string(e.index) + ": " + std::to_string(e.token) + " " + inQuotes(e.shown) +
           ", probability " + fixedPoint(static_cast<double>(e.probability), 4);
  }
};
SPANSCOPE_FIELDS(TokenGenerated, index, token, text, shown, probability, segmentMass);

template <>
struct Facts<TokenAlternatives> : UsualFacts {
  static constexpr const char* kName = "token_alternatives";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const TokenAlternatives&) {
    return forTranslation("Events", "Most likely tokens");
  }
  static EventWords detail(const TokenAlternatives& e) {
    if (e.tokens.empty()) return {};
    return {forTranslation("Events", "“%1” before %2 others"),
            {ShortText{e.tokens.front().shown}, static_cast<std::uint64_t>(e.tokens.size() - 1)}};
  }
  static std::string line(const TokenAlternatives& e) {
    std::string text = /*id:most-likely-for*/ "most likely for token " + std::to_string(e.index) + ":";
    for (const TokenAlternative& one : e.tokens) {
      text += " " + std::to_string(one.token) + " " + inQuotes(one.shown) + " " +
              fixedPoint(static_cast<double>(one.probability), 4) + (&one == &e.tokens.back() ? "" : ",");
    }
    return text;
  }
};
SPANSCOPE_FIELDS(TokenAlternatives, index, tokens);

template <>
struct Facts<TokensRecomputed> : UsualFacts {
  static constexpr const char* kName = "tokens_recomputed";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const TokensRecomputed& e) {
    for (const RecomputedTokens& segment : e.segments) {
      for (const std::int32_t token : segment.tokens) {
        if (token < 0) return errorAt("recomputed token", std::to_string(token), "at least 0");
      }
    }
    return std::nullopt;
  }
  static const char* plain(const TokensRecomputed&) { return forTranslation("Events", "Tokens recomputed"); }
  static EventWords detail(const TokensRecomputed& e) {
    std::uint64_t count = 0;
    for (const RecomputedTokens& segment : e.segments) count += segment.tokens.size();
    return {forTranslation("Events", "%1 of %2 tokens"), {count, std::to_string(e.tokens)}};
  }
  static std::string line(const TokensRecomputed& e) {
    std::size_t count = 0;
    for (const RecomputedTokens& segment : e.segments) count += segment.tokens.size();
    return std::to_string(count) + " of " + counted(e.tokens, "token") + " recomputed, chosen in layer " +
           std::to_string(e.layer);
  }
};
SPANSCOPE_FIELDS(TokensRecomputed, layer, tokens, segments);

template <>
struct Facts<TeamFormed> : UsualFacts {
  static constexpr const char* kName = "team_formed";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  template <class Visit>
  static void visitRequests(const TeamFormed& e, const Event&, Visit visit) {
    for (const RequestId request : e.requests) visit(request);
  }
  static const char* plain(const TeamFormed&) {
    return forTranslation("Events", "Answers attend to each other");
  }
  static std::string line(const TeamFormed& e) {
    return "requests " + requestsText(e.requests) + " attend to each other's answers during generation";
  }
};
SPANSCOPE_FIELDS(TeamFormed, requests);

template <>
struct Facts<FidelityMeasured> : UsualFacts {
  static constexpr const char* kName = "fidelity_measured";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const FidelityMeasured& e) {
    if (e.promptTokens < 0 || e.cachedTokens < 0 || e.recomputedTokens < 0 || e.attentionRows < 0)
      return errorAt("token counts", "a negative number", "at least 0");
    const auto isNone = [](double number) { return !(number >= 0) || std::isinf(number); };
    for (const FidelityToken& token : e.tokens) {
      if (isNone(token.divergence))
        return errorAt("divergence", std::to_string(token.divergence), "a finite number of at least 0");
    }
    for (const double deviation : e.attentionDeviation) {
      if (isNone(deviation))
        return errorAt("attention deviation", std::to_string(deviation), "a finite number of at least 0");
    }
    return std::nullopt;
  }
  static const char* plain(const FidelityMeasured&) { return forTranslation("Events", "Fidelity measured"); }
  static std::string line(const FidelityMeasured& e) {
    const FidelityMeasured* one = &e;
    return fidelityText(fidelityOf(std::span(&one, 1)));
  }
  static std::optional<Severity> severity(const FidelityMeasured&) { return Severity::Note; }
  static EventWords words(const FidelityMeasured& e, const Event& event) {
    return {forTranslation("Events", "Fidelity of run %1 measured: %2"), {event.run, line(e)}};
  }
};
SPANSCOPE_FIELDS(FidelityMeasured, promptTokens, cachedTokens, recomputedTokens, tokens, fullAnswer, fullText,
                 sameText, attentionRows, attentionDeviation);

template <>
struct Facts<ArithmeticMeasured> : UsualFacts {
  static constexpr const char* kName = "arithmetic_measured";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const ArithmeticMeasured& e) {
    for (const ArithmeticToken& token : e.tokens) {
      if (!(token.divergence >= 0) || std::isinf(token.divergence))
        return errorAt("divergence", std::to_string(token.divergence), "a finite number of at least 0");
    }
    return std::nullopt;
  }
  static const char* plain(const ArithmeticMeasured&) {
    return forTranslation("Events", "Arithmetic compared with f32");
  }
  static std::string line(const ArithmeticMeasured& e) {
    const ArithmeticMeasured* one = &e;
    return escaped(e.arithmetic) + " against f32: " + divergenceText(arithmeticOf(std::span(&one, 1)));
  }
  static std::optional<Severity> severity(const ArithmeticMeasured&) { return Severity::Note; }
  static EventWords words(const ArithmeticMeasured& e, const Event& event) {
    return {forTranslation("Events", "Arithmetic of run %1 measured: %2"), {event.run, line(e)}};
  }
};
SPANSCOPE_FIELDS(ArithmeticMeasured, arithmetic, tokens);

template <>
struct Facts<JobEnded> : UsualFacts {
  static constexpr const char* kName = "job_ended";
  static constexpr Indexed kIndexed{.inSession = true};
  static const char* plain(const JobEnded& e) {
    switch (e.outcome) {
      case JobOutcome::Finished:
        break;
      case JobOutcome::Stopped:
        return forTranslation("Events", "Job stopped");
      case JobOutcome::Failed:
        return forTranslation("Events", "Job failed");
    }
    return forTranslation("Events", "Job finished");
  }
  static EventWords detail(const JobEnded& e) { return {"%1", {e.kind}}; }
  static std::string line(const JobEnded& e) {
    std::string out = escaped(e.kind) + " " + std::string(enumName(e.outcome));
    if (!e.problem.empty()) out += ": " + escaped(e.problem);
    if (!e.result.bytes->empty()) out += ", result of " + counted(e.result.bytes->size(), "byte");
    return out;
  }
  static std::optional<Severity> severity(const JobEnded& e) {
    return e.outcome == JobOutcome::Failed ? std::optional(Severity::Error) : std::nullopt;
  }
  static EventWords words(const JobEnded& e, const Event&) {
    return {forTranslation("Events", "Job %1 failed: %2"), {e.kind, e.problem}};
  }
};
SPANSCOPE_FIELDS(JobEnded, kind, arguments, outcome, problem, result);

/// Returns the fault of the lists of attention by layer, head and key, if any. `width`: number of keys.
template <class Attention>
std::optional<Error> attentionFault(const Attention& e, std::uint64_t width, const char* key) {
  // Each factor is the length of a list in memory, or less than 2³¹. The product therefore cannot overflow.
  const std::uint64_t rows = e.layers.size() * static_cast<std::uint64_t>(e.heads);
  for (const std::vector<float>* values : {&e.mass, &e.first}) {
    const std::uint64_t count = values->size();
    const bool fits = rows == 0 || width == 0 ? count == 0 : count % width == 0 && count / width == rows;
    if (fits) continue;
    return errorAt(std::string("attention by ") + key, counted(count, "value"),
                   counted(e.layers.size(), "layer") + " of " + counted(e.heads, "head") + " of " +
                       counted(width, std::string("key ") + key));
  }
  return std::nullopt;
}

template <>
struct Facts<SegmentAttention> : UsualFacts {
  static constexpr const char* kName = "segment_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const SegmentAttention&) {
    return forTranslation("Events", "Attention by segment recorded");
  }
  static std::string line(const SegmentAttention& e) {
    return (e.index >= 0 ? "of token " + std::to_string(e.index) + ", " : std::string()) + queryText(e) +
           ", " + counted(e.layers.size(), "layer") + ", " + counted(e.heads, "head") + ", " +
           counted(e.keySegments.size(), "key segment");
  }
};
SPANSCOPE_FIELDS(SegmentAttention, index, segment, virtualIndex, row, rows, keySegments, layers, heads, mass,
                 first);

template <>
struct Facts<PartAttention> : UsualFacts {
  static constexpr const char* kName = "part_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const PartAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.heads < 0) return errorAt("heads", std::to_string(e.heads), "at least 0");
    return attentionFault(e, e.keyParts.size(), "section");
  }
  static const char* plain(const PartAttention&) {
    return forTranslation("Events", "Attention by section recorded");
  }
  static std::string line(const PartAttention& e) {
    return "of token " + std::to_string(e.index) + ", " + counted(e.layers.size(), "layer") + ", " +
           counted(e.heads, "head") + ", " + counted(e.keyParts.size(), "section");
  }
};
SPANSCOPE_FIELDS(PartAttention, index, keyParts, layers, heads, mass, first);

template <>
struct Facts<AttentionMass> : UsualFacts {
  static constexpr const char* kName = "attention_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const AttentionMass&) {
    return forTranslation("Events", "Attention by block recorded");
  }
  static std::string line(const AttentionMass& e) {
    return (e.layer < 0 ? "mean of the layers" : "layer " + std::to_string(e.layer)) + ", " + queryText(e) +
           ", " + counted(e.heads, "head") + ", " + counted(e.keySegments.size(), "key segment");
  }
};
SPANSCOPE_FIELDS(AttentionMass, layer, segment, virtualIndex, row, rows, keySegments, keySpan, keyBlocks,
                 heads, mass);

template <>
struct Facts<AttentionLeftOut> : UsualFacts {
  static constexpr const char* kName = "attention_left_out";
  static constexpr About kAbout = About::Run;
  static const char* plain(const AttentionLeftOut&) { return forTranslation("Events", "Attention left out"); }
  static std::string line(const AttentionLeftOut& e) {
    return counted(e.leftOut, "record") + " of attention left out, " + std::to_string(e.recorded) +
           " recorded: limit of " + bytesText(e.limit) + " per run";
  }
  static std::optional<Severity> severity(const AttentionLeftOut&) { return Severity::Warning; }
  static EventWords words(const AttentionLeftOut& e, const Event&) {
    constexpr double kMebibyte = 1 << 20;
    const double limit = static_cast<double>(e.limit) / kMebibyte;
    if (e.leftOut == 1) {
      return {forTranslation("Events", "1 attention record left out: limit of %1 MiB per run"), {limit}};
    }
    return {forTranslation(
                "Events",
                /*id:attention-records-left-out*/ "%1 attention records left out: limit of %2 MiB per run"),
            {e.leftOut, limit}};
  }
};
SPANSCOPE_FIELDS(AttentionLeftOut, leftOut, recorded, limit);

template <>
struct Facts<AttentionReplayed> : UsualFacts {
  static constexpr const char* kName = "attention_replayed";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const AttentionReplayed& e) {
    if (e.rows < 0 || e.firstRow < 0) {
      return errorAt("rows", std::to_string(e.rows) + " from " + std::to_string(e.firstRow),
                     "no negative numbers");
    }
    if (e.cachedTokens < 0 || e.recomputedTokens < 0)
      return errorAt("token counts", "a negative number", "at least 0");
    return std::nullopt;
  }
  static const char* plain(const AttentionReplayed&) {
    return forTranslation("Events", "Attention recomputed");
  }
  static std::string line(const AttentionReplayed& e) {
    return "layer " + std::to_string(e.layer) + ", " +
           (e.head < 0 ? std::string("all heads") : "head " + std::to_string(e.head)) + " by " +
           (e.singleKeys ? "token" : "block") + ", " + counted(e.rows, "row") + " recomputed with " +
           counted(e.cachedTokens, "cached token") + " and " + std::to_string(e.recomputedTokens) +
           " recomputed tokens";
  }
};
SPANSCOPE_FIELDS(AttentionReplayed, layer, head, singleKeys, firstRow, rows, cachedTokens, recomputedTokens);

template <>
struct Facts<ReplayedMass> : UsualFacts {
  static constexpr const char* kName = "replayed_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  using IndexedAs = AttentionReplayed;
  static std::optional<Error> fault(const ReplayedMass& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    return std::nullopt;
  }
  static const char* plain(const ReplayedMass&) {
    return forTranslation("Events", "Attention of a replay recorded");
  }
  static std::string line(const ReplayedMass& e) {
    return "of token " + std::to_string(e.index) + ", " + Facts<AttentionMass>::line(e.mass);
  }
};
SPANSCOPE_FIELDS(ReplayedMass, index, mass);

template <>
struct Facts<TeammateAttention> : UsualFacts {
  static constexpr const char* kName = "teammate_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const TeammateAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.mass.size() == e.requests.size()) return std::nullopt;
    return errorAt("attention on answers", std::to_string(e.mass.size()) + " shares",
                   std::to_string(e.requests.size()) + ", one per request");
  }
  static const char* plain(const TeammateAttention&) {
    return forTranslation("Events", "Attention on other answers recorded");
  }
  static std::string line(const TeammateAttention& e) {
    float share = 0;
    for (const float mass : e.mass) share += mass;
    return "of token " + std::to_string(e.index) + ", " + shareNumber(static_cast<double>(share), 1) +
           " % on the answers of requests " + requestsText(e.requests);
  }
};
SPANSCOPE_FIELDS(TeammateAttention, index, requests, mass);

}  // namespace spanscope::trace
