// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/scheduled_request.h"

#include <algorithm>

namespace spanscope::run {

Team::Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member)
    : m_size(member.options.team->members) {
  for (const auto& request : requests) {
    const bool isIn = request->options.team && request->options.run == member.options.run &&
                      request->options.team->team == member.options.team->team &&
                      request->state != ScheduledRequest::State::Ended;
    if (isIn) m_members.push_back(request.get());
  }
  std::sort(m_members.begin(), m_members.end(), [](const ScheduledRequest* a, const ScheduledRequest* b) {
    return a->options.team->place < b->options.team->place;
  });
}

bool Team::isReady() const {
  return isWhole() && std::all_of(m_members.begin(), m_members.end(), [](const ScheduledRequest* member) {
           return member->state == ScheduledRequest::State::Decode;
         });
}

bool Team::isOver() const {
  return isWhole() && std::all_of(m_members.begin(), m_members.end(),
                                  [](const ScheduledRequest* member) { return member->isOver; });
}

}  // namespace spanscope::run
