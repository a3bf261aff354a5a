// SPDX-License-Identifier: GPL-3.0-or-later
// A window that is asked to end does so soon, whatever it is doing, and keeps what is unsaved. This program
// starts itself again: the second one has a window with which random things are done, until it is ended.
#include "engine/query/query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/autosave.h"
#include "ui/document/ending_signals.h"
#include "ui/window/main_window.h"

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

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr const char* kFolder = "SPANSCOPE_ENDING_FOLDER";
constexpr const char* kSeed = "SPANSCOPE_ENDING_SEED";
constexpr std::chrono::milliseconds kDeadline{1500};  // as in the program

/// Writes a line that the first program waits for.
void tell(const std::string& line) {
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
      tell("state " + std::to_string(m_state));
      return;
    }
  }

  MainWindow& m_window;
  std::mt19937 m_random;
  int m_state = 0;
};

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
  Driver driver(window, static_cast<unsigned>(qEnvironmentVariableIntValue(kSeed)));
  QObject::connect(&timer, &QTimer::timeout, &window, [&driver] { driver.act(); });
  timer.start(5);
  tell("ready");
  return QApplication::exec();
}

/// The number of the newest state in what the process has written.
int newestState(const QByteArray& lines) {
  int newest = 0;
  for (const QByteArray& line : lines.split('\n')) {
    if (line.startsWith("state ")) newest = std::max(newest, line.mid(6).toInt());
  }
  return newest;
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
    const int times = qEnvironmentVariableIsSet("SPANSCOPE_ENDING_TIMES")
                          ? qEnvironmentVariableIntValue("SPANSCOPE_ENDING_TIMES")
                          : 5;
    std::mt19937 random(17);
    for (int time = 0; time < times; ++time) {
      const QTemporaryDir folder;
      QProcess process;
      QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
      environment.insert(QLatin1String(kFolder), folder.path());
      environment.insert(QLatin1String(kSeed), QString::number(random() % 100'000));
      process.setProcessEnvironment(environment);
      process.start(QCoreApplication::applicationFilePath(), {QStringLiteral("tst_ending")});
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
      const int newest = newestState(heard);
      if (isByItself)
        QVERIFY2(keptState(folder.path()) == newest, qPrintable(facts));
      else
        QVERIFY2(newest == 0 || keptState(folder.path()) > 0, qPrintable(facts));
    }
  }
};

int tst_ending(int argc, char** argv);
int tst_ending(int argc, char** argv) {
  if (qEnvironmentVariableIsSet(kFolder)) return showWindow(argc, argv);
  return test_program::runTest<TestEnding, QCoreApplication>(argc, argv);
}
#include "tst_ending.moc"
