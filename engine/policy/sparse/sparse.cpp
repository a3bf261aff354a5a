// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/policy/compute_plan.h"
#include "engine/policy/policies.h"

#include <array>
#include <cmath>
#include <memory>

namespace spanscope::policy {
namespace {

constexpr std::array<Parameter, 1> kParameters{
    {{.name = "b",
      .label = forTranslation("Policies", "blocks read"),
      .help = forTranslation("Policies",
                             "Number of blocks that each generated token reads, per layer and key head, "
                             "including the first and the last"),
      .standard = 64,
      .least = 2,
      .most = 1'000'000,
      .isWhole = true,
      .hasAll = true}}};

const char* exactnessAt(std::span<const double> values) {
  return std::isinf(values[0]) ? "block attention ✓ · full prefill ≈" : nullptr;
}

/// Each row reads at most N blocks. compute/block_choice.h chooses the blocks, in each layer and for each key
/// head.
class BestBlocks final : public AnswerRows {
 public:
  explicit BestBlocks(std::int32_t most) : m_most(most) {}

  void addKeys(compute::QueryRun& run, std::span<const Answer> answers, std::size_t own, std::int32_t row,
               std::int32_t count) const override {
    AnswerRows::addKeys(run, answers, own, row, count);
    run.mostBlocks = m_most;
  }

 private:
  std::int32_t m_most;  ///< at least 2
};

ComputePlan planRows(const layout::SpanTable& /*table*/, std::span<const double> values, bool /*isInTeam*/) {
  if (std::isinf(values[0])) return {};
  return {.answer = std::make_shared<BestBlocks>(static_cast<std::int32_t>(values[0]))};
}

}  // namespace

constinit const Policy kSparse = {
    .name = "sparse",
    .brief = forTranslation("Policies", "like spans, an answer token reads b blocks; for long prompts"),
    .help = forTranslation(
        "Policies",
        "Like spans, but each generated token reads only the b blocks that match its query vectors best"),
    .asIn = "Quest",
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOutAs<layout::Visibility::Spans>,
    .planRows = &planRows};

}  // namespace spanscope::policy
