// SPDX-License-Identifier: GPL-3.0-or-later
// The time of a watched trace: replayed, late and wrong times of messages.
#include "engine/remote/watch/watch_clock.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdint>
#include <limits>
#include <memory>

using spanscope::watch::WatchClock;

namespace {

constexpr std::int64_t kClockSecond = 1'000'000'000;
constexpr double kFirstMessage = 1'700'000'000;  ///< the server's time of the first message

}  // namespace

class TestWatchClock : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_elapsed = 77 * kClockSecond;
    m_clock = std::make_unique<WatchClock>([this] { return m_elapsed; });
  }

  /// Replayed messages arrive at once, but keep their distances.
  void replayedMessages() {
    m_elapsed += 2 * kClockSecond;
    QCOMPARE(at(kFirstMessage), 2 * kClockSecond);
    QCOMPARE(at(kFirstMessage + 60), 62 * kClockSecond);
    QCOMPARE(at(kFirstMessage + 90), 92 * kClockSecond);
    // Without messages, the time goes on.
    QCOMPARE(m_clock->now(), 92 * kClockSecond);
    m_elapsed += 3 * kClockSecond;
    QCOMPARE(m_clock->now(), 95 * kClockSecond);
  }

  /// Two messages that the viewer reads together have their own times.
  void lateMessages() {
    QCOMPARE(at(kFirstMessage), std::int64_t{0});
    m_elapsed += 10 * kClockSecond;
    QCOMPARE(at(kFirstMessage + 4), 4 * kClockSecond);
    QCOMPARE(at(kFirstMessage + 6), 6 * kClockSecond);
    QCOMPARE(m_clock->now(), 10 * kClockSecond);
  }

  /// The clock of the server is slower, or was set back.
  void earlierMessages() {
    QCOMPARE(at(kFirstMessage), std::int64_t{0});
    m_elapsed += 5 * kClockSecond;
    QCOMPARE(at(kFirstMessage + 5), 5 * kClockSecond);
    m_elapsed += kClockSecond;
    QCOMPARE(at(kFirstMessage - 3600), 6 * kClockSecond);
    m_elapsed += kClockSecond;
    QCOMPARE(at(kFirstMessage - 3599), 7 * kClockSecond);
  }

  void wrongTimes() {
    m_elapsed += kClockSecond;
    for (const double seconds : {0.0, -5.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
      QCOMPARE(at(seconds), kClockSecond);
    QCOMPARE(at(kFirstMessage), kClockSecond);
    // After a jump of the server's clock, the distances are right again.
    QCOMPARE(at(kFirstMessage + 1e9), kClockSecond);
    QCOMPARE(at(kFirstMessage + 1e9 + 2), 3 * kClockSecond);
  }

 private:
  /// The time of an event of a message.
  std::int64_t at(double seconds) {
    m_clock->hold(seconds);
    const std::int64_t time = m_clock->now();
    m_clock->release();
    return time;
  }

  std::int64_t m_elapsed = 0;
  std::unique_ptr<WatchClock> m_clock;
};

SPANSCOPE_TEST(tst_watch_clock, TestWatchClock)
#include "tst_watch_clock.moc"
