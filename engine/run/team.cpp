// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/team.h"

#include <algorithm>
#include <limits>

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

std::vector<ScheduledRequest*> Team::next() const {
  const auto hasWork = [](const ScheduledRequest* member) {
    return member->repliedRows() < member->wantedRows();
  };
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (const ScheduledRequest* member : m_members) {
    if (hasWork(member)) least = std::min(least, member->repliedRows());
  }
  std::vector<ScheduledRequest*> next;
  for (ScheduledRequest* member : m_members) {
    if (hasWork(member) && member->repliedRows() == least) next.push_back(member);
  }
  return next;
}

std::int32_t Team::seenOf(const ScheduledRequest& other, std::int32_t row) {
  return std::min(row + 1, other.wantedRows());
}

std::int64_t Team::seenBy(const ScheduledRequest& member, std::int32_t row) const {
  std::int64_t tokens = 0;
  for (const ScheduledRequest* other : m_members) {
    if (other != &member) tokens += other->generatedFrom() - other->turnFrom() + seenOf(*other, row);
  }
  return tokens;
}

}  // namespace spanscope::run
