// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/blend/blend.h"

#include "engine/base/translation.h"
#include "engine/policy/recomputation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::policy {

namespace {

constexpr std::array<Parameter, 4> kParameters{
    {{.name = "r",
      .label = forTranslation("Policies", "share of tokens"),
      .help = forTranslation(
          "Policies",
          "Share of the documents' tokens that are recomputed with attention to all earlier text, 0 to 1"),
      .standard = 0.15,
      .least = 0,
      .most = 1},
     kCheckLayer,
     kDeviationOf,
     kFilteringLayers}};

const char* exactnessAt(std::span<const double> values) {
  return values[0] == 1 ? "full prefill ✓" : nullptr;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  // An answer in this prompt is first computed alone, like a document. The blended values of the answer's own
  // prompt belonged only to the earlier request.
  std::vector<layout::StepOutput> documents(outputs.size());
  for (const StepIndex need : step.needs) {
    if (need >= outputs.size()) continue;
    documents[need] = {.table = withoutCopies(outputs[need].table), .tokens = outputs[need].tokens};
  }
  return blendedTable(layout::layOut(step, documents, renderer, layout::Visibility::Spans));
}

ComputePlan planRows(const layout::SpanTable& table, std::span<const double> values, bool /*isInTeam*/) {
  return planOfCopies(table, recomputationOf(values), ChosenAmong::AllCopies);
}

}  // namespace

constinit const Policy kBlend = {
    .name = "blend",
    .brief = forTranslation("Policies", "like spans, recomputes a share r of tokens; slower than link"),
    .help = forTranslation("Policies",
                           "Like spans, but recomputes the share r of tokens that deviate most. These tokens "
                           "attend to all earlier text"),
    .asIn = "CacheBlend",
    .exactness = "full prefill ≈",
    .hasIndependentSpans = true,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOut,
    .planRows = &planRows,
    .expectedOn = &expectedOfRecomputation};

using layout::Segment;
using layout::SpanTable;

SpanTable blendedTable(const SpanTable& spans) {
  const std::vector<Segment>& segments = spans.segments;
  const auto isInDocument = [](const Segment& segment) { return !segment.hidden && segment.scope != 0; };
  const auto first =
      static_cast<std::size_t>(std::ranges::find_if(segments, isInDocument) - segments.begin());
  if (first == segments.size()) return spans;

  SpanTable table;
  table.parts = spans.parts;
  table.cropped = spans.cropped;
  std::vector<std::uint32_t> view;
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    table.segments.push_back(segments[i]);
    if (i >= first) {
      table.segments.back().hidden = true;
    } else if (!segments[i].hidden) {
      view.push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (std::size_t i = first; i + 1 < segments.size(); ++i) {
    if (segments[i].hidden || segments[i].visibleBegin == segments[i].length()) continue;
    Segment copy = segments[i];
    copy.independent = false;
    copy.sees = view;
    view.push_back(static_cast<std::uint32_t>(table.segments.size()));
    table.segments.push_back(std::move(copy));
  }
  Segment last = segments.back();
  last.sees = view;
  table.segments.push_back(std::move(last));
  return table;
}

}  // namespace spanscope::policy
