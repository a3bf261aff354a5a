// SPDX-License-Identifier: GPL-3.0-or-later
// Every gesture of the mouse, by what it makes of the document.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "tests/ui/editor/recorded_query.h"
#include "ui/editor/alignment.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_view.h"

#include <QApplication>
#include <QGraphicsView>
#include <QObject>
#include <QPoint>
#include <QRect>
#include <QSize>
#include <QStringLiteral>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

using namespace spanscope;
using document::Document;
using document::kNoNode;
using document::NodeId;
using test::CanvasDriver;
using test::nodeAtPath;

class TestCanvasGestures : public QObject {
  Q_OBJECT

 private:
  struct Rag {
    Rag() : driver(test::exampleDocument("rag.json")) {
      const Document& document = driver.document();
      root = document.root();
      cross = nodeAtPath(document, "/g/input/cross") != kNoNode ? nodeAtPath(document, "/g/input/cross")
                                                                : document.at(root).children[0];
      plus = document.at(cross).children[1];
      system = document.at(cross).children[0];
      question = document.at(cross).children[2];
      first = document.at(plus).children[0];
      second = document.at(plus).children[1];
      third = document.at(plus).children[2];
    }
    int commands() { return driver.model().undoStack().index(); }
    std::vector<NodeId> children(NodeId id) { return driver.document().at(id).children; }
    CanvasDriver driver;
    NodeId root, cross, plus, system, question, first, second, third;
  };

 private Q_SLOTS:
  void clickSelects() {
    Rag rag;
    rag.driver.click(rag.driver.center(rag.second));
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    QCOMPARE(rag.driver.selections.back().nodes, std::vector{rag.second});
    rag.driver.click(rag.driver.center(rag.plus), Qt::ControlModifier);
    QCOMPARE(rag.driver.selections.back().nodes, (std::vector{rag.second, rag.plus}));
    rag.driver.click(rag.driver.center(rag.second), Qt::ControlModifier);
    QCOMPARE(rag.driver.selections.back().nodes, std::vector{rag.plus});
    rag.driver.click(rag.driver.emptyPoint());
    QVERIFY(rag.driver.selections.back().nodes.empty());
    QCOMPARE(rag.commands(), 0);
  }

  void theRubberBandSelects() {
    Rag rag;
    const QRect a = rag.driver.rect(rag.first);
    const QRect b = rag.driver.rect(rag.second);
    rag.driver.drag(a.topLeft() - QPoint(20, 10), b.center() + QPoint(20, 0));
    QCOMPARE(rag.driver.selection(), (std::vector{rag.first, rag.second}));
  }

  void doubleClickEdits() {
    Rag rag;
    rag.driver.doubleClick(rag.driver.center(rag.first));
    QCOMPARE(rag.driver.edits, std::vector{rag.first});
    QVERIFY(!rag.driver.popupIsOpen());
  }

  void draggingWithinAJoinReorders() {
    Rag rag;
    rag.driver.press(rag.driver.center(rag.first));
    const QPoint to = rag.driver.center(rag.third) + QPoint(0, 20);
    const QPoint from = rag.driver.center(rag.first);
    for (int i = 1; i <= 10; ++i) rag.driver.move(from + (to - from) * i / 10);
    // Nothing is a command before the drop.
    QCOMPARE(rag.commands(), 0);
    rag.driver.release(to);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.second, rag.third, rag.first}));
    QCOMPARE(rag.commands(), 1);
    QVERIFY(!rag.driver.document().at(rag.first).position);
    rag.driver.model().undoStack().undo();
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.second, rag.third}));
  }

  void draggingBackChangesNothing() {
    Rag rag;
    const QPoint from = rag.driver.center(rag.first);
    rag.driver.press(from);
    rag.driver.move(from + QPoint(0, 150));
    rag.driver.move(from + QPoint(0, 60));
    rag.driver.move(from);
    rag.driver.release(from);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.second, rag.third}));
    QCOMPARE(rag.commands(), 0);
  }

  void altSwaps() {
    Rag rag;
    rag.driver.drag(rag.driver.center(rag.first), rag.driver.center(rag.third), Qt::AltModifier);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.third, rag.second, rag.first}));
    QCOMPARE(rag.commands(), 1);
  }

  void draggingElsewhereMoves() {
    Rag rag;
    const QRect before = rag.driver.rect(rag.plus);
    rag.driver.drag(rag.driver.center(rag.plus), rag.driver.center(rag.plus) + QPoint(160, 300),
                    Qt::AltModifier);
    QCOMPARE(rag.commands(), 1);
    QVERIFY(rag.driver.document().at(rag.plus).position);
    const QPoint moved = rag.driver.rect(rag.plus).topLeft() - before.topLeft();
    QVERIFY((moved - QPoint(160, 300)).manhattanLength() <= 8);
    QCOMPARE(rag.children(rag.cross), (std::vector{rag.system, rag.plus, rag.question}));
  }

  /// A dragged node snaps to the edges of others, else to the grid. Alt and the setting leave it free.
  void draggedNodesSnap() {
    Rag rag;
    auto& canvas = rag.driver.canvas();
    const auto& core = *canvas.findChild<ui::CanvasCore*>();
    canvas.setPlace({.zoom = 1, .center = canvas.findChild<ui::CanvasView*>()->centerPoint()});
    const document::Rect root = *core.rectOf(rag.root);
    const document::Rect plus = *core.rectOf(rag.plus);
    const auto dragTo = [&](double x, double y, Qt::KeyboardModifiers modifiers = {}) {
      const document::Rect now = *core.rectOf(rag.plus);
      const QPoint from = rag.driver.rect(rag.plus).center();
      const QPoint by(static_cast<int>(std::lround(x - now.x)), static_cast<int>(std::lround(y - now.y)));
      rag.driver.drag(from, from + by, modifiers);
      return *core.rectOf(rag.plus);
    };
    // Its left edge is near that of the root, and far from everything in height.
    document::Rect now = dragTo(root.x + 4, plus.y + 407);
    QCOMPARE(now.x, root.x);
    QCOMPARE(std::fmod(now.y, ui::kGridStep), 0.0);
    now = dragTo(root.x + 4, now.y + 7, Qt::AltModifier);
    QVERIFY(std::abs(now.x - root.x - 4) <= 1);
    canvas.setMouse({.snaps = false});
    now = dragTo(root.x - 3, now.y + 7);
    QVERIFY(std::abs(now.x - root.x + 3) <= 1);
    QCOMPARE(rag.commands(), 3);
  }

  /// A wire gets a reroute point where it is dragged or clicked twice. The point is saved, undone and
  /// removed.
  void wiresAreRerouted() {
    Rag rag;
    const auto bends = [&] { return rag.driver.document().at(rag.system).bends; };
    const QPoint output = rag.driver.output(rag.system);
    const QPoint input(rag.driver.rect(rag.cross).left(), output.y());
    const QPoint middle = (output + input) / 2;
    rag.driver.drag(middle, middle + QPoint(0, -80), Qt::AltModifier);
    QCOMPARE(rag.commands(), 1);
    QCOMPARE(bends().size(), std::size_t{1});
    QCOMPARE(rag.driver.selection(), std::vector{rag.system});
    const double zoom = rag.driver.canvas().place().zoom;
    QVERIFY(std::abs(bends().front().y * zoom + 80) <= 3);
    QVERIFY(!rag.driver.document().at(rag.system).position);
    QVERIFY(document::readDocument(document::writeDocument(rag.driver.document())).document.has_value());
    // The point is dragged on, and the wire does not get another.
    rag.driver.drag(middle + QPoint(0, -80), middle + QPoint(10, -60), Qt::AltModifier);
    QCOMPARE(bends().size(), std::size_t{1});
    QVERIFY(std::abs(bends().front().y * zoom + 60) <= 3);
    rag.driver.doubleClick(middle + QPoint(10, -60));
    QVERIFY(bends().empty());
    rag.driver.model().undoStack().undo();
    QCOMPARE(bends().size(), std::size_t{1});
    // It moves with its node, and goes with the wire.
    rag.driver.key(Qt::Key_Delete, Qt::ShiftModifier);
    QVERIFY(bends().empty());
    rag.driver.model().undoStack().undo();
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.reroute")));
    QCOMPARE(bends().size(), std::size_t{2});
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.straighten")));
    QVERIFY(bends().empty());
    QVERIFY(!rag.driver.canvas().canPerform(QStringLiteral("node.straighten")));
    rag.driver.doubleClick(middle);
    QCOMPARE(bends().size(), std::size_t{1});
    QVERIFY(!rag.driver.popupIsOpen());
  }

  /// The root has no wire, so it can not be rerouted.
  void onlyWiresAreRerouted() {
    Rag rag;
    rag.driver.canvas().reveal(rag.root);
    QVERIFY(!rag.driver.canvas().canPerform(QStringLiteral("node.reroute")));
    rag.driver.canvas().reveal(rag.system);
    QVERIFY(rag.driver.canvas().canPerform(QStringLiteral("node.reroute")));
  }

  /// The layout puts a child that was connected among the others. Where that is out of sight, the view shows
  /// it, and nothing else moves the view.
  void aConnectedChildIsInSight() {
    Rag rag;
    auto& view = *rag.driver.canvas().findChild<ui::CanvasView*>();
    NodeId draft = kNoNode;
    rag.driver.model().change(QStringLiteral("Draft"), [&](Document& document) {
      const document::Rect cross = *rag.driver.canvas().findChild<ui::CanvasCore*>()->rectOf(rag.cross);
      draft = document::addNode(document, document::makeOperator("user"),
                                document::Point{.x = cross.x - 300, .y = cross.y + 500});
    });
    const auto& core = *rag.driver.canvas().findChild<ui::CanvasCore*>();
    const document::Rect cross = *core.rectOf(rag.cross);
    // The pills and the draft are in sight, the column of the documents is not.
    rag.driver.canvas().setPlace({.zoom = 1, .center = {cross.x + 480, cross.y + 250}});
    QVERIFY(!rag.driver.canvas().rect().contains(rag.driver.rect(rag.first)));
    rag.driver.drag(rag.driver.output(draft), rag.driver.rect(rag.cross).bottomLeft() + QPoint(30, -4));
    QCOMPARE(rag.driver.document().at(draft).parent, rag.cross);
    QVERIFY(rag.driver.canvas().rect().contains(rag.driver.rect(draft)));
    QCOMPARE(view.zoom(), 1.0);
  }

  void escapeEndsADrag() {
    Rag rag;
    rag.driver.press(rag.driver.center(rag.plus));
    rag.driver.move(rag.driver.center(rag.plus) + QPoint(160, 300));
    rag.driver.key(Qt::Key_Escape);
    rag.driver.release({900, 600});
    QCOMPARE(rag.commands(), 0);
  }

  void aWireConnects() {
    Rag rag;
    // A draft user into the plus, at its end.
    rag.driver.click(rag.driver.emptyPoint());
    rag.driver.doubleClick(rag.driver.emptyPoint());
    rag.driver.clickInPopup(QStringLiteral("user"));
    const NodeId draft = rag.driver.document().tops().back();
    QVERIFY(draft != rag.root);
    QVERIFY(rag.driver.document().at(draft).position);
    const QRect plus = rag.driver.rect(rag.plus);
    rag.driver.drag(rag.driver.output(draft), plus.bottomLeft() + QPoint(20, -4));
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.second, rag.third, draft}));
    QCOMPARE(rag.driver.document().tops().size(), std::size_t(1));
    QCOMPARE(rag.commands(), 2);
    QVERIFY(!rag.driver.document().at(draft).position);
  }

  /// The tree grows to its left with each node that is connected. What is seen of it stays where it is, and
  /// so do the drafts that are not connected yet.
  void connectingMovesNothingElse() {
    CanvasDriver driver;
    NodeId root = kNoNode;
    NodeId cross = kNoNode;
    NodeId plus = kNoNode;
    NodeId user = kNoNode;
    driver.model().change(QStringLiteral("Drafts"), [&](Document& document) {
      const auto add = [&document](const char* op, std::optional<document::Point> at) {
        return document::addNode(document, document::makeOperator(op), at);
      };
      root = add("g", std::nullopt);
      cross = add("cross", document::Point{.x = -200, .y = -120});
      plus = add("plus", document::Point{.x = -420, .y = -40});
      user = add("user", document::Point{.x = -300, .y = 200});
    });
    driver.click(driver.center(root));
    const auto away = [](QPoint one, QPoint other) { return (one - other).manhattanLength(); };
    const QPoint place = driver.rect(root).topLeft();
    const QPoint draft = driver.rect(user).topLeft();
    driver.drag(driver.output(cross), driver.input(root));
    QCOMPARE(driver.document().at(cross).parent, root);
    QVERIFY2(away(driver.rect(root).topLeft(), place) <= 3,
             qPrintable(QString::number(driver.rect(root).x())));
    QVERIFY(away(driver.rect(user).topLeft(), draft) <= 3);
    driver.drag(driver.output(plus), driver.rect(cross).center());
    QCOMPARE(driver.document().at(plus).parent, cross);
    QVERIFY2(away(driver.rect(root).topLeft(), place) <= 3,
             qPrintable(QString::number(driver.rect(root).x())));
    QVERIFY(away(driver.rect(user).topLeft(), draft) <= 3);
    driver.drag(driver.output(user), driver.rect(cross).center());
    QCOMPARE(driver.document().at(user).parent, cross);
    QVERIFY(away(driver.rect(root).topLeft(), place) <= 3);
    for (int i = 0; i < 3; ++i) driver.model().undoStack().undo();
    QVERIFY(away(driver.rect(root).topLeft(), place) <= 3);
    QVERIFY(away(driver.rect(user).topLeft(), draft) <= 3);
  }

  void undoingADeleteShowsTheTreeWhereItWas() {
    Rag rag;
    ui::Canvas& canvas = rag.driver.canvas();
    for (const NodeId deleted : {rag.plus, rag.cross, rag.root}) {
      rag.driver.click(rag.driver.center(rag.root));
      const std::vector places{rag.driver.rect(rag.root), rag.driver.rect(rag.first)};
      rag.driver.click(rag.driver.center(deleted));
      rag.driver.key(Qt::Key_Delete);
      QVERIFY(!rag.driver.document().contains(deleted));
      rag.driver.model().undoStack().undo();
      QVERIFY(canvas.rect().intersects(rag.driver.rect(rag.root)));
      QVERIFY(canvas.rect().intersects(rag.driver.rect(rag.first)));
      if (deleted == rag.root) continue;  // nothing was left that could have stayed
      QVERIFY((rag.driver.rect(rag.root).topLeft() - places[0].topLeft()).manhattanLength() <= 3);
      QVERIFY((rag.driver.rect(rag.first).topLeft() - places[1].topLeft()).manhattanLength() <= 3);
    }
  }

  void aClickOnAFreeInputAsksWhatToAdd() {
    Rag rag;
    const auto& core = *rag.driver.canvas().findChild<ui::CanvasCore*>();
    auto& view = *rag.driver.canvas().findChild<ui::CanvasView*>();
    for (const double zoom : {1.0, 0.5}) {
      rag.driver.canvas().setPlace({.zoom = zoom, .center = view.centerPoint()});
      rag.driver.canvas().reveal(rag.plus);
      const std::size_t count = rag.children(rag.plus).size();
      const ui::NodeLook& look = core.looks().at(rag.plus);
      rag.driver.click(view.mapFromScene(look.rect.x, look.rect.y + look.inputs.back()));
      QVERIFY(rag.driver.popupIsOpen());
      rag.driver.clickInPopup(QStringLiteral("user"));
      QCOMPARE(rag.children(rag.plus).size(), count + 1);
    }
  }

  void aTakenInputDoesNotConnect() {
    Rag rag;
    rag.driver.drag(rag.driver.output(rag.question), rag.driver.input(rag.root));
    QCOMPARE(rag.driver.document().at(rag.question).parent, rag.cross);
    QCOMPARE(rag.commands(), 0);
    QVERIFY(!rag.driver.messages.isEmpty());
    // What refuses is named while the wire is over it.
    rag.driver.press(rag.driver.output(rag.question));
    for (int i = 1; i <= 4; ++i)
      rag.driver.move(rag.driver.output(rag.question) +
                      (rag.driver.center(rag.root) - rag.driver.output(rag.question)) * i / 4);
    QCOMPARE(QToolTip::text(), rag.driver.messages.back());
    rag.driver.move(rag.driver.center(rag.plus));
    QTRY_VERIFY(!QToolTip::isVisible());
    rag.driver.key(Qt::Key_Escape);
    rag.driver.release(rag.driver.center(rag.plus));
  }

  void aWireOffItsInputDisconnects() {
    Rag rag;
    // Inputs of a tidy join are level with the outputs.
    const QPoint input(rag.driver.rect(rag.plus).left(), rag.driver.output(rag.second).y());
    rag.driver.drag(input, rag.driver.emptyPoint());
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.third}));
    QCOMPARE(rag.driver.document().at(rag.second).parent, kNoNode);
    QCOMPARE(rag.commands(), 1);
  }

  void aWireMovesToAnotherInput() {
    Rag rag;
    const QPoint input(rag.driver.rect(rag.plus).left(), rag.driver.output(rag.second).y());
    rag.driver.drag(input, rag.driver.rect(rag.cross).bottomLeft() + QPoint(30, -4));
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.third}));
    QCOMPARE(rag.children(rag.cross), (std::vector{rag.system, rag.plus, rag.question, rag.second}));
    QCOMPARE(rag.commands(), 1);
  }

  void aWireIntoTheEmptyAddsWhatFits() {
    Rag rag;
    rag.driver.drag(rag.driver.output(rag.root), rag.driver.output(rag.root) + QPoint(40, 200));
    QVERIFY(rag.driver.popupIsOpen());
    QVERIFY(!rag.driver.popupItems().contains(QStringLiteral("user")));
    QVERIFY(rag.driver.popupItems().contains(QStringLiteral("monad")));
    rag.driver.clickInPopup(QStringLiteral("monad"));
    const Document& document = rag.driver.document();
    QVERIFY(document.root() != rag.root);
    QCOMPARE(document.at(document.root()).children, std::vector{rag.root});
  }

  void aNodeDroppedOnAWireIsInserted() {
    Rag rag;
    rag.driver.click(rag.driver.emptyPoint());
    rag.driver.doubleClick(rag.driver.emptyPoint());
    rag.driver.clickInPopup(QStringLiteral("plus"));
    const NodeId draft = rag.driver.document().tops().back();
    const QPoint onWire = (rag.driver.output(rag.cross) + rag.driver.input(rag.root)) / 2;
    rag.driver.drag(rag.driver.center(draft), onWire);
    QCOMPARE(rag.children(rag.root), std::vector{draft});
    QCOMPARE(rag.children(draft), std::vector{rag.cross});
    QCOMPARE(rag.commands(), 2);
  }

  void theWheelScrollsAndZooms() {
    Rag rag;
    QWidget* viewport = rag.driver.canvas().findChild<QGraphicsView*>()->viewport();
    const auto wheel = [&](QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers) {
      QWheelEvent event(at, viewport->mapToGlobal(at), {}, angle, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                        false);
      QApplication::sendEvent(viewport, &event);
    };
    const QRect before = rag.driver.rect(rag.first);
    wheel({100, 100}, {0, -120}, {});
    QCOMPARE(rag.driver.rect(rag.first).topLeft(), before.topLeft() - QPoint(0, 60));
    wheel({100, 100}, {0, 120}, {});
    // What is under the pointer stays there.
    const QPoint at = before.center();
    wheel(at, {0, 240}, Qt::ControlModifier);
    const QRect after = rag.driver.rect(rag.first);
    QVERIFY(after.width() > before.width());
    QVERIFY((after.center() - at).manhattanLength() <= 3);
    QVERIFY(rag.driver.canvas().place().zoom > 1);
  }

  void theMiddleButtonAndSpacePan() {
    Rag rag;
    const QRect before = rag.driver.rect(rag.first);
    rag.driver.drag({600, 500}, {640, 460}, {}, Qt::MiddleButton);
    QCOMPARE(rag.driver.rect(rag.first).topLeft() - before.topLeft(), QPoint(40, -40));
    QTest::keyPress(&rag.driver.canvas(), Qt::Key_Space);
    const QPoint on = rag.driver.center(rag.second);
    rag.driver.drag(on, on + QPoint(-40, 40));
    QTest::keyRelease(&rag.driver.canvas(), Qt::Key_Space);
    QCOMPARE(rag.driver.rect(rag.first).topLeft(), before.topLeft());
    QVERIFY(rag.driver.selection().empty());
    QCOMPARE(rag.commands(), 0);
  }

  void theMouseCanBeSetUp() {
    Rag rag;
    ui::Canvas& canvas = rag.driver.canvas();
    QWidget* viewport = canvas.findChild<QGraphicsView*>()->viewport();
    const auto wheel = [&](Qt::KeyboardModifiers modifiers) {
      const QPoint at(100, 100);
      QWheelEvent event(at, viewport->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, modifiers,
                        Qt::NoScrollPhase, false);
      QApplication::sendEvent(viewport, &event);
    };
    canvas.setMouse({.wheelZooms = true, .dragPans = true});
    const double zoom = canvas.place().zoom;
    wheel({});
    QVERIFY(canvas.place().zoom > zoom);
    const double larger = canvas.place().zoom;
    wheel(Qt::ControlModifier);
    QCOMPARE(canvas.place().zoom, larger);
    const QPoint empty = rag.driver.emptyPoint();
    const QRect before = rag.driver.rect(rag.root);
    rag.driver.drag(empty, empty + QPoint(-30, -40));
    QCOMPARE(rag.driver.rect(rag.root).topLeft() - before.topLeft(), QPoint(-30, -40));
    QVERIFY(rag.driver.selection().empty());
    QCOMPARE(rag.commands(), 0);
  }

  void theMinimapMovesTheView() {
    Rag rag;
    auto* minimap = rag.driver.canvas().findChild<QWidget*>(QStringLiteral("minimap"));
    QVERIFY(minimap != nullptr);
    // What is seen whole needs no map.
    QVERIFY(!minimap->isVisible());
    rag.driver.canvas().setPlace({.zoom = 1, .center = {3000, 3000}});
    QVERIFY(minimap->isVisible());
    QTest::mouseClick(minimap, Qt::LeftButton, {}, minimap->rect().center());
    // The middle of the minimap is the middle of what it shows, between here and there.
    QVERIFY(rag.driver.canvas().place().center.x() < 2900);
    rag.driver.canvas().perform(QStringLiteral("view.minimap"));
    QVERIFY(!minimap->isVisible());
  }

  /// The minimap moves to another corner if a node is in its corner.
  void theMinimapCoversNoNode() {
    Rag rag;
    auto* minimap = rag.driver.canvas().findChild<QWidget*>(QStringLiteral("minimap"));
    const QPoint corner(rag.driver.canvas().width() - 30, rag.driver.canvas().height() - 30);
    const QPoint middle = rag.driver.canvas().rect().center();
    const auto place = rag.driver.canvas().place();
    const QPointF node = place.center + QPointF(rag.driver.center(rag.first) - middle) / place.zoom;
    rag.driver.canvas().setPlace({.zoom = 2, .center = {3000, 3000}});
    QVERIFY(minimap->geometry().contains(corner));
    rag.driver.canvas().setPlace({.zoom = 2, .center = node - QPointF(corner - middle) / 2});
    QVERIFY(minimap->isVisible());
    QVERIFY(!minimap->geometry().intersects(rag.driver.rect(rag.first)));
  }

  void framesAndNotesMove() {
    Rag rag;
    rag.driver.click(rag.driver.center(rag.first));
    rag.driver.click(rag.driver.center(rag.second), Qt::ControlModifier);
    rag.driver.key(Qt::Key_G, Qt::ControlModifier);
    QCOMPARE(rag.driver.document().frames.size(), std::size_t(1));
    const document::Rect before = rag.driver.document().frames[0].area;
    const QPoint title = rag.driver.rect(rag.first).topLeft() + QPoint(20, -22);
    rag.driver.drag(title, title + QPoint(-40, 80));
    const document::Rect after = rag.driver.document().frames[0].area;
    QVERIFY(std::abs(after.x - before.x + 40) <= 8);
    QVERIFY(std::abs(after.y - before.y - 80) <= 8);
    // It takes its nodes along.
    QVERIFY(rag.driver.document().at(rag.first).position);
    QVERIFY(!rag.driver.document().at(rag.third).position);
    QCOMPARE(rag.commands(), 2);
  }

  /// A note snaps as a node does; Alt moves it freely.
  void notesSnap() {
    Rag rag;
    // Only what is in sight is snapped to.
    document::Rect at{.x = 3003, .y = 3007, .width = 200, .height = 100};
    rag.driver.model().change(QStringLiteral("Note"), [&](document::Document& next) {
      next.notes.push_back({.id = next.takeId(), .text = "n", .area = at});
    });
    rag.driver.canvas().setPlace({.zoom = 1, .center = {3100, 3100}});
    const auto& view = *rag.driver.canvas().findChild<ui::CanvasView*>();
    const auto pixel = [&] { return view.mapFromScene(QPointF(at.x + 20, at.y + 50)); };
    const auto drag = [&](QPoint by, Qt::KeyboardModifiers keys) {
      rag.driver.drag(pixel(), pixel() + by, keys);
      at = rag.driver.document().notes.at(0).area;
    };
    drag({31, 143}, {});
    QCOMPARE(std::fmod(at.x, ui::kGridStep), 0.0);
    QCOMPARE(std::fmod(at.y, ui::kGridStep), 0.0);
    const document::Rect before = at;
    drag({33, 17}, Qt::AltModifier);
    QCOMPARE(at.x, before.x + 33);
    QCOMPARE(at.y, before.y + 17);
  }

  /// A node that was shown whole stays whole in any size, until the user looks elsewhere.
  void everythingStaysInSight() {
    Rag rag;
    ui::Canvas& canvas = rag.driver.canvas();
    QWidget* window = canvas.window();
    const auto isWhole = [&](document::NodeId id) { return canvas.rect().contains(rag.driver.rect(id)); };
    for (const QSize& size : {QSize(500, 300), QSize(1200, 700), QSize(640, 480)}) {
      window->resize(size);
      QTRY_VERIFY(isWhole(rag.first) && isWhole(rag.driver.document().root()));
    }
    rag.driver.click(rag.driver.emptyPoint());
    const double zoom = canvas.place().zoom;
    window->resize(1200, 700);
    QTest::qWait(20);
    QCOMPARE(canvas.place().zoom, zoom);
  }

  void draggingToTheEdgeScrolls() {
    Rag rag;
    const double before = rag.driver.canvas().place().center.x();
    const QPoint from = rag.driver.center(rag.first);
    rag.driver.press(from);
    rag.driver.move(from + QPoint(20, 0));
    const QPoint edge(rag.driver.canvas().width() - 3, from.y());
    rag.driver.move(edge);
    QTRY_VERIFY(rag.driver.canvas().place().center.x() > before + 100);
    rag.driver.move(from + QPoint(40, 0));
    const double stopped = rag.driver.canvas().place().center.x();
    QTest::qWait(80);
    QCOMPARE(rag.driver.canvas().place().center.x(), stopped);
    // The node is where the pointer has dropped it, however far the view went.
    rag.driver.move(edge);
    QTRY_VERIFY(rag.driver.canvas().place().center.x() > stopped + 100);
    rag.driver.release(edge);
    QVERIFY(std::abs(rag.driver.center(rag.first).x() - edge.x()) <= 16);
  }
};

SPANSCOPE_TEST(tst_canvas_gestures, TestCanvasGestures, QApplication)
#include "tst_canvas_gestures.moc"
