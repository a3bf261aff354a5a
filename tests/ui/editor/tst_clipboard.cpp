// SPDX-License-Identifier: GPL-3.0-or-later
// Where pasted nodes come to lie: in their parent, or as drafts that cover nothing.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/editor/clipboard.h"
#include "ui/editor/tidy_layout.h"

#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <random>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Point;
using document::Rect;

class TestClipboard : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void draftsCoverNothing_data();
  void draftsCoverNothing();
  void freePlacesAreTaken();
  void notesAreNotCovered();
  void childrenHaveNoPlaceOfTheirOwn();
  void queriesAreRead_data();
  void queriesAreRead();
  void textsAreMessages_data();
  void textsAreMessages();
};

namespace {

query::Node read(const std::string& json) {
  const query::ParseResult parsed = query::parseJson(json);
  if (!parsed.query) qFatal("not a query: %s", json.c_str());
  return *parsed.query;
}

const query::Node kRag = read(R"({"g":{"model":"m","input":{"cross":[{"system":"s"},
  {"plus":[{"user":"one"},{"user":"two"}]},{"user":"Where?"}]}}})");

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// Two overlapping nodes, in words; empty where there are none.
QString covering(const Document& document) {
  const auto layout = tidyLayout(document);
  for (auto a = layout.begin(); a != layout.end(); ++a) {
    for (auto b = std::next(a); b != layout.end(); ++b) {
      if (overlap(a->second, b->second)) return QStringLiteral("%1 and %2").arg(a->first).arg(b->first);
    }
  }
  return {};
}

}  // namespace

void TestClipboard::draftsCoverNothing_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 20; ++seed) QTest::addRow("seed %u", seed) << seed;
}

void TestClipboard::draftsCoverNothing() {
  QFETCH(unsigned, seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> anywhere(-300, 900);
  Document document = document::fromQuery(kRag);
  const std::vector<query::Node> trees{kRag, read(R"({"user":"a"})"), read(R"({"plus":[{"user":"b"}]})")};
  for (int i = 0; i < 4; ++i) {
    const Point at{.x = anywhere(random), .y = anywhere(random)};
    const std::vector<NodeId> added = pasteTrees(document, trees, kNoNode, at);
    QCOMPARE(added.size(), trees.size());
    for (const NodeId top : added) QCOMPARE(document.at(top).parent, kNoNode);
    QVERIFY2(covering(document).isEmpty(), qPrintable(covering(document)));
  }
}

void TestClipboard::freePlacesAreTaken() {
  Document document = document::fromQuery(kRag);
  const NodeId top = pasteTrees(document, {read(R"({"user":"a"})")}, kNoNode, {.x = 5000, .y = 70}).front();
  QVERIFY(document.at(top).position == (Point{.x = 5000, .y = 70}));
  // A second one at the same place is below the first.
  const NodeId next = pasteTrees(document, {read(R"({"user":"a"})")}, kNoNode, {.x = 5000, .y = 70}).front();
  const auto layout = tidyLayout(document);
  QVERIFY(layout.at(next).y >= layout.at(top).y + layout.at(top).height);
  QCOMPARE(layout.at(next).x, 5000.0);
}

void TestClipboard::notesAreNotCovered() {
  Document document = document::fromQuery(kRag);
  document.notes.push_back({.id = 1, .text = "n", .area = {.x = 5000, .y = 0, .width = 200, .height = 80}});
  const NodeId top = pasteTrees(document, {read(R"({"user":"a"})")}, kNoNode, {.x = 5010, .y = 70}).front();
  QVERIFY(!overlap(tidyLayout(document).at(top), document.notes.front().area));
}

void TestClipboard::childrenHaveNoPlaceOfTheirOwn() {
  Document document = document::fromQuery(kRag);
  const NodeId cross = document.at(document.root()).children.front();
  const std::vector<query::Node> two{read(R"({"user":"a"})"), read(R"({"user":"b"})")};
  for (const NodeId child : pasteTrees(document, two, cross, {.x = 0, .y = 0})) {
    QCOMPARE(document.at(child).parent, cross);
    QVERIFY(!document.at(child).position);
  }
  QVERIFY(covering(document).isEmpty());
}

/// Pasting reads what opening a file reads, and lists the same warnings.
void TestClipboard::queriesAreRead_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<int>("warnings");
  const auto row = [](const char* name, const char* text, const char* query, int warnings = 0) {
    QTest::newRow(name) << QByteArray(text) << QByteArray(query) << warnings;
  };
  row("YAML", "g:\n  model: m\n  input:\n    user: Hi\n", R"({"g":{"model":"m","input":{"user":"Hi"}}})");
  row("YAML with a head and comments", "---\n# mine\nplus:\n- user: a # b\n- user: c\n",
      R"({"plus":[{"user":"a"},{"user":"c"}]})", 1);
  row("YAML with more documents", "plus:\n- user: a\n---\nuser: b\n", R"({"plus":[{"user":"a"}]})", 1);
  row("messages in YAML", "- role: user\n  content: a\n- {role: assistant, content: b}\n",
      R"({"seq":[{"user":"a"},{"assistant":"b"}]})");
  row("more of a message", "- role: user\n  content: a\n  name: Ann\n", R"({"seq":[{"user":"a"}]})", 1);
  row("a request in YAML", "model: m\nstop: [x]\ntemperature: 0\nmessages:\n- role: user\n  content: a\n",
      R"({"g":{"model":"m","temperature":0.0,"input":{"seq":[{"user":"a"}]}}})", 2);
  row("Lisp", " (cross (user \"a\") (system \"b\"))\n", R"({"cross":[{"user":"a"},{"system":"b"}]})");
  row("a message in Lisp", "(user \"a\")", R"({"user":"a"})");
  row("Lisp with a comment", "; mine\n(user \"a\")", R"({"user":"a"})", 1);
}

void TestClipboard::queriesAreRead() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, query);
  const PastedNodes pasted = nodesFromText(text.toStdString());
  QCOMPARE(pasted.trees.size(), std::size_t{1});
  QVERIFY(pasted.trees.front() == read(query.toStdString()));
  QTEST(static_cast<int>(pasted.warnings.size()), "warnings");
}

void TestClipboard::textsAreMessages_data() {
  QTest::addColumn<QByteArray>("text");
  for (const char* text : {"user: Hi",
                           "system: it is down",
                           "user: Hi\nassistant: Hello\n",
                           "- user: Hi\n- assistant: Hello\n",
                           "- milk\n- bread\n",
                           "# Heading\n\nA text: with a colon.\n",
                           "---\ntitle: a\n---\nText\n",
                           "---\nsystem: a\n---\nText\n",
                           "(see below) and more",
                           "(user story) as a guest",
                           "; a line",
                           "note: x",
                           "print: a page",
                           "file: report.pdf",
                           "role: user",
                           "- role: user\n- role: guest\n",
                           "[1] A source",
                           "{not json}",
                           "plus: what I said",
                           "(user)",
                           "ask: him",
                           "model: m\nmessages: none\n"})
    QTest::newRow(text) << QByteArray(text);
}

void TestClipboard::textsAreMessages() {
  QFETCH(QByteArray, text);
  const PastedNodes pasted = nodesFromText(text.toStdString());
  QCOMPARE(pasted.trees.size(), std::size_t{1});
  QVERIFY(pasted.trees.front() ==
          (query::Node{query::Message{.role = query::Role::User, .text = text.toStdString()}}));
  QVERIFY(pasted.warnings.empty());
}

SPANSCOPE_TEST(tst_clipboard, TestClipboard, QApplication)
#include "tst_clipboard.moc"
