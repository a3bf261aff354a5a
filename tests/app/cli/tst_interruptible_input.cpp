// SPDX-License-Identifier: GPL-3.0-or-later
// The user can leave a question of the program.
#include "app/cli/input.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <istream>
#include <stop_token>
#include <string>
#include <thread>

using spanscope::cli::InterruptibleInput;
using namespace spanscope::test;
using spanscope::product_text::worded;

class TestInterruptibleInput : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readsLinesToTheEnd();
  void endsWhenStopped();
  void stoppedQuestionIsNoMistake();
  void stopEndsTheReadingOfAQuery_data();
  void stopEndsTheReadingOfAQuery();
  void pipesAreReadToTheEnd();
  void whatCannotBeReadIsRefused();

 private:
  QTemporaryDir m_folder;
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

void TestInterruptibleInput::stopEndsTheReadingOfAQuery_data() {
  QTest::addColumn<QString>("command");
  QTest::addColumn<QString>("kind");
  for (const char* command : {"validate", "explain", "run", "export"}) {
    for (const char* kind :
         {"a pipe without a writer", "a silent pipe", "a pipe with half a query", "a terminal"}) {
      QTest::addRow("%s, %s", command, kind) << QString::fromUtf8(command) << QString::fromUtf8(kind);
    }
  }
}

void TestInterruptibleInput::stopEndsTheReadingOfAQuery() {
  QFETCH(QString, command);
  QFETCH(QString, kind);
  std::string path = m_folder.filePath(QStringLiteral("query.json")).toStdString();
  unlink(path.c_str());
  int writer = -1;
  if (kind == QStringLiteral("a terminal")) {
    writer = posix_openpt(O_RDWR | O_NOCTTY);
    QVERIFY(writer >= 0 && grantpt(writer) == 0 && unlockpt(writer) == 0);
    path = ptsname(writer);
  } else {
    QCOMPARE(mkfifo(path.c_str(), 0600), 0);
    if (kind != QStringLiteral("a pipe without a writer")) writer = open(path.c_str(), O_RDWR | O_NONBLOCK);
    const std::string half = R"({"user": "wh)";
    if (kind == QStringLiteral("a pipe with half a query"))
      QCOMPARE(write(writer, half.data(), half.size()), static_cast<ssize_t>(half.size()));
  }
  std::stop_source stop;
  const auto release = [&] {
    if (writer < 0) writer = open(path.c_str(), O_WRONLY | O_NONBLOCK);
    if (writer >= 0) close(writer);
    writer = -1;
  };
  QElapsedTimer timer;
  timer.start();
  SpanqResult result;
  {
    const std::jthread person([&](const std::stop_token& ended) {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      stop.request_stop();
      // Lets a program that does not stop go on all the same, so that the test can say so.
      while (!ended.stop_requested() && timer.elapsed() < 5000)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!ended.stop_requested()) release();
    });
    std::vector<std::string> arguments{command.toStdString(), path};
    if (command == QStringLiteral("export")) arguments.insert(arguments.end(), {"--to", "spnl"});
    result = spanq(arguments, {}, stop.get_token());
  }
  const qint64 elapsed = timer.elapsed();
  release();
  QVERIFY2(elapsed < 5000, qPrintable(QString::number(elapsed)));
  QCOMPARE(result.code, 130);
  QCOMPARE(QString::fromStdString(result.out + result.err), QString());
}

void TestInterruptibleInput::pipesAreReadToTheEnd() {
  const std::string path = m_folder.filePath(QStringLiteral("whole.json")).toStdString();
  QCOMPARE(mkfifo(path.c_str(), 0600), 0);
  const std::string text =
      R"({"g": {"model": "m", "input": {"user": ")" + std::string(200'000, 'x') + "\"}}}";
  const std::jthread writer([&] {
    const int pipe = open(path.c_str(), O_WRONLY);
    std::size_t sent = 0;
    while (sent < text.size()) {
      // In pieces, so that the reader comes to the end of what is there more than once.
      const std::size_t size = std::min<std::size_t>(50'000, text.size() - sent);
      const ssize_t count = write(pipe, text.data() + sent, size);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    close(pipe);
  });
  const SpanqResult result = spanq({"validate", path});
  QCOMPARE(QString::fromStdString(result.err), QString());
  QCOMPARE(QString::fromStdString(result.out), QString::fromStdString(path + ": fine\n"));
}

void TestInterruptibleInput::whatCannotBeReadIsRefused() {
  const std::string missing = m_folder.filePath(QStringLiteral("missing.json")).toStdString();
  QCOMPARE(QString::fromStdString(spanq({"validate", missing}).err),
           QString::fromStdString(missing) + worded(": <file-does-not-exist> <check-path>\n"));
  // It can be opened and not read.
  const SpanqResult unreadable = spanq({"validate", "/proc/self/mem"});
  QCOMPARE(unreadable.code, 1);
  QCOMPARE(QString::fromStdString(unreadable.err),
           worded("/proc/self/mem: <error-while-reading> <check-device>\n"));
}

SPANSCOPE_TEST(tst_interruptible_input, TestInterruptibleInput, QCoreApplication)
#include "tst_interruptible_input.moc"
