// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/views/common/measure_page.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QTest>

#include <vector>

using namespace spanscope;

class TestFigureTable : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void columnsFitTheWidth_data() {
    QTest::addColumn<int>("more");
    QTest::addColumn<bool>("fits");
    QTest::newRow("much room") << 400 << true;
    QTest::newRow("just enough") << 0 << true;
    QTest::newRow("a few pixels too narrow") << -12 << true;
    QTest::newRow("much too narrow") << -200 << false;
  }
  /// No column is cut, and no bar lies over a row, for the sake of a few pixels.
  void columnsFitTheWidth() {
    QFETCH(int, more);
    QFETCH(bool, fits);
    ui::ResultTable table(QStringLiteral("Figures"));
    const std::vector<ui::PaintedCell> row(6, {.text = QStringLiteral("1 234.5 ms (12 %)")});
    table.setTable({.headers = std::vector<QString>(6), .shares = {}, .rows = {row, row, row}});
    table.resize(2000, 300);
    table.show();
    table.resizeColumnsToContents();
    int wanted = 0;
    for (int column = 0; column < 6; ++column) wanted += table.columnWidth(column);
    table.resize(wanted + more + (table.width() - table.viewport()->width()), table.height());
    QCoreApplication::processEvents();
    int width = 0;
    for (int column = 0; column < 6; ++column) width += table.columnWidth(column);
    QCOMPARE(width == table.viewport()->width(), fits);
    QCOMPARE(table.horizontalScrollBar()->maximum() == 0, fits);
    // Every row is in sight, the bar or not.
    const QRect last = table.visualRect(table.model()->index(2, 0));
    QVERIFY(last.bottom() <= table.viewport()->height());
  }
};

SPANSCOPE_TEST(tst_figure_table, TestFigureTable, QApplication)
#include "tst_figure_table.moc"
