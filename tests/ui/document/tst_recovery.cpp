// SPDX-License-Identifier: GPL-3.0-or-later
// Kills a program that edits and saves, at random moments, and looks at what is left: the file must be one
// that was saved, and no more may be lost than what was typed within the autosave interval. SPANSCOPE_KILLS
// sets how often.
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/autosave.h"
#include "ui/document/document_file.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QFile>
#include <QHash>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/types.h>

#include <csignal>
#include <random>

using namespace spanscope::document;
using namespace spanscope::ui;

namespace {

constexpr int kInterval = 50;  ///< milliseconds
/// What a loaded machine may take to write a small file.
constexpr int kWriting = 800;

struct Log {
  QList<std::pair<int, qint64>> edits;  ///< state and time
  QHash<QByteArray, int> saves;         ///< state by hash
};

Log readLog(const QString& path) {
  Log log;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return log;
  const QList<QByteArray> lines = file.readAll().split('\n');
  // The last line may have been cut.
  for (qsizetype i = 0; i + 1 < lines.size(); ++i) {
    const QList<QByteArray> words = lines[i].split(' ');
    if (words.size() != 3) continue;
    if (words[0] == "edit") log.edits.append({words[1].toInt(), words[2].toLongLong()});
    if (words[0] == "save") log.saves.insert(words[2], words[1].toInt());
  }
  return log;
}

/// A program that edits and saves.
class Editor {
 public:
  /// `interval`: of the autosave, in milliseconds.
  Editor(int interval, std::uint32_t seed) {
    m_process.setProcessChannelMode(QProcess::ForwardedChannels);
    m_process.start(QStringLiteral(SPANSCOPE_KILL_EDITOR),
                    {file(), sideFiles(), log(), QString::number(interval), QString::number(seed)});
  }
  ~Editor() {
    m_process.kill();
    m_process.waitForFinished();
  }

  QProcess& process() { return m_process; }
  QString file() const { return m_directory.filePath(QStringLiteral("query.span")); }
  QString sideFiles() const { return m_directory.filePath(QStringLiteral("autosave")); }
  QString log() const { return m_directory.filePath(QStringLiteral("log")); }

 private:
  QTemporaryDir m_directory;
  QProcess m_process;
};

int stateOf(const Document& document) {
  const auto found = document.parameters.find("state");
  return found == document.parameters.end() ? 0 : std::stoi(found->second);
}

}  // namespace

class TestRecovery : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothingIsLost();
  void aRequestToEndLosesNothing_data();
  void aRequestToEndLosesNothing();
};

void TestRecovery::nothingIsLost() {
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_KILLS", &given);
  const int kills = given && wanted > 0 ? wanted : 10;
  const auto seed = static_cast<std::uint32_t>(qEnvironmentVariableIntValue("SPANSCOPE_TEST_SEED", &given));
  std::mt19937 random(given ? seed : 7301);
  int recovered = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const auto childSeed = static_cast<std::uint32_t>(random());
    const int life = 100 + static_cast<int>(random() % (kill % 2 == 0 ? 400 : 1600));
    qInfo("kill %d: seed %u, after %d ms", kill, childSeed, life);

    Editor editor(kInterval, childSeed);
    const QString path = editor.file();
    QVERIFY(editor.process().waitForStarted());
    QTRY_VERIFY_WITH_TIMEOUT(QFile(editor.log()).size() > 0, 30000);
    QTest::qSleep(life);
    const qint64 killedAt = QDateTime::currentMSecsSinceEpoch();
    editor.process().kill();
    QVERIFY(editor.process().waitForFinished());

    const Log log = readLog(editor.log());
    QVERIFY(!log.edits.isEmpty());
    int safe = 0;
    QFile file(path);
    if (file.open(QIODevice::ReadOnly)) {
      const QByteArray bytes = file.readAll();
      const QByteArray hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
      QVERIFY2(log.saves.contains(hash), "the file is none that was saved");
      const OpenedDocument opened = openDocument(path);
      QVERIFY(opened.document.has_value());
      safe = stateOf(*opened.document);
      QCOMPARE(safe, log.saves.value(hash));
    }
    const std::vector<Recovery> recoveries = findRecoveries(editor.sideFiles());
    QVERIFY(recoveries.size() <= 1);
    for (const Recovery& recovery : recoveries) {
      QCOMPARE(recovery.filePath, path);
      ++recovered;
      // The kill may fall between a save and the removal of what it made needless.
      safe = std::max(safe, stateOf(recovery.document));
    }
    for (const auto& [state, time] : log.edits) {
      if (time <= killedAt - kInterval - kWriting) {
        QVERIFY2(safe >= state,
                 qPrintable(QStringLiteral("state %1, made %2 ms before the kill, is lost; safe is %3")
                                .arg(state)
                                .arg(killedAt - time)
                                .arg(safe)));
      }
    }
  }
  // Half of all moments lie between two saves.
  QVERIFY(kills < 10 || recovered > 0);
}

void TestRecovery::aRequestToEndLosesNothing_data() {
  QTest::addColumn<int>("signal");
  QTest::newRow("logging out") << SIGTERM;
  QTest::newRow("Ctrl+C") << SIGINT;
  QTest::newRow("a terminal that goes") << SIGHUP;
}

/// Not even what was typed a moment ago, however long it is until the next regular writing.
void TestRecovery::aRequestToEndLosesNothing() {
  QFETCH(int, signal);
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    Editor editor(60'000, seed);
    QTRY_VERIFY_WITH_TIMEOUT(QFile(editor.log()).size() > 0, 30'000);
    QTest::qSleep(static_cast<int>(50 * seed));
    ::kill(static_cast<pid_t>(editor.process().processId()), signal);
    QVERIFY(editor.process().waitForFinished());
    QCOMPARE(editor.process().exitStatus(), QProcess::NormalExit);
    QCOMPARE(editor.process().exitCode(), 128 + signal);
    const Log log = readLog(editor.log());
    QVERIFY(!log.edits.isEmpty());
    int safe = 0;
    if (QFile::exists(editor.file())) safe = stateOf(*openDocument(editor.file()).document);
    for (const Recovery& recovery : findRecoveries(editor.sideFiles()))
      safe = std::max(safe, stateOf(recovery.document));
    QCOMPARE(safe, log.edits.last().first);
  }
}

SPANSCOPE_TEST(tst_recovery, TestRecovery, QCoreApplication)
#include "tst_recovery.moc"
