// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/link/link.h"

#include "engine/base/translation.h"
#include "engine/policy/link/linked_table.h"

#include <array>
#include <cmath>

namespace spanscope::policy {
namespace {

constexpr std::array<Parameter, 1> kParameters{
    {{.name = "n",
      .label = forTranslation("Policies", "tokens of each document"),
      .help = forTranslation(
          "Policies",
          "How many tokens at the beginning of each document are computed again in view of all before"),
      .standard = 16,
      .least = 0,
      .most = 1'000'000,
      .isWhole = true,
      .hasAll = true}}};

const char* exactnessAt(std::span<const double> values) {
  if (values[0] == 0) return "block attention ✓ · full prefill ≈";
  return std::isinf(values[0]) ? "full prefill ✓" : nullptr;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> values) {
  const layout::SpanTable spans = layout::layOut(step, outputs, renderer, layout::Visibility::Spans);
  return linkedTable(spans, std::isinf(values[0]) ? kWholeDocuments : static_cast<std::int32_t>(values[0]));
}

}  // namespace

constinit const Policy kLink = {
    .name = "link",
    .brief = forTranslation("Policies", "spans whose beginnings see all before"),
    .help = forTranslation(
        "Policies",
        "As spans, and the first n tokens of each document are computed again in view of all before them"),
    .asIn = "EPIC",
    .exactness = "full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = false,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOut};

}  // namespace spanscope::policy
