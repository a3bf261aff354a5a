// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/trace_file.h"
#include "tests/support/test_program.h"
#include "ui/session/session_recording.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <memory>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

std::shared_ptr<trace::Recorder> newSession() {
  return std::make_shared<trace::Recorder>();
}

void sendRun(trace::Recorder& session, RunId run, bool ends = true) {
  if (session.lastSequence() == 0) session.send(0, 0, {}, trace::SessionStarted{});
  session.send(run, 0, {}, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 1});
  if (ends) session.send(run, 0, {}, trace::RunFinished{trace::RunOutcome::Finished, "done"});
}

/// The runs that a trace file says to have finished.
std::vector<RunId> finishedRuns(const QString& path) {
  std::vector<RunId> runs;
  for (const trace::Event& event : trace::readTrace(path.toStdString()).events) {
    if (std::holds_alternative<trace::RunFinished>(event.payload)) runs.push_back(event.run);
  }
  return runs;
}

}  // namespace

class TestSessionRecording : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void waitsForTheFirstSession();
  void eachSessionHasAFileOfItsOwn();
  void aPathThatCannotBeWrittenIsRefusedAtOnce();
  void nothingIsLeftWithoutASession();
  void theRunsThatEndedOutliveTheProgram();
  void oneThatGoesOnIsNotFound();
  void anEmptyOneIsRemoved();
  void aFullDiskLeavesWhatWasRecordedBefore();
  void aPipeIsRefused();
  void twoOfOneNameAreBothKept();

 private:
  QString file(const char* name) const { return m_folder->filePath(QLatin1String(name)); }
  QString side() const { return file("side"); }
  QStringList files() const { return QDir(m_folder->path()).entryList(QDir::Files); }

  std::unique_ptr<QTemporaryDir> m_folder;

 private Q_SLOTS:
  void init() { m_folder = std::make_unique<QTemporaryDir>(); }
};

void TestSessionRecording::waitsForTheFirstSession() {
  SessionRecording recording;
  QCOMPARE(recording.start(file("a.trace"), side(), nullptr), QString());
  QVERIFY(recording.isOn());
  QCOMPARE(recording.sessions(), std::size_t{0});
  const auto session = newSession();
  recording.add(session);
  sendRun(*session, 1);
  QCOMPARE(recording.finish(), QString());
  QVERIFY(!recording.isOn());
  QCOMPARE(files(), QStringList{QStringLiteral("a.trace")});
  const trace::TraceFile read = trace::readTrace(file("a.trace").toStdString());
  QCOMPARE(read.events.size(), std::size_t{3});
  QCOMPARE(read.events.front().sequence, std::uint64_t{1});
  QVERIFY(read.warnings.empty());
}

void TestSessionRecording::eachSessionHasAFileOfItsOwn() {
  QFile taken(file("a-2.trace"));
  QVERIFY(taken.open(QIODevice::WriteOnly));
  taken.write("mine");
  taken.close();
  SessionRecording recording;
  const auto first = newSession();
  sendRun(*first, 1);
  QCOMPARE(recording.start(file("a.trace"), side(), first), QString());
  sendRun(*first, 2);
  QCOMPARE(recording.files(), QStringList{file("a.trace")});
  recording.end(first);
  QCOMPARE(recording.files(), QStringList());
  QCOMPARE(finishedRuns(file("a.trace")), std::vector<RunId>{2});
  const auto second = newSession();
  recording.add(second);
  QCOMPARE(recording.files(), QStringList{file("a-3.trace")});
  sendRun(*second, 3);
  QCOMPARE(recording.sessions(), std::size_t{2});
  QCOMPARE(recording.finish(), QString());
  QCOMPARE(finishedRuns(file("a-3.trace")), std::vector<RunId>{3});
  QVERIFY(taken.open(QIODevice::ReadOnly));
  QCOMPARE(taken.readAll(), QByteArrayLiteral("mine"));
}

void TestSessionRecording::aPathThatCannotBeWrittenIsRefusedAtOnce() {
  SessionRecording recording;
  QVERIFY(!recording.start(file("nowhere/a.trace"), side(), nullptr).isEmpty());
  QVERIFY(!recording.isOn());
  QVERIFY(findCutRecordings(side()).empty());
}

void TestSessionRecording::nothingIsLeftWithoutASession() {
  {
    SessionRecording recording;
    QCOMPARE(recording.start(file("a.trace"), side(), nullptr), QString());
  }
  QCOMPARE(files(), QStringList());
  QVERIFY(QDir(side()).entryList(QDir::Files).isEmpty());
}

/// The files on the disk at this moment are those that a killed program leaves.
void TestSessionRecording::theRunsThatEndedOutliveTheProgram() {
  SessionRecording recording;
  QCOMPARE(recording.start(file("a.trace"), side(), nullptr), QString());
  const auto session = newSession();
  recording.add(session);
  sendRun(*session, 1);
  sendRun(*session, 2, false);
  const QString left = file("left");
  QVERIFY(QDir().mkpath(left));
  const QString part = files().front();
  QVERIFY(part.endsWith(QLatin1String(".part")));
  const QString copy = left + QLatin1Char('/') + part;
  QVERIFY(QFile::copy(file(part.toUtf8().constData()), copy));
  const CutRecording cut{.path = left + QStringLiteral("/a.trace"), .part = copy, .sideFile = {}};
  QCOMPARE(keepCutRecording(cut), cut.path);
  QCOMPARE(finishedRuns(cut.path), std::vector<RunId>{1});
  QVERIFY(!QFileInfo::exists(copy));

  recording.flush();
  QVERIFY(QFile::copy(file(part.toUtf8().constData()), copy));
  const QString kept = keepCutRecording(cut);
  QVERIFY(kept != cut.path);
  QCOMPARE(trace::readTrace(kept.toStdString()).events.back().run, RunId{2});
}

void TestSessionRecording::oneThatGoesOnIsNotFound() {
  SessionRecording recording;
  QCOMPARE(recording.start(file("a.trace"), side(), nullptr), QString());
  QVERIFY(findCutRecordings(side()).empty());
  const QStringList sideFiles = QDir(side()).entryList({QStringLiteral("*-recording")}, QDir::Files);
  QCOMPARE(sideFiles.size(), 1);
  // The same without its lock.
  const QString other = file("other");
  QVERIFY(QDir().mkpath(other));
  QVERIFY(QFile::copy(side() + QLatin1Char('/') + sideFiles.front(),
                      other + QLatin1Char('/') + sideFiles.front()));
  const std::vector<CutRecording> found = findCutRecordings(other);
  QCOMPARE(found.size(), std::size_t{1});
  QCOMPARE(found.front().path, file("a.trace"));
  QVERIFY(QFileInfo::exists(found.front().part));
}

void TestSessionRecording::anEmptyOneIsRemoved() {
  QFile part(file("a.abc.trace.part"));
  QVERIFY(part.open(QIODevice::WriteOnly));
  part.close();
  QCOMPARE(keepCutRecording({.path = file("a.trace"), .part = part.fileName(), .sideFile = {}}), QString());
  QCOMPARE(files(), QStringList());
}

/// A limit on the size of files acts as a full disk does.
void TestSessionRecording::aFullDiskLeavesWhatWasRecordedBefore() {
  SessionRecording recording;
  QCOMPARE(recording.start(file("a.trace"), side(), nullptr), QString());
  const auto session = newSession();
  recording.add(session);
  sendRun(*session, 1);
  struct rlimit before {};
  QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit full = before;
  full.rlim_cur = static_cast<rlim_t>(QFileInfo(file(files().front().toUtf8().constData())).size()) + 10;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  QCOMPARE(::setrlimit(RLIMIT_FSIZE, &full), 0);
  sendRun(*session, 2);
  QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  QVERIFY(!recording.flush());
  QVERIFY(!recording.finish().isEmpty());
  QCOMPARE(finishedRuns(file("a.trace")), std::vector<RunId>{1});
  QVERIFY(QDir(side()).entryList(QDir::Files).isEmpty());
}

void TestSessionRecording::aPipeIsRefused() {
  const QString pipe = file("pipe.trace");
  QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
  SessionRecording recording;
  QVERIFY(!recording.start(pipe, side(), nullptr).isEmpty());
  QVERIFY(!recording.isOn());
}

/// Both may replace a file that was there, but not each other.
void TestSessionRecording::twoOfOneNameAreBothKept() {
  for (const bool hasOld : {false, true}) {
    QFile old(file("a.trace"));
    if (hasOld) {
      QVERIFY(QFile::remove(file("a-2.trace")));
      QVERIFY(old.open(QIODevice::WriteOnly | QIODevice::Truncate));
      old.write("old");
      old.close();
    }
    SessionRecording one;
    SessionRecording other;
    const auto first = newSession();
    const auto second = newSession();
    QCOMPARE(one.start(file("a.trace"), side(), first), QString());
    QCOMPARE(other.start(file("a.trace"), side(), second), QString());
    sendRun(*first, 1);
    sendRun(*second, 2);
    QCOMPARE(one.finish(), QString());
    QVERIFY(!other.finish().isEmpty());
    QCOMPARE(finishedRuns(file("a.trace")), std::vector<RunId>{1});
    QCOMPARE(finishedRuns(file("a-2.trace")), std::vector<RunId>{2});
  }
}

SPANSCOPE_TEST(tst_session_recording, TestSessionRecording, QCoreApplication)
#include "tst_session_recording.moc"
