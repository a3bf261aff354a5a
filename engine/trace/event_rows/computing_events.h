// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about computation: forward passes, tokens, groups of requests that attend to each other,
// fidelity and jobs (engine/trace/event_fields.h). Open this file to change such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/event_words.h"
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
template <class V, Is<BatchComputed> X>
void fields(V&& v, X& x) {
  v("entries", x.entries);
  v("nanoseconds", x.nanoseconds);
}

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
template <class V, Is<TokenAlternatives> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("tokens", x.tokens);
}

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
template <class V, Is<TokensRecomputed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("tokens", x.tokens);
  v("segments", x.segments);
}

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
template <class V, Is<TeamFormed> X>
void fields(V&& v, X& x) {
  v("requests", x.requests);
}

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
template <class V, Is<ArithmeticMeasured> X>
void fields(V&& v, X& x) {
  v("arithmetic", x.arithmetic);
  v("tokens", x.tokens);
}

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
template <class V, Is<JobEnded> X>
void fields(V&& v, X& x) {
  v("kind", x.kind);
  v("arguments", x.arguments);
  v("outcome", x.outcome);
  v("problem", x.problem);
  v("result", x.result);
}

}  // namespace spanscope::trace
