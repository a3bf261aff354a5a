// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"
#include "engine/policy/row_plan.h"

namespace spanscope::policy {

/// Hogwild! (arXiv 2504.06261) and AsyncReasoning (arXiv 2512.10931): the generates of one plus that do not
/// need each other run in step, over one set of keys and values. Each reads its own prompt, then what the
/// others have written, including their tokens of the same step, then its own reply. A prompt is computed as
/// under `spans`. A single generate is exactly `spans`. Among several, each reply depends on all replies.
extern const Policy kViews;

/// The replies of a team read each other. The view of a reply begins with its own prompt. Then follows what
/// the others have generated, in the order of their places, each behind the words of the template that ask
/// for it. Then follow the words that ask for the reply itself, and the reply. Keys stay where they are
/// stored: the query says at which positions a view has them (DESIGN: a key is rotated by its local index).
class ViewOfOthers final : public ReplyRows {
 public:
  /// All replies that go on. If some have given their blocks back, only the replies that are behind the
  /// others.
  std::vector<std::size_t> next(std::span<const Reply> replies) const override;
  std::int64_t positionOf(std::span<const Reply> replies, std::size_t own, std::int32_t row) const override;
  /// A row sees as many rows of each other reply as it has of its own, including itself.
  void addKeys(compute::QueryRun& run, std::span<const Reply> replies, std::size_t own, std::int32_t row,
               std::int32_t count) const override;
  std::vector<double> joinMass(compute::RunMass& mass, std::size_t sees) const override;
  /// Tells the share of attention that each of the other replies got (trace::TeammateAttention).
  std::optional<trace::Payload> tell(std::int32_t index, std::span<const Reply> replies, std::size_t own,
                                     std::span<const float> shares) const override;
};

}  // namespace spanscope::policy
