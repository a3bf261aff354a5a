// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/token_amount.h"
#include "engine/workbench/settings.h"
#include "engine/workbench/speed_records.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <string>

using namespace spanscope;
using experiment::SpeedSample;
using workbench::RunSettings;
using workbench::SpeedRecords;

namespace {

RunSettings withThreads(std::int32_t threads) {
  RunSettings settings;
  settings.threads = threads;
  return settings;
}

}  // namespace

class TestPaceBook : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachDeviceHasItsOwn() {
    SpeedRecords book;
    QVERIFY(!book.find(withThreads(1)));
    book.note(withThreads(1), {100, 2, 10, 1});
    book.note(withThreads(1), {100, 4, 0, 0});
    QCOMPARE(book.find(withThreads(1)), (SpeedSample{200, 6, 10, 1}));
    QVERIFY(!book.find(withThreads(2)));
    // Without a token there is no pace.
    book.note(withThreads(2), {0, 3, 0, 0});
    QVERIFY(!book.find(withThreads(2)));
  }

  /// A machine that is faster now is not held to be as slow as it was.
  void whatIsNewCountsMore() {
    SpeedRecords book;
    for (int i = 0; i < 20; ++i) book.note(withThreads(1), {10'000, 100, 1'000, 100});
    for (int i = 0; i < 20; ++i) book.note(withThreads(1), {10'000, 10, 1'000, 10});
    const SpeedSample pace = *book.find(withThreads(1));
    QVERIFY(pace.promptSeconds / static_cast<double>(pace.promptTokens) < 0.0015);
    QVERIFY(pace.generatedSeconds / static_cast<double>(pace.generatedTokens) < 0.015);
    book.note(withThreads(1), {1'000'000, 100, 0, 0});
    const SpeedSample newest = *book.find(withThreads(1));
    QVERIFY(newest.promptSeconds / static_cast<double>(newest.promptTokens) < 0.00015);
  }

  void isKeptInAFile() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("caches/paces.json").toStdString();
    SpeedRecords one(path);
    one.note(withThreads(1), {100, 2, 10, 1});
    SpeedRecords other(path);
    QCOMPARE(other.find(withThreads(1)), (SpeedSample{100, 2, 10, 1}));
    other.note(withThreads(2), {50, 1, 0, 0});
    QCOMPARE(one.find(withThreads(2)), (SpeedSample{50, 1, 0, 0}));
  }

  void whatIsWrongInTheFileIsLeftOut_data() {
    QTest::addColumn<QByteArray>("bytes");
    for (const char* bytes : {"", "{", "[]", "null", R"({"a":1})", R"({"a":[1,2,3]})", R"({"a":[-1,2,3,4]})",
                              R"({"a":["1",2,3,4]})", R"({"a":[1,-2,3,4]})", R"({"a":[1e400,2,3,4]})"})
      QTest::newRow(bytes) << QByteArray(bytes);
  }
  void whatIsWrongInTheFileIsLeftOut() {
    QFETCH(const QByteArray, bytes);
    const QTemporaryDir folder;
    QFile file(folder.filePath("paces.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    file.close();
    SpeedRecords book(file.fileName().toStdString());
    QVERIFY(!book.find(withThreads(1)));
    book.note(withThreads(1), {100, 2, 10, 1});
    QCOMPARE(SpeedRecords(file.fileName().toStdString()).find(withThreads(1)), (SpeedSample{100, 2, 10, 1}));
  }

  void aFileThatCannotBeWrittenIsLeftAlone() {
    SpeedRecords book("/proc/no/such/paces.json");
    book.note(withThreads(1), {100, 2, 10, 1});
    QCOMPARE(book.find(withThreads(1)), (SpeedSample{100, 2, 10, 1}));
  }
};

SPANSCOPE_TEST(tst_speed_records, TestPaceBook)
#include "tst_speed_records.moc"
