// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/query/random_query.h"
#include "tests/engine/workbench/document/random_document.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

using namespace spanscope;
using namespace spanscope::document;
using namespace spanscope::ui;
using spanscope::product_text::says;

namespace {

std::string errorsOf(const OpenedDocument& opened) {
  std::string text;
  for (const query::Diagnostic& diagnostic : opened.diagnostics) text += diagnostic.located("file") + "\n";
  return text;
}

/// A small document as text, with a place to put something else.
QByteArray fileWith(const char* query, const char* rest) {
  return QByteArray("{\n\"spanscope\": {\"version\": 1},\n\"query\": ") + query + rest + "}\n";
}

}  // namespace

class TestDocumentFile : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void roundTripsRandomDocuments();
  void roundTripsMissingInputs();
  void roundTripsAnEmptyDocument();
  void roundTripsReroutedWires();
  void roundTripsFrozenAnswers();
  void queryIsTheLanguage();
  void opensAPlainQuery();
  void readsDeclaredParameters();
  void refuses_data();
  void refuses();
  void warns_data();
  void warns();
  void errorsHaveTheirPlace();
  void survivesDamage();
  void savesWholeOrNothing();
  void savesToWhereThePathLeads();
  void refusesWhatCouldNotBeRead();
  void savesTheQueryAlone();
  void savesAndOpensEveryForm_data();
  void savesAndOpensEveryForm();
  void filesOfAnyNameKeepTheirForm_data();
  void filesOfAnyNameKeepTheirForm();
  void readsWhatALispQueryNames();
  void tellsWhatIsLost();
};

void TestDocumentFile::roundTripsRandomDocuments() {
  const std::uint32_t seed = query::testing::testSeed(7201);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 150; ++i) {
    Document document;
    for (auto edits = random() % 25; edits > 0; --edits) testing::randomEdit(document, random);
    const std::string text = writeDocument(document);
    const OpenedDocument opened = readDocument(text);
    QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
    QVERIFY(!opened.plainQuery);
    QCOMPARE(testing::brokenLinks(*opened.document), std::string());
    QVERIFY2(testing::withFreshIds(*opened.document) == testing::withFreshIds(document), text.c_str());
    QCOMPARE(QByteArray::fromStdString(writeDocument(*opened.document)), QByteArray::fromStdString(text));
  }
}

void TestDocumentFile::roundTripsMissingInputs() {
  Document document;
  const NodeId zip = addNode(document, makeOperator("zip"));
  QVERIFY(document::connect(document, addNode(document, makeOperator("seq")), {zip, 1}));
  addNode(document, makeOperator("g"));
  const OpenedDocument opened = readDocument(writeDocument(document));
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  const Document& back = *opened.document;
  QCOMPARE(back.size(), std::size_t{3});
  QCOMPARE(back.at(back.root()).children.at(0), kNoNode);
  QVERIFY(back.at(back.root()).children.at(1) != kNoNode);
  QVERIFY(testing::withFreshIds(back) == testing::withFreshIds(document));
}

void TestDocumentFile::roundTripsAnEmptyDocument() {
  Document document;
  document.notes.push_back({.id = 1, .text = "only a note", .area = {0, 0, 10, 10}});
  const OpenedDocument opened = readDocument(writeDocument(document));
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  QCOMPARE(opened.document->root(), kNoNode);
  QCOMPARE(opened.document->notes.size(), std::size_t{1});
}

/// One answer is a text, as it was before there could be several, so that older files open.
void TestDocumentFile::roundTripsFrozenAnswers() {
  const char* const query =
      R"({"cross": [{"g": {"model": "m", "input": {"user": "a"}}},
      {"repeat": {"n": 2, "g": {"model": "m", "input": {"user": "b"}}}},
      {"map": {"metadata": {"model": "m"}, "inputs": ["c"]}}]})";
  const OpenedDocument opened = readDocument(
      fileWith(query,
               R"(, "layout": {"nodes": {"/cross/0": {"frozen": "one"}, "/cross/1": {"frozen": ["two", ""]},
      "/cross/2": {"frozen": ["three"]}}})")
          .toStdString());
  QVERIFY2(opened.document.has_value() && opened.diagnostics.empty(), errorsOf(opened).c_str());
  const Document& document = *opened.document;
  const std::vector<NodeId>& nodes = document.at(document.root()).children;
  using Answers = std::vector<std::string>;
  QCOMPARE(document.at(nodes[0]).frozen, (Answers{"one"}));
  QCOMPARE(document.at(nodes[1]).frozen, (Answers{"two", ""}));
  QCOMPARE(document.at(nodes[2]).frozen, (Answers{"three"}));
  const std::string text = writeDocument(document);
  QVERIFY(text.find(R"("/cross/0": {"frozen":"one"})") != std::string::npos);
  QVERIFY(text.find(R"("/cross/1": {"frozen":["two",""]})") != std::string::npos);
  QVERIFY(readDocument(text).document == document);
}

/// The reroute points of a wire are in the layout of its child. They belong to the wire, so they go with it.
void TestDocumentFile::roundTripsReroutedWires() {
  const char* const query = R"({"plus": [{"user": "a"}, {"user": "b"}]})";
  const OpenedDocument opened =
      readDocument(fileWith(query, R"(, "layout": {"nodes": {"/plus/1": {"bends": [[40, -60], [120.5, 8]]},
      "": {"bends": [[1, 2]]}}})")
                       .toStdString());
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  QCOMPARE(opened.diagnostics.size(), std::size_t{1});  // the root has no wire
  Document document = *opened.document;
  const NodeId child = document.at(document.root()).children.at(1);
  const std::vector<Point> bends{{.x = 40, .y = -60}, {.x = 120.5, .y = 8}};
  QCOMPARE(document.at(child).bends, bends);
  QVERIFY(document.at(document.root()).bends.empty());
  const std::string text = writeDocument(document);
  QVERIFY(text.find(R"("/plus/1": {"bends":[[40.0,-60.0],[120.5,8.0]]})") != std::string::npos);
  QVERIFY(readDocument(text).document == document);
  QVERIFY(document::moveChild(document, document.root(), 1, 0));
  QCOMPARE(document.at(child).bends, bends);
  QVERIFY(document::replaceOperator(document, document.root(), "cross"));
  QCOMPARE(document.at(child).bends, bends);
  QVERIFY(document::disconnect(document, child));
  QVERIFY(document.at(child).bends.empty());
  document::setBends(document, child, bends);
  QVERIFY(document.at(child).bends.empty());
}

void TestDocumentFile::queryIsTheLanguage() {
  const query::Node query = query::testing::queryOfEveryKind();
  const std::string text = writeDocument(fromQuery(query));
  const std::size_t begin = text.find("\"query\": ") + 9;
  const std::size_t end = text.find(",\n  \"layout\"");
  const query::ParseResult parsed = query::parseJson(std::string_view(text).substr(begin, end - begin));
  QVERIFY(parsed.query == query);
}

void TestDocumentFile::opensAPlainQuery() {
  const OpenedDocument opened = readDocument(R"({"user": "Hello"})");
  QVERIFY(opened.plainQuery);
  QVERIFY(opened.document.has_value());
  QCOMPARE(opened.document->size(), std::size_t{1});
  const OpenedDocument bad = readDocument(R"({"user": 1})");
  QVERIFY(!bad.document);
  QCOMPARE(bad.diagnostics.size(), std::size_t{1});
  QVERIFY(!readDocument("").document);
  QVERIFY(!readDocument("\xff\xfe").document);
}

void TestDocumentFile::readsDeclaredParameters() {
  const OpenedDocument opened = readDocument(
      fileWith("{\"user\": \"{a} {b} {c}\"}",
               R"(, "parameters": {"b": "old form", "a": {"type": "count", "default": "3", "value": "4"},
                  "c": {"description": "its use"}, "d": {}})")
          .toStdString());
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  const Document& document = *opened.document;
  using Values = std::map<std::string, std::string>;
  QCOMPARE(document.parameters, (Values{{"a", "4"}, {"b", "old form"}}));
  QCOMPARE(document.declarations.size(), std::size_t{2});
  QCOMPARE(document.declarations[0].name, std::string("a"));
  QVERIFY(document.declarations[0].kind == query::ParameterKind::Count);
  QVERIFY(document.declarations[0].defaultValue == std::string("3"));
  QCOMPARE(document.declarations[1].description, std::string("its use"));
  QCOMPARE(effectiveValues(document), document.parameters);
  // What was written before there were declarations is written again.
  QVERIFY(writeDocument(document).find("\"b\":\"old form\"") != std::string::npos);
  QVERIFY(readDocument(writeDocument(document)).document == document);
}

void TestDocumentFile::refuses_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("message");
  const char* const q = "{\"user\": \"a\"}";
  const auto row = [q](const char* name, const char* rest, const char* message) {
    QTest::newRow(name) << fileWith(q, rest) << QByteArray(message);
  };
  QTest::newRow("newer version") << QByteArray(
                                        "{\"spanscope\": {\"version\": 2}, \"query\": {\"user\": \"a\"}}")
                                 << QByteArray("Spanscope found version 2, but needs version 1");
  QTest::newRow("no version") << QByteArray("{\"spanscope\": {}, \"query\": {\"user\": \"a\"}}")
                              << QByteArray("found no version");
  QTest::newRow("version of text")
      << QByteArray("{\"spanscope\": {\"version\": \"1\"}, \"query\": {\"user\": \"a\"}}")
      << QByteArray("/spanscope/version: Spanscope found a text");
  QTest::newRow("no query") << QByteArray("{\"spanscope\": {\"version\": 1}}")
                            << QByteArray("found no query");
  QTest::newRow("bad query") << fileWith("{\"user\": 1}", "") << QByteArray("3:19: /query/user");
  QTest::newRow("cut off") << QByteArray("{\"spanscope\": {\"version\": 1}, \"query\": {\"us")
                           << QByteArray("closing");
  row("something behind", "} x", "needs");
  row("query twice", ", \"query\": {\"user\": \"b\"}", "again");
  row("layout is a list", ", \"layout\": []", "/layout: Spanscope found a list, but needs an object");
  row("position of one number", ", \"layout\": {\"nodes\": {\"\": {\"position\": [1]}}}",
      "Spanscope found 1 numbers, but needs 2");
  row("bends that are one point", ", \"layout\": {\"nodes\": {\"/plus/0\": {\"bends\": [1, 2]}}}",
      "/bends/0: Spanscope found a number");
  row("a bend of three numbers", ", \"layout\": {\"nodes\": {\"/plus/0\": {\"bends\": [[1, 2, 3]]}}}",
      "/bends/0");
  row("position of three", ", \"layout\": {\"nodes\": {\"\": {\"position\": [1, 2, 3]}}}",
      "more than 2 entries");
  row("position too far", ", \"layout\": {\"nodes\": {\"\": {\"position\": [1e30, 2]}}}", "1e30");
  row("position beyond a double", ", \"layout\": {\"nodes\": {\"\": {\"position\": [1e999, 2]}}}",
      "64-bit float");
  row("muted is a number", ", \"layout\": {\"nodes\": {\"\": {\"muted\": 1}}}", "needs true or false");
  row("frozen is null", ", \"layout\": {\"nodes\": {\"\": {\"frozen\": null}}}",
      "Spanscope found null, but needs a text");
  row("frozen is an empty list", ", \"layout\": {\"nodes\": {\"\": {\"frozen\": []}}}",
      "/layout/nodes//frozen: Spanscope found no answer, but needs <text-list-texts>");
  row("frozen has a number", ", \"layout\": {\"nodes\": {\"\": {\"frozen\": [\"a\", 1]}}}",
      "Spanscope found a number, but needs a text");
  row("pinned is no list", ", \"layout\": {\"nodes\": {\"\": {\"pinned\": \"x\"}}}", "needs a list");
  row("pinned is no hash", ", \"layout\": {\"nodes\": {\"\": {\"pinned\": [\"xyz\"]}}}",
      "Spanscope found \"xyz\", but needs 32 hexadecimal digits");
  row("pinned and dropped",
      ", \"layout\": {\"nodes\": {\"\": {\"pinned\": [\"0123456789abcdef0123456789abcdef\"], \"dropped\": "
      "[\"0123456789abcdef0123456789abcdef\"]}}}",
      "<passage-named-before>");
  row("ranking", ", \"settings\": {\"ranking\": \"best\"}",
      "Spanscope found \"best\", but needs \"auto\" or");
  row("embeddings", ", \"settings\": {\"embeddings\": \"cloud\"}",
      "Spanscope found \"cloud\", but needs \"checkpoint\" or \"server\"");
  row("address of a server", ", \"settings\": {\"embeddings_url\": 3}", "/settings/embeddings_url");
  row("passages", ", \"settings\": {\"fragments\": 0}", "from 1 to 10000");
  row("a path twice", ", \"layout\": {\"nodes\": {\"\": {}, \"\": {}}}", "again");
  row("hue", ", \"layout\": {\"frames\": [{\"hue\": 6}]}", "Spanscope found the number 6, but needs …0 to 5");
  row("negative area", ", \"layout\": {\"notes\": [{\"area\": [0, 0, -1, 2]}]}", "a negative size");
  row("parameter is a number", ", \"parameters\": {\"n\": 4}",
      "/parameters/n: Spanscope found a number, but needs a text");
  row("type of a parameter", ", \"parameters\": {\"n\": {\"type\": \"number\"}}",
      "/parameters/n/type: Spanscope found \"number\", but needs \"text\" or \"temperature\" or "
      "\"max_tokens\" or "
      "\"count\"");
  row("default that is a number", ", \"parameters\": {\"n\": {\"default\": 4}}",
      "/parameters/n/default: Spanscope found a number, but needs a text");
  row("attention", ", \"settings\": {\"attention_mib\": 0}", "from 1 to 1048576");
  row("events that the window keeps", ", \"settings\": {\"kept_mib\": 15}", "from 16 to 1048576");
  row("block size", ", \"settings\": {\"block_size\": 0}", "from 1 to 1024");
  row("block size of a fraction", ", \"settings\": {\"block_size\": 1.5}", "1.5");
  row("one block", ", \"settings\": {\"blocks\": 1}", "found the number 1");
  row("seed", ", \"settings\": {\"seed\": -1}", "64 bits");
  row("policy", ", \"settings\": {\"policy\": \"fast\"}",
      "Spanscope found \"fast\", but needs \"spans\" or \"prefix\" or \"link(16)\" or \"blend(0.15)\"");
  row("layers", ", \"settings\": {\"layers\": [-1]}", "/settings/layers/0");
  row("draft without query", ", \"drafts\": [{}]", "<draft-without-query>");
  row("bad draft", ", \"drafts\": [{\"query\": {\"usr\": \"a\"}}]", "/drafts/0/query");
}

void TestDocumentFile::refuses() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, message);
  const OpenedDocument opened = readDocument(text.toStdString());
  QVERIFY(!opened.document);
  QVERIFY(query::hasErrors(opened.diagnostics));
  QVERIFY2(says(errorsOf(opened), QString::fromUtf8(message)), errorsOf(opened).c_str());
}

void TestDocumentFile::warns_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("message");
  const auto row = [](const char* name, const char* query, const char* rest, const char* message) {
    QTest::newRow(name) << fileWith(query, rest) << QByteArray(message);
  };
  row("unknown field", "{\"user\": \"a\"}", ", \"colour\": {\"x\": [1]}", "the unknown field \"colour\"");
  row("unknown looks", "{\"user\": \"a\"}", ", \"layout\": {\"nodes\": {\"\": {\"size\": 1}}}", "\"size\"");
  row("no such node", "{\"user\": \"a\"}", ", \"layout\": {\"nodes\": {\"/g/input\": {\"name\": \"x\"}}}",
      "/g/input");
  row("passages of a message", "{\"user\": \"a\"}",
      ", \"layout\": {\"nodes\": {\"\": {\"dropped\": [\"0123456789abcdef0123456789abcdef\"]}}}",
      "<passages-node-finds>");
  row("a reroute point far away", "{\"monad\": {\"user\": \"a\"}}",
      ", \"layout\": {\"nodes\": {\"/monad\": {\"bends\": [[1000000000, 0]]}}}", "a reroute point");
  row("frozen message", "{\"user\": \"a\"}", ", \"layout\": {\"nodes\": {\"\": {\"frozen\": \"b\"}}}",
      "<frozen-reply-node>");
  row("two replies of a generate", "{\"g\": {\"model\": \"m\", \"input\": {\"user\": \"a\"}}}",
      ", \"layout\": {\"nodes\": {\"\": {\"frozen\": [\"b\", \"c\"]}}}", "<several-frozen-replies>");
  row("an input that is there", "{\"monad\": {\"user\": \"a\"}}",
      ", \"layout\": {\"nodes\": {\"/monad\": {\"missing\": true}}}", "<missing-input-where>");
  row("a child of a join is never missing", "{\"cross\": [{\"seq\": []}]}",
      ", \"layout\": {\"nodes\": {\"/cross/0\": {\"missing\": true}}}", "<missing-input-where>");
  row("of the query", "{\"plus\": []}", "", "/query");
}

void TestDocumentFile::warns() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, message);
  const OpenedDocument opened = readDocument(text.toStdString());
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  QVERIFY2(says(errorsOf(opened), QString::fromUtf8(message)), errorsOf(opened).c_str());
}

void TestDocumentFile::errorsHaveTheirPlace() {
  const OpenedDocument opened = readDocument(
      "{\"spanscope\": {\"version\": 1},\n \"settings\": {\"threads\": -1},\n \"query\": {\"cross\": [\n  "
      "{\"user\": 7}]},\n"
      " \"drafts\": [{\"query\": {\"print\": null}}]}");
  QCOMPARE(opened.diagnostics.size(), std::size_t{3});
  QCOMPARE(opened.diagnostics[0].position.line, std::size_t{2});
  QCOMPARE(opened.diagnostics[1].position.line, std::size_t{4});
  QCOMPARE(opened.diagnostics[1].pointer, std::string("/query/cross/0/user"));
  QCOMPARE(opened.diagnostics[1].position.column, std::size_t{12});
  QCOMPARE(opened.diagnostics[2].pointer, std::string("/drafts/0/query/print"));
}

void TestDocumentFile::survivesDamage() {
  const std::uint32_t seed = query::testing::testSeed(7202);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  Document document;
  for (int edit = 0; edit < 30; ++edit) testing::randomEdit(document, random);
  const std::string whole = writeDocument(document);
  for (int i = 0; i < 1500; ++i) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2:
        text.erase(at, random() % 40);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
    }
    const OpenedDocument opened = readDocument(text);
    QCOMPARE(opened.document.has_value(), !query::hasErrors(opened.diagnostics));
    if (opened.document) QCOMPARE(testing::brokenLinks(*opened.document), std::string());
  }
}

void TestDocumentFile::savesWholeOrNothing() {
  const QTemporaryDir directory;
  const QString path = directory.filePath(QStringLiteral("ä query.span"));
  const Document document = fromQuery(query::testing::queryOfEveryKind());
  QVERIFY(!saveDocument(path, document));
  const OpenedDocument opened = openDocument(path);
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  QVERIFY(testing::withFreshIds(*opened.document) == testing::withFreshIds(document));
  QVERIFY(saveDocument(directory.filePath(QStringLiteral("no/such/folder.span")), document).has_value());
  // Editors of Windows write UTF-16 with a byte order mark.
  const QString text = QChar(QChar::ByteOrderMark) + QString::fromStdString(writeDocument(document));
  QFile wide(directory.filePath(QStringLiteral("wide.span")));
  QVERIFY(wide.open(QIODevice::WriteOnly));
  wide.write(reinterpret_cast<const char*>(text.utf16()), text.size() * 2);
  wide.close();
  const OpenedDocument same = openDocument(wide.fileName());
  QVERIFY2(same.document.has_value(), errorsOf(same).c_str());
  QVERIFY(testing::withFreshIds(*same.document) == testing::withFreshIds(document));
  QVERIFY(!openDocument(directory.filePath(QStringLiteral("nothing.span"))).document);
  QVERIFY(!openDocument(directory.path()).document);
}

void TestDocumentFile::savesToWhereThePathLeads() {
  const QTemporaryDir directory;
  const Document document = fromQuery(query::testing::queryOfEveryKind());
  const QString file = directory.filePath(QStringLiteral("file.span"));
  const QString link = directory.filePath(QStringLiteral("link.span"));
  QVERIFY(QFile::link(QStringLiteral("file.span"), link));
  for (int i = 0; i < 2; ++i) {
    QVERIFY(!saveDocument(link, document));
    QVERIFY(QFileInfo(link).isSymLink());
    QVERIFY(openDocument(file).document.has_value());
    QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup));
  }
  QVERIFY(!QFileInfo(file).permission(QFile::ReadOther));

  // What is no regular file is written into.
  const QByteArray pipe = directory.filePath(QStringLiteral("pipe.json")).toUtf8();
  QCOMPARE(::mkfifo(pipe.constData(), 0600), 0);
  // Reading would wait for a writer.
  QVERIFY(!openDocument(QString::fromUtf8(pipe)).document);
  const int reader = ::open(pipe.constData(), O_RDONLY | O_NONBLOCK);
  QVERIFY(!saveDocument(QString::fromUtf8(pipe), document));
  QFile read;
  QVERIFY(read.open(reader, QIODevice::ReadOnly, QFile::AutoCloseHandle));
  QVERIFY(!read.readAll().isEmpty());
  QVERIFY(!QFileInfo(QString::fromUtf8(pipe)).isFile());
  QCOMPARE(QDir(directory.path()).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot).size(),
           3);
}

void TestDocumentFile::refusesWhatCouldNotBeRead() {
  const QTemporaryDir directory;
  const QString path = directory.filePath(QStringLiteral("deep.span"));
  Document document;
  addNode(document, makeOperator("user"));
  QVERIFY(!saveDocument(path, document));
  for (int i = 0; i < 130; ++i) {
    QVERIFY(insertAbove(document, document.root(), addNode(document, makeOperator("monad"))));
  }
  QVERIFY(saveDocument(path, document).has_value());
  QCOMPARE(openDocument(path).document->size(), std::size_t{1});
}

void TestDocumentFile::savesTheQueryAlone() {
  const QTemporaryDir directory;
  const QString path = directory.filePath(QStringLiteral("query.json"));
  const query::Node query = query::testing::queryOfEveryKind();
  QVERIFY(!saveDocument(path, fromQuery(query)));
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll().toStdString(), query::writePretty(query));
  QVERIFY(openDocument(path).plainQuery);
}

void TestDocumentFile::savesAndOpensEveryForm_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("begin");
  QTest::newRow("JSON") << QStringLiteral("a.json") << QByteArray("{");
  QTest::newRow("YAML") << QStringLiteral("a.yaml") << QByteArray("g:");
  QTest::newRow("YAML, short name") << QStringLiteral("a.YML") << QByteArray("g:");
  QTest::newRow("Lisp") << QStringLiteral("a.lisp") << QByteArray("(g ");
  QTest::newRow("Lisp, SPNL's name") << QStringLiteral("a.spnl") << QByteArray("(g ");
}

void TestDocumentFile::savesAndOpensEveryForm() {
  QFETCH(QString, name);
  QFETCH(QByteArray, begin);
  const std::string query =
      R"({"g": {"model": "m", "max_tokens": 7, "temperature": 0.5, "input": {"plus": [{"user": "1"}, {"user": "b"}]}}})";
  const QTemporaryDir directory;
  const QString path = directory.filePath(name);
  QVERIFY(isQueryPath(path));
  const Document document = *readDocument(query).document;
  QVERIFY(!saveDocument(path, document));
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY(file.readAll().startsWith(begin));
  const OpenedDocument opened = openDocument(path);
  QVERIFY2(opened.document.has_value(), errorsOf(opened).c_str());
  QVERIFY(opened.plainQuery);
  QVERIFY(testing::withFreshIds(*opened.document) == testing::withFreshIds(document));
}

/// The name of a file may say nothing of its form. Then it keeps the form that it has.
void TestDocumentFile::filesOfAnyNameKeepTheirForm_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("text");
  QTest::newRow("YAML") << QStringLiteral("prompt.txt") << QByteArray("plus:\n  - user: a\n  - user: b\n");
  QTest::newRow("Lisp") << QStringLiteral("prompt") << QByteArray("(plus\n  (user \"a\")\n  (user \"b\"))\n");
  QTest::newRow("a chat") << QStringLiteral("body.txt")
                          << QByteArray(R"([{"role": "user", "content": "a", "name": "n"}])");
}

void TestDocumentFile::filesOfAnyNameKeepTheirForm() {
  QFETCH(QString, name);
  QFETCH(QByteArray, text);
  const QTemporaryDir directory;
  const QString path = directory.filePath(name);
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
  file.close();
  const OpenedFile opened = openDocument(path);
  QVERIFY(opened.document.has_value());
  QVERIFY(!saveDocument(path, *opened.document, opened.file.get()));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), text);
  file.close();
  // Another file is a document, and so is one of that name.
  for (const char* other : {"other", "a.span"}) {
    const QString elsewhere = directory.filePath(QLatin1String(other));
    QVERIFY(!saveDocument(elsewhere, *opened.document, opened.file.get()));
    QVERIFY(!openDocument(elsewhere).plainQuery);
  }
}

void TestDocumentFile::readsWhatALispQueryNames() {
  const QTemporaryDir directory;
  const auto write = [&directory](const char* name, const QByteArray& text) {
    QFile file(directory.filePath(QString::fromLatin1(name)));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  };
  write("beside.txt", "from a file");
  write("good.lisp", "(user (fetch \"beside.txt\"))");
  write("bad.lisp", "(user (fetch \"/etc/hostname\"))");
  const OpenedDocument good = openDocument(directory.filePath(QStringLiteral("good.lisp")));
  QVERIFY2(good.document.has_value(), errorsOf(good).c_str());
  QCOMPARE(good.document->at(good.document->root()).own.as<query::Message>()->text,
           std::string("from a file"));
  const OpenedDocument bad = openDocument(directory.filePath(QStringLiteral("bad.lisp")));
  QVERIFY(!bad.document.has_value());
  QCOMPARE(bad.diagnostics.size(), std::size_t(1));
}

void TestDocumentFile::tellsWhatIsLost() {
  Document document = fromQuery(query::testing::queryOfEveryKind());
  QVERIFY(lostWhenSavedAsQuery(document).isEmpty());
  setName(document, document.root(), "name");
  QCOMPARE(lostWhenSavedAsQuery(document).size(), 1);
  addNode(document, makeOperator("g"), Point{});
  setMuted(document, {document.root()}, true);
  document.settings.seed = 3;
  document.parameters["n"] = "1";
  QCOMPARE(lostWhenSavedAsQuery(document).size(), 7);
  declareParameter(document, {.name = "n", .kind = {}, .defaultValue = "2"});
  QCOMPARE(lostWhenSavedAsQuery(document).size(), 8);
}

SPANSCOPE_TEST(tst_document_file, TestDocumentFile, QCoreApplication)
#include "tst_document_file.moc"
