// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/trace_values.h"

#include <string>
#include <utility>

namespace spanscope::run {
namespace {

trace::TokenSource sourceOf(layout::TokenRun::Source source) {
  switch (source) {
    case layout::TokenRun::Source::Template:
      return trace::TokenSource::Template;
    case layout::TokenRun::Source::Output:
      return trace::TokenSource::Output;
    case layout::TokenRun::Source::Text:
      break;
  }
  return trace::TokenSource::Text;
}

}  // namespace

trace::SpanTableLaidOut spanTableEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer) {
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
    info.texts.reserve(segment.tokens.size());
    for (const TokenId token : segment.tokens) {
      info.texts.push_back(tokenizer != nullptr ? tokenizer->display(token) : std::to_string(token));
    }
    for (const layout::TokenRun& run : segment.runs) {
      info.runs.push_back({.count = run.count, .source = sourceOf(run.source), .node = run.node});
    }
  }
  return {.segments = std::move(segments)};
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
