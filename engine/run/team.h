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
  /// The team of `member`, among the submitted requests that have not ended.
  Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member);

  /// The members in the order of their places.
  const std::vector<ScheduledRequest*>& members() const { return m_members; }
  /// Whether all members have been submitted and none has failed.
  bool isWhole() const { return m_members.size() == m_size; }
  /// Whether the team is whole and all members have computed their prompts.
  bool isReady() const;
  /// Whether the team is whole and all replies have ended.
  bool isOver() const;

 private:
  std::vector<ScheduledRequest*> m_members;
  std::uint32_t m_size = 0;
};

}  // namespace spanscope::run
