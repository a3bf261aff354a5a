// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/window/dialogs.h"

#include <QTest>

using namespace spanscope::ui;

namespace {

QString shown(const std::vector<DiffLine>& lines) {
  QString text;
  for (const DiffLine& line : lines) {
    text += line.change == LineChange::Added     ? QLatin1Char('+')
            : line.change == LineChange::Removed ? QLatin1Char('-')
                                                 : QLatin1Char(' ');
    text += line.text;
  }
  return text;
}

std::vector<DiffLine> diff(const QString& before, const QString& after) {
  return diffLines(before.split(QString(), Qt::SkipEmptyParts), after.split(QString(), Qt::SkipEmptyParts));
}

}  // namespace

class TestLineDiff : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// tests/engine/base/tst_difference.cpp holds the search itself.
  void lines_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("lines");
    QTest::newRow("one changed") << "abc"
                                 << "axc"
                                 << " a-b+x c";
    QTest::newRow("moved") << "abc"
                           << "bca"
                           << "-a b c+a";
  }
  void lines() {
    QFETCH(QString, before);
    QFETCH(QString, after);
    QFETCH(QString, lines);
    QCOMPARE(shown(diff(before, after)), lines);
  }
};

SPANSCOPE_TEST(tst_line_diff, TestLineDiff, QCoreApplication)
#include "tst_line_diff.moc"
