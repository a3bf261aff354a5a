// SPDX-License-Identifier: GPL-3.0-or-later
// A query is built from nothing, with the mouse alone and with the keyboard alone.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"

#include <QObject>
#include <QPoint>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using namespace spanscope;
using document::Document;
using document::NodeId;
using test::CanvasDriver;

namespace {

/// g(seq(user, plus(g(user), g(user)))): a judge over two generators.
query::Node judge() {
  using query::Generate;
  using query::Join;
  using query::JoinKind;
  using query::Message;
  using query::Node;
  const Node user{Message{.role = query::Role::User, .text = {}}};
  const Node generator{Generate{.settings = {}, .input = user}};
  const Node plus{Join{.kind = JoinKind::Plus, .children = {generator, generator}}};
  const Node seq{Join{.kind = JoinKind::Seq, .children = {user, plus}}};
  return {Generate{.settings = {}, .input = seq}};
}

void undoAndRedo(CanvasDriver& driver) {
  const Document built = driver.document();
  QCOMPARE(document::toTree(built, built.root()), judge());
  QCOMPARE(built.tops().size(), std::size_t(1));
  QUndoStack& stack = driver.model().undoStack();
  QCOMPARE(stack.count(), 8);  // one command a node
  for (int i = 0; i < stack.count(); ++i) QVERIFY(!stack.text(i).isEmpty());
  while (stack.canUndo()) stack.undo();
  QCOMPARE(driver.document().size(), std::size_t(0));
  while (stack.canRedo()) stack.redo();
  QVERIFY(driver.document() == built);
}

}  // namespace

class TestCanvasBuild : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void droppedOperatorsGoWhereTheyFall() {
    CanvasDriver driver;
    driver.dropOperator(QStringLiteral("g"), {800, 300});
    const NodeId root = driver.document().root();
    QVERIFY(root != document::kNoNode);
    // On a node: its child.
    driver.dropOperator(QStringLiteral("plus"), driver.center(root));
    const NodeId plus = driver.document().at(root).children.at(0);
    QVERIFY(plus != document::kNoNode);
    driver.dropOperator(QStringLiteral("user"), driver.center(plus));
    QCOMPARE(driver.document().at(plus).children.size(), std::size_t(1));
    QCOMPARE(driver.document().tops().size(), std::size_t(1));
    // On a wire: between its ends.
    driver.dropOperator(QStringLiteral("cross"), (driver.output(plus) + driver.input(root)) / 2);
    const NodeId cross = driver.document().at(root).children.at(0);
    QVERIFY(cross != plus);
    QCOMPARE(driver.document().at(plus).parent, cross);
    // On empty canvas: a draft.
    driver.dropOperator(QStringLiteral("system"), driver.emptyPoint());
    QCOMPARE(driver.document().tops().size(), std::size_t(2));
    QCOMPARE(driver.model().undoStack().count(), 5);
  }

  void withTheMouse() {
    CanvasDriver driver;
    driver.doubleClick({800, 300});
    QVERIFY(driver.popupIsOpen());
    driver.clickInPopup(QStringLiteral("generate"));
    QVERIFY(!driver.popupIsOpen());
    const NodeId root = driver.document().root();
    QVERIFY(root != document::kNoNode);
    QVERIFY(driver.rect(root).contains(QPoint(800, 300)));

    // Its input, by dragging a wire to where nothing is.
    driver.drag(driver.input(root), driver.input(root) - QPoint(200, -60));
    QVERIFY(driver.popupIsOpen());
    driver.clickInPopup(QStringLiteral("sequence"));
    const NodeId seq = driver.document().at(root).children[0];
    QVERIFY(seq != document::kNoNode);

    // The join is selected: what is added is its child.
    driver.doubleClick(driver.emptyPoint());
    driver.clickInPopup(QStringLiteral("user"));
    // With a leaf selected, its next sibling.
    driver.doubleClick(driver.emptyPoint());
    driver.clickInPopup(QStringLiteral("plus"));
    const NodeId plus = driver.document().at(seq).children.at(1);
    for (int i = 0; i < 2; ++i) {
      driver.click(driver.center(plus));
      driver.doubleClick(driver.emptyPoint());
      driver.clickInPopup(QStringLiteral("generate"));
      driver.doubleClick(driver.emptyPoint());
      driver.clickInPopup(QStringLiteral("user"));
    }
    undoAndRedo(driver);
  }

  void withTheKeyboard() {
    CanvasDriver driver;
    driver.addByKeys(QStringLiteral("generate"));
    driver.addByKeys(QStringLiteral("sequence"));
    driver.addByKeys(QStringLiteral("user"));
    driver.addByKeys(QStringLiteral("plus"));
    driver.addByKeys(QStringLiteral("generate"));
    driver.addByKeys(QStringLiteral("user"));
    driver.key(Qt::Key_Right);  // to the generate
    driver.key(Qt::Key_Right);  // to the plus
    driver.addByKeys(QStringLiteral("generate"));
    driver.addByKeys(QStringLiteral("user"));
    undoAndRedo(driver);
  }

  void tabDoesNotLeaveTheCanvas() {
    CanvasDriver driver;
    driver.key(Qt::Key_Tab);
    QVERIFY(driver.popupIsOpen());
    driver.key(Qt::Key_Escape);
    QVERIFY(!driver.popupIsOpen());
    QVERIFY(driver.canvas().hasFocus());
    QCOMPARE(driver.document().size(), std::size_t(0));
  }

  void thePopupIsWalkedWithArrows() {
    CanvasDriver driver;
    driver.key(Qt::Key_Tab);
    const QStringList items = driver.popupItems();
    QVERIFY(items.size() > 2);
    QCOMPARE(items.first(), QStringLiteral("generate"));
    driver.key(Qt::Key_Down);
    driver.key(Qt::Key_Down);
    driver.key(Qt::Key_Up);
    driver.key(Qt::Key_Return);
    QCOMPARE(driver.document().size(), std::size_t(1));
    const Document& document = driver.document();
    QCOMPARE(QString::fromLatin1(query::operatorName(document.at(document.root()).own)), items.at(1));
  }

  void thePopupShowsOnlyWhatFits() {
    CanvasDriver driver;
    driver.addByKeys(QStringLiteral("user"));
    // Above a lone leaf: only what takes an input.
    driver.key(Qt::Key_Tab);
    QVERIFY(driver.popupItems().contains(QStringLiteral("generate")));
    QVERIFY(!driver.popupItems().contains(QStringLiteral("user")));
    driver.type(QStringLiteral("zzz"));
    QVERIFY(driver.popupItems().isEmpty());
    driver.key(Qt::Key_Return);
    QVERIFY(driver.popupIsOpen());
    driver.key(Qt::Key_Escape);
    QCOMPARE(driver.document().size(), std::size_t(1));
  }
};

SPANSCOPE_TEST(tst_canvas_build, TestCanvasBuild, QApplication)
#include "tst_canvas_build.moc"
