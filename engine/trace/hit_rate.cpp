// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/hit_rate.h"

#include <limits>
#include <variant>

namespace spanscope::trace {
namespace {

// Counts of a file can be anything.
void addTo(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

void addTo(LookupSums& sums, const LookupSums& more) {
  addTo(sums.requests, more.requests);
  addTo(sums.asked, more.asked);
  addTo(sums.found, more.found);
}

}  // namespace

void HitRateWindow::add(const LookupSums& more) {
  if (more.requests <= 0 || more.asked < 0 || more.found < 0) return;
  m_added.push_back(more);
  addTo(m_sums, more);
  while (m_added.size() > 1 && m_sums.requests > m_mostRequests) {
    const LookupSums& oldest = m_added.front();
    m_sums.requests -= oldest.requests;
    m_sums.asked -= oldest.asked;
    m_sums.found -= oldest.found;
    m_added.pop_front();
  }
}

void HitRateWindow::reset() {
  m_added.clear();
  m_sums = {};
}

void HitRates::take(const Event& event) {
  if (std::holds_alternative<CacheCleared>(event.payload) ||
      std::holds_alternative<SessionStarted>(event.payload)) {
    m_recent.reset();
    return;
  }
  if (event.run == 0 || event.request == 0) return;
  if (const auto* lookup = std::get_if<BlockLookedUp>(&event.payload)) {
    bool& any = m_lookedUp[event.request];
    any = any || lookup->reason != MissReason::CacheOff;
    return;
  }
  const auto* admitted = std::get_if<RequestAdmitted>(&event.payload);
  if (admitted == nullptr) return;
  const auto lookedUp = m_lookedUp.find(event.request);
  const bool isOff = lookedUp != m_lookedUp.end() && !lookedUp->second;
  if (lookedUp != m_lookedUp.end()) m_lookedUp.erase(lookedUp);
  if (isOff) return;
  const LookupSums sums{.requests = 1, .asked = admitted->promptTokens, .found = admitted->cachedTokens};
  if (admitted->resumed) {
    addTo(m_resumed, sums);
    return;
  }
  addTo(m_admitted, sums);
  m_recent.add(sums);
}

}  // namespace spanscope::trace
