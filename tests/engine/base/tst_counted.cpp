// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers with what is counted, as messages and tables write them.
#ifndef Q_MOC_RUN  // moc of Qt 6.4 cannot read <concepts>
#include "engine/base/counted.h"
#include "tests/support/test_program.h"
#endif

#include <QCoreApplication>
#include <QObject>
#include <QString>
#include <QTest>

#include <cstdint>
#include <limits>
#include <string>

using spanscope::counted;

class TestCounted : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void formGoesWithTheNumber_data();
  void formGoesWithTheNumber();
  void everyIntegerTypeIsTaken();
};

void TestCounted::formGoesWithTheNumber_data() {
  QTest::addColumn<qint64>("count");
  QTest::addColumn<QString>("regular");
  QTest::addColumn<QString>("given");
  const auto row = [](const char* name, qint64 count, const char* regular, const char* given) {
    QTest::newRow(name) << count << QString(regular) << QString(given);
  };
  row("none", 0, "0 blocks", "0 replies");
  row("one", 1, "1 block", "1 reply");
  row("two", 2, "2 blocks", "2 replies");
  row("ends in a one", 21, "21 blocks", "21 replies");
  row("thousands stand together", 1'234'567, "1234567 blocks", "1234567 replies");
  row("below zero", -1, "-1 blocks", "-1 replies");
}

void TestCounted::formGoesWithTheNumber() {
  QFETCH(qint64, count);
  QFETCH(QString, regular);
  QFETCH(QString, given);
  QCOMPARE(QString::fromStdString(counted(count, "block")), regular);
  QCOMPARE(QString::fromStdString(counted(count, "reply", "replies")), given);
}

void TestCounted::everyIntegerTypeIsTaken() {
  QCOMPARE(counted(std::uint8_t{1}, "byte"), std::string("1 byte"));
  QCOMPARE(counted(std::numeric_limits<std::uint64_t>::max(), "byte"),
           std::string("18446744073709551615 bytes"));
  QCOMPARE(counted(std::numeric_limits<std::int64_t>::min(), "token"),
           std::string("-9223372036854775808 tokens"));
}

SPANSCOPE_TEST(tst_counted, TestCounted, QCoreApplication)
#include "tst_counted.moc"
