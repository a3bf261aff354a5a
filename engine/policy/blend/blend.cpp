// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/blend/blend.h"

#include "engine/base/translation.h"
#include "engine/policy/blend/blended_table.h"

#include <array>
#include <string>
#include <vector>

namespace spanscope::policy {
namespace {

constexpr std::array<const char*, 2> kScores{"keys", "values"};

constexpr std::array<Parameter, 4> kParameters{
    {{.name = "r",
      .label = forTranslation("Policies", "share of tokens"),
      .help = forTranslation(
          "Policies",
          "Which share of the documents' tokens is computed again in view of all before them, 0 to 1"),
      .standard = 0.15,
      .least = 0,
      .most = 1},
     {.name = "layer",
      .label = forTranslation("Policies", "check layer"),
      .help = forTranslation(
          "Policies",
          "The layer in which tokens are chosen, from 0; layers before it are computed for all tokens"),
      .standard = 1,
      .least = 0,
      .most = 10'000,
      .isWhole = true},
     {.name = "by",
      .label = forTranslation("Policies", "by deviation of"),
      .help = forTranslation("Policies",
                             "What is compared with what is stored: keys, as LMCache does, or values, as "
                             "CacheBlend's code does"),
      .standard = 0,
      .words = kScores},
     {.name = "steps",
      .label = forTranslation("Policies", "layers that filter"),
      .help = forTranslation(
          "Policies",
          "In how many layers, the check layer the first, tokens are left out until the share is reached"),
      .standard = 1,
      .least = 1,
      .most = 10'000,
      .isWhole = true}}};

layout::Blending blendingOf(std::span<const double> values) {
  return {.share = values[0],
          .layer = static_cast<std::int32_t>(values[1]),
          .steps = static_cast<std::int32_t>(values[3]),
          .score = values[2] == 0 ? layout::Blending::Score::Keys : layout::Blending::Score::Values};
}

const char* exactnessAt(std::span<const double> values) {
  return values[0] == 1 ? "full prefill ✓" : nullptr;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> values) {
  // A reply that stands in this prompt is a document of it, and is first computed as one is by itself: what
  // blending made of its own prompt belonged to that request alone.
  std::vector<layout::StepOutput> documents(outputs.size());
  for (const StepIndex need : step.needs) {
    if (need >= outputs.size()) continue;
    documents[need] = {.table = unblendedTable(outputs[need].table), .tokens = outputs[need].tokens};
  }
  return blendedTable(layout::layOut(step, documents, renderer, layout::Visibility::Spans),
                      blendingOf(values));
}

/// Where all tokens are computed again, none are chosen.
std::optional<std::string> expectedOn(std::span<const double> values, std::int32_t layers) {
  const layout::Blending blending = blendingOf(values);
  if (blending.share == 1 || blending.layer + blending.steps <= layers) return std::nullopt;
  return "tokens that are chosen in layers 0 to " + std::to_string(layers - 1) + ", those of the model";
}

void restore(layout::SpanTable& table, std::span<const double> values) {
  restoreBlend(table, blendingOf(values));
}

}  // namespace

constinit const Policy kBlend = {.name = "blend",
                                 .brief = "spans of which the most deviating tokens see all before",
                                 .help = forTranslation("Policies",
                                                        "As spans, and the share r of tokens that deviate "
                                                        "most are computed again in view of all before them"),
                                 .exactness = "full prefill ≈",
                                 .hasIndependentSpans = true,
                                 .wantsBlockAttention = false,
                                 .parameters = kParameters,
                                 .exactnessAt = &exactnessAt,
                                 .layOut = &layOut,
                                 .expectedOn = &expectedOn,
                                 .restore = &restore};

}  // namespace spanscope::policy
