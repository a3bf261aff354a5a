// SPDX-License-Identifier: GPL-3.0-or-later
// A person who is asked a question can leave.
#include "app/cli/interruptible_input.h"
#include "spanq_process.h"

#include <QElapsedTimer>
#include <QtTest>

#include <unistd.h>

#include <array>
#include <chrono>
#include <istream>
#include <stop_token>
#include <string>
#include <thread>

using spanscope::cli::InterruptibleInput;
using namespace spanscope::test;

class TestInterruptibleInput : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readsLinesToTheEnd();
  void endsWhenStopped();
  void stoppedQuestionIsNoMistake();
};

namespace {

/// A pipe, closed at the end of the test.
struct Pipe {
  Pipe() { isOpen = pipe(ends.data()) == 0; }
  ~Pipe() {
    close(ends[0]);
    closeWriter();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void closeWriter() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  bool send(const std::string& text) const {
    return write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  std::array<int, 2> ends{-1, -1};
  bool isOpen = false;
};

}  // namespace

void TestInterruptibleInput::readsLinesToTheEnd() {
  Pipe pipe;
  QVERIFY(pipe.isOpen);
  InterruptibleInput buffer(pipe.ends[0], {});
  std::istream in(&buffer);
  const std::string longLine(10'000, 'x');
  QVERIFY(pipe.send("first\n" + longLine + "\nlast"));
  pipe.closeWriter();
  std::string line;
  QVERIFY(std::getline(in, line) && line == "first");
  QVERIFY(std::getline(in, line) && line == longLine);
  QVERIFY(std::getline(in, line) && line == "last");
  QVERIFY(!std::getline(in, line));
}

void TestInterruptibleInput::endsWhenStopped() {
  Pipe pipe;
  QVERIFY(pipe.isOpen);
  std::stop_source stop;
  InterruptibleInput buffer(pipe.ends[0], stop.get_token());
  std::istream in(&buffer);
  const std::jthread person([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    stop.request_stop();
  });
  QElapsedTimer timer;
  timer.start();
  std::string line;
  QVERIFY(!std::getline(in, line));
  QVERIFY(stop.stop_requested());
  QVERIFY(timer.elapsed() < 5000);
}

void TestInterruptibleInput::stoppedQuestionIsNoMistake() {
  const std::string query = SPANSCOPE_SOURCE_DIR "/resources/queries/builtins/email-3.lisp";
  // Nobody answers: a mistake of the input, unless the program was asked to stop.
  QCOMPARE(spanq({"run", query}, {}, {}, /*canAsk=*/true).code, 1);
  std::stop_source stop;
  stop.request_stop();
  QCOMPARE(spanq({"run", query}, {}, stop.get_token(), /*canAsk=*/true).code, 130);
}

QTEST_GUILESS_MAIN(TestInterruptibleInput)
#include "tst_interruptible_input.moc"
