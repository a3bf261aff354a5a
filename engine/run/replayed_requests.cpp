// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/replayed_requests.h"

#include <utility>

namespace spanscope::run {

ReplayedRequests::ReplayedRequests(std::vector<Prompt> prompts) : m_prompts(std::move(prompts)) {}

bool ReplayedRequests::hasNext() const {
  return m_submitted < m_prompts.size();
}

bool ReplayedRequests::submitNext(Scheduler& scheduler) {
  if (!hasNext()) return false;
  Prompt& next = m_prompts[m_submitted++];
  const RequestId request = scheduler.submit(std::move(next.table), std::move(next.options));
  m_requests.insert(request);
  if (!hasNext()) m_own = request;
  return true;
}

bool ReplayedRequests::done() const {
  return m_ended == m_prompts.size();
}

void ReplayedRequests::onAdmitted(RequestId request, const cache::Admission& admission) {
  if (request == m_own && !m_cachedTokens) m_cachedTokens = admission.cachedTokens;
}

void ReplayedRequests::onPreempted(RequestId request) {
  if (request == m_own) m_rows.clear();
}

}  // namespace spanscope::run
