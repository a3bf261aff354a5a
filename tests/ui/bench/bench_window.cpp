// SPDX-License-Identifier: GPL-3.0-or-later
// Time until the window is up, and the longest time for which typing into the inspector blocks it with 1000
// nodes open: the key itself, and all later effects in any dock of the Author layout. The typing pauses at
// times, so that delayed jobs are done and measured too. The same with twenty documents of some 200 tokens,
// and with these as the query of a lesson that speaks of three of its nodes. And the turns of the event loop
// while these are run in the Explain layout, for events at rest and in motion.
#include "engine/query/json/json.h"
#include "tests/support/backends.h"
#include "ui/session/selection.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/main_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr int kDocuments = 1000;
constexpr int kKeys = 200;
constexpr int kPause = 60;  ///< milliseconds from key to key, of a quick typist
constexpr int kKeysToPause = 20;
constexpr int kLongPause = 600;   ///< milliseconds after this number of keys
constexpr double kMostTime = 16;  ///< milliseconds a key may block

struct Clock {
  QElapsedTimer wall;
  double before = 0;

  static double processor() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
  }
  void start() {
    before = processor();
    wall.start();
  }
  double wallTime() const { return double(wall.nsecsElapsed()) / 1e6; }
  double processorTime() const { return processor() - before; }
};

struct Times {
  std::vector<double> wall;
  std::vector<double> processor;

  void take(const Clock& clock) {
    wall.push_back(clock.wallTime());
    processor.push_back(clock.processorTime());
  }
  void print(const char* name) {
    std::sort(wall.begin(), wall.end());
    std::sort(processor.begin(), processor.end());
    const auto at = [](const std::vector<double>& times, double share) {
      return times[static_cast<std::size_t>(share * double(times.size() - 1))];
    };
    std::printf(
        "%-28s median %7.2f ms   p95 %7.2f ms   most %7.2f ms   (processor: p95 %.2f ms, most %.2f ms)\n",
        name, at(wall, 0.5), at(wall, 0.95), wall.back(), at(processor, 0.95), processor.back());
  }
};

/// Milliseconds for which the host of a virtual machine ran something else, summed over the processors.
double stolenTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double ticks = 0;
  for (int i = 0; i < 9 && file >> word; ++i) ticks = i == 8 ? std::stod(word) : 0;
  return ticks * 1e3 / double(sysconf(_SC_CLK_TCK));
}

/// How often another program took the processor from this thread.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::string queryOver(int count, int sentences) {
  query::Join documents{.kind = query::JoinKind::Plus, .children = {}};
  for (int i = 0; i < count; ++i) {
    std::string text = "Document " + std::to_string(i) + ":";
    for (int sentence = 0; sentence < sentences; ++sentence)
      text += sentence % 2 == 0 ? " Mira lives in Lisbon." : " Mira plays the cello.";
    documents.children.push_back({query::Message{.role = query::Role::User, .text = text}});
  }
  return query::writePretty(
      {query::Generate{.settings = {.model = "spnl/spanlet", .maxTokens = 60, .temperature = 0.0F},
                       .input = query::Node{documents}}});
}

void typeIntoTheInspector(const char* name) {
  Times keys;
  Times after;
  const double stolen = stolenTime();
  const long preempted = preemptions();
  for (int i = 0; i < kKeys; ++i) {
    QWidget* editor = QApplication::focusWidget();
    Clock clock;
    clock.start();
    const QString text(QLatin1Char(static_cast<char>('a' + i % 26)));
    QKeyEvent press(QEvent::KeyPress, Qt::Key_A + i % 26, Qt::NoModifier, text);
    QApplication::sendEvent(editor, &press);
    QCoreApplication::processEvents();
    keys.take(clock);
    QElapsedTimer pause;
    pause.start();
    while (pause.elapsed() < (i % kKeysToPause == kKeysToPause - 1 ? kLongPause : kPause)) {
      clock.start();
      QCoreApplication::processEvents();
      after.take(clock);
      QTest::qSleep(1);
    }
  }
  keys.print(name);
  after.print("between the keys");
  const auto late = std::count_if(keys.wall.begin(), keys.wall.end(), [](double t) { return t > kMostTime; });
  std::printf("%-28s %td of %d; meanwhile preempted %ld times, %.0f ms stolen by the host\n",
              "keys above 16 ms", late, kKeys, preemptions() - preempted, stolenTime() - stolen);
}

/// Into the document in the middle. False: it could not be opened.
bool typeInto(const char* name, const std::string& query, QSettings& settings, const QTemporaryDir& folder,
              bool inLesson = false) {
  const QString file = folder.filePath(QString::fromLatin1(name) + QStringLiteral(".json"));
  std::ofstream(file.toStdString()) << query;
  ui::MainWindow window(settings, folder.filePath(QString::fromLatin1(name)), test::cpuBackends());
  window.resize(1280, 800);
  window.show();
  (void)QTest::qWaitForWindowExposed(&window);
  Clock clock;
  clock.start();
  if (inLesson) {
    const QString lesson = folder.filePath(QStringLiteral("lesson.md"));
    std::ofstream(lesson.toStdString())
        << "---\ntitle: Typing\nminutes: 1\nafter: nothing\nqueries: \"" << name
        << ".json\"\n---\n\n## 1. One\n\n```do\nopen " << name
        << ".json\n```\n\nHere are [one](node:/g/input/plus/9), [another](node:/g/input/plus/10) and "
           "[a third](node:/g/input/plus/11).\n";
    if (!window.lessons().open(lesson)) return false;
  } else if (!window.openFile(file)) {
    return false;
  }
  QCoreApplication::processEvents();
  std::printf("%-28s %.1f ms\n", name, clock.wallTime());
  const document::Document& document = window.workspace().model()->document();
  const std::vector<document::NodeId>& documents =
      document.at(document.at(document.root()).children[0]).children;
  ui::Selection selection;
  selection.nodes = {documents[documents.size() / 2]};
  window.workspace().select(selection);
  QTest::qWait(1000);
  window.activateWindow();
  window.perform(QStringLiteral("node.edit"));
  QTest::qWait(200);
  if (QApplication::focusWidget() == nullptr) return false;
  typeIntoTheInspector(qPrintable(QStringLiteral("key, ") + QString::fromLatin1(name)));
  return true;
}

/// Three runs, the first with an empty cache. False: they could not be made.
bool watchRuns(const char* name, const std::string& query, bool moves, QSettings& settings,
               const QTemporaryDir& folder) {
  constexpr int kRuns = 3;
  settings.setValue(QStringLiteral("window/motion"),
                    moves ? QStringLiteral("system") : QStringLiteral("off"));
  const QString file = folder.filePath(QStringLiteral("runs.json"));
  std::ofstream(file.toStdString()) << query;
  ui::MainWindow window(settings, folder.filePath(QString::fromLatin1(name)), test::cpuBackends());
  window.resize(1280, 800);
  window.show();
  (void)QTest::qWaitForWindowExposed(&window);
  if (!window.openFile(file)) return false;
  window.perform(QStringLiteral("view.explain"));
  QTest::qWait(500);
  Times turns;
  QElapsedTimer whole;
  whole.start();
  for (int i = 0; i < kRuns; ++i) {
    window.perform(QStringLiteral("run.run"));
    if (!window.workspace().engine().isBusy()) return false;
    while (window.workspace().engine().isBusy()) {
      Clock clock;
      clock.start();
      QCoreApplication::processEvents();
      turns.take(clock);
      QTest::qSleep(1);
    }
  }
  std::printf("%-28s %lld ms for %d runs\n", name, static_cast<long long>(whole.elapsed()), kRuns);
  turns.print(name);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  const QTemporaryDir folder;
  QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  Times starts;
  for (int i = 0; i < 5; ++i) {
    Clock clock;
    clock.start();
    ui::MainWindow window(settings, folder.filePath(QStringLiteral("start%1").arg(i)), test::cpuBackends());
    window.resize(1280, 800);
    window.show();
    (void)QTest::qWaitForWindowExposed(&window);
    QCoreApplication::processEvents();
    starts.take(clock);
  }
  starts.print("window up");

  if (!typeInto("1000 nodes", queryOver(kDocuments, 2), settings, folder)) return 1;
  if (!typeInto("20 documents", queryOver(20, 33), settings, folder)) return 1;
  if (!typeInto("20-in-a-lesson", queryOver(20, 33), settings, folder, true)) return 1;
  if (!watchRuns("runs at rest", queryOver(20, 33), false, settings, folder)) return 1;
  return watchRuns("runs that move", queryOver(20, 33), true, settings, folder) ? 0 : 1;
}
