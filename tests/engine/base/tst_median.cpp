// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/median.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;

class TestMedian : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isInTheMiddle() {
    QCOMPARE(medianOf({}), std::optional<double>());
    QCOMPARE(medianOf({7}), std::optional(7.0));
    QCOMPARE(medianOf({9, 1}), std::optional(5.0));
    QCOMPARE(medianOf({9, 1, 2}), std::optional(2.0));
    QCOMPARE(medianOf({4, 100, 1, 2}), std::optional(3.0));
    QCOMPARE(medianOf({3, 3, 3, 3, 8}), std::optional(3.0));
  }
};

SPANSCOPE_TEST(tst_median, TestMedian)
#include "tst_median.moc"
