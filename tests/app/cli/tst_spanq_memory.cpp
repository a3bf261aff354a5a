// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a run leaves in use in the program: almost nothing, so that thousands can follow each
// other.
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

class TestSpanqMemory : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void validateTakesNoMemoryForAPool();
  void runsLeaveNextToNothing();

 private:
  QTemporaryDir m_folder;

  /// The peak memory, in KiB, that the program took for this number of runs of one query: the peak of the
  /// largest child so far. −1: it failed.
  long memoryOf(int runs) const {
    QStringList arguments{"run", "--threads", "1", "--blocks", "64", "--max-tokens", "1"};
    for (int i = 0; i < runs; ++i) arguments << m_folder.filePath("query.json");
    QProcess process;
    process.setStandardOutputFile(QProcess::nullDevice());
    process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
    if (!process.waitForFinished(240'000) || process.exitCode() != 0) return -1;
    rusage usage{};
    return ::getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_maxrss : -1;
  }
};

/// A pool of 16 million blocks would take gigabytes. It comes first, for the most memory of all children
/// counts.
void TestSpanqMemory::validateTakesNoMemoryForAPool() {
  QFile query(m_folder.filePath("small.json"));
  QVERIFY(query.open(QIODevice::WriteOnly));
  query.write(R"({"g":{"model":"spnl/spanlet","max_tokens":1,"input":{"user":"Who is a baker?"}}})");
  query.close();
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ),
                {"validate", "--model", SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", "--blocks",
                 "16777216", query.fileName()});
  QVERIFY(process.waitForFinished());
  rusage usage{};
  QCOMPARE(::getrusage(RUSAGE_CHILDREN, &usage), 0);
  QVERIFY2(usage.ru_maxrss < 500'000, qPrintable(QString::number(usage.ru_maxrss) + " KiB"));
}

void TestSpanqMemory::runsLeaveNextToNothing() {
  QFile query(m_folder.filePath("query.json"));
  QVERIFY(query.open(QIODevice::WriteOnly));
  query.write(R"({"g":{"model":"spnl/spanlet","max_tokens":1,"temperature":0,"input":{"cross":[
      {"system":"You are a helpful assistant."},
      {"plus":[{"user":"Mira lives in Lisbon."},{"user":"Tarek is a baker."}]},
      {"user":"Who is a baker?"}]}}})");
  query.close();
  // The first runs take what later ones use again.
  const long few = memoryOf(100);
  QVERIFY(few > 0);
  constexpr int kMore = 1'000;
  const long many = memoryOf(100 + kMore);
  QVERIFY(many > 0);
  const double each = static_cast<double>(many - few) / kMore;
  qInfo("%.2f KiB a run", each);
  QVERIFY2(each < 2.5, "a run keeps too much");
}

SPANSCOPE_TEST(tst_spanq_memory, TestSpanqMemory, QCoreApplication)
#include "tst_spanq_memory.moc"
