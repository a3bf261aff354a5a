// SPDX-License-Identifier: GPL-3.0-or-later
// Signals of the system that reach the event loop.
#include "tests/support/test_program.h"
#include "ui/document/ending_signals.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>

using spanscope::ui::EndingSignals;

namespace {

/// What a signal does now.
auto handlerOf(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

}  // namespace

class TestEndingSignals : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachIsToldOnce_data();
  void eachIsToldOnce();
  void severalAreToldInTheirOrder();
  void whatIsIgnoredStaysSo();
  void aProgramThatHangsEndsInTime_data();
  void aProgramThatHangsEndsInTime();
};

void TestEndingSignals::eachIsToldOnce_data() {
  QTest::addColumn<int>("signal");
  QTest::newRow("SIGTERM") << SIGTERM;
  QTest::newRow("SIGINT") << SIGINT;
  QTest::newRow("SIGHUP") << SIGHUP;
}

void TestEndingSignals::eachIsToldOnce() {
  QFETCH(int, signal);
  const auto before = handlerOf(signal);
  {
    const EndingSignals signals;
    const QSignalSpy received(&signals, &EndingSignals::received);
    QVERIFY(handlerOf(signal) != before);
    std::raise(signal);
    QCOMPARE(received.count(), 0);
    QTRY_COMPARE(received.count(), 1);
    QCOMPARE(received[0][0].toInt(), signal);
    // The next one would end the program.
    QVERIFY(handlerOf(signal) == SIG_DFL);
  }
  QVERIFY(handlerOf(signal) == before);
}

void TestEndingSignals::severalAreToldInTheirOrder() {
  const EndingSignals signals;
  const QSignalSpy received(&signals, &EndingSignals::received);
  std::raise(SIGHUP);
  std::raise(SIGTERM);
  QTRY_COMPARE(received.count(), 2);
  QCOMPARE(received[0][0].toInt(), SIGHUP);
  QCOMPARE(received[1][0].toInt(), SIGTERM);
}

void TestEndingSignals::whatIsIgnoredStaysSo() {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const EndingSignals signals;
    QVERIFY(handlerOf(SIGHUP) == SIG_IGN);
    QVERIFY(handlerOf(SIGTERM) != SIG_IGN);
  }
  QVERIFY(handlerOf(SIGHUP) == SIG_IGN);
  std::signal(SIGHUP, before);
}

void TestEndingSignals::aProgramThatHangsEndsInTime_data() {
  QTest::addColumn<bool>("isGone");
  QTest::newRow("in its event loop") << false;
  QTest::newRow("in a destructor that comes later") << true;
}

void TestEndingSignals::aProgramThatHangsEndsInTime() {
  QFETCH(bool, isGone);
  const pid_t child = ::fork();
  QVERIFY(child >= 0);
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // not what the test program does with it
    auto signals = std::make_unique<EndingSignals>(std::chrono::milliseconds(200));
    std::raise(SIGTERM);
    if (isGone) signals.reset();
    for (;;) ::pause();
  }
  int status = 0;
  pid_t ended = 0;
  QElapsedTimer passed;
  passed.start();
  while (ended == 0 && passed.elapsed() < 20'000) {
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended == 0) QTest::qWait(5);
  }
  if (ended == 0) ::kill(child, SIGKILL);
  QCOMPARE(ended, child);
  QVERIFY(WIFSIGNALED(status));
  QCOMPARE(WTERMSIG(status), SIGTERM);
  QVERIFY(passed.elapsed() >= 150);
}

SPANSCOPE_TEST(tst_ending_signals, TestEndingSignals, QCoreApplication)
#include "tst_ending_signals.moc"
