// SPDX-License-Identifier: GPL-3.0-or-later
// What does not fit is stacked, what is seen can be read, and the root stays in sight.
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_view.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_paint.h"
#include "ui/editor/tidy_layout.h"

#include <QCoreApplication>
#include <QObject>
#include <QPoint>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <set>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::kNoNode;
using document::NodeId;
using spanscope::product_text::says;
using test::CanvasDriver;

namespace {

Document ragOf(int documents) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (int i = 0; i < documents; ++i) {
    const std::string text =
        "Report " + std::to_string(i + 1) + " on somebody who lives somewhere by the sea.";
    plus.children.push_back({query::Message{.role = query::Role::User, .text = text}});
  }
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back({query::Message{.role = query::Role::System, .text = "Answer in one sentence."}});
  cross.children.push_back({plus});
  cross.children.push_back({query::Message{.role = query::Role::User, .text = "Where does Mira live?"}});
  return document::fromQuery({query::Generate{
      .settings = {.model = "m", .maxTokens = 24, .temperature = 0.0F}, .input = query::Node{cross}}});
}

struct Rag {
  explicit Rag(int documents, QSize size = {1280, 800}) : driver(ragOf(documents)) {
    driver.canvas().window()->resize(size);
    QCoreApplication::processEvents();
  }
  CanvasCore& core() { return *driver.canvas().findChild<CanvasCore*>(); }
  CanvasView& view() { return *driver.canvas().findChild<CanvasView*>(); }
  NodeId root() { return driver.document().root(); }
  NodeId cross() { return driver.document().at(root()).children.at(0); }
  NodeId plus() { return driver.document().at(cross()).children.at(1); }
  NodeId document(std::size_t i) { return driver.document().at(plus()).children.at(i); }
  /// The only one.
  const Stack& stack() { return core().stacks().all().begin()->second; }
  bool isSeen(NodeId id) { return driver.canvas().rect().contains(driver.rect(id)); }
  CanvasDriver driver;
};

}  // namespace

class TestCanvasStacks : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatFitsIsNotStacked() {
    Rag rag(3);
    QVERIFY(rag.core().stacks().empty());
  }

  void twentyDocumentsAreReadable_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("author") << QSize(700, 560);
    QTest::newRow("large") << QSize(1800, 1000);
    QTest::newRow("explain") << QSize(566, 230);
    QTest::newRow("explain, half as large") << QSize(420, 180);
  }
  void twentyDocumentsAreReadable() {
    QFETCH(QSize, size);
    Rag rag(20, size);
    QCOMPARE(rag.core().stacks().all().size(), std::size_t(1));
    // It gets a little smaller still where that shows all of it.
    QVERIFY(rag.view().zoom() >= kTextZoom);
    for (const auto& [id, own] : rag.core().looks())
      QVERIFY(rag.view().zoom() >= kLeastFitZoom || rag.isSeen(id));
    QVERIFY(rag.isSeen(rag.root()));
    const NodeLook& look = rag.core().looks().at(rag.stack().members.front());
    QCOMPARE(look.title, QStringLiteral("%1 documents").arg(rag.stack().members.size()));
    QCOMPARE(look.hues.size(), rag.stack().members.size());
    // A card has room for its title and a line below it.
    const CanvasStyle style{Theme()};
    for (const auto& [id, own] : rag.core().looks()) {
      const double scale = textScale(rag.view().zoom());
      const NodeTexts texts = makeNodeTexts(own, rag.core().statusOf(id), nullptr, style, scale);
      QVERIFY(texts.title.width > 0);
      const bool hasLine = own.pill || !texts.body.empty() || own.answers || texts.scale > 1.45;
      QVERIFY(hasLine || own.stacked > 0);
      // And its letters are not much smaller than those of the rest of the window.
      QVERIFY(style.titleFont.pixelSize() * texts.scale * rag.view().zoom() >= 10);
    }
  }

  /// A query of many levels opens whole, however small its cards are then.
  void aQueryOfManyLevelsOpensWhole() {
    query::Node query{query::Message{.role = query::Role::User, .text = "Start."}};
    for (int level = 0; level < 8; ++level) {
      query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
      cross.children.push_back({query::Message{.role = query::Role::System, .text = "Go on."}});
      cross.children.push_back(std::move(query));
      query = {query::Generate{.settings = {.model = "m", .maxTokens = {}, .temperature = {}},
                               .input = query::Node{std::move(cross)}}};
    }
    CanvasDriver driver(document::fromQuery(query));
    driver.canvas().window()->resize(760, 560);
    QCoreApplication::processEvents();
    driver.canvas().fit();
    for (const NodeId id : driver.document().ids()) QVERIFY(driver.canvas().rect().contains(driver.rect(id)));
    QTest::qWait(500);
    QVERIFY(driver.messages.isEmpty());
    // Where not even signs would be left, the root is in sight, and the canvas says so.
    driver.canvas().window()->resize(200, 400);
    QCoreApplication::processEvents();
    driver.canvas().fit();
    QVERIFY(driver.canvas().rect().contains(driver.rect(driver.document().root())));
    QTRY_COMPARE(driver.messages.size(), 1);
    // With more room it is not true any more, and does not stay.
    driver.canvas().window()->resize(760, 560);
    QTRY_COMPARE(driver.messages.size(), 2);
    QVERIFY(driver.messages.back().isEmpty());
  }

  /// While a query grows level by level, its cards stay readable, and the new one is in sight.
  void aGrowingQueryStaysReadable() {
    Rag rag(1, {900, 500});
    for (int level = 0; level < 10; ++level) {
      rag.core().select({rag.root()});
      QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.add:g")));
      QVERIFY(rag.isSeen(rag.core().current()));
      QVERIFY2(rag.view().zoom() >= kTextZoom, qPrintable(QString::number(rag.view().zoom())));
    }
  }

  /// What was in sight as a whole is so again in a canvas that has less room, as at a larger scale.
  void aWholeQueryStaysWhole() {
    Rag rag(3, {1200, 800});
    rag.driver.click(rag.driver.emptyPoint());
    const CanvasPlace place = rag.driver.canvas().place();
    QVERIFY(!place.isFitted && place.isWhole);
    rag.driver.canvas().window()->resize(700, 500);
    QCoreApplication::processEvents();
    rag.driver.canvas().setPlace(place);
    for (const NodeId id : rag.driver.document().ids()) QVERIFY(rag.isSeen(id));
    // Where it fits, the view is the one that was left.
    rag.driver.canvas().window()->resize(1200, 800);
    QCoreApplication::processEvents();
    rag.driver.canvas().setPlace(place);
    QCOMPARE(rag.driver.canvas().place().zoom, place.zoom);
  }

  /// A hidden canvas does not report that the query is cut off.
  void aHiddenCanvasTakesItsMessageBack() {
    Rag rag(3, {100, 400});
    rag.driver.canvas().fit();
    QTRY_COMPARE(rag.driver.messages.size(), 1);
    QVERIFY(!rag.driver.messages.back().isEmpty());
    rag.driver.canvas().hide();
    QCOMPARE(rag.driver.messages.size(), 2);
    QVERIFY(rag.driver.messages.back().isEmpty());
  }

  void largerRoomShowsMore() {
    Rag rag(20, {900, 500});
    const std::size_t few = rag.stack().members.size();
    rag.driver.canvas().window()->resize(900, 900);
    QCoreApplication::processEvents();
    QVERIFY(rag.stack().members.size() < few);
    rag.driver.canvas().window()->resize(900, 2400);
    QCoreApplication::processEvents();
    QVERIFY(rag.core().stacks().empty());
  }

  /// In a narrow canvas the width limits the zoom. Smaller cards need fewer stacks.
  void aNarrowCanvasStacksFewerNodes() {
    Rag wide(20, {900, 500});
    Rag narrow(20, {450, 500});
    QVERIFY(!wide.core().stacks().empty());
    const std::size_t stacked = narrow.core().stacks().empty() ? 0 : narrow.stack().members.size();
    QVERIFY2(stacked < wide.stack().members.size(), qPrintable(QString::number(stacked)));
  }

  /// On a large screen all cards of twenty documents can be read at once, smaller than where some are
  /// stacked.
  void twentyDocumentsFitALargeScreen() {
    Rag rag(20, {1400, 1209});
    QVERIFY2(rag.core().stacks().empty(), qPrintable(QString::number(rag.core().stacks().all().size())));
    QVERIFY(rag.view().zoom() >= kLeastFitZoom);
    for (std::size_t i = 0; i < 20; ++i) QVERIFY(rag.isSeen(rag.document(i)));
    rag.driver.canvas().window()->resize(1400, 1100);
    QCoreApplication::processEvents();
    QVERIFY(!rag.core().stacks().empty());
    QVERIFY(rag.view().zoom() >= kReadableZoom);
  }

  void aClickOpensAStack() {
    Rag rag(20, {900, 500});
    const NodeId first = rag.stack().members.front();
    const QPoint before = rag.driver.rect(first).topLeft();
    rag.driver.click(rag.driver.center(first));
    QVERIFY(rag.core().stacks().empty());
    QCOMPARE(rag.driver.selection(), std::vector<NodeId>{first});
    QVERIFY((rag.driver.rect(first).topLeft() - before).manhattanLength() <= 2);
    QVERIFY(rag.view().zoom() >= kReadableZoom);
    QVERIFY(rag.core().looks().at(rag.plus()).spread);
    // And the key stacks them again.
    rag.driver.key(Qt::Key_S);
    QCOMPARE(rag.core().stacks().all().size(), std::size_t(1));
    QVERIFY(rag.isSeen(rag.root()));
  }

  void returnOpensTheStackThatWasWalkedOnto() {
    Rag rag(20, {900, 500});
    const NodeId first = rag.stack().members.front();
    rag.core().select({rag.document(0)});
    while (rag.core().selectedStack() == nullptr) rag.driver.key(Qt::Key_Down);
    QCOMPARE(rag.driver.selection().size(), rag.stack().members.size());
    QVERIFY(accessibleName(rag, first).contains(QStringLiteral("documents")));
    rag.driver.key(Qt::Key_Return);
    QVERIFY(rag.core().stacks().empty());
    QVERIFY(rag.driver.edits.empty());
  }

  void aSelectedDocumentIsDrawn() {
    Rag rag(20, {900, 500});
    const NodeId last = rag.document(19);
    QVERIFY(rag.core().rectOf(last) == nullptr);
    QVERIFY(says(accessibleName(rag, last), "<in-a-stack>"));
    ViewInput input;
    input.document = rag.driver.model().snapshot();
    input.trace = std::make_shared<const TraceStore>();
    input.selection.nodes = {last};
    rag.driver.setInput(input);
    QVERIFY(rag.core().rectOf(last) != nullptr);
    QVERIFY(rag.isSeen(last));
    // What is drawn stays drawn when it is selected.
    const auto layout = rag.core().layout();
    rag.driver.click(rag.driver.center(rag.document(0)));
    QCOMPARE(rag.core().layout(), layout);
  }

  /// Nodes that a lesson names have their own cards, with and without a selection.
  void namedDocumentsAreDrawn() {
    Rag rag(20, {900, 500});
    Canvas& canvas = rag.driver.canvas();
    const NodeId named = rag.document(15);
    QVERIFY(rag.core().rectOf(named) == nullptr);
    QVERIFY(canvas.showNamed({named, rag.document(18)}));
    QVERIFY(rag.core().rectOf(named) != nullptr && rag.core().rectOf(rag.document(18)) != nullptr);
    QVERIFY(!rag.core().stacks().empty());
    // A selection or a fit does not stack them again.
    rag.core().select({rag.document(12)});
    canvas.fit();
    QVERIFY(rag.core().rectOf(named) != nullptr);
    QVERIFY(rag.isSeen(named));
    QVERIFY(!canvas.showNamed({}));
  }

  void whatIsDoneToAStackIsDoneToItsMembers() {
    Rag rag(20, {900, 500});
    const std::vector<NodeId> members = rag.stack().members;
    rag.driver.click(rag.driver.center(members.front()), Qt::ControlModifier);
    QCOMPARE(rag.driver.selection().size(), members.size());
    rag.driver.key(Qt::Key_M);
    for (const NodeId id : members) QVERIFY(rag.driver.document().at(id).muted);
    QVERIFY(rag.core().looks().at(members.front()).muted);
    rag.driver.key(Qt::Key_Delete);
    for (const NodeId id : members) QVERIFY(!rag.driver.document().contains(id));
  }

  void newDocumentsLeaveTheRootInSight() {
    Rag rag(1, {900, 500});
    for (int i = 0; i < 24; ++i) {
      rag.core().select({rag.plus()});
      QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.add:user")));
      QVERIFY(rag.isSeen(rag.root()));
      QVERIFY(rag.isSeen(rag.document(static_cast<std::size_t>(i) + 1)));
      QVERIFY(rag.view().zoom() >= kLeastFitZoom);
    }
    // Also where the user has chosen the place.
    rag.driver.canvas().setPlace({.zoom = 1, .center = rag.view().centerPoint()});
    rag.core().select({rag.root()});
    rag.driver.canvas().reveal(rag.root());
    rag.core().select({rag.plus()});
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.add:user")));
    QVERIFY(rag.isSeen(rag.root()));
  }

  void duplicatesAndPastedNodesAreInSight() {
    Rag rag(12, {900, 500});
    const NodeId drawn = rag.document(0);
    rag.driver.click(rag.driver.center(drawn));
    rag.driver.key(Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(rag.driver.selection().size(), std::size_t(1));
    QVERIFY(rag.isSeen(rag.driver.selection().front()));
    rag.core().select({rag.root()});
    rag.driver.key(Qt::Key_D, Qt::ControlModifier);
    const NodeId draft = rag.driver.selection().front();
    QVERIFY(rag.core().rectOf(draft) != nullptr);
    QVERIFY(rag.isSeen(draft));
    rag.core().select({rag.root()});
    rag.driver.key(Qt::Key_C, Qt::ControlModifier);
    rag.core().select({});
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    for (const NodeId id : rag.driver.selection()) QVERIFY(rag.isSeen(id));
  }

  void aListOffersANextInput() {
    Rag rag(3);
    const NodeLook& look = rag.core().looks().at(rag.plus());
    QCOMPARE(look.inputs.size(), std::size_t(4));
    QCOMPARE(look.taken.back(), false);
    QCOMPARE(look.labels, (QStringList{"1", "2", "3", "+"}));
    // Dragging from it adds a child after the others.
    const document::Rect* rect = rag.core().rectOf(rag.plus());
    const QPoint port = rag.view().mapFromScene(rect->x, rect->y + look.inputs.back());
    rag.driver.drag(port, port + QPoint(-30, 40));
    QVERIFY(rag.driver.popupIsOpen());
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.document().at(rag.plus()).children.size(), std::size_t(4));
    QCOMPARE(rag.driver.selection(), std::vector<NodeId>{rag.document(3)});
  }

  void aStackSharesOnePort() {
    const Document document = ragOf(20);
    const NodeId plus = document.at(document.at(document.root()).children[0]).children[1];
    const StackChoices choices{.height = 600, .shown = {}, .opened = {}};
    const std::size_t limit = stackLimit(document, choices);
    const Stacks stacks = stacksOf(document, choices, limit);
    QVERIFY(limit > 0 && limit < 20);
    QCOMPARE(stacks.all().size(), std::size_t(1));
    const auto layout = tidyLayout(document, stacks);
    const std::vector<double> heights = inputHeights(document, plus, layout);
    QCOMPARE(heights.size(), std::size_t(21));
    const std::set<double> places(heights.begin(), heights.end());
    QCOMPARE(places.size(), limit + 2);  // each of its own, the stack, the next one
    QVERIFY(treeHeight(document, document.root(), stacks) <= choices.height);
    // One more on its own would not fit.
    QVERIFY(treeHeight(document, document.root(), stacksOf(document, choices, limit + 1)) > choices.height);
  }

  /// A node that is moved over the title of a frame does not hide it.
  void titlesOfFramesLieOverNodes() {
    Rag rag(2);
    rag.driver.click(rag.driver.center(rag.document(0)));
    rag.driver.key(Qt::Key_G, Qt::ControlModifier);
    const document::Rect frame = rag.driver.document().frames.at(0).area;
    const NodeId over = rag.document(1);
    const QPoint title = rag.view().mapFromScene(frame.x + 16, frame.y + 12);
    rag.driver.model().change(QStringLiteral("move"), [&](Document& document) {
      document::setPosition(document, over, document::Point{.x = frame.x - 4, .y = frame.y - 4});
    });
    QVERIFY(rag.driver.rect(over).contains(title));
    const QImage before = rag.driver.canvas().grab().toImage();
    rag.driver.model().change(QStringLiteral("name"), [&](Document& document) {
      document.frames.at(0).title = "Quite another title";
    });
    QVERIFY(rag.driver.canvas().grab().toImage() != before);
    rag.driver.click(title);
    QVERIFY(rag.core().selectedArea().kind == AreaRef::Kind::Frame);
  }

  /// A text that needs another line makes its card higher, but the user is typing, not arranging.
  void typingLeavesTheStacksAlone() {
    Rag rag(300, {900, 600});
    const NodeId question = rag.driver.document().at(rag.cross()).children.at(2);
    rag.driver.click(rag.driver.center(rag.root()));
    const Stacks before = rag.core().stacks();
    const QPoint place = rag.driver.rect(rag.root()).topLeft();
    const double zoom = rag.view().zoom();
    QVERIFY(!before.empty());
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += "words ";
      rag.driver.model().change(QStringLiteral("Type"), [&](Document& document) {
        query::Node own = document.at(question).own;
        own.as<query::Message>()->text = text;
        document::setOwn(document, question, own);
      });
      QVERIFY(rag.core().stacks() == before);
      QVERIFY((rag.driver.rect(rag.root()).topLeft() - place).manhattanLength() <= 3);
      QCOMPARE(rag.view().zoom(), zoom);
    }
  }

  /// Several steps one after the other are wider than high.
  void aWideQueryOpensWhole() {
    query::Node inner{query::Message{.role = query::Role::User, .text = "What is the capital?"}};
    for (int step = 0; step < 4; ++step) {
      query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
      cross.children.push_back({query::Message{.role = query::Role::System, .text = "Be brief."}});
      cross.children.push_back(inner);
      inner = {query::Generate{.settings = {.model = "m", .maxTokens = 24, .temperature = 0.0F},
                               .input = query::Node{cross}}};
    }
    CanvasDriver driver(document::fromQuery(inner));
    driver.canvas().window()->resize(1000, 600);
    QCoreApplication::processEvents();
    for (const NodeId id : driver.document().ids()) QVERIFY(driver.canvas().rect().contains(driver.rect(id)));
  }

  void nodesOfDifferentKindsAreNotStackedTogether() {
    const Document document = ragOf(4);
    const NodeId cross = document.at(document.root()).children[0];
    const Stacks stacks = stacksOf(document, {.height = 1, .shown = {}, .opened = {}}, 0);
    for (const NodeId child : document.at(cross).children) QVERIFY(stacks.of(child) == nullptr);
    QCOMPARE(stacks.all().size(), std::size_t(1));
  }

  void draggingAboveAStackReorders() {
    Rag rag(20, {900, 600});
    const std::size_t drawn = rag.stack().first;
    QVERIFY(drawn >= 2);
    const NodeId first = rag.document(0);
    const NodeId stacked = rag.stack().members.back();
    const QPoint from = rag.driver.center(first);
    const int by = rag.driver.center(rag.stack().members.front()).y() + 40 - from.y();
    rag.driver.drag(from, from + QPoint(0, by));
    QCOMPARE(rag.document(19), first);
    QCOMPARE(rag.document(18), stacked);
    QVERIFY(rag.core().rectOf(first) != nullptr);
  }

 private:
  static QString accessibleName(Rag& rag, NodeId id) {
    return rag.driver.accessible(id)->text(QAccessible::Name);
  }
};

SPANSCOPE_TEST(tst_canvas_stacks, TestCanvasStacks, QApplication)
#include "tst_canvas_stacks.moc"
