// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/gate.h"

#include <algorithm>
#include <chrono>

namespace spanscope::server {

void Gate::Pass::reduceTo(std::uint64_t amount) {
  if (m_gate == nullptr || amount >= m_amount) return;
  m_gate->leave(m_amount - amount);
  m_amount = amount;
}

Gate::Pass Gate::enter(std::uint64_t amount, const std::function<bool()>& gaveUp) {
  constexpr std::chrono::milliseconds kTurn{50};
  amount = std::min(amount, m_most);
  std::unique_lock lock(m_mutex);
  const auto place = m_queue.insert(m_queue.end(), amount);
  bool isOver = false;
  while (!isOver && (place != m_queue.begin() || m_used + amount > m_most)) {
    lock.unlock();
    isOver = gaveUp();
    lock.lock();
    if (!isOver && (place != m_queue.begin() || m_used + amount > m_most)) m_changed.wait_for(lock, kTurn);
  }
  m_queue.erase(place);
  m_changed.notify_all();
  if (isOver) return {};
  m_used += amount;
  return {this, amount};
}

std::size_t Gate::waiting() {
  const std::lock_guard lock(m_mutex);
  return m_queue.size();
}

void Gate::leave(std::uint64_t amount) {
  const std::lock_guard lock(m_mutex);
  m_used -= amount;
  m_changed.notify_all();
}

}  // namespace spanscope::server
