// SPDX-License-Identifier: GPL-3.0-or-later
// The first interrupt ends every command, whatever it is doing just then.
#include "tests/support/test_program.h"

#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <sys/types.h>

#include <csignal>
#include <filesystem>

namespace {

/// Copies of a long prompt. Planning, measuring or predicting it takes long enough for an interrupt.
QByteArray copiesOfALongPrompt(int words) {
  QByteArray text;
  for (int i = 0; i < words; ++i) text += "light" + QByteArray::number(i) + ' ';
  return R"({"plus":[{"repeat":{"n":250,"g":{"model":"m","max_tokens":9,"temperature":0.5,"input":{"user":")" +
         text + R"("}}}}]})";
}

/// Whether the program holds the signal back, as it does from its first lines on. Before that, and loading it
/// with sanitizers takes a while, a signal ends it as it ends any program.
bool holdsBack(qint64 process, int signal) {
  QFile status(QStringLiteral("/proc/%1/status").arg(process));
  if (!status.open(QIODevice::ReadOnly)) return false;
  const QByteArray key = "SigBlk:";
  for (const QByteArray& line : status.readAll().split('\n')) {
    if (!line.startsWith(key)) continue;
    const qulonglong blocked = line.mid(key.size()).trimmed().toULongLong(nullptr, 16);
    return ((blocked >> (signal - 1)) & 1U) != 0;
  }
  return false;
}

/// Starts the program and waits until it holds the signal back. The wait is not by QTRY_VERIFY: between two
/// looks that waits longer than a query is read. False where it ended or took over 20 s to begin.
bool startsAndHoldsBack(QProcess& process, const QStringList& arguments, int signal) {
  process.setStandardOutputFile(QProcess::nullDevice());
  process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
  if (!process.waitForStarted()) return false;
  const QDeadlineTimer mostStarting(20'000);
  while (!mostStarting.hasExpired()) {
    if (holdsBack(process.processId(), signal)) return true;
    QThread::usleep(500);
  }
  return false;
}

}  // namespace

class TestSpanqStop : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void answersTheFirstInterrupt_data();
  void answersTheFirstInterrupt();
  void answersWhileATextIsEncoded();

 private:
  QTemporaryDir m_folder;
};

void TestSpanqStop::initTestCase() {
  QVERIFY(m_folder.isValid());
}

void TestSpanqStop::answersTheFirstInterrupt_data() {
  QTest::addColumn<int>("words");
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<int>("signal");
  QTest::addColumn<int>("after");
  QTest::newRow("explain") << 20'000 << QStringList{"explain", "--json", "--trees"} << SIGINT << 60;
  QTest::newRow("explain --predict") << 60'000 << QStringList{"explain", "--predict", "--blocks", "4096"}
                                     << SIGTERM << 60;
  QTest::newRow("run, while the query is read")
      << 20'000 << QStringList{"run", "--blocks", "4096"} << SIGINT << 20;
  QTest::newRow("run") << 3'000 << QStringList{"run", "--blocks", "4096"} << SIGINT << 900;
}

void TestSpanqStop::answersTheFirstInterrupt() {
  QFETCH(int, words);
  QFETCH(QStringList, arguments);
  QFETCH(int, signal);
  QFETCH(int, after);
  QFile file(m_folder.filePath("query.json"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(copiesOfALongPrompt(words));
  file.close();
  QProcess process;
  QVERIFY(startsAndHoldsBack(process, arguments << file.fileName(), signal));
  QVERIFY2(!process.waitForFinished(after), "the query is too small");
  ::kill(static_cast<pid_t>(process.processId()), signal);
  QElapsedTimer timer;
  timer.start();
  QVERIFY(process.waitForFinished());
  QCOMPARE(process.exitStatus(), QProcess::NormalExit);
  QCOMPARE(process.exitCode(), 130);
  // Within 100 ms on an idle machine; a busy one takes its time.
  qInfo("%lld ms", static_cast<long long>(timer.elapsed()));
  QVERIFY(timer.elapsed() < 20'000);
}

/// One text of 15 MB, of a model whose context it would fit: to read and to encode it takes a good half
/// second.
void TestSpanqStop::answersWhileATextIsEncoded() {
  namespace fs = std::filesystem;
  const fs::path model = m_folder.filePath("model").toStdString();
  fs::copy(fs::path(SPANSCOPE_SOURCE_DIR) / "resources" / "models" / "spanlet", model);
  QFile config(QString::fromStdString((model / "config.json").string()));
  QVERIFY(config.open(QIODevice::ReadOnly));
  QByteArray settings = config.readAll();
  config.close();
  const qsizetype place = settings.indexOf("\"max_position_embeddings\"");
  QVERIFY(place >= 0);
  const qsizetype number = settings.indexOf(':', place) + 1;
  settings.replace(number, settings.indexOf(',', number) - number, " 16777216");
  fs::permissions(model / "config.json", fs::perms::owner_write, fs::perm_options::add);
  QVERIFY(config.open(QIODevice::WriteOnly) && config.write(settings) == settings.size());
  config.close();
  QByteArray text;
  for (int i = 0; text.size() < 15'000'000; ++i) text += "light" + QByteArray::number(i) + ' ';
  QFile file(m_folder.filePath("long.json"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(R"({"g":{"model":"m","max_tokens":4,"input":{"user":")" + text + R"("}}})");
  file.close();
  for (const int after : {50, 120, 200}) {
    QProcess process;
    QVERIFY(startsAndHoldsBack(
        process, {"run", "--model", QString::fromStdString(model.string()), file.fileName()}, SIGINT));
    QVERIFY2(!process.waitForFinished(after), "the text is too short");
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 130);
    qInfo("%lld ms", static_cast<long long>(timer.elapsed()));
    QVERIFY(timer.elapsed() < 20'000);
  }
}

SPANSCOPE_TEST(tst_spanq_stop, TestSpanqStop, QCoreApplication)
#include "tst_spanq_stop.moc"
