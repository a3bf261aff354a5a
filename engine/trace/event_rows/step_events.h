// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about steps and their requests (engine/trace/event_fields.h). Open this file to change
// such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace spanscope::trace {

template <>
struct Facts<StepStarted> : UsualFacts {
  static constexpr const char* kName = "step_started";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const StepStarted&) { return forTranslation("Events", "Step started"); }
  static std::string line(const StepStarted& e) {
    return "step " + std::to_string(e.step) + ", copy " + std::to_string(e.copy);
  }
  static std::optional<Severity> severity(const StepStarted&) { return Severity::Note; }
  static EventWords words(const StepStarted& e, const Event& event) {
    return {forTranslation("Events", "%1 started as request %2"), {StepName{e.step}, event.request}};
  }
};
SPANSCOPE_FIELDS(StepStarted, step, copy);

template <>
struct Facts<SpanTableLaidOut> : UsualFacts {
  static constexpr const char* kName = "span_table_laid_out";
  static constexpr About kAbout = About::Request;
  static const char* plain(const SpanTableLaidOut&) { return forTranslation("Events", "Prompt laid out"); }
  static EventWords detail(const SpanTableLaidOut& e) {
    std::uint64_t tokens = 0;
    for (const SegmentInfo& segment : e.segments) tokens += segment.tokens.size();
    return {forTranslation("Events", "segments: %1, tokens: %2"), {std::uint64_t{e.segments.size()}, tokens}};
  }
  static std::string line(const SpanTableLaidOut& e) {
    std::uint64_t tokens = 0;
    std::uint64_t independent = 0;
    for (const SegmentInfo& segment : e.segments) {
      tokens += segment.tokens.size();
      independent += segment.independent ? 1 : 0;
    }
    return counted(e.segments.size(), "segment") + " (" + std::to_string(independent) + " independent), " +
           counted(tokens, "token");
  }
};
SPANSCOPE_FIELDS(SpanTableLaidOut, segments);

template <>
struct Facts<PromptDivided> : UsualFacts {
  static constexpr const char* kName = "prompt_divided";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const PromptDivided& e) {
    for (std::size_t i = 0; i < e.ranges.size(); ++i) {
      const PartRange& range = e.ranges[i];
      const std::int32_t least = i > 0 && e.ranges[i - 1].segment == range.segment ? e.ranges[i - 1].end : 0;
      if (range.part >= e.parts.size())
        return errorAt("section", std::to_string(range.part), "below " + std::to_string(e.parts.size()));
      if (i > 0 && e.ranges[i - 1].segment > range.segment)
        return errorAt("segment", std::to_string(range.segment),
                       "at least the segment of the previous range");
      if (range.begin < least || range.end < range.begin) {
        return errorAt("tokens", std::to_string(range.begin) + " to " + std::to_string(range.end),
                       "a range that begins at " + std::to_string(least) + " or later");
      }
    }
    return std::nullopt;
  }
  static const char* plain(const PromptDivided&) {
    return forTranslation("Events", "Prompt divided into sections");
  }
  static EventWords detail(const PromptDivided& e) {
    return {forTranslation("Events", "sections: %1"), {std::uint64_t{e.parts.size()}}};
  }
  static std::string line(const PromptDivided& e) {
    std::uint64_t inPlus = 0;
    for (const PartInfo& part : e.parts) inPlus += part.inPlus ? 1 : 0;
    return counted(e.parts.size(), "section") + " (" + std::to_string(inPlus) + " in a plus)";
  }
};
SPANSCOPE_FIELDS(PromptDivided, parts, ranges);

template <>
struct Facts<LayoutApplied> : UsualFacts {
  static constexpr const char* kName = "layout_applied";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const LayoutApplied& e) {
    for (const LayoutRun& run : e.runs) {
      if (run.begin < 0 || run.count < 0 || run.count > std::numeric_limits<std::int32_t>::max() - run.begin)
        return errorAt("tokens of the layout",
                       std::to_string(run.count) + " from " + std::to_string(run.begin),
                       "no negative numbers");
    }
    std::int64_t before = 0;
    for (const CroppedRun& run : e.cropped) {
      if (run.before < before)
        return errorAt("place of truncated tokens", std::to_string(run.before),
                       "at least " + std::to_string(before));
      before = run.before;
    }
    return std::nullopt;
  }
  static const char* plain(const LayoutApplied&) { return forTranslation("Events", "Layout applied"); }
  static std::string line(const LayoutApplied& e) {
    std::int64_t pads = 0;
    std::int64_t markers = 0;
    std::size_t cropped = 0;
    for (const LayoutRun& run : e.runs) (run.role == LayoutRole::Pad ? pads : markers) += run.count;
    for (const CroppedRun& run : e.cropped) cropped += run.tokens.size();
    return counted(pads, "padding token") + ", " + counted(markers, "delimiter token") + ", " +
           counted(cropped, "token") + " truncated";
  }
};
SPANSCOPE_FIELDS(LayoutApplied, runs, cropped);

template <>
struct Facts<RequestAdmitted> : UsualFacts {
  static constexpr const char* kName = "request_admitted";
  static constexpr About kAbout = About::Request;
  static const char* plain(const RequestAdmitted& e) {
    return e.resumed ? forTranslation("Events", "Request resumed")
                     : forTranslation("Events", "Request admitted");
  }
  static EventWords detail(const RequestAdmitted& e) {
    return {forTranslation("Events", "cached: %1 of %2 tokens"),
            {std::to_string(e.cachedTokens), std::to_string(e.promptTokens)}};
  }
  static std::string line(const RequestAdmitted& e) {
    const std::string found = ", " + std::to_string(e.cachedTokens) + " cached, " +
                              std::to_string(e.relocatedTokens) + " of them relocated";
    if (!e.resumed) return counted(e.promptTokens, "prompt token") + found;
    return "resumed with " + counted(e.promptTokens, "token") + found + ", " +
           std::to_string(e.recomputedTokens) + " recomputed";
  }
};
SPANSCOPE_FIELDS(RequestAdmitted, promptTokens, cachedTokens, relocatedTokens, resumed, recomputedTokens);

template <>
struct Facts<RequestDeferred> : UsualFacts {
  static constexpr const char* kName = "request_deferred";
  static constexpr About kAbout = About::Request;
  static const char* plain(const RequestDeferred&) { return forTranslation("Events", "Request waits"); }
  static EventWords detail(const RequestDeferred& e) { return {"%1", {ShortText{e.reason}}}; }
  static std::string line(const RequestDeferred& e) {
    return escaped(e.reason) + (e.waitFor != 0 ? ", waits for request " + std::to_string(e.waitFor) : "");
  }
  static std::optional<Severity> severity(const RequestDeferred&) { return Severity::Note; }
  static EventWords words(const RequestDeferred& e, const Event& event) {
    return {forTranslation("Events", "Request %1 waits: %2"), {event.request, e.reason}};
  }
};
SPANSCOPE_FIELDS(RequestDeferred, reason, waitFor);

template <>
struct Facts<RequestPreempted> : UsualFacts {
  static constexpr const char* kName = "request_preempted";
  static constexpr About kAbout = About::KnownRequest;
  static std::optional<Error> fault(const RequestPreempted& e) {
    if (e.blocks < 0 || e.computedTokens < 0) return errorAt("counts", "a negative number", "at least 0");
    return std::nullopt;
  }
  static const char* plain(const RequestPreempted&) { return forTranslation("Events", "Request preempted"); }
  static EventWords detail(const RequestPreempted& e) {
    return {forTranslation("Events", "blocks: %1"), {std::to_string(e.blocks)}};
  }
  static std::string line(const RequestPreempted& e) {
    return "releases " + counted(e.blocks, "block") + " with " + counted(e.computedTokens, "computed token") +
           ", request " + std::to_string(e.requester) + " needs blocks";
  }
  static std::optional<Severity> severity(const RequestPreempted&) { return Severity::Note; }
  static EventWords words(const RequestPreempted& e, const Event& event) {
    if (e.requester == event.request)
      return {forTranslation("Events", "Request %1 was preempted: older requests need its blocks"),
              {event.request}};
    return {forTranslation("Events", "Request %1 was preempted: request %2 needs its blocks"),
            {event.request, e.requester}};
  }
};
SPANSCOPE_FIELDS(RequestPreempted, requester, blocks, computedTokens);

template <>
struct Facts<StepFinished> : UsualFacts {
  static constexpr const char* kName = "step_finished";
  static const char* plain(const StepFinished& e) {
    switch (e.outcome) {
      case StepOutcome::EndToken:
        break;
      case StepOutcome::TokenLimit:
        return forTranslation("Events", "Step reached its token limit");
      case StepOutcome::ContextLimit:
        return forTranslation("Events", "Step filled the model's context");
      case StepOutcome::Stopped:
        return forTranslation("Events", "Step stopped");
      case StepOutcome::Failed:
        return forTranslation("Events", "Step failed");
    }
    return forTranslation("Events", "Step finished");
  }
  static std::string line(const StepFinished& e) {
    return "step " + std::to_string(e.step) + ", " + std::string(enumName(e.outcome)) + ": " +
           inQuotes(e.text);
  }
  static std::optional<Severity> severity(const StepFinished& e) {
    return e.outcome == StepOutcome::Failed    ? Severity::Error
           : e.outcome == StepOutcome::Stopped ? Severity::Warning
                                               : Severity::Note;
  }
  static EventWords words(const StepFinished& e, const Event&) {
    const StepName step{e.step};
    switch (e.outcome) {
      case StepOutcome::EndToken:
        break;
      case StepOutcome::TokenLimit:
        return {forTranslation("Events", "%1 reached its token limit: %2"), {step, ShortText{e.text}}};
      case StepOutcome::ContextLimit:
        return {forTranslation("Events", /*id:step-filled-context*/ "%1 filled the model's context: %2"),
                {step, ShortText{e.text}}};
      case StepOutcome::Stopped:
        return {forTranslation("Events", "%1 was stopped"), {step}};
      case StepOutcome::Failed:
        return {forTranslation("Events", "%1 failed"), {step}};
    }
    return {forTranslation("Events", "%1 finished: %2"), {step, ShortText{e.text}}};
  }
};
SPANSCOPE_FIELDS(StepFinished, step, outcome, text);

template <>
struct Facts<StepMetrics> : UsualFacts {
  static constexpr const char* kName = "step_metrics";
  static const char* plain(const StepMetrics&) { return forTranslation("Events", "Step measured"); }
  static std::string line(const StepMetrics& e) {
    std::string out = "step " + std::to_string(e.step) + ": prompt " + std::to_string(e.promptTokens) +
                      ", cached " + std::to_string(e.cachedTokens) + ", relocated " +
                      std::to_string(e.relocatedTokens) + ", computed " + std::to_string(e.computedTokens) +
                      ", generated " + std::to_string(e.generatedTokens);
    if (e.preemptions != 0) {
      out += ", preempted " + counted(e.preemptions, "time") + ", " + std::to_string(e.recomputedTokens) +
             " recomputed";
    }
    return out + ", first token after " + fixedPoint(e.timeToFirstToken * 1e3, 2) + " ms, then " +
           fixedPoint(e.interTokenLatency * 1e3, 2) + " ms per token";
  }
};
SPANSCOPE_FIELDS(StepMetrics, step, promptTokens, cachedTokens, relocatedTokens, computedTokens,
                 generatedTokens, timeToFirstToken, interTokenLatency, queueTime, preemptions,
                 recomputedTokens);

}  // namespace spanscope::trace
