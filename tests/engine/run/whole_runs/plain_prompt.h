// SPDX-License-Identifier: GPL-3.0-or-later
// Computes prompts and answers in double precision straight from the definitions of policies and layouts: row
// by row, from the plan's tree. Nothing here knows segments, span tables, blocks or a cache.
#pragma once

#include "engine/layout/message_renderer.h"
#include "engine/plan/plan.h"
#include "tests/support/plain_transformer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::test {

/// Which rows see which.
enum class PlainMask : std::uint8_t {
  Causal,        ///< a row sees all rows before it
  Spans,         ///< a child of a plus sees only itself
  BehindPrefix,  ///< a child of a plus also attends to the text before the plus
  Linked  ///< as Spans; then the first tokens of each child, and the text around, again with full attention
};

struct PlainPolicy {
  PlainMask mask = PlainMask::Spans;
  std::int32_t linked = 0;  ///< for Linked: tokens of each child that are computed again
};

/// One row of a prompt or an answer.
struct PlainRow {
  TokenId token = 0;
  std::int64_t position = 0;
  /// The children of plus around the row, from the outermost. A reused answer counts as the child of a
  /// separate plus.
  struct Child {
    std::size_t plus = 0;
    std::size_t child = 0;
    bool isSubqueryResult = false;  ///< it began a separate conversation and attends to nothing before it
    bool operator==(const Child&) const = default;
  };
  std::vector<Child> path;
  std::int32_t local = 0;  ///< index among successive rows with the same path
  std::optional<std::size_t>
      answer{};               ///< index of the reused answer in PlainPrompts, if the row is part of one
  std::size_t answerRow = 0;  ///< index among the rows of that answer
};

/// The prompts and answers of one plan.
class PlainPrompts {
 public:
  /// All arguments must outlive this object. `replies[i]` are the sampled tokens of step i. The renderer
  /// knows the layout.
  PlainPrompts(const plan::Plan& plan, const std::vector<std::vector<TokenId>>& answers,
               layout::MessageRenderer& renderer, const testing::PlainTransformer& plain, PlainPolicy policy);

  /// The rows of a step's prompt.
  const std::vector<PlainRow>& prompt(StepIndex step) const { return m_prompts[step]; }
  /// The logits from which each token of a step's answer was sampled.
  std::vector<testing::Numbers> logits(StepIndex step) const;

 private:
  friend class PlainLayout;

  /// An answer that is in a prompt with the keys and values that it had under its own prompt.
  struct Reused {
    StepIndex step = 0;
    /// From the generation prompt to the padding after the answer, as far as they exist.
    std::vector<TokenId> tokens;
  };
  /// The rows that enter each layer, [layer][row], and the rows that leave the last layer.
  struct Passed {
    std::vector<std::vector<testing::Numbers>> entering;
    std::vector<testing::Numbers> hidden;
  };

  Passed pass(const std::vector<PlainRow>& rows) const;
  Passed passOnce(const std::vector<PlainRow>& rows, const std::vector<Passed>& reused,
                  const Passed* before) const;
  bool sees(const PlainRow& row, const PlainRow& earlier) const;
  std::vector<PlainRow> rowsOf(StepIndex step, std::size_t promptRows,
                               const std::vector<TokenId>& behind) const;

  const testing::PlainTransformer& m_plain;
  PlainPolicy m_policy;
  const std::vector<std::vector<TokenId>>& m_answers;
  std::size_t m_generationPrompt = 0;  ///< number of its tokens
  std::vector<std::vector<PlainRow>> m_prompts;
  std::vector<Reused> m_reused;
};

}  // namespace spanscope::test
