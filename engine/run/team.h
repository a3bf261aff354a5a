// SPDX-License-Identifier: GPL-3.0-or-later
// Requests that generate in step (TeamPlace).
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

 private:
  std::vector<ScheduledRequest*> m_members;
  std::uint32_t m_size = 0;
};

}  // namespace spanscope::run
