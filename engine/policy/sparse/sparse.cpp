// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/sparse/sparse.h"

#include "engine/base/translation.h"

#include <array>
#include <cmath>

namespace spanscope::policy {
namespace {

constexpr std::array<Parameter, 1> kParameters{
    {{.name = "b",
      .label = forTranslation("Policies", "blocks read"),
      .help = forTranslation(
          "Policies",
          "How many blocks each generated token reads, in each layer and for each key head; the first and "
          "the last are always among them"),
      .standard = 64,
      .least = 2,
      .most = 1'000'000,
      .isWhole = true,
      .hasAll = true}}};

std::int32_t mostBlocks(std::span<const double> values) {
  return std::isinf(values[0]) ? 0 : static_cast<std::int32_t>(values[0]);
}

const char* exactnessAt(std::span<const double> values) {
  return std::isinf(values[0]) ? "block attention ✓ · full prefill ≈" : nullptr;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> values) {
  layout::SpanTable table = layout::layOut(step, outputs, renderer, layout::Visibility::Spans);
  table.mostBlocks = mostBlocks(values);
  return table;
}

void restore(layout::SpanTable& table, std::span<const double> values) {
  table.mostBlocks = mostBlocks(values);
}

}  // namespace

constinit const Policy kSparse = {
    .name = "sparse",
    .brief = "spans of which answers read the best blocks",
    .help = forTranslation(
        "Policies",
        "As spans, and each generated token reads only the b blocks that its queries could match best"),
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOut,
    .restore = &restore};

}  // namespace spanscope::policy
