// SPDX-License-Identifier: GPL-3.0-or-later
// Each edit on a small document, what it refuses, and long random sequences.
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/query/random_query.h"
#include "tests/engine/workbench/document/random_document.h"
#include "tests/support/test_program.h"
#include "ui/document/document_model.h"

#include <QTest>

#include <functional>

using namespace spanscope;
using namespace spanscope::document;
using namespace spanscope::ui;

namespace {

query::Node user(std::string text) {
  return {query::Message{.role = query::Role::User, .text = std::move(text)}};
}

query::Node join(query::JoinKind kind, std::vector<query::Node> children) {
  return {query::Join{.kind = kind, .children = std::move(children)}};
}

/// g(cross(a, plus(b, c), zip(d, e))) and a tree of its own, user x. Ids by name below.
struct Sample {
  Document document;
  NodeId g = 0, cross = 0, a = 0, plus = 0, b = 0, c = 0, zip = 0, d = 0, e = 0, x = 0;

  Sample() {
    query::Generate generate;
    generate.settings = {.model = std::string("m"), .maxTokens = {}, .temperature = {}};
    generate.input = join(query::JoinKind::Cross, {user("a"),
                                                   join(query::JoinKind::Plus, {user("b"), user("c")}),
                                                   {query::Zip{.first = user("d"), .second = user("e")}}});
    document = fromQuery({generate});
    x = addTree(document, user("x"));
    g = document.root();
    cross = document.at(g).children.at(0);
    a = document.at(cross).children.at(0);
    plus = document.at(cross).children.at(1);
    zip = document.at(cross).children.at(2);
    b = document.at(plus).children.at(0);
    c = document.at(plus).children.at(1);
    d = document.at(zip).children.at(0);
    e = document.at(zip).children.at(1);
  }
};

using Ids = std::vector<NodeId>;

}  // namespace

class TestDocumentEdits : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void refusalsChangeNothing_data();
  void refusalsChangeNothing();
  void addsOperators();
  void connectsAndDisconnects();
  void movesWithinAParent();
  void insertsAbove();
  void insertsAboveTheRoot();
  void movesChildren();
  void removesSubtrees();
  void removesKeepingTheChain();
  void replacesOperators();
  void freezesWhatAnswers();
  void duplicates();
  void picksTopmost();
  void makesRoot();
  void declaresParameters();
  void randomSequences();
};

void TestDocumentEdits::refusalsChangeNothing_data() {
  using Edit = std::function<bool(Sample&)>;
  QTest::addColumn<Edit>("edit");
  const auto row = [](const char* name, const Edit& edit) { QTest::newRow(name) << edit; };
  row("a node into itself", [](Sample& s) { return document::connect(s.document, s.plus, {s.plus, 0}); });
  row("a node below itself", [](Sample& s) { return document::connect(s.document, s.cross, {s.plus, 0}); });
  row("the root below itself", [](Sample& s) { return document::connect(s.document, s.g, {s.plus, 0}); });
  row("an input that is taken", [](Sample& s) { return document::connect(s.document, s.x, {s.g, 0}); });
  row("an input that is not there", [](Sample& s) { return document::connect(s.document, s.x, {s.zip, 2}); });
  row("a child of a leaf", [](Sample& s) { return document::connect(s.document, s.x, {s.a, 0}); });
  row("an index beyond the end", [](Sample& s) { return document::connect(s.document, s.x, {s.plus, 3}); });
  row("an index beyond the end once moved", [](Sample& s) {
    return document::connect(s.document, s.b, {s.plus, 2});
  });
  row("a child that is not there", [](Sample& s) { return document::connect(s.document, 999, {s.plus, 0}); });
  row("a parent that is not there", [](Sample& s) { return document::connect(s.document, s.x, {999, 0}); });
  row("disconnect a top", [](Sample& s) { return document::disconnect(s.document, s.x); });
  row("disconnect nothing", [](Sample& s) { return document::disconnect(s.document, 999); });
  row("insert a leaf above", [](Sample& s) { return insertAbove(s.document, s.b, s.x); });
  row("insert an ancestor above", [](Sample& s) { return insertAbove(s.document, s.b, s.cross); });
  row("insert above itself", [](Sample& s) { return insertAbove(s.document, s.plus, s.plus); });
  row("insert what has a parent", [](Sample& s) { return insertAbove(s.document, s.a, s.plus); });
  row("move in a zip", [](Sample& s) { return moveChild(s.document, s.zip, 0, 1); });
  row("move beyond the end", [](Sample& s) { return moveChild(s.document, s.plus, 0, 2); });
  row("move to where it is", [](Sample& s) { return moveChild(s.document, s.plus, 1, 1); });
  row("swap beyond the end", [](Sample& s) { return swapChildren(s.document, s.plus, 0, 2); });
  row("swap with itself", [](Sample& s) { return swapChildren(s.document, s.plus, 0, 0); });
  row("fields of another operator", [](Sample& s) { return setOwn(s.document, s.a, {query::Print{}}); });
  row("fields of nothing", [](Sample& s) { return setOwn(s.document, 999, user("")); });
  row("an operator that is none", [](Sample& s) { return replaceOperator(s.document, s.a, "nonsense"); });
  row("replace nothing", [](Sample& s) { return replaceOperator(s.document, 999, "user"); });
  row("a root that is not there", [](Sample& s) { return makeRoot(s.document, 999); });
}

void TestDocumentEdits::refusalsChangeNothing() {
  QFETCH(std::function<bool(Sample&)>, edit);
  Sample sample;
  const Document before = sample.document;
  QVERIFY(!edit(sample));
  QVERIFY(sample.document == before);
}

void TestDocumentEdits::addsOperators() {
  for (const std::string& op : operatorNames()) {
    Document document;
    const NodeId id = addNode(document, makeOperator(op), Point{.x = 1, .y = 2});
    QCOMPARE(testing::brokenLinks(document), std::string());
    QCOMPARE(std::string(query::operatorName(document.at(id).own)), op);
    QCOMPARE(document.root(), id);
    QVERIFY(document.at(id).position == (Point{.x = 1, .y = 2}));
  }
}

void TestDocumentEdits::connectsAndDisconnects() {
  Sample s;
  QVERIFY(document::connect(s.document, s.x, {s.plus, 1}));
  QCOMPARE(s.document.at(s.plus).children, (Ids{s.b, s.x, s.c}));
  QCOMPARE(s.document.at(s.x).parent, s.plus);
  QVERIFY(document::disconnect(s.document, s.d));
  QCOMPARE(s.document.at(s.zip).children, (Ids{kNoNode, s.e}));
  QCOMPARE(s.document.tops(), (Ids{s.g, s.d}));
  QVERIFY(document::connect(s.document, s.plus, {s.zip, 0}));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.zip}));
  QVERIFY(s.document.isAncestor(s.zip, s.x));
  QCOMPARE(testing::brokenLinks(s.document), std::string());
}

void TestDocumentEdits::movesWithinAParent() {
  Sample s;
  QVERIFY(document::connect(s.document, s.a, {s.cross, 2}));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.plus, s.zip, s.a}));
  QVERIFY(document::connect(s.document, s.a, {s.cross, 0}));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.plus, s.zip}));
}

void TestDocumentEdits::insertsAbove() {
  Sample s;
  const NodeId seq = addNode(s.document, makeOperator("seq"));
  QVERIFY(insertAbove(s.document, s.plus, seq));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, seq, s.zip}));
  QCOMPARE(s.document.at(seq).children, (Ids{s.plus}));
  const NodeId monad = addNode(s.document, makeOperator("monad"));
  QVERIFY(insertAbove(s.document, s.e, monad));
  QCOMPARE(s.document.at(s.zip).children, (Ids{s.d, monad}));
  QCOMPARE(testing::brokenLinks(s.document), std::string());
}

void TestDocumentEdits::insertsAboveTheRoot() {
  Sample s;
  const NodeId seq = addNode(s.document, makeOperator("seq"));
  QVERIFY(insertAbove(s.document, s.g, seq));
  QCOMPARE(s.document.root(), seq);
  QVERIFY(insertAbove(s.document, s.x, addNode(s.document, makeOperator("monad"))));
  QCOMPARE(s.document.root(), seq);
  QCOMPARE(testing::brokenLinks(s.document), std::string());
}

void TestDocumentEdits::movesChildren() {
  Sample s;
  QVERIFY(moveChild(s.document, s.cross, 0, 2));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.plus, s.zip, s.a}));
  QVERIFY(moveChild(s.document, s.cross, 2, 0));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.plus, s.zip}));
  QVERIFY(swapChildren(s.document, s.zip, 0, 1));
  QCOMPARE(s.document.at(s.zip).children, (Ids{s.e, s.d}));
}

void TestDocumentEdits::removesSubtrees() {
  Sample s;
  removeSubtrees(s.document, {s.b, s.plus, s.d, 999});
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.zip}));
  QCOMPARE(s.document.at(s.zip).children, (Ids{kNoNode, s.e}));
  QVERIFY(!s.document.contains(s.c));
  QCOMPARE(testing::brokenLinks(s.document), std::string());
  removeSubtrees(s.document, {s.g});
  QCOMPARE(s.document.root(), s.x);
  removeSubtrees(s.document, {s.x});
  QCOMPARE(s.document.size(), std::size_t{0});
  QCOMPARE(s.document.root(), kNoNode);
}

void TestDocumentEdits::removesKeepingTheChain() {
  Sample s;
  removeKeepingChain(s.document, {s.plus});
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.b, s.c, s.zip}));
  removeKeepingChain(s.document, {s.g});
  QCOMPARE(s.document.root(), s.cross);
  removeKeepingChain(s.document, {s.zip, s.cross});
  QCOMPARE(testing::brokenLinks(s.document), std::string());
  QCOMPARE(s.document.size(), std::size_t{6});
}

void TestDocumentEdits::replacesOperators() {
  Sample s;
  QVERIFY(replaceOperator(s.document, s.plus, "cross"));
  QCOMPARE(s.document.at(s.plus).children, (Ids{s.b, s.c}));
  QVERIFY(replaceOperator(s.document, s.a, "system"));
  QCOMPARE(s.document.at(s.a).own.as<query::Message>()->text, std::string("a"));
  QVERIFY(replaceOperator(s.document, s.g, "repeat"));
  QCOMPARE(s.document.at(s.g).own.as<query::Repeat>()->generate.settings.model, std::string("m"));
  QCOMPARE(s.document.at(s.g).children, (Ids{s.cross}));
  QVERIFY(replaceOperator(s.document, s.cross, "zip"));
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.plus}));
  QCOMPARE(s.document.at(s.zip).parent, kNoNode);
  QVERIFY(replaceOperator(s.document, s.plus, "user"));
  QCOMPARE(s.document.at(s.b).parent, kNoNode);
  QCOMPARE(s.document.root(), s.g);
  QCOMPARE(testing::brokenLinks(s.document), std::string());
}

void TestDocumentEdits::freezesWhatAnswers() {
  using Answers = std::vector<std::string>;
  Sample s;
  setFrozen(s.document, s.a, {"not a reply"});
  QVERIFY(!s.document.at(s.a).isFrozen());
  setFrozen(s.document, s.g, {"one", "too many"});
  QVERIFY(!s.document.at(s.g).isFrozen());
  setFrozen(s.document, s.g, {"one"});
  QCOMPARE(s.document.at(s.g).frozen, (Answers{"one"}));
  // The answers were those of another operator.
  QVERIFY(replaceOperator(s.document, s.g, "repeat"));
  QVERIFY(!s.document.at(s.g).isFrozen());
  setFrozen(s.document, s.g, {"one", "two"});
  QVERIFY(replaceOperator(s.document, s.g, "repeat"));
  QCOMPARE(s.document.at(s.g).frozen, (Answers{"one", "two"}));
  setFrozen(s.document, s.g, {});
  QVERIFY(!s.document.at(s.g).isFrozen());
}

void TestDocumentEdits::duplicates() {
  Sample s;
  setPosition(s.document, s.x, Point{.x = 10, .y = 20});
  setName(s.document, s.b, "first");
  const Ids copies = duplicate(s.document, {s.plus, s.b, s.x, s.d});
  QCOMPARE(copies.size(), std::size_t{3});
  QCOMPARE(s.document.at(s.cross).children, (Ids{s.a, s.plus, copies[0], s.zip}));
  QCOMPARE(toTree(s.document, copies[0]), toTree(s.document, s.plus));
  QCOMPARE(s.document.at(s.document.at(copies[0]).children[0]).name, std::string("first"));
  QCOMPARE(s.document.at(copies[1]).parent, kNoNode);
  QVERIFY(s.document.at(copies[2]).position != s.document.at(s.x).position);
  QCOMPARE(testing::brokenLinks(s.document), std::string());
}

void TestDocumentEdits::picksTopmost() {
  const Sample s;
  QCOMPARE(topmost(s.document, {s.e, s.x, s.b, s.plus, 999, s.a}), (Ids{s.a, s.plus, s.e, s.x}));
}

void TestDocumentEdits::makesRoot() {
  Sample s;
  QVERIFY(makeRoot(s.document, s.x));
  QCOMPARE(s.document.root(), s.x);
  QCOMPARE(s.document.tops(), (Ids{s.x, s.g}));
  QVERIFY(makeRoot(s.document, s.b));
  QCOMPARE(s.document.root(), s.g);
}

void TestDocumentEdits::declaresParameters() {
  Document document =
      fromQuery(query::Node{query::Message{.role = query::Role::User, .text = "{n} {topic}"}});
  QVERIFY(declarationOf(document, "n") == nullptr);
  declareParameter(document, {.name = "n", .kind = query::ParameterKind::Count, .defaultValue = "3"});
  declareParameter(document,
                   {.name = "topic", .kind = {}, .defaultValue = {}, .description = "of the e-mail"});
  QCOMPARE(document.declarations.size(), std::size_t{2});
  QVERIFY(declarationOf(document, "n")->defaultValue == std::string("3"));
  // A value comes before the default.
  QCOMPARE(effectiveValues(document).at("n"), std::string("3"));
  document.parameters.emplace("n", "5");
  QCOMPARE(effectiveValues(document).at("n"), std::string("5"));
  QVERIFY(!effectiveValues(document).contains("topic"));
  declareParameter(document, {.name = "n", .kind = {}, .defaultValue = "4"});
  QCOMPARE(document.declarations.size(), std::size_t{2});
  QVERIFY(!declarationOf(document, "n")->kind);
  // What says nothing is no declaration.
  declareParameter(document, {.name = "n", .kind = {}, .defaultValue = {}});
  QVERIFY(declarationOf(document, "n") == nullptr);
  QCOMPARE(document.declarations.size(), std::size_t{1});
}

void TestDocumentEdits::randomSequences() {
  const std::uint32_t seed = query::testing::testSeed(7101);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  for (int sequence = 0; sequence < 20; ++sequence) {
    DocumentModel model(fromQuery(query::testing::randomQuery(random, 4)));
    const Document first = model.document();
    std::vector<std::shared_ptr<const Document>> states{model.snapshot()};
    for (int step = 0; step < 150; ++step) {
      if (!model.change(QStringLiteral("edit"),
                        [&](Document& document) { testing::randomEdit(document, random); }))
        continue;
      states.push_back(model.snapshot());
      const std::string broken = testing::brokenLinks(model.document());
      QVERIFY2(broken.empty(), broken.c_str());
    }
    const Document last = model.document();
    QCOMPARE(model.undoStack().count(), static_cast<int>(states.size()) - 1);
    // Undoing and redoing the query leaves the settings as they are, and the other way round.
    const auto withSettings = [](Document document, const RunSettings& settings) {
      document.settings = settings;
      return document;
    };
    for (std::size_t i = states.size(); i-- > 0;) {
      QVERIFY(model.document() == withSettings(*states[i], last.settings));
      model.undoStack().undo();
    }
    while (model.settingsUndoStack().canUndo()) {
      model.settingsUndoStack().undo();
      QVERIFY(model.document() == withSettings(first, model.document().settings));
    }
    QVERIFY(model.document() == first);
    for (const auto& state : states) {
      QVERIFY(model.document() == withSettings(*state, first.settings));
      model.undoStack().redo();
    }
    while (model.settingsUndoStack().canRedo()) model.settingsUndoStack().redo();
    QVERIFY(model.document() == last);
  }
}

SPANSCOPE_TEST(tst_document_edits, TestDocumentEdits, QCoreApplication)
#include "tst_document_edits.moc"
