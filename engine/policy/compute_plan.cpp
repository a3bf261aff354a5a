// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/compute_plan.h"

namespace spanscope::policy {

std::vector<std::size_t> AnswerRows::next(std::span<const Answer> answers) const {
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].computed < answers[i].wanted) next.push_back(i);
  }
  return next;
}

std::int64_t AnswerRows::positionOf(std::span<const Answer> answers, std::size_t own,
                                    std::int32_t row) const {
  return answers[own].table->segments.back().base + answers[own].from + row;
}

void AnswerRows::addKeys(compute::QueryRun& run, std::span<const Answer> answers, std::size_t own,
                         std::int32_t row, std::int32_t count) const {
  run.keys.push_back({.blocks = *answers[own].blocks,
                      .begin = 0,
                      .end = answers[own].from + row + count,
                      .base = run.base,
                      .causal = true});
}

std::vector<double> AnswerRows::joinMass(compute::RunMass& /*mass*/, std::size_t /*sees*/) const {
  return {};
}

std::optional<trace::Payload> AnswerRows::report(std::int32_t /*index*/, std::span<const Answer> /*replies*/,
                                                 std::size_t /*own*/,
                                                 std::span<const float> /*shares*/) const {
  return std::nullopt;
}

}  // namespace spanscope::policy
