// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/views/common/table_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestTableView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sortsByRawValues();
  void copiesRowsAndTable();
  void selectionStaysWithItsRow();
  void isPaintedAsItIsShown();
};

namespace {

/// Sizes whose texts sort in another order than their values.
PaintedTable sizes() {
  PaintedTable table{
      .headers = {QStringLiteral("name"), QStringLiteral("size")}, .shares = {1, 1}, .rows = {}};
  table.rows = {
      {{.text = QStringLiteral("b\tb")}, {.text = QStringLiteral("9 KiB"), .isRight = true, .raw = 9}},
      {{.text = QStringLiteral("a")}, {.text = QStringLiteral("10 KiB"), .isRight = true, .raw = 10}},
      {{.text = QStringLiteral("c")}, {.text = QStringLiteral("–"), .isRight = true}}};
  return table;
}

struct Shown {
  PaintedTableModel model;
  TableView view{QStringLiteral("sizes"), RowOrder::Sortable};

  Shown() {
    model.setTable(sizes());
    view.setModel(&model);
    view.setTheme(Theme());
    view.resize(400, 300);
    view.show();
  }
  QString names() const {
    QString names;
    for (int row = 0; row < view.model()->rowCount(); ++row)
      names += view.model()->index(row, 0).data().toString().left(1);
    return names;
  }
  void clickHeader(int column) {
    QHeaderView* head = view.horizontalHeader();
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                      {head->sectionViewportPosition(column) + 20, head->height() / 2});
  }
};

QString clipboard() {
  return QGuiApplication::clipboard()->text();
}

}  // namespace

void TestTableView::sortsByRawValues() {
  Shown shown;
  QCOMPARE(shown.names(), QStringLiteral("bac"));
  shown.clickHeader(1);
  QCOMPARE(shown.names(), QStringLiteral("cba"));
  shown.clickHeader(1);
  QCOMPARE(shown.names(), QStringLiteral("abc"));
  shown.clickHeader(1);
  QCOMPARE(shown.names(), QStringLiteral("bac"));
  shown.clickHeader(0);
  QCOMPARE(shown.names(), QStringLiteral("abc"));
}

void TestTableView::copiesRowsAndTable() {
  Shown shown;
  shown.view.activateWindow();
  shown.view.setFocus();
  QVERIFY(QTest::qWaitForWindowActive(&shown.view));
  QTest::keyClick(&shown.view, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(clipboard(), QStringLiteral("name\tsize\nb b\t9 KiB\na\t10 KiB\nc\t–\n"));
  shown.view.showRow(1);
  QTest::keyClick(&shown.view, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(clipboard(), QStringLiteral("a\t10 KiB\n"));
  // Lines follow the order on the screen.
  shown.clickHeader(1);
  QTest::keyClick(&shown.view, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(&shown.view, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(clipboard(), QStringLiteral("c\t–\nb b\t9 KiB\na\t10 KiB\n"));
}

/// Rows are those of the model, in any order on the screen, and only the user's choice is reported.
void TestTableView::selectionStaysWithItsRow() {
  Shown shown;
  QSignalSpy selected(&shown.view, &TableView::rowSelected);
  QSignalSpy activated(&shown.view, &TableView::rowActivated);
  shown.view.showRow(0);
  QCOMPARE(shown.view.selectedRow(), 0);
  shown.clickHeader(1);
  QCOMPARE(shown.view.selectedRow(), 0);
  QCOMPARE(selected.count(), 0);
  QTest::keyClick(&shown.view, Qt::Key_Down);
  QCOMPARE(selected.count(), 1);
  QCOMPARE(selected.at(0).at(0).toInt(), 1);
  QTest::keyClick(&shown.view, Qt::Key_Return);
  QCOMPARE(activated.at(0).at(0).toInt(), 1);
  PaintedTable more = sizes();
  more.rows[1][1].text = QStringLiteral("11 KiB");
  more.rows.push_back(more.rows.front());
  shown.model.setTable(more);
  QCOMPARE(shown.view.selectedRow(), 1);
  QCOMPARE(selected.count(), 1);
  shown.view.showRow(-1);
  QCOMPARE(shown.view.selectedRow(), -1);
}

void TestTableView::isPaintedAsItIsShown() {
  PaintedTableModel model;
  model.setTable(sizes());
  const PaintedTable painted = paintedTable(model, {1, 1}, 1);
  QCOMPARE(painted.headers, sizes().headers);
  QCOMPARE(painted.rows.size(), std::size_t{2});
  QCOMPARE(painted.rows[0][1].text, sizes().rows[1][1].text);
  QVERIFY(painted.rows[0][1].isRight && !painted.rows[0][0].isRight);
}

SPANSCOPE_TEST(tst_table_view, TestTableView, QApplication)
#include "tst_table_view.moc"
