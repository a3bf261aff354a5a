// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/row_plan.h"

namespace spanscope::policy {

std::vector<std::size_t> ReplyRows::next(std::span<const Reply> replies) const {
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].computed < replies[i].wanted) next.push_back(i);
  }
  return next;
}

std::int64_t ReplyRows::positionOf(std::span<const Reply> replies, std::size_t own, std::int32_t row) const {
  return replies[own].table->segments.back().base + replies[own].from + row;
}

void ReplyRows::addKeys(compute::QueryRun& run, std::span<const Reply> replies, std::size_t own,
                        std::int32_t row, std::int32_t count) const {
  run.keys.push_back({.blocks = *replies[own].blocks,
                      .begin = 0,
                      .end = replies[own].from + row + count,
                      .base = run.base,
                      .causal = true});
}

std::vector<double> ReplyRows::joinMass(compute::RunMass& /*mass*/, std::size_t /*sees*/) const {
  return {};
}

std::optional<trace::Payload> ReplyRows::tell(std::int32_t /*index*/, std::span<const Reply> /*replies*/,
                                              std::size_t /*own*/, std::span<const float> /*shares*/) const {
  return std::nullopt;
}

}  // namespace spanscope::policy
