// SPDX-License-Identifier: GPL-3.0-or-later
// Requests that generate together (TeamPlace): whose turn it is, and what each sees of the others.
#pragma once

#include "engine/run/scheduled_request.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace spanscope::run {

class Team {
 public:
  /// That of `member`, of those that have been submitted.
  Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member);

  /// In the order of their places.
  const std::vector<ScheduledRequest*>& members() const { return m_members; }
  /// All of them have been submitted, and none has failed.
  bool isWhole() const { return m_members.size() == m_size; }
  /// They have, and are past their prompts.
  bool isReady() const;
  /// No reply goes on.
  bool isOver() const;
  /// Those of which a generated token is computed next: of a ready team all whose replies go on, or, after
  /// some gave their blocks back, those that are behind.
  std::vector<ScheduledRequest*> next() const;
  /// How many generated tokens of `other` a row sees that has `row` of its own before it.
  static std::int32_t seenOf(const ScheduledRequest& other, std::int32_t row);
  /// Tokens of the others that such a row of `member` sees, those with which their replies are asked for
  /// included.
  std::int64_t seenBy(const ScheduledRequest& member, std::int32_t row) const;

 private:
  std::vector<ScheduledRequest*> m_members;
  std::uint32_t m_size = 0;
};

}  // namespace spanscope::run
