// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/document/line_diff.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace spanscope::document;

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
  void smallOnes_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("lines");
    QTest::newRow("nothing") << ""
                             << ""
                             << "";
    QTest::newRow("same") << "abc"
                          << "abc"
                          << " a b c";
    QTest::newRow("all new") << ""
                             << "ab"
                             << "+a+b";
    QTest::newRow("all gone") << "ab"
                              << ""
                              << "-a-b";
    QTest::newRow("one between") << "ac"
                                 << "abc"
                                 << " a+b c";
    QTest::newRow("one changed") << "abc"
                                 << "axc"
                                 << " a-b+x c";
    QTest::newRow("moved") << "abc"
                           << "bca"
                           << "-a b c+a";
  }
  void smallOnes() {
    QFETCH(QString, before);
    QFETCH(QString, after);
    QFETCH(QString, lines);
    QCOMPARE(shown(diff(before, after)), lines);
  }

  /// Both texts can be had back from it, whatever they are, and no line that is common is lost needlessly.
  void randomOnes() {
    std::mt19937 random(20);
    for (int round = 0; round < 500; ++round) {
      const auto text = [&random] {
        QStringList lines;
        const auto count = random() % 12;
        for (unsigned i = 0; i < count; ++i)
          lines << QString(QLatin1Char(static_cast<char>('a' + random() % 4)));
        return lines;
      };
      const QStringList before = text();
      const QStringList after = text();
      QStringList was;
      QStringList is;
      std::size_t same = 0;
      for (const DiffLine& line : diffLines(before, after)) {
        if (line.change != LineChange::Added) was << line.text;
        if (line.change != LineChange::Removed) is << line.text;
        if (line.change == LineChange::Same) ++same;
      }
      QCOMPARE(was, before);
      QCOMPARE(is, after);
      // The longest common subsequence, by the book.
      const auto rows = static_cast<std::size_t>(before.size()) + 1;
      const auto columns = static_cast<std::size_t>(after.size()) + 1;
      std::vector<std::size_t> best(rows * columns, 0);
      for (std::size_t r = 1; r < rows; ++r) {
        for (std::size_t c = 1; c < columns; ++c) {
          const bool equal = before[static_cast<qsizetype>(r - 1)] == after[static_cast<qsizetype>(c - 1)];
          best[r * columns + c] = equal ? best[(r - 1) * columns + c - 1] + 1
                                        : std::max(best[(r - 1) * columns + c], best[r * columns + c - 1]);
        }
      }
      QCOMPARE(same, best.back());
    }
  }

  void muchThatDiffersIsStillTold() {
    QStringList before;
    QStringList after;
    for (int i = 0; i < 5000; ++i) {
      before << QStringLiteral("a%1").arg(i);
      after << QStringLiteral("b%1").arg(i);
    }
    QCOMPARE(diffLines(before, after).size(), std::size_t{10000});
  }
};

SPANSCOPE_TEST(tst_line_diff, TestLineDiff, QCoreApplication)
#include "tst_line_diff.moc"
