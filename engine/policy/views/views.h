// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the policy `views`, in which several answers are generated together. Open this file to change
// which tokens an answer reads.
#pragma once

#include "engine/policy/compute_plan.h"
#include "engine/policy/policy.h"

namespace spanscope::policy {

/// Hogwild! (arXiv 2504.06261) and AsyncReasoning (arXiv 2512.10931). Independent generate nodes of one plus
/// run together and share one set of keys and values. A prompt is computed as under `spans`. With a single
/// generate node, the policy equals `spans`. With several generate nodes, each answer depends on all answers.
/// Each answer reads in this order:
/// - its own prompt;
/// - the tokens of the other answers, including the tokens of the same forward pass;
/// - its own tokens.
extern const Policy kViews;

/// Answers that are generated together form a team. The answers of a team read each other. The view of an
/// answer has these sections in order:
/// - its own prompt;
/// - every further answer, in team order, after the template's header of that answer;
/// - the template's header of this answer;
/// - the answer.
///
/// Keys stay where they are stored. The rotation of the query vector sets the positions of a view. A stored
/// key is rotated by its position in its segment.
class ViewOfOthers final : public AnswerRows {
 public:
  /// Returns all unfinished answers. If blocks of answers were evicted, returns only the answers with the
  /// fewest computed tokens.
  std::vector<std::size_t> next(std::span<const Answer> answers) const override;
  std::int64_t positionOf(std::span<const Answer> answers, std::size_t own, std::int32_t row) const override;
  /// Token n of an answer attends to the first n tokens of every other answer.
  void addKeys(compute::QueryRun& run, std::span<const Answer> answers, std::size_t own, std::int32_t row,
               std::int32_t count) const override;
  std::vector<double> joinMass(compute::RunMass& mass, std::size_t sees) const override;
  /// Reports the attention share of every other answer (trace::TeammateAttention).
  std::optional<trace::Payload> report(std::int32_t index, std::span<const Answer> answers, std::size_t own,
                                       std::span<const float> shares) const override;
};

}  // namespace spanscope::policy
