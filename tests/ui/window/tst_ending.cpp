// SPDX-License-Identifier: GPL-3.0-or-later
// A window that is asked to end does so soon, whatever it is doing, and keeps what is unsaved; one that is
// killed while it records loses neither the trace file nor the lesson. This program starts itself again: the
// second one has a window that works until it is ended or killed.
#include "engine/lesson/recording.h"
#include "engine/query/query.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/autosave.h"
#include "ui/document/ending_signals.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/lessons/recording_file.h"
#include "ui/session/session_recording.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/main_window.h"
#include "ui/window/trace_controller.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr const char* kFolder = "SPANSCOPE_ENDING_FOLDER";
constexpr const char* kRecords = "SPANSCOPE_ENDING_RECORDS";
constexpr const char* kSeed = "SPANSCOPE_ENDING_SEED";
constexpr std::chrono::milliseconds kDeadline{1500};  // as in the program

/// Writes a line that the first program waits for.
void report(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

/// Does random things until the process is ended.
class Driver {
 public:
  Driver(MainWindow& window, unsigned seed) : m_window(window), m_random(seed) {}

  void act() {
    static const QStringList commands{QStringLiteral("view.author"),    QStringLiteral("view.explain"),
                                      QStringLiteral("view.measure"),   QStringLiteral("view.dock:mask"),
                                      QStringLiteral("view.dock:pool"), QStringLiteral("view.dock:output"),
                                      QStringLiteral("node.add:user"),  QStringLiteral("view.fit-all"),
                                      QStringLiteral("run.run"),        QStringLiteral("run.run"),
                                      QStringLiteral("run.stop")};
    switch (m_random() % 6) {
      case 0:
        m_window.resize(300 + static_cast<int>(m_random() % 1200), 200 + static_cast<int>(m_random() % 800));
        break;
      case 1:
        if (QApplication::activeModalWidget() == nullptr && m_random() % 8 == 0)
          m_window.perform(QStringLiteral("help.about"));
        break;
      case 2:
        edit();
        break;
      default:
        m_window.perform(
            commands[static_cast<qsizetype>(m_random() % static_cast<unsigned>(commands.size()))]);
    }
  }

 private:
  void edit() {
    DocumentModel& model = *m_window.workspace().model();
    for (const document::NodeId id : model.document().ids()) {
      query::Node own = model.document().at(id).own;
      auto* message = own.as<query::Message>();
      if (message == nullptr) continue;
      message->text = "state " + std::to_string(++m_state);
      model.change(QStringLiteral("Edit"),
                   [&](document::Document& next) { document::setOwn(next, id, own); });
      report("state " + std::to_string(m_state));
      return;
    }
  }

  MainWindow& m_window;
  std::mt19937 m_random;
  int m_state = 0;
};

/// Records a trace file and a lesson, and runs the query again and again.
bool record(MainWindow& window, const QDir& folder) {
  if (!window.traces().recordTo(folder.filePath(QStringLiteral("a.trace")))) return false;
  window.perform(QStringLiteral("learn.record"));
  if (window.lessons().recording().recorder() == nullptr) return false;
  QObject::connect(&window.workspace(), &Workspace::jobEnded, &window, [&window](const QString& problem) {
    if (!problem.isEmpty()) return;
    report("ran " + std::to_string(window.lessons().recording().recorder()->runs()));
    QTimer::singleShot(20, &window, [&window] { window.perform(QStringLiteral("run.run")); });
  });
  window.perform(QStringLiteral("run.run"));
  return true;
}

int showWindow(int argc, char** argv) {
  const QApplication application(argc, argv);
  QApplication::setStyle(QStringLiteral("Fusion"));
  const QDir folder(qEnvironmentVariable(kFolder));
  EndingSignals signals(kDeadline);
  QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  MainWindow window(settings, folder.filePath(QStringLiteral("autosave")), test::cpuBackends());
  QTimer timer;
  QObject::connect(&signals, &EndingSignals::received, &window, [&window, &timer](int signal) {
    timer.stop();  // what would be done now is done after the end
    window.leave();
    QApplication::exit(128 + signal);
  });
  window.show();
  if (!window.openExample(QStringLiteral("rag.json"))) return 2;
  if (qEnvironmentVariableIsSet(kRecords)) {
    if (!record(window, folder)) return 3;
    report("ready");
    return QApplication::exec();
  }
  Driver driver(window, static_cast<unsigned>(qEnvironmentVariableIntValue(kSeed)));
  QObject::connect(&timer, &QTimer::timeout, &window, [&driver] { driver.act(); });
  timer.start(5);
  report("ready");
  return QApplication::exec();
}

/// The highest number after a word ("state 7") in what the process has written.
int newest(const QByteArray& lines, const QByteArray& word) {
  int found = 0;
  for (const QByteArray& line : lines.split('\n')) {
    if (line.startsWith(word)) found = std::max(found, line.mid(word.size()).trimmed().toInt());
  }
  return found;
}

int finishedRuns(const QString& path) {
  int runs = 0;
  for (const trace::Event& event : trace::readTrace(path.toStdString()).events)
    runs += std::holds_alternative<trace::RunFinished>(event.payload) ? 1 : 0;
  return runs;
}

int timesOf(const char* variable, int without) {
  return qEnvironmentVariableIsSet(variable) ? qEnvironmentVariableIntValue(variable) : without;
}

/// Starts this program again, with a window that keeps everything in `folder`.
void startAgain(QProcess& process, const QString& folder, const char* variable, const QString& value) {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QLatin1String(kFolder), folder);
  environment.insert(QLatin1String(variable), value);
  process.setProcessEnvironment(environment);
  process.start(QCoreApplication::applicationFilePath(), {QStringLiteral("tst_ending")});
}

/// The number of the newest state that the next start would find.
int keptState(const QString& folder) {
  int newest = 0;
  for (const Recovery& recovery : findRecoveries(folder + QStringLiteral("/autosave"))) {
    for (const document::NodeId id : recovery.document.ids()) {
      const auto* message = recovery.document.at(id).own.as<query::Message>();
      if (message != nullptr && message->text.starts_with("state "))
        newest = std::max(newest, std::stoi(message->text.substr(6)));
    }
  }
  return newest;
}

}  // namespace

class TestEnding : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Many more times with SPANSCOPE_ENDING_TIMES.
  void endsSoonFromEveryState() {
    const int times = timesOf("SPANSCOPE_ENDING_TIMES", 5);
    std::mt19937 random(17);
    for (int time = 0; time < times; ++time) {
      const QTemporaryDir folder;
      QProcess process;
      startAgain(process, folder.path(), kSeed, QString::number(random() % 100'000));
      QByteArray heard;
      const auto listen = [&](int milliseconds) {
        if (process.waitForReadyRead(milliseconds)) heard += process.readAllStandardOutput();
      };
      QElapsedTimer passed;
      passed.start();
      while (!heard.contains("ready") && process.state() != QProcess::NotRunning && passed.elapsed() < 60'000)
        listen(100);
      QVERIFY2(heard.contains("ready"), process.readAllStandardError().constData());
      const auto later = static_cast<qint64>(random() % 1200);
      passed.start();
      while (passed.elapsed() < later) listen(20);
      process.terminate();
      passed.start();
      while (process.state() != QProcess::NotRunning && passed.elapsed() < 30'000) {
        listen(20);
        process.waitForFinished(20);
      }
      const qint64 took = passed.elapsed();
      if (process.state() != QProcess::NotRunning) process.kill();
      heard += process.readAllStandardOutput();
      const QString facts = QStringLiteral("time %1, ended %2 ms after %3 ms").arg(time).arg(took).arg(later);
      // Its own deadline, and the time in which a busy machine takes such a process down.
      QVERIFY2(took < 8000, qPrintable(facts));
      const bool isByItself = process.exitStatus() == QProcess::NormalExit;
      if (isByItself) QCOMPARE(process.exitCode(), 128 + SIGTERM);
      // If the event loop did not come to it, the side file is as old as the interval of writing it.
      const int last = newest(heard, "state");
      if (isByItself)
        QVERIFY2(keptState(folder.path()) == last, qPrintable(facts));
      else
        QVERIFY2(last == 0 || keptState(folder.path()) > 0, qPrintable(facts));
    }
  }

  /// Many more times with SPANSCOPE_KILLING_TIMES.
  void losesNoRecordingWhenItIsKilled() {
    constexpr qint64 kKept = 2500;  // milliseconds after which the side file of the lesson is there
    const int times = timesOf("SPANSCOPE_KILLING_TIMES", 3);
    std::mt19937 random(23);
    for (int time = 0; time < times; ++time) {
      const QTemporaryDir folder;
      QProcess process;
      startAgain(process, folder.path(), kRecords, QStringLiteral("1"));
      QByteArray heard;
      const auto listen = [&] {
        if (process.waitForReadyRead(20)) heard += process.readAllStandardOutput();
      };
      QElapsedTimer passed;
      passed.start();
      while (newest(heard, "ran") == 0 && process.state() != QProcess::NotRunning &&
             passed.elapsed() < 60'000)
        listen();
      const int before = newest(heard, "ran");
      QVERIFY2(before > 0, process.readAllStandardError().constData());
      const auto later = static_cast<qint64>(random() % 3500);
      passed.start();
      while (passed.elapsed() < later) listen();
      process.kill();
      QVERIFY(process.waitForFinished());
      heard += process.readAllStandardOutput();
      const int ran = newest(heard, "ran");
      const QString facts = QStringLiteral("time %1, after %2 ms, %3 runs").arg(time).arg(later).arg(ran);

      const QString autosave = folder.filePath(QStringLiteral("autosave"));
      const std::vector<CutRecording> cut = findCutRecordings(autosave);
      QVERIFY2(cut.size() == 1, qPrintable(facts));
      const QString kept = keepCutRecording(cut.front());
      QCOMPARE(kept, folder.filePath(QStringLiteral("a.trace")));
      QVERIFY2(finishedRuns(kept) >= ran, qPrintable(facts));
      QVERIFY(findCutRecordings(autosave).empty());

      const std::vector<RecordingFile::Found> lessons = RecordingFile::found(autosave);
      if (later < kKept && lessons.empty()) continue;
      QVERIFY2(lessons.size() == 1, qPrintable(facts));
      const std::optional<SavedRecording> lesson = readRecording(lessons.front().text);
      QVERIFY2(lesson.has_value(), qPrintable(facts));
      if (later >= kKept) QVERIFY2(static_cast<int>(lesson->ran.size()) >= before, qPrintable(facts));
    }
  }
};

int tst_ending(int argc, char** argv);
int tst_ending(int argc, char** argv) {
  if (qEnvironmentVariableIsSet(kFolder)) return showWindow(argc, argv);
  return test_program::runTest<TestEnding, QCoreApplication>(argc, argv);
}
#include "tst_ending.moc"
