// SPDX-License-Identifier: GPL-3.0-or-later
// The time of the trace of a watched server. Open this file when events of a watch have wrong times.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace spanscope::watch {

/// Messages of KV events have times of their own. A replayed message can be much older than its arrival. The
/// trace continues at its present time with the first message, and later messages have their own distances.
/// The clocks of server and viewer may differ. The rules:
/// - Without a message, the time goes on from the latest message.
/// - A message without a time has the present time.
/// - A message that is older than an earlier message has the present time. Its publisher is another one, or
///   the clock of the server was set back.
/// - After a jump of more than a year, the trace continues at its present time.
///
/// Any thread may call the functions.
class WatchClock {
 public:
  /// `elapsed`: nanoseconds of a clock that never goes back. Empty: the steady clock.
  explicit WatchClock(std::function<std::int64_t()> elapsed = {});

  /// Nanoseconds. Between hold() and release(): the time of the message.
  std::int64_t now() const;
  /// `seconds`: the time of a message since 1970, as its publisher reports.
  void hold(double seconds);
  void release();

 private:
  std::int64_t present() const;

  const std::function<std::int64_t()> m_elapsed;
  const std::int64_t m_begin;
  mutable std::mutex m_mutex;
  std::optional<std::int64_t> m_zero;  ///< the publisher's time at time 0 of the trace
  std::optional<std::int64_t> m_held;
  std::int64_t m_last = 0;   ///< the time of the latest message
  std::int64_t m_ahead = 0;  ///< the time of the trace minus the elapsed time
};

}  // namespace spanscope::watch
