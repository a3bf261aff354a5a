// SPDX-License-Identifier: GPL-3.0-or-later
// Documents from queries and back, and what stays when a query is replaced.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/query/random_query.h"
#include "tests/engine/workbench/document/random_document.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTest>

using namespace spanscope;
using namespace spanscope::document;

namespace {

query::Node parse(std::string_view text) {
  const query::ParseResult result = query::parseJson(text);
  if (!result.query) qFatal("%s", result.diagnostics.front().located("query").c_str());
  return *result.query;
}

NodeId childOf(const Document& document, NodeId id, std::size_t index) {
  return document.at(id).children.at(index);
}

}  // namespace

class TestDocumentQuery : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void roundTripsExamples();
  void roundTripsRandomTrees();
  void namesEveryPath();
  void leavesOutMutedAndFrozen();
  void frozenAnswersRunNothing();
  void answersOfRepeatsAndMapsAreAPlus_data();
  void answersOfRepeatsAndMapsAreAPlus();
  void tellsWhatIsIncomplete();
  void replaceKeepsWhatStays();
  void replaceFollowsAMove();
  void replaceKeepsServers_data();
  void replaceKeepsServers();
  void replaceWithTheSameChangesNothing();
  void replaceIsExact();
};

void TestDocumentQuery::roundTripsExamples() {
  const QDir directory(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries"));
  const QStringList names = directory.entryList({QStringLiteral("*.json")});
  QVERIFY(names.size() >= 5);
  for (const QString& name : names) {
    QFile file(directory.filePath(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const query::Node query = parse(file.readAll().toStdString());
    const Document document = fromQuery(query);
    QCOMPARE(testing::brokenLinks(document), std::string());
    QVERIFY2(toQuery(document, TakeOut::Nothing).query == query, qPrintable(name));
  }
}

void TestDocumentQuery::roundTripsRandomTrees() {
  const std::uint32_t seed = query::testing::testSeed(7102);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    const query::Node query =
        i == 0 ? query::testing::queryOfEveryKind() : query::testing::randomQuery(random, 5);
    const Document document = fromQuery(query);
    const QueryOf back = toQuery(document, TakeOut::Nothing);
    QVERIFY(back.incomplete.empty());
    QVERIFY(back.query == query);
    QVERIFY(toTree(document, document.root()) == query);
  }
}

void TestDocumentQuery::namesEveryPath() {
  const query::Node query = query::testing::queryOfEveryKind();
  const Document document = fromQuery(query);
  const QueryOf back = toQuery(document, TakeOut::Nothing);
  QCOMPARE(back.paths.byPath.size(), document.size());
  for (const auto& [path, id] : back.paths.byPath) {
    const query::Node* node = query::nodeAt(query, path);
    QVERIFY2(node != nullptr, path.c_str());
    QCOMPARE(toTree(document, id), *node);
    QCOMPARE(back.paths.nodeOf(path), id);
    QCOMPARE(back.paths.nodeOf(path + "/nowhere/1"), id);
  }
}

void TestDocumentQuery::leavesOutMutedAndFrozen() {
  Document document =
      fromQuery(parse(R"({"g":{"model":"m","input":{"cross":[{"user":"a"},{"plus":[{"user":"b"},
      {"g":{"model":"m","input":{"user":"c"}}}]}]}}})"));
  const NodeId cross = childOf(document, document.root(), 0);
  const NodeId plus = childOf(document, cross, 1);
  setMuted(document, {childOf(document, cross, 0)}, true);
  setFrozen(document, childOf(document, plus, 1), {"answer"});
  QueryOf run = toQuery(document, TakeOut::MutedAndFrozen);
  // Distribution would put the question before the answer, so it is there.
  QVERIFY(run.query == parse(R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"b"},
      {"seq":[{"user":"c"},{"assistant":"answer"}]}]}]}}})"));
  const NodeId inner = childOf(document, plus, 1);
  QCOMPARE(run.paths.nodeOf("/g/input/cross/0/plus/1"), inner);
  QCOMPARE(run.paths.nodeOf("/g/input/cross/0/plus/1/seq/0"), childOf(document, inner, 0));
  QCOMPARE(run.paths.nodeOf("/g/input/cross/0/plus/1/seq/1"), inner);
  QCOMPARE(run.paths.nodeOf("/g/input/cross/0"), plus);
  const query::Node alone =
      parse(R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"b"},{"assistant":"answer"}]}]}}})");
  document.settings.distribute = false;
  QVERIFY(toQuery(document, TakeOut::MutedAndFrozen).query == alone);
}

/// A prompt that contains answers of other generates is not run for a frozen answer.
void TestDocumentQuery::frozenAnswersRunNothing() {
  Document document = fromQuery(parse(R"({"g":{"model":"m","input":{"plus":[{"g":{"model":"m","input":
      {"plus":[{"g":{"model":"m","input":{"user":"a"}}}]}}}]}}})"));
  const NodeId outer = childOf(document, childOf(document, document.root(), 0), 0);
  const NodeId inner = childOf(document, childOf(document, outer, 0), 0);
  setFrozen(document, outer, {"b"});
  QVERIFY(toQuery(document, TakeOut::MutedAndFrozen).query ==
          parse(R"({"g":{"model":"m","input":{"plus":[{"assistant":"b"}]}}})"));
  setFrozen(document, inner, {"c"});
  QVERIFY(toQuery(document, TakeOut::MutedAndFrozen).query ==
          parse(R"({"g":{"model":"m","input":{"plus":[{"seq":[{"plus":[{"seq":[{"user":"a"},
              {"assistant":"c"}]}]},{"assistant":"b"}]}]}}})"));
}

void TestDocumentQuery::answersOfRepeatsAndMapsAreAPlus_data() {
  QTest::addColumn<QByteArray>("node");
  QTest::addColumn<int>("answers");
  QTest::addColumn<QByteArray>("expected");
  const char* const repeat = R"({"repeat":{"n":2,"g":{"model":"m","input":{"user":"c"}}}})";
  const char* const map = R"({"map":{"metadata":{"model":"m"},"inputs":["c","d"]}})";
  const char* const two = R"({"plus":[{"assistant":"reply 0"},{"assistant":"reply 1"}]})";
  QTest::newRow("repeat") << QByteArray(repeat) << 2 << QByteArray(two);
  QTest::newRow("map") << QByteArray(map) << 2 << QByteArray(two);
  // As the planner has it: a plus of one still opens a scope.
  QTest::newRow("one reply") << QByteArray(repeat) << 1
                             << QByteArray(R"({"plus":[{"assistant":"reply 0"}]})");
  QTest::newRow("not frozen") << QByteArray(repeat) << 0 << QByteArray(repeat);
}

void TestDocumentQuery::answersOfRepeatsAndMapsAreAPlus() {
  QFETCH(QByteArray, node);
  QFETCH(int, answers);
  QFETCH(QByteArray, expected);
  Document document = fromQuery(parse((R"({"cross":[{"user":"a"},)" + node + "]}").toStdString()));
  const NodeId frozen = childOf(document, document.root(), 1);
  std::vector<std::string> texts;
  for (int i = 0; i < answers; ++i) texts.push_back("reply " + std::to_string(i));
  setFrozen(document, frozen, texts);
  const QueryOf run = toQuery(document, TakeOut::MutedAndFrozen);
  QVERIFY(run.query == parse((R"({"cross":[{"user":"a"},)" + expected + "]}").toStdString()));
  QCOMPARE(run.paths.nodeOf("/cross/1/plus/1"), frozen);
  QVERIFY(toQuery(document, TakeOut::Nothing).query ==
          parse((R"({"cross":[{"user":"a"},)" + node + "]}").toStdString()));
}

void TestDocumentQuery::tellsWhatIsIncomplete() {
  Document document = fromQuery(parse(R"({"g":{"model":"m","input":{"monad":{"user":"a"}}}})"));
  const NodeId monad = childOf(document, document.root(), 0);
  setMuted(document, {childOf(document, monad, 0)}, true);
  QVERIFY(toQuery(document, TakeOut::Nothing).query.has_value());
  const QueryOf run = toQuery(document, TakeOut::MutedAndFrozen);
  QVERIFY(!run.query);
  QCOMPARE(run.incomplete, (std::vector<NodeId>{monad}));
  QVERIFY(!toQuery(Document(), TakeOut::Nothing).query);
}

void TestDocumentQuery::replaceKeepsWhatStays() {
  Document document = fromQuery(parse(R"({"cross":[{"user":"a"},{"plus":[{"user":"b"},{"user":"c"}]}]})"));
  const NodeId root = document.root();
  const NodeId a = childOf(document, root, 0);
  const NodeId plus = childOf(document, root, 1);
  const NodeId c = childOf(document, plus, 1);
  setName(document, c, "third");
  setPosition(document, plus, Point{.x = 5, .y = 6});
  const NodeId draft = addNode(document, makeOperator("user"));

  replaceQuery(document,
               parse(R"({"cross":[{"user":"A"},{"plus":[{"user":"c"},{"user":"d"},{"print":"p"}]}]})"));
  QCOMPARE(document.root(), root);
  QCOMPARE(childOf(document, root, 0), a);
  QCOMPARE(childOf(document, root, 1), plus);
  QVERIFY(document.at(plus).position == (Point{.x = 5, .y = 6}));
  QCOMPARE(childOf(document, plus, 0), c);
  QCOMPARE(document.at(c).name, std::string("third"));
  QVERIFY(document.contains(draft));
  QCOMPARE(testing::brokenLinks(document), std::string());
}

void TestDocumentQuery::replaceFollowsAMove() {
  Document document = fromQuery(parse(R"({"plus":[{"user":"a"},{"cross":[{"user":"b"}]},{"user":"c"}]})"));
  const std::vector<NodeId> children = document.at(document.root()).children;
  replaceQuery(document, parse(R"({"plus":[{"user":"c"},{"user":"a"},{"cross":[{"user":"b"}]}]})"));
  QCOMPARE(document.at(document.root()).children,
           (std::vector<NodeId>{children[2], children[0], children[1]}));
}

/// A node's own server stays with the node of the same content, at any later place.
void TestDocumentQuery::replaceKeepsServers_data() {
  QTest::addColumn<QString>("next");
  const QString first = R"({"g":{"model":"m","input":{"user":"first"}}})";
  const QString second = R"({"g":{"model":"m","input":{"user":"second"}}})";
  const QString fresh = R"({"g":{"model":"m","input":{"user":"fresh"}}})";
  const auto around = [](const QStringList& parts) {
    return QStringLiteral(R"({"g":{"model":"m","input":{"cross":[%1,{"user":"end"}]}}})")
        .arg(parts.join(QLatin1Char(',')));
  };
  QTest::newRow("as it was") << around({first, second});
  QTest::newRow("a node before it") << around({fresh, first, second});
  QTest::newRow("swapped") << around({second, first});
  QTest::newRow("the other one gone") << around({second});
  QTest::newRow("a node before it, and another model")
      << around({fresh, first, QString(second).replace(R"("m")", R"("other")")});
  QTest::newRow("swapped, and another model")
      << around({QString(second).replace(R"("m")", R"("other")"), first});
  QTest::newRow("in a plus") << around({first, QStringLiteral(R"({"plus":[%1]})").arg(second)});
  QTest::newRow("in a node that generates") << around(
      {first, QStringLiteral(R"({"g":{"model":"m","input":{"cross":[%1,{"user":"why"}]}}})").arg(second)});
  QTest::newRow("the whole in a join")
      << QStringLiteral(R"({"seq":[%1,{"print":"done"}]})").arg(around({first, second}));
  QTest::newRow("alone") << second;
}
void TestDocumentQuery::replaceKeepsServers() {
  QFETCH(QString, next);
  Document document =
      fromQuery(parse(R"({"g":{"model":"m","input":{"cross":[{"g":{"model":"m","input":{"user":"first"}}},)"
                      R"({"g":{"model":"m","input":{"user":"second"}}},{"user":"end"}]}}})"));
  const NodeId join = childOf(document, document.root(), 0);
  setServer(document, childOf(document, join, 1), "gpu-3");
  replaceQuery(document, parse(next.toUtf8().constData()));
  QCOMPARE(testing::brokenLinks(document), std::string());
  QVERIFY(toQuery(document, TakeOut::Nothing).query == parse(next.toUtf8().constData()));
  std::vector<std::string> texts;
  for (const NodeId id : document.subtree(document.root())) {
    if (document.at(id).server.empty()) continue;
    QCOMPARE(document.at(id).server, std::string("gpu-3"));
    texts.push_back(*query::textOf(document.at(childOf(document, id, 0)).own));
  }
  QVERIFY2((texts == std::vector<std::string>{"second"}), std::to_string(texts.size()).c_str());
}

void TestDocumentQuery::replaceWithTheSameChangesNothing() {
  std::mt19937 random(query::testing::testSeed(7103));
  for (int i = 0; i < 100; ++i) {
    Document document;
    for (int edit = 0; edit < 10; ++edit) testing::randomEdit(document, random);
    const QueryOf query = toQuery(document, TakeOut::Nothing);
    if (!query.query) continue;
    const Document before = document;
    replaceQuery(document, *query.query);
    QVERIFY(document == before);
  }
}

void TestDocumentQuery::replaceIsExact() {
  const std::uint32_t seed = query::testing::testSeed(7104);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    Document document = fromQuery(query::testing::randomQuery(random, 4));
    for (int edit = 0; edit < 5; ++edit) testing::randomEdit(document, random);
    const query::Node wanted = query::testing::randomQuery(random, 4);
    replaceQuery(document, wanted);
    QCOMPARE(testing::brokenLinks(document), std::string());
    QVERIFY(toQuery(document, TakeOut::Nothing).query == wanted);
  }
}

SPANSCOPE_TEST(tst_document_query, TestDocumentQuery, QCoreApplication)
#include "tst_document_query.moc"
