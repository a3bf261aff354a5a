// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/relay/relay.h"

#include "engine/base/translation.h"
#include "engine/plan/prompt_children.h"
#include "engine/policy/recomputation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::policy {
namespace {

using layout::Segment;
using layout::SpanTable;

constexpr std::array<Parameter, 4> kParameters{
    {{.name = "r",
      .label = forTranslation("Policies", "share of tokens"),
      .help = forTranslation(
          "Policies", "Share of tokens that are recomputed if a prompt contains an earlier answer, 0 to 1"),
      .standard = 0.15,
      .least = 0,
      .most = 1},
     kCheckLayer,
     kDeviationOf,
     kFilteringLayers}};

const char* exactnessAt(std::span<const double> values) {
  return values[0] == 1 ? "block attention ✓ · full prefill ≈" : nullptr;
}

/// Sets this form for all outputs except continuations.
void quoteAs(plan::OutputForm form, plan::PromptNode& prompt) {
  if (auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
    if (output->form != plan::OutputForm::Continuation) output->form = form;
  }
  for (plan::PromptNode& child : childrenOf(prompt)) quoteAs(form, child);
}

std::int64_t visibleTokens(const Segment& segment) {
  return segment.hidden ? 0 : segment.length() - segment.visibleBegin;
}

SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                 layout::MessageRenderer& renderer, std::span<const double> values) {
  const auto quoting = [&](plan::OutputForm form) {
    plan::Step quoted = step;
    quoteAs(form, quoted.prompt);
    if (form == plan::OutputForm::Recomputed)
      return layout::layOut(quoted, outputs, renderer, layout::Visibility::Spans);
    // Recomputed values of an inner prompt belonged only to the inner request. The keys of an answer
    // therefore follow a prompt that quotes answers as they were generated.
    std::vector<layout::StepOutput> inner(outputs.size());
    for (const StepIndex need : step.needs) {
      if (need >= outputs.size()) continue;
      inner[need] = {.table = withoutCopies(outputs[need].table), .tokens = outputs[need].tokens};
    }
    return layout::layOut(quoted, inner, renderer, layout::Visibility::Spans);
  };
  if (step.needs.empty()) return quoting(plan::OutputForm::Recomputed);
  SpanTable reused = quoting(plan::OutputForm::Reused);
  return values[0] == 0 ? reused : relayedTable(reused, quoting(plan::OutputForm::Recomputed));
}

ComputePlan planRows(const SpanTable& table, std::span<const double> values, bool /*isInTeam*/) {
  return planOfCopies(table, recomputationOf(values), ChosenAmong::EachCopy);
}

std::optional<std::string> expectedOn(std::span<const double> values, std::int32_t layers) {
  return values[0] == 0 ? std::nullopt : expectedOfRecomputation(values, layers);
}

}  // namespace

SpanTable relayedTable(const SpanTable& reused, const SpanTable& recomputed) {
  SpanTable table;
  table.parts = reused.parts;
  table.cropped = reused.cropped;
  std::vector<std::uint32_t> places;  // by segment of `reused`: place of the segment in the table
  // Both tables have the same visible tokens in the same order. Each visible segment of `reused` is inside
  // one segment of the other table. `within[i]`: the segments of `reused` inside segment i of the other
  // table, by their places in the new table.
  std::vector<std::vector<std::uint32_t>> within(recomputed.segments.size());
  std::size_t outer = 0;
  std::int64_t left = recomputed.segments.empty() ? 0 : visibleTokens(recomputed.segments.front());
  for (const Segment& segment : reused.segments) {
    Segment& own = table.segments.emplace_back(segment);
    for (std::uint32_t& seen : own.sees) seen = places[seen];
    places.push_back(static_cast<std::uint32_t>(table.segments.size() - 1));
    if (segment.hidden) continue;
    while (left == 0 && outer + 1 < recomputed.segments.size())
      left = visibleTokens(recomputed.segments[++outer]);
    left -= visibleTokens(segment);

    std::vector<std::uint32_t> view;
    for (const std::uint32_t seen : recomputed.segments[outer].sees)
      view.insert(view.end(), within[seen].begin(), within[seen].end());
    view.insert(view.end(), within[outer].begin(), within[outer].end());
    if (own.visibleBegin > 0 || own.sees != view) {
      Segment copy = own;
      own.hidden = true;
      copy.independent = view.empty();
      copy.sees = std::move(view);
      table.segments.push_back(std::move(copy));
      // Segments that attended to the answer attend to the copy instead.
      places.back() = static_cast<std::uint32_t>(table.segments.size() - 1);
    }
    within[outer].push_back(places.back());
  }
  return table;
}

constinit const Policy kRelay = {
    .name = "relay",
    .brief = forTranslation("Policies", "spans, answers reused in later prompts; for nested queries"),
    .help = forTranslation("Policies",
                           "Like spans, but a quoted answer keeps the keys of its generation. Only the share "
                           "r of tokens that deviate most is recomputed"),
    .asIn = "RelayCaching",
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .quotesAsGenerated = true,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOut,
    .planRows = &planRows,
    .expectedOn = &expectedOn};

}  // namespace spanscope::policy
