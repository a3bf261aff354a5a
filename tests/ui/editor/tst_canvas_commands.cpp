// SPDX-License-Identifier: GPL-3.0-or-later
// Every command of the canvas, by key where it has one.
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "tests/ui/editor/recorded_query.h"
#include "ui/commands/command_table.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/alignment.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/node_status.h"
#include "ui/editor/overlays.h"
#include "ui/editor/tidy_layout.h"
#include "ui/words/metric_words.h"

#include <QByteArray>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QObject>
#include <QPainter>
#include <QPointF>
#include <QRect>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QUrl>

#include <iterator>
#include <map>

using namespace spanscope;
using document::Document;
using document::kNoNode;
using document::NodeId;
using spanscope::product_text::says;
using test::CanvasDriver;
using test::nodeAtPath;

namespace {

struct Rag {
  Rag() : driver(test::exampleDocument("rag.json")) {
    const Document& document = driver.document();
    root = document.root();
    cross = document.at(root).children[0];
    plus = document.at(cross).children[1];
    system = document.at(cross).children[0];
    question = document.at(cross).children[2];
    first = document.at(plus).children[0];
    second = document.at(plus).children[1];
    third = document.at(plus).children[2];
  }
  void select(NodeId id) { driver.click(driver.center(id)); }
  std::vector<NodeId> children(NodeId id) { return driver.document().at(id).children; }
  int commands() { return driver.model().undoStack().index(); }
  QString clipboard() { return QGuiApplication::clipboard()->text(); }
  CanvasDriver driver;
  NodeId root, cross, plus, system, question, first, second, third;
};

}  // namespace

class TestCanvasCommands : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyCommandOfTheTableIsThere() {
    Rag rag;
    for (const ui::CommandInfo& info : ui::commandTable()) {
      const bool ours =
          info.id.startsWith(QStringLiteral("node.")) ||
          (info.id.startsWith(QStringLiteral("edit.")) && !info.id.startsWith(QStringLiteral("edit.undo")) &&
           !info.id.startsWith(QStringLiteral("edit.redo")) && info.id != QStringLiteral("edit.history")) ||
          info.id.startsWith(QStringLiteral("view.zoom")) || info.id.startsWith(QStringLiteral("view.fit")) ||
          info.id == QStringLiteral("view.prediction") || info.id == QStringLiteral("view.minimap");
      if (!ours) {
        QVERIFY2(!rag.driver.canvas().canPerform(info.id), qPrintable(info.id));
        QVERIFY2(!rag.driver.canvas().perform(info.id), qPrintable(info.id));
        continue;
      }
      // Without a document nothing breaks.
      ui::Canvas bare;
      QVERIFY2(bare.perform(info.id), qPrintable(info.id));
    }
  }

  void arrowsWalkTheTree() {
    Rag rag;
    rag.select(rag.second);
    rag.driver.key(Qt::Key_Right);
    QCOMPARE(rag.driver.selection(), std::vector{rag.plus});
    rag.driver.key(Qt::Key_Right);
    QCOMPARE(rag.driver.selection(), std::vector{rag.cross});
    rag.driver.key(Qt::Key_Right);
    QCOMPARE(rag.driver.selection(), std::vector{rag.root});
    rag.driver.key(Qt::Key_Right);
    QCOMPARE(rag.driver.selection(), std::vector{rag.root});
    rag.driver.key(Qt::Key_Left);
    rag.driver.key(Qt::Key_Left);
    QCOMPARE(rag.driver.selection(), std::vector{rag.plus});
    rag.driver.key(Qt::Key_Left);
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    rag.driver.key(Qt::Key_Up);
    QCOMPARE(rag.driver.selection(), std::vector{rag.first});
    rag.driver.key(Qt::Key_Down, Qt::ShiftModifier);
    QCOMPARE(rag.driver.selection(), (std::vector{rag.first, rag.second}));
    rag.driver.key(Qt::Key_Escape);
    QVERIFY(rag.driver.selection().empty());
    rag.driver.key(Qt::Key_Down);
    QCOMPARE(rag.driver.selection(), std::vector{rag.root});
  }

  void ctrlArrowsReorder() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.key(Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.second, rag.first, rag.third}));
    rag.driver.key(Qt::Key_Down, Qt::ControlModifier);
    rag.driver.key(Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.second, rag.third, rag.first}));
    rag.driver.key(Qt::Key_Up, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.second, rag.first, rag.third}));
    QCOMPARE(rag.commands(), 3);
  }

  void returnEdits() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.edits, std::vector{rag.first});
  }

  void deleteTakesTheSubtree() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_Delete);
    QCOMPARE(rag.children(rag.cross), (std::vector{rag.system, rag.question}));
    QCOMPARE(rag.driver.document().size(), std::size_t(4));
    // The keyboard goes on beside what is gone.
    QCOMPARE(rag.driver.selection(), std::vector{rag.question});
    QCOMPARE(rag.commands(), 1);
  }

  void ctrlDeleteKeepsTheChain() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_Delete, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.cross),
             (std::vector{rag.system, rag.first, rag.second, rag.third, rag.question}));
    QCOMPARE(rag.commands(), 1);
  }

  void copyIsJson() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_C, Qt::ControlModifier);
    const query::ParseResult read = query::parseJson(rag.clipboard().toStdString());
    QVERIFY(read.query.has_value());
    QCOMPARE(*read.query, document::toTree(rag.driver.document(), rag.plus));
    // Into the cross, after its last input.
    rag.select(rag.question);
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.cross).size(), std::size_t(4));
    const NodeId pasted = rag.children(rag.cross)[3];
    QCOMPARE(document::toTree(rag.driver.document(), pasted), *read.query);
    QCOMPARE(rag.driver.selection(), std::vector{pasted});
  }

  void severalNodesAreAList() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.click(rag.driver.center(rag.third), Qt::ControlModifier);
    rag.driver.key(Qt::Key_X, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus), std::vector{rag.second});
    QVERIFY(rag.clipboard().trimmed().startsWith(QLatin1Char('[')));
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus).size(), std::size_t(3));
    QCOMPARE(rag.commands(), 2);
  }

  void pastingGarbageSaysWhy_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("nothing") << QString();
    QTest::newRow("another operator") << QStringLiteral("{\"no\": 1}");
    QTest::newRow("an empty list") << QStringLiteral("[]");
    QTest::newRow("a list that ends early") << QStringLiteral("[{\"user\": \"a\"}");
    QTest::newRow("one element is wrong") << QStringLiteral("[{\"user\": \"a\"}, {\"user\": 1}]");
  }
  void pastingGarbageSaysWhy() {
    QFETCH(QString, text);
    Rag rag;
    const Document before = rag.driver.document();
    QGuiApplication::clipboard()->setText(text);
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    QVERIFY(rag.driver.document() == before);
    QCOMPARE(rag.commands(), 0);
    QCOMPARE(rag.driver.messages.size(), 1);
    QVERIFY(!rag.driver.messages.first().isEmpty());
  }

  /// Files from a file manager are handled as dropped ones are, with any text beside them.
  void pastedFilesAreHandedOn() {
    Rag rag;
    rag.select(rag.plus);
    auto data = std::make_unique<QMimeData>();
    data->setUrls({QUrl::fromLocalFile(QStringLiteral("/texts/a b.txt")),
                   QUrl(QStringLiteral("https://example.org/c.txt")),
                   QUrl::fromLocalFile(QStringLiteral("/texts/d.txt"))});
    data->setText(QStringLiteral("/texts/a b.txt\n/texts/d.txt"));
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the clipboard takes it.
    QGuiApplication::clipboard()->setMimeData(data.release());
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(rag.driver.dropped,
             (QStringList{QStringLiteral("/texts/a b.txt"), QStringLiteral("/texts/d.txt")}));
    QCOMPARE(rag.commands(), 0);
  }

  void pastedWordsAreAMessage_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("words") << QStringLiteral("just words");
    QTest::newRow("lines") << QStringLiteral("a\nb: c\n- d");
    QTest::newRow("brackets") << QStringLiteral("[1] A footnote");
    QTest::newRow("braces") << QStringLiteral("{name} is asked");
  }
  void pastedWordsAreAMessage() {
    QFETCH(QString, text);
    Rag rag;
    rag.select(rag.plus);
    QGuiApplication::clipboard()->setText(text);
    rag.driver.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(rag.commands(), 1);
    const Document& document = rag.driver.document();
    const auto* message = document.at(rag.children(rag.plus).back()).own.as<query::Message>();
    QVERIFY(message != nullptr);
    QCOMPARE(QString::fromStdString(message->text), text);
    QVERIFY(message->role == query::Role::User);
  }

  void pastingOnAnEmptyCanvas() {
    CanvasDriver driver;
    QGuiApplication::clipboard()->setText(
        QStringLiteral("{\"plus\": [{\"user\": \"a, ] \\\" }\"}, {\"user\": \"b\"}]}"));
    driver.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(driver.document().size(), std::size_t(3));
    QVERIFY(driver.document().root() != kNoNode);
  }

  void duplicateAddsASibling() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.key(Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(rag.children(rag.plus).size(), std::size_t(4));
    QCOMPARE(rag.children(rag.plus)[0], rag.first);
    QCOMPARE(document::toTree(rag.driver.document(), rag.children(rag.plus)[1]),
             document::toTree(rag.driver.document(), rag.first));
  }

  /// A copy that found no place in a parent covers nothing.
  void duplicatedDraftsFindAFreePlace() {
    Rag rag;
    rag.select(rag.root);
    rag.driver.key(Qt::Key_D, Qt::ControlModifier);
    rag.driver.key(Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(rag.driver.document().tops().size(), std::size_t(3));
    const auto layout = ui::tidyLayout(rag.driver.document());
    QCOMPARE(layout.size(), rag.driver.document().size());
    for (auto one = layout.begin(); one != layout.end(); ++one) {
      for (auto other = std::next(one); other != layout.end(); ++other) {
        const document::Rect& a = one->second;
        const document::Rect& b = other->second;
        const bool covers =
            a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
        QVERIFY2(!covers, qPrintable(QStringLiteral("%1 covers %2").arg(one->first).arg(other->first)));
      }
    }
    QCOMPARE(rag.commands(), 2);
  }

  void looksAreSwitched() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_M);
    QVERIFY(rag.driver.document().at(rag.plus).muted);
    rag.driver.key(Qt::Key_M);
    QVERIFY(!rag.driver.document().at(rag.plus).muted);
    rag.driver.key(Qt::Key_H);
    QVERIFY(rag.driver.document().at(rag.plus).collapsed);
    QVERIFY(rag.driver.accessible(rag.plus)->state().collapsed);
    QCOMPARE(rag.driver.accessible(rag.plus)->childCount(), 0);
    rag.driver.key(Qt::Key_H);
    QVERIFY(!rag.driver.document().at(rag.plus).collapsed);
    rag.driver.key(Qt::Key_X);
    QCOMPARE(query::operatorName(rag.driver.document().at(rag.plus).own), std::string("cross"));
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.second, rag.third}));
    rag.driver.key(Qt::Key_X);
    QCOMPARE(query::operatorName(rag.driver.document().at(rag.plus).own), std::string("plus"));
  }

  void replaceKeepsTheChildren() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.key(Qt::Key_R, Qt::ControlModifier);
    QVERIFY(rag.driver.popupIsOpen());
    QVERIFY(!rag.driver.popupItems().contains(QStringLiteral("plus")));
    QVERIFY(!rag.driver.popupItems().contains(QStringLiteral("user")));
    rag.driver.type(QStringLiteral("sequ"));
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(query::operatorName(rag.driver.document().at(rag.plus).own), std::string("seq"));
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, rag.second, rag.third}));
  }

  /// An operator that has no text goes around one that has, so that nothing is lost.
  void replacingATextByAListWrapsIt() {
    Rag rag;
    rag.select(rag.first);
    const query::Node own = rag.driver.document().at(rag.first).own;
    rag.driver.key(Qt::Key_R, Qt::ControlModifier);
    rag.driver.type(QStringLiteral("plus"));
    rag.driver.key(Qt::Key_Return);
    const document::NodeId around = rag.driver.document().at(rag.first).parent;
    QVERIFY(around != rag.plus);
    QCOMPARE(query::operatorName(rag.driver.document().at(around).own), std::string("plus"));
    QVERIFY(rag.driver.document().at(rag.first).own == own);
    QCOMPARE(rag.children(rag.plus), (std::vector{around, rag.second, rag.third}));
  }

  void selectedNodesAreWrapped() {
    Rag rag;
    rag.driver.click(rag.driver.center(rag.third));
    rag.driver.click(rag.driver.center(rag.second), Qt::ControlModifier);
    rag.driver.key(Qt::Key_W);
    QVERIFY(rag.driver.popupIsOpen());
    QVERIFY(!rag.driver.popupItems().contains(QStringLiteral("user")));
    QVERIFY(!rag.driver.popupItems().contains(QStringLiteral("generate")));
    rag.driver.type(QStringLiteral("cross"));
    rag.driver.key(Qt::Key_Return);
    const document::NodeId around = rag.driver.document().at(rag.second).parent;
    QCOMPARE(rag.children(around), (std::vector{rag.second, rag.third}));
    QCOMPARE(rag.children(rag.plus), (std::vector{rag.first, around}));
    QCOMPARE(rag.driver.selection(), std::vector{around});
    // Nodes in different parents cannot be wrapped.
    rag.driver.click(rag.driver.center(rag.first));
    rag.driver.click(rag.driver.center(rag.third), Qt::ControlModifier);
    QVERIFY(!rag.driver.canvas().canPerform(QStringLiteral("node.wrap")));
  }

  /// The strip with the current answer covers no node if an edge of the canvas has room.
  void theAnswerStripCoversNoNode() {
    test::QueryRecorder recorder;
    CanvasDriver driver(test::documentFromJson(R"({"g": {"model": "spnl/spanlet", "input": {"cross": [
        {"system": "You are a helpful assistant. Answer from the documents."},
        {"user": "Priya lives in Cairo. Priya is a baker. The pet of Priya is called Waffles."},
        {"user": "Where does Priya live?"}]}, "max_tokens": 4, "temperature": 0}})"));
    recorder.run(driver.document());
    const std::size_t events = recorder.input().trace->size();
    const auto* strip = driver.canvas().findChild<ui::AnswerStrip*>();
    for (const int height : {226, 260, 400}) {
      driver.canvas().window()->resize(272, height);
      QCoreApplication::processEvents();
      driver.canvas().fit();
      bool wasShown = false;
      for (std::size_t count = 0; count <= events; ++count) {
        ui::ViewInput input = recorder.inputAt(count);
        input.document = driver.model().snapshot();
        driver.setInput(input);
        if (!strip->isVisible()) continue;
        wasShown = true;
        for (const NodeId id : driver.document().ids())
          QVERIFY2(!strip->geometry().intersects(driver.rect(id)), qPrintable(QString::number(height)));
      }
      QVERIFY(wasShown);
    }
  }

  void freezeTakesTheNewestAnswer() {
    test::QueryRecorder recorder;
    Rag rag;
    rag.select(rag.root);
    QVERIFY(!rag.driver.canvas().canPerform(QStringLiteral("node.freeze")));
    recorder.run(rag.driver.document());
    ui::ViewInput input = recorder.input();
    input.document = rag.driver.model().snapshot();
    rag.driver.setInput(input);
    rag.select(rag.root);
    rag.driver.key(Qt::Key_Z);
    const std::string answer = input.state().progress().requests.begin()->second.text;
    QVERIFY(!answer.empty());
    QCOMPARE(rag.driver.document().at(rag.root).frozen, std::vector{answer});
    rag.driver.key(Qt::Key_Z);
    QVERIFY(!rag.driver.document().at(rag.root).isFrozen());
  }

  /// All answers of a repeat, in the order of their copies, and one for each input of a map.
  void freezeTakesAllAnswers_data() {
    QTest::addColumn<QByteArray>("node");
    QTest::addColumn<int>("answers");
    QTest::newRow("repeat") << QByteArray(
                                   R"({"repeat": {"n": 3, "g": {"model": "spnl/spanlet", "input":
        {"user": "Name a city."}, "max_tokens": 6, "temperature": 0.9}}})")
                            << 3;
    QTest::newRow("map") << QByteArray(
                                R"({"map": {"metadata": {"model": "spnl/spanlet", "max_tokens": 6,
        "temperature": 0}, "inputs": ["Where does Priya live?", "Where does Tarek live?"]}})")
                         << 2;
    QTest::newRow("repeat in a repeat")
        << QByteArray(R"({"repeat": {"n": 2, "g": {"model": "spnl/spanlet", "input": {"cross": [
        {"repeat": {"n": 2, "g": {"model": "spnl/spanlet", "input": {"user": "Name a city."}, "max_tokens": 6,
        "temperature": 0.9}}}, {"user": "Go on."}]}, "max_tokens": 4, "temperature": 0}}})")
        << 2;
  }
  void freezeTakesAllAnswers() {
    QFETCH(QByteArray, node);
    QFETCH(int, answers);
    test::QueryRecorder recorder;
    CanvasDriver driver(
        test::documentFromJson((R"({"g": {"model": "spnl/spanlet", "input": {"cross": [)" + node +
                                R"(, {"user": "Which one is best?"}]}, "max_tokens": 4, "temperature": 0}})")
                                   .toStdString()));
    NodeId id = nodeAtPath(driver.document(), "/g/input/cross/0");
    const NodeId within = nodeAtPath(driver.document(), "/g/input/cross/0/repeat/g/input/cross/0");
    if (within != kNoNode) id = within;
    driver.click(driver.center(id));
    QVERIFY(!driver.canvas().canPerform(QStringLiteral("node.freeze")));
    recorder.run(driver.document());
    ui::ViewInput input = recorder.input();
    input.document = driver.model().snapshot();
    driver.setInput(input);
    driver.click(driver.center(id));
    driver.key(Qt::Key_Z);

    std::map<std::uint32_t, std::string> all;
    for (const auto& [copy, request] : ui::requestsOfNode(input, id))
      all[copy] = input.state().progress().requests.at(request).text;
    // Of a repeat that ran several times over, those of the time that is shown: the last one.
    std::vector<std::string> expected;
    for (const auto& [copy, text] : all) expected.push_back(text);
    expected.erase(expected.begin(), expected.end() - answers);
    QCOMPARE(driver.document().at(id).frozen, expected);
    QVERIFY(driver.accessible(id)
                ->text(QAccessible::Name)
                .contains(QStringLiteral("frozen, %1 answers").arg(answers)));
    driver.model().undoStack().undo();
    QVERIFY(!driver.document().at(id).isFrozen());
    driver.model().undoStack().redo();
    QCOMPARE(driver.document().at(id).frozen, expected);
    driver.key(Qt::Key_Z);
    QVERIFY(!driver.document().at(id).isFrozen());
  }

  /// A run that was stopped midway has not given all of them.
  void freezeRefusesWhereAnswersAreMissing() {
    test::QueryRecorder recorder;
    CanvasDriver driver(test::documentFromJson(
        R"({"repeat": {"n": 3, "g": {"model": "spnl/spanlet", "input": {"user": "Name a city."}, "max_tokens": 4,
        "temperature": 0}}})"));
    recorder.run(driver.document());
    const ui::ViewInput whole = recorder.input();
    const NodeId root = driver.document().root();
    // Up to where the first of them has ended, and none of the others.
    const auto ended = [&whole](std::size_t count) {
      std::size_t finished = 0;
      for (const auto& [id, request] : whole.trace->stateAt(count).progress().requests)
        finished += request.outcome ? 1 : 0;
      return finished;
    };
    std::size_t position = 0;
    while (ended(position) == 0) ++position;
    QVERIFY(ended(position) < 3);
    ui::ViewInput input = recorder.inputAt(position);
    input.document = driver.model().snapshot();
    for (const auto& [copy, request] : ui::requestsOfNode(input, root)) {
      if (input.state().progress().requests.at(request).outcome) input.selection.request = request;
    }
    input.selection.nodes = {root};
    driver.setInput(input);
    QVERIFY(driver.canvas().canPerform(QStringLiteral("node.freeze")));
    driver.key(Qt::Key_Z);
    QVERIFY(!driver.document().at(root).isFrozen());
    QCOMPARE(driver.messages.size(), 1);
    QVERIFY2(says(driver.messages.first(), "<answers-not-given|…|3>"), qPrintable(driver.messages.first()));
  }

  void renameInPlace() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.key(Qt::Key_F2);
    // Keys of the canvas are letters here.
    rag.driver.type(QStringLiteral("mx h1"));
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.document().at(rag.first).name, std::string("mx h1"));
    QVERIFY(!rag.driver.document().at(rag.first).muted);
    QVERIFY(rag.driver.canvas().hasFocus());
    rag.driver.key(Qt::Key_F2);
    rag.driver.type(QStringLiteral("no"));
    rag.driver.key(Qt::Key_Escape);
    QCOMPARE(rag.driver.document().at(rag.first).name, std::string("mx h1"));
    QCOMPARE(rag.commands(), 1);
  }

  void disconnectAndMakeRoot() {
    Rag rag;
    rag.select(rag.plus);
    const QRect before = rag.driver.rect(rag.plus);
    rag.driver.key(Qt::Key_Delete, Qt::ShiftModifier);
    QCOMPARE(rag.driver.document().at(rag.plus).parent, kNoNode);
    QCOMPARE(rag.driver.rect(rag.plus).topLeft(), before.topLeft());
    QVERIFY(rag.driver.accessible(rag.plus)->text(QAccessible::Name).contains(QStringLiteral("draft")));
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.make-root")));
    QCOMPARE(rag.driver.document().root(), rag.plus);
  }

  void framesAndNotes() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.key(Qt::Key_G, Qt::ControlModifier);
    QCOMPARE(rag.driver.document().frames.size(), std::size_t(1));
    // It takes its name at once.
    const auto* edit = rag.driver.canvas().findChild<ui::InlineEdit*>();
    QTRY_VERIFY(edit->isVisible() && edit->hasFocus());
    rag.driver.type(QStringLiteral("Documents"));
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.document().frames[0].title, std::string("Documents"));
    rag.driver.key(Qt::Key_F2);
    rag.driver.type(QStringLiteral("Others"));
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.document().frames[0].title, std::string("Others"));
    rag.driver.key(Qt::Key_Delete);
    QVERIFY(rag.driver.document().frames.empty());
    QCOMPARE(rag.driver.document().size(), std::size_t(8));
    rag.driver.key(Qt::Key_N, Qt::ShiftModifier);
    QCOMPARE(rag.driver.document().notes.size(), std::size_t(1));
    const auto* note = rag.driver.canvas().findChild<ui::NoteEdit*>();
    QTRY_VERIFY(note->isVisible() && note->hasFocus());
    rag.driver.key(Qt::Key_Escape);
    rag.driver.key(Qt::Key_Delete);
    QVERIFY(rag.driver.document().notes.empty());
  }

  void notesHoldSeveralLines() {
    Rag rag;
    rag.driver.key(Qt::Key_N, Qt::ShiftModifier);
    const auto text = [&] { return rag.driver.document().notes.at(0).text; };
    const auto edit = [&](const QString& first, const QString& second) {
      rag.driver.key(Qt::Key_F2);
      rag.driver.type(first);
      rag.driver.key(Qt::Key_Return);
      rag.driver.type(second);
    };
    edit(QStringLiteral("Why two documents?"), QStringLiteral("So that the order can change."));
    rag.driver.key(Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(text(), std::string("Why two documents?\nSo that the order can change."));
    const int commands = rag.driver.model().undoStack().count();
    edit(QStringLiteral("no"), QStringLiteral("no"));
    rag.driver.key(Qt::Key_Escape);
    QCOMPARE(text(), std::string("Why two documents?\nSo that the order can change."));
    QCOMPARE(rag.driver.model().undoStack().count(), commands);
  }

  void tidyForgetsPositions() {
    Document placed = test::exampleDocument("rag.json");
    for (const NodeId id : placed.ids())
      document::setPosition(placed, id, document::Point{.x = id * 10.0, .y = 5});
    CanvasDriver driver(placed);
    const NodeId root = driver.document().root();
    driver.canvas().reveal(root);
    driver.key(Qt::Key_L, Qt::ControlModifier);
    QVERIFY(!driver.document().at(root).position);
    QVERIFY(driver.document().at(driver.document().at(root).children[0]).position);
    driver.key(Qt::Key_Escape);
    driver.key(Qt::Key_L, Qt::ControlModifier);
    for (const NodeId id : driver.document().ids()) QVERIFY(!driver.document().at(id).position);
    QVERIFY(!driver.canvas().canPerform(QStringLiteral("node.tidy")));
  }

  void selectedNodesAreLinedUp_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<std::vector<document::Point>>("places");
    using Places = std::vector<document::Point>;
    // Cards of 240 × 80 at (0, 0), (280, 100) and (600, 300).
    QTest::newRow("left") << QStringLiteral("node.align-left") << Places{{0, 0}, {0, 100}, {0, 300}};
    QTest::newRow("center") << QStringLiteral("node.align-center")
                            << Places{{300, 0}, {300, 100}, {300, 300}};
    QTest::newRow("right") << QStringLiteral("node.align-right") << Places{{600, 0}, {600, 100}, {600, 300}};
    QTest::newRow("top") << QStringLiteral("node.align-top") << Places{{0, 0}, {280, 0}, {600, 0}};
    QTest::newRow("middle") << QStringLiteral("node.align-middle")
                            << Places{{0, 150}, {280, 150}, {600, 150}};
    QTest::newRow("bottom") << QStringLiteral("node.align-bottom")
                            << Places{{0, 300}, {280, 300}, {600, 300}};
    QTest::newRow("across") << QStringLiteral("node.distribute-across")
                            << Places{{0, 0}, {300, 100}, {600, 300}};
    QTest::newRow("down") << QStringLiteral("node.distribute-down") << Places{{0, 0}, {280, 150}, {600, 300}};
  }

  /// Align and distribute are one step each, and need enough nodes.
  void selectedNodesAreLinedUp() {
    QFETCH(QString, command);
    QFETCH(std::vector<document::Point>, places);
    Document document;
    std::vector<NodeId> nodes;
    for (const document::Point at : {document::Point{0, 0}, {280, 100}, {600, 300}}) {
      nodes.push_back(document::addNode(document,
                                        query::Node{query::Message{.role = query::Role::User,
                                                                   .text = "Two lines of text, so that "
                                                                           "every card is as high."}},
                                        at));
    }
    CanvasDriver driver(document);
    const document::Document before = driver.document();
    driver.canvas().reveal(nodes[0]);
    QVERIFY(!driver.canvas().canPerform(command));
    driver.key(Qt::Key_A, Qt::ControlModifier);
    QVERIFY(driver.canvas().perform(command));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      QCOMPARE(driver.document().at(nodes[i]).position, places[i]);
    QCOMPARE(driver.model().undoStack().index(), 1);
    driver.model().undoStack().undo();
    QVERIFY(driver.document() == before);
  }

  /// Nodes of a column would cover each other at one height, so they stay, and the reason is said.
  void nodesNeverCoverEachOther() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.click(rag.driver.center(rag.second), Qt::ControlModifier);
    rag.driver.click(rag.driver.center(rag.third), Qt::ControlModifier);
    for (const char* command : {"node.align-top", "node.align-middle", "node.align-bottom"}) {
      rag.driver.messages.clear();
      QVERIFY(rag.driver.canvas().perform(QLatin1String(command)));
      QCOMPARE(rag.driver.messages.size(), 1);
      QCOMPARE(rag.commands(), 0);
    }
  }

  /// A stack has no place that could be lined up.
  void stacksThatStaySaySo() {
    test::CanvasDriver driver(test::exampleDocument("rag.json"));
    driver.canvas().window()->resize(600, 240);
    const auto& core = *driver.canvas().findChild<ui::CanvasCore*>();
    QTRY_VERIFY(!core.stacks().empty());
    driver.key(Qt::Key_A, Qt::ControlModifier);
    const document::Document before = driver.document();
    driver.canvas().perform(QStringLiteral("node.align-right"));
    QVERIFY(!driver.messages.isEmpty());
  }

  /// Arrows move the chosen reroute point, in one step of the history, and walk the tree after Escape.
  void reroutePointsMoveByKeys() {
    Rag rag;
    rag.select(rag.system);
    QVERIFY(!rag.driver.canvas().canPerform(QStringLiteral("node.next-bend")));
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.reroute")));
    const auto bend = [&] { return rag.driver.document().at(rag.system).bends.at(0); };
    const document::Point before = bend();
    rag.driver.key(Qt::Key_B);
    rag.driver.key(Qt::Key_Right);
    rag.driver.key(Qt::Key_Right);
    rag.driver.key(Qt::Key_Up, Qt::ShiftModifier);
    QCOMPARE(bend().x, before.x + 2 * ui::kGridStep);
    QCOMPARE(bend().y, before.y - 1);
    QCOMPARE(rag.driver.selection(), std::vector{rag.system});
    QCOMPARE(rag.commands(), 2);
    rag.driver.key(Qt::Key_Escape);
    QCOMPARE(rag.driver.selection(), std::vector{rag.system});
    rag.driver.key(Qt::Key_Right);
    QCOMPARE(rag.driver.selection(), std::vector{rag.cross});
    rag.driver.model().undoStack().undo();
    QCOMPARE(bend(), before);
  }

  /// A point that is far from everything does not make the query too small to read.
  void aFarReroutePointIsNotFitted() {
    Document document = test::exampleDocument("rag.json");
    const NodeId system = nodeAtPath(document, "/g/input/cross/0");
    document::setBends(document, system, {{.x = 90000, .y = 0}});
    CanvasDriver driver(document);
    QVERIFY(driver.canvas().perform(QStringLiteral("view.fit-all")));
    QVERIFY2(driver.canvas().place().zoom > 0.2, qPrintable(QString::number(driver.canvas().place().zoom)));
  }

  /// What is typed into a note is in the document at once, so that autosave has it.
  void aNoteIsInTheDocumentWhileItIsTyped() {
    Rag rag;
    rag.driver.key(Qt::Key_N, Qt::ShiftModifier);
    const auto* note = rag.driver.canvas().findChild<ui::NoteEdit*>();
    QTRY_VERIFY(note->isVisible() && note->hasFocus());
    rag.driver.type(QStringLiteral("half"));
    QCOMPARE(rag.driver.document().notes.at(0).text, std::string("half"));
  }

  /// An operator that fits not says why. Several selected nodes are wrapped together.
  void severalNodesAreWrappedTogether() {
    Rag rag;
    rag.select(rag.first);
    rag.driver.click(rag.driver.center(rag.second), Qt::ControlModifier);
    rag.driver.addByKeys(QStringLiteral("cross"));
    const NodeId added = rag.driver.selection().front();
    QCOMPARE(rag.children(added), (std::vector{rag.first, rag.second}));
    QCOMPARE(rag.children(rag.plus), (std::vector{added, rag.third}));
    rag.driver.model().undoStack().undo();
    rag.select(rag.first);
    rag.driver.click(rag.driver.center(rag.question), Qt::ControlModifier);
    rag.driver.key(Qt::Key_Tab);
    QVERIFY(!rag.driver.popupIsOpen());
    QCOMPARE(rag.driver.messages.size(), 1);
  }

  void whatDoesNotFitSaysWhy() {
    Rag rag;
    const ui::AddPlace above = ui::placeFor(rag.driver.document(), rag.root);
    QVERIFY(ui::whyUnfit(rag.driver.document(), above, "plus").isEmpty());
    QVERIFY(!ui::whyUnfit(rag.driver.document(), above, "system").isEmpty());
    rag.select(rag.root);
    rag.driver.key(Qt::Key_Tab);
    rag.driver.type(QStringLiteral("system"));
    const auto* popup = rag.driver.canvas().findChild<QWidget*>(QStringLiteral("addPopup"));
    QStringList said;
    for (const QLabel* label : popup->findChildren<QLabel*>()) said += label->text();
    QVERIFY(said.contains(ui::whyUnfit(rag.driver.document(), above, "system")));
    rag.driver.key(Qt::Key_Escape);
  }

  /// Where the top of a tree moves, what is selected below it goes to its own place.
  void aTreeIsLinedUpWithItsTop() {
    Rag rag;
    const auto& core = *rag.driver.canvas().findChild<ui::CanvasCore*>();
    rag.driver.canvas().reveal(rag.root);
    rag.select(rag.root);
    rag.driver.click(rag.driver.center(rag.system), Qt::ControlModifier);
    QVERIFY(rag.driver.canvas().perform(QStringLiteral("node.align-left")));
    QCOMPARE(core.rectOf(rag.root)->x, core.rectOf(rag.system)->x);
    QCOMPARE(rag.commands(), 1);
  }

  /// Letters that are typed after a message was added are its text, from the first on. Keys of the window
  /// stay what they are.
  void typingAfterAddingWritesTheText() {
    Rag rag;
    rag.select(rag.plus);
    rag.driver.addByKeys(QStringLiteral("user"));
    const NodeId added = rag.driver.selection().front();
    QCoreApplication::processEvents();
    rag.driver.type(QStringLiteral("mute me"));
    const auto text = [&] { return *query::textOf(rag.driver.document().at(added).own); };
    QCOMPARE(text(), std::string("mute me"));
    QVERIFY(!rag.driver.document().at(added).muted);
    QCOMPARE(rag.commands(), 2);
    rag.driver.key(Qt::Key_Escape);
    QVERIFY(rag.driver.canvas().hasFocus());
    QCOMPARE(text(), std::string("mute me"));
    rag.driver.key(Qt::Key_M);
    QVERIFY(rag.driver.document().at(added).muted);
    for (int i = 0; i < 3; ++i) rag.driver.model().undoStack().undo();
    QVERIFY(!rag.driver.document().contains(added));
    // What is undone while it is written is not written again.
    rag.driver.addByKeys(QStringLiteral("user"));
    QCoreApplication::processEvents();
    rag.driver.type(QStringLiteral("x"));
    rag.driver.model().undoStack().undo();
    rag.driver.model().undoStack().undo();
    QVERIFY(rag.driver.canvas().findChild<ui::NoteEdit*>()->isHidden());
  }

  void findGoesFromHitToHit() {
    Rag rag;
    rag.driver.key(Qt::Key_F, Qt::ControlModifier);
    rag.driver.type(QStringLiteral("TAREK"));
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.selection(), std::vector{rag.question});
    rag.driver.key(Qt::Key_Return);
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    rag.driver.key(Qt::Key_Escape);
    QVERIFY(rag.driver.canvas().hasFocus());
    QCOMPARE(rag.commands(), 0);
  }

  void revealOpensWhatIsCollapsed() {
    Rag rag;
    rag.select(rag.cross);
    rag.driver.key(Qt::Key_H);
    rag.driver.canvas().setPlace({.zoom = 1, .center = {5000, 5000}});
    rag.driver.canvas().reveal(rag.second);
    QVERIFY(!rag.driver.document().at(rag.cross).collapsed);
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    QVERIFY(rag.driver.canvas().rect().contains(rag.driver.rect(rag.second)));
  }

  void zoomAndFit() {
    Rag rag;
    rag.driver.canvas().setPlace({.zoom = 0.5, .center = {10, 20}});
    QCOMPARE(rag.driver.canvas().place().zoom, 0.5);
    QVERIFY((rag.driver.canvas().place().center - QPointF(10, 20)).manhattanLength() < 4);
    rag.driver.key(Qt::Key_0, Qt::ControlModifier);
    QCOMPARE(rag.driver.canvas().place().zoom, 1.0);
    rag.driver.key(Qt::Key_Minus, Qt::ControlModifier);
    QVERIFY(rag.driver.canvas().place().zoom < 1);
    rag.driver.key(Qt::Key_Home);
    for (const NodeId id : rag.driver.document().ids()) {
      QVERIFY(rag.driver.canvas().rect().contains(rag.driver.rect(id)));
    }
    rag.select(rag.first);
    rag.driver.key(Qt::Key_F);
    QVERIFY((rag.driver.center(rag.first) - rag.driver.canvas().rect().center()).manhattanLength() < 6);
  }

  void nodesAreAccessible() {
    test::QueryRecorder recorder;
    Document document = test::exampleDocument("rag.json");
    const NodeId plus = nodeAtPath(document, "/g/input/cross/1") != kNoNode
                            ? nodeAtPath(document, "/g/input/cross/1")
                            : document.at(document.at(document.root()).children[0]).children[1];
    const NodeId first = document.at(plus).children[0];
    document::setName(document, first, "document 1");
    recorder.run(document);
    recorder.run(document);
    CanvasDriver driver(document);
    ui::ViewInput input = recorder.input();
    input.document = driver.model().snapshot();
    driver.setInput(input);
    QAccessibleInterface* node = driver.accessible(first);
    QVERIFY(node != nullptr && node->isValid());
    const QString name = node->text(QAccessible::Name);
    QVERIFY2(name.startsWith(QStringLiteral("user, document 1, 18 tokens, %1, document share ")
                                 .arg(ui::metricPhrase("cached-tokens", QStringLiteral("100\u00A0%")))),
             qPrintable(name));
    QCOMPARE(node->role(), QAccessible::TreeItem);
    QCOMPARE(node->parent(), driver.accessible(plus));
    QCOMPARE(driver.accessible(plus)->childCount(), 3);
    QCOMPARE(driver.accessible(plus)->indexOfChild(node), 0);
    driver.click(driver.center(first));
    QVERIFY(node->state().selected);
    QVERIFY(node->state().focused);
    QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(&driver.canvas());
    QCOMPARE(canvas->role(), QAccessible::Tree);
    const QRect at = node->rect();
    QCOMPARE(canvas->childAt(at.center().x(), at.center().y()), node);
  }

  void theSelectionFromOutsideIsTaken() {
    Rag rag;
    ui::ViewInput input;
    input.document = rag.driver.model().snapshot();
    input.trace = std::make_shared<ui::TraceStore>();
    input.selection.nodes = {rag.second};
    rag.driver.setInput(input);
    QCOMPARE(rag.driver.selection(), std::vector{rag.second});
    QVERIFY(rag.driver.selections.empty());
    rag.select(rag.first);
    // An input that is older than the click does not undo it.
    rag.driver.setInput(input);
    QCOMPARE(rag.driver.selection(), std::vector{rag.first});
  }

  void paintsIntoAPicture() {
    test::QueryRecorder recorder;
    Rag rag;
    recorder.run(rag.driver.document());
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    for (const ui::Scheme scheme : {ui::Scheme::Light, ui::Scheme::Dark}) {
      ui::ViewInput input = recorder.input();
      input.theme = ui::Theme(scheme);
      input.document = rag.driver.model().snapshot();
      rag.driver.setInput(input);
      QImage image(900, 600, QImage::Format_ARGB32_Premultiplied);
      QPainter painter(&image);
      rag.driver.canvas().paintTo(painter, image.size());
      painter.end();
      QCOMPARE(image.pixelColor(2, 2), input.theme.color(ui::Role::Canvas));
      bool drawn = false;
      for (int x = 0; x < image.width() && !drawn; ++x) {
        drawn = image.pixelColor(x, 300) != input.theme.color(ui::Role::Canvas);
      }
      QVERIFY(drawn);
      if (folder.isEmpty()) continue;
      const QString suffix =
          scheme == ui::Scheme::Light ? QStringLiteral("-light.png") : QStringLiteral("-dark.png");
      image.save(folder + QStringLiteral("/canvas") + suffix);
      // The whole widget, with what can be seen only in it.
      CanvasDriver judge(test::exampleDocument("judge-2.json"));
      recorder.run(judge.document());
      input = recorder.input();
      input.theme = ui::Theme(scheme);
      input.document = judge.model().snapshot();
      input.paths = {*input.paths.rbegin()};
      judge.setInput(input);
      const NodeId last = judge.document().subtree(judge.document().root()).back();
      judge.click(judge.center(last));
      judge.key(Qt::Key_M);
      judge.key(Qt::Key_G, Qt::ControlModifier);
      judge.click(judge.emptyPoint());
      judge.addByKeys(QStringLiteral("plus"));
      judge.click(judge.center(
          judge.document().at(judge.document().at(judge.document().root()).children[0]).children[0]));
      judge.key(Qt::Key_Tab);
      judge.canvas().grab().save(folder + QStringLiteral("/widget") + suffix);
    }
  }
};

SPANSCOPE_TEST(tst_canvas_commands, TestCanvasCommands, QApplication)
#include "tst_canvas_commands.moc"
