// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/watch_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace spanscope::watch {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t steadyTime() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

WatchClock::WatchClock(std::function<std::int64_t()> elapsed)
    : m_elapsed(elapsed ? std::move(elapsed) : steadyTime), m_begin(m_elapsed()) {}

std::int64_t WatchClock::present() const {
  return m_elapsed() - m_begin + m_ahead;
}

std::int64_t WatchClock::now() const {
  const std::lock_guard lock(m_mutex);
  return m_held ? *m_held : present();
}

void WatchClock::hold(double seconds) {
  constexpr double kMost = 9e9;  // seconds; nanoseconds must fit into 64 bits
  constexpr std::int64_t kYear = kSecond * 60 * 60 * 24 * 365;
  const std::lock_guard lock(m_mutex);
  const std::int64_t now = present();
  m_held = now;
  if (!(seconds > 0 && seconds < kMost)) return;
  const auto reported = static_cast<std::int64_t>(seconds * static_cast<double>(kSecond));
  if (!m_zero || reported - *m_zero > now + kYear) m_zero = reported - now;
  const std::int64_t time = reported - *m_zero;
  if (time < m_last) return;
  m_held = time;
  m_last = time;
  m_ahead += std::max<std::int64_t>(0, time - now);
}

void WatchClock::release() {
  const std::lock_guard lock(m_mutex);
  m_held.reset();
}

}  // namespace spanscope::watch
