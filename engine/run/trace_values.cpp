// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/trace_values.h"

#include "engine/base/error.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::run {
namespace {

trace::TokenSource sourceOf(layout::TokenRun::Source source) {
  switch (source) {
    case layout::TokenRun::Source::Template:
    case layout::TokenRun::Source::Pad:
    case layout::TokenRun::Source::PlusMarker:
    case layout::TokenRun::Source::CrossMarker:
      return trace::TokenSource::Template;
    case layout::TokenRun::Source::Output:
      return trace::TokenSource::Output;
    case layout::TokenRun::Source::Text:
      break;
  }
  return trace::TokenSource::Text;
}

layout::TokenRun::Source sourceIn(trace::TokenSource source) {
  switch (source) {
    case trace::TokenSource::Template:
      return layout::TokenRun::Source::Template;
    case trace::TokenSource::Output:
      return layout::TokenRun::Source::Output;
    default:
      return layout::TokenRun::Source::Text;
  }
}

std::optional<trace::LayoutRole> roleOf(layout::TokenRun::Source source) {
  switch (source) {
    case layout::TokenRun::Source::Pad:
      return trace::LayoutRole::Pad;
    case layout::TokenRun::Source::PlusMarker:
      return trace::LayoutRole::PlusMarker;
    case layout::TokenRun::Source::CrossMarker:
      return trace::LayoutRole::CrossMarker;
    case layout::TokenRun::Source::Template:
    case layout::TokenRun::Source::Text:
    case layout::TokenRun::Source::Output:
      break;
  }
  return std::nullopt;
}

std::string shownBy(const text::Tokenizer* tokenizer, TokenId token) {
  return tokenizer != nullptr ? tokenizer->display(token) : std::to_string(token);
}

}  // namespace

std::vector<trace::SegmentInfo> segmentsOf(const layout::SpanTable& table) {
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) {
    trace::SegmentInfo& info = segments.emplace_back();
    info.node = segment.node;
    info.independent = segment.independent;
    info.hidden = segment.hidden;
    info.scope = segment.scope;
    info.depth = segment.depth;
    info.base = segment.base;
    info.visibleBegin = segment.visibleBegin;
    info.sees = segment.sees;
    info.tokens = segment.tokens;
    for (const layout::TokenRun& run : segment.runs) {
      info.runs.push_back({.count = run.count, .source = sourceOf(run.source), .node = run.node});
    }
  }
  return segments;
}

trace::SpanTableLaidOut spanTableEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer) {
  std::vector<trace::SegmentInfo> segments = segmentsOf(table);
  for (trace::SegmentInfo& segment : segments) {
    segment.texts.reserve(segment.tokens.size());
    for (const TokenId token : segment.tokens) segment.texts.push_back(shownBy(tokenizer, token));
  }
  return {.segments = std::move(segments)};
}

trace::PromptDivided partsEvent(const layout::SpanTable& table) {
  trace::PromptDivided event;
  if (table.parts.empty()) return event;
  for (const layout::PromptPart& part : table.parts)
    event.parts.push_back({.node = part.node, .inPlus = part.inPlus});
  for (std::uint32_t i = 0; i < table.segments.size(); ++i) {
    std::int32_t begin = 0;
    for (const layout::TokenRun& run : table.segments[i].runs) {
      const bool goesOn =
          begin > 0 && event.ranges.back().segment == i && event.ranges.back().part == run.part;
      if (goesOn) {
        event.ranges.back().end += run.count;
      } else {
        event.ranges.push_back({.part = run.part, .segment = i, .begin = begin, .end = begin + run.count});
      }
      begin += run.count;
    }
  }
  return event;
}

trace::LayoutApplied layoutEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer) {
  trace::LayoutApplied event;
  for (std::uint32_t i = 0; i < table.segments.size(); ++i) {
    std::int32_t begin = 0;
    for (const layout::TokenRun& run : table.segments[i].runs) {
      if (const auto role = roleOf(run.source))
        event.runs.push_back({.segment = i, .begin = begin, .count = run.count, .role = *role});
      begin += run.count;
    }
  }
  for (const layout::Cropped& cropped : table.cropped) {
    trace::CroppedRun& run = event.cropped.emplace_back();
    run.before = cropped.before;
    run.node = cropped.node;
    run.tokens = cropped.tokens;
    for (const TokenId token : cropped.tokens) run.texts.push_back(shownBy(tokenizer, token));
  }
  return event;
}

trace::LayoutChosen layoutEvent(const layout::LayoutRules& rules) {
  return {.layout = layout::infoOf(rules.layout).name,
          .blockSize = rules.blockSize,
          .pad = rules.markers.pad,
          .plus = rules.markers.plus,
          .cross = rules.markers.cross};
}

layout::SpanTable spanTableOf(const std::vector<trace::SegmentInfo>& segments, std::int32_t vocabularySize) {
  constexpr std::int64_t kMostPosition = std::numeric_limits<std::int32_t>::max();
  const auto refuse = [](std::size_t segment, std::string found, std::string expected) {
    throw Failure(Error{"", "segment " + std::to_string(segment), std::move(found), std::move(expected)});
  };
  layout::SpanTable table;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const trace::SegmentInfo& info = segments[i];
    for (const std::uint32_t seen : info.sees) {
      if (seen >= i)
        refuse(i, "attention to segment " + std::to_string(seen),
               /*id:attention-earlier-only*/ "attention to earlier segments only");
    }
    for (const TokenId token : info.tokens) {
      if (token >= 0 && token < vocabularySize) continue;
      refuse(i, "token " + std::to_string(token), "0 to " + std::to_string(vocabularySize - 1));
    }
    if (info.visibleBegin < 0 || static_cast<std::size_t>(info.visibleBegin) > info.tokens.size()) {
      refuse(i, "first visible token " + std::to_string(info.visibleBegin),
             "0 to " + std::to_string(info.tokens.size()));
    }
    if (info.base < -kMostPosition || info.base > kMostPosition) {
      refuse(i, "position " + std::to_string(info.base), "a number of at most 31 bits");
    }
    layout::Segment& segment = table.segments.emplace_back();
    segment.independent = info.independent;
    segment.scope = info.scope;
    segment.depth = info.depth;
    segment.tokens = info.tokens;
    segment.base = info.base;
    segment.visibleBegin = info.visibleBegin;
    segment.hidden = info.hidden;
    segment.sees = info.sees;
    segment.node = info.node;
    std::int64_t left = static_cast<std::int64_t>(info.tokens.size());
    for (const trace::TokenRunInfo& run : info.runs) {
      if (run.count < 0 || run.count > left)
        refuse(i, "a token range of " + std::to_string(run.count) + " tokens",
               "0 to " + std::to_string(left));
      left -= run.count;
      segment.runs.push_back({.count = run.count, .source = sourceIn(run.source), .node = run.node});
    }
  }
  if (table.segments.empty() || table.segments.back().tokens.empty()) {
    throw Failure(Error{"", "span table", "no tokens in the last segment", "at least one token"});
  }
  return table;
}

trace::PlanMade planEvent(const plan::Plan& plan, std::string explain) {
  trace::PlanMade event;
  event.explain = std::move(explain);
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    event.steps.push_back(
        {.step = i, .node = step.node, .copy = step.copy, .ply = step.ply, .needs = step.needs});
  }
  return event;
}

}  // namespace spanscope::run
