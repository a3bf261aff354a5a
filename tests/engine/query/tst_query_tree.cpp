// SPDX-License-Identifier: GPL-3.0-or-later
// The tree itself: pointers to nodes, the one-line outline, and parameters.
#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/shown_text.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <map>
#include <random>
#include <set>
#include <string>

using namespace spanscope::query;
using spanscope::product_text::worded;

namespace {

Node parsed(const std::string& text) {
  ParseResult result = parseJson(text);
  if (!result.query) qFatal("%s", text.c_str());
  return std::move(*result.query);
}

/// Checks that every node below `node` is found by the path that leads to it; collects the operators that
/// were met.
bool pathsResolve(const Node& root, const Node& node, const std::string& path,
                  std::set<std::string>& operators) {
  operators.insert(operatorName(node));
  if (nodeAt(root, path) != &node) return false;
  for (const ChildRef& child : childrenOf(node)) {
    if (!pathsResolve(root, *child.node, path + child.step, operators)) return false;
  }
  return true;
}

using Values = std::map<std::string, std::string>;

}  // namespace

class TestQueryTree : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyPathResolves();
  void randomPathsResolve();
  void pathsAreThoseOfTheCanonicalForm();
  void pathsThatLeadNowhere_data();
  void pathsThatLeadNowhere();
  void nodesCanBeChangedInPlace();
  void cutText_data();
  void cutText();
  void parameterNames_data();
  void parameterNames();
  void parametersAreFound();
  void declarationsGiveDefaultsAndTypes();
  void parametersAreFilledIn();
  void onlyGivenNamesAreReplaced_data();
  void onlyGivenNamesAreReplaced();
  void badValues_data();
  void badValues();
  void everyBadValueIsReported();
};

void TestQueryTree::everyPathResolves() {
  const Node root = testing::queryOfEveryKind();
  std::set<std::string> operators;
  QVERIFY(pathsResolve(root, root, {}, operators));
  const std::set<std::string> all = {"system", "user",    "assistant", "g",   "seq",   "par",
                                     "cross",  "plus",    "monad",     "zip", "print", "repeat",
                                     "map",    "augment", "ask",       "file"};
  QCOMPARE(operators, all);
}

void TestQueryTree::randomPathsResolve() {
  std::mt19937 random(testing::testSeed(4));
  for (int i = 0; i < 500; ++i) {
    const Node root = testing::randomQuery(random, 1 + i % 8);
    std::set<std::string> operators;
    if (!pathsResolve(root, root, {}, operators)) QFAIL(writePretty(root).c_str());
  }
}

void TestQueryTree::pathsAreThoseOfTheCanonicalForm() {
  // The reader reports the places of nodes in the text, under the same paths.
  const Node root = testing::queryOfEveryKind();
  const std::string text = writeCanonical(root);
  const ParseResult result = parseJson(text);
  QVERIFY(result.query.has_value());
  std::size_t found = 0;
  const auto walk = [&](const auto& self, const Node& node, const std::string& path) -> void {
    const auto range = result.sources.find(path);
    QVERIFY2(range.has_value(), path.c_str());
    QCOMPARE(parseJson(text.substr(range->begin, range->end - range->begin)).query,
             std::optional<Node>(node));
    ++found;
    for (const ChildRef& child : childrenOf(node)) self(self, *child.node, path + child.step);
  };
  walk(walk, *result.query, {});
  QCOMPARE(found, result.sources.size());
}

void TestQueryTree::pathsThatLeadNowhere_data() {
  QTest::addColumn<QString>("path");
  for (const char* path :
       {"/", "seq", "/seq", "/seq/", "/seq/1", "/seq/00", "/seq/-1", "/seq/0x", "/seq/18446744073709551616",
        "/seq/0/", "/seq/0/g", "/seq/0/g/", "/seq/0/g/inpu", "/seq/0/g/input2", "/seq/0/g/input/user",
        "/seq/0/g/input/", "/par/0", "/seqx/0", "/seq~0/0"}) {
    QTest::newRow(path) << QString::fromLatin1(path);
  }
}

void TestQueryTree::pathsThatLeadNowhere() {
  QFETCH(QString, path);
  const Node root = parsed(R"({"seq":[{"g":{"model":"m","input":{"user":"x"}}}]})");
  QVERIFY(nodeAt(root, path.toStdString()) == nullptr);
}

void TestQueryTree::nodesCanBeChangedInPlace() {
  Node root = parsed(R"({"seq":[{"g":{"model":"m","input":{"user":"x"}}}]})");
  Node* input = nodeAt(root, "/seq/0/g/input");
  QVERIFY(input != nullptr);
  *input = {Message{Role::System, "y"}};
  QVERIFY(root == parsed(R"({"seq":[{"g":{"model":"m","input":{"system":"y"}}}]})"));
}

void TestQueryTree::cutText_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("characters");
  QTest::addColumn<QString>("cut");
  const auto row = [](const char* text, int characters, const char* cut) {
    QTest::addRow("%s, %d", QByteArray(text).simplified().constData(), characters)
        << QString::fromUtf8(text) << characters << QString::fromUtf8(cut);
  };
  row("", 3, "");
  row("abc", 3, "abc");
  row("abcd", 3, "ab…");
  row("é日😀x", 3, "é日…");
  row("é日😀", 3, "é日😀");
  row("a\tb\n", 9, "a b ");
  row("ab", 1, "…");
  row("a\xC2\x9Bz\xC2\xA0", 9, "a z\xC2\xA0");
  row("a\x7F\xE2\x80\xAEz\xE2\x81\xA9", 9, "a  z ");
}

void TestQueryTree::cutText() {
  QFETCH(QString, text);
  QFETCH(int, characters);
  QFETCH(QString, cut);
  QCOMPARE(QString::fromStdString(
               spanscope::query::cutText(text.toStdString(), static_cast<std::size_t>(characters))),
           cut);
}

void TestQueryTree::parameterNames_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("name");
  const auto row = [](const char* text, const char* name) {
    QTest::newRow(text) << QString::fromLatin1(text) << QString::fromLatin1(name);
  };
  row("{n}", "n");
  row("{max_tokens}", "max_tokens");
  row("{_a.b-9}", "_a.b-9");
  row("{}", "");
  row("{9}", "");
  row("{n", "");
  row("n}", "");
  row("n", "");
  row("", "");
  row(" {n}", "");
  row("{n} ", "");
  row("{n}{m}", "");
  row("{a b}", "");
  row("{{n}}", "");
}

void TestQueryTree::parameterNames() {
  QFETCH(QString, text);
  QFETCH(QString, name);
  QCOMPARE(QString::fromStdString(parameterName(text.toStdString()).value_or("")), name);
}

void TestQueryTree::parametersAreFound() {
  const Node root = parsed(R"({"seq":[
    {"system":"no { braces } {} { x } {a b} here"},
    {"repeat":{"n":"{n}","g":{"model":"{model}","max_tokens":"{max}","temperature":"{t}","input":
      {"user":"about {topic}, {topic} and {{other}}"}}}},
    {"map":[["m","{max}"],["x","{in}"]]},
    {"augment":["{e}",{"print":"{p}"},["{d}",{"Text":"{not}"}]]},
    {"zip":[{"ask":"{q}"},{"monad":{"file":"{dir}/a.txt"}}]}]})");
  const std::vector<ParameterUse> expected = {
      {"n", ParameterKind::Count, "/seq/1", "/seq/1/repeat/n"},
      {"model", ParameterKind::Text, "/seq/1", "/seq/1/repeat/g/model"},
      {"max", ParameterKind::MaxTokens, "/seq/1", "/seq/1/repeat/g/max_tokens"},
      {"t", ParameterKind::Temperature, "/seq/1", "/seq/1/repeat/g/temperature"},
      {"topic", ParameterKind::Text, "/seq/1/repeat/g/input", "/seq/1/repeat/g/input/user"},
      {"topic", ParameterKind::Text, "/seq/1/repeat/g/input", "/seq/1/repeat/g/input/user"},
      {"other", ParameterKind::Text, "/seq/1/repeat/g/input", "/seq/1/repeat/g/input/user"},
      {"max", ParameterKind::MaxTokens, "/seq/2", "/seq/2/map/metadata/max_tokens"},
      {"in", ParameterKind::Text, "/seq/2", "/seq/2/map/inputs/1"},
      {"e", ParameterKind::Text, "/seq/3", "/seq/3/augment/embedding_model"},
      {"p", ParameterKind::Text, "/seq/3/augment/body", "/seq/3/augment/body/print"},
      {"d", ParameterKind::Text, "/seq/3", "/seq/3/augment/doc/0"},
      {"q", ParameterKind::Text, "/seq/4/zip/first", "/seq/4/zip/first/ask"},
      {"dir", ParameterKind::Text, "/seq/4/zip/second/monad", "/seq/4/zip/second/monad/file"},
  };
  const std::vector<ParameterUse> found = findParameters(root);
  QCOMPARE(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) QVERIFY2(found[i] == expected[i], found[i].pointer.c_str());
  for (const ParameterUse& use : found) QVERIFY(nodeAt(root, use.node) != nullptr);
}

void TestQueryTree::declarationsGiveDefaultsAndTypes() {
  const Node node = *parseJson(R"({"cross": [{"repeat": {"n": "{n}", "g": {"model": "m", "input":
      {"user": "{topic}, {lines} lines"}}}}, {"user": "{other}"}]})")
                         .query;
  const std::vector<ParameterDeclaration> declarations{
      {.name = "n", .kind = {}, .defaultValue = "2", .description = "copies"},
      {.name = "lines", .kind = ParameterKind::Count, .defaultValue = "3"},
      {.name = "unused", .kind = ParameterKind::Count, .defaultValue = "many"}};
  const auto resolve = [&](const std::map<std::string, std::string>& values) {
    return resolveParameters(node, declarations, values);
  };
  const auto textOf = [](const std::variant<Node, std::vector<Diagnostic>>& resolved) {
    return QString::fromStdString(writeCanonical(std::get<Node>(resolved)));
  };
  QCOMPARE(listParameters(node, declarations)[0].description, std::string("copies"));
  QVERIFY(!listParameters(node, declarations)[0].needsValue());
  // Defaults are used where no value is given; a field with neither is left unchanged.
  QVERIFY(textOf(resolve({{"topic", "tides"}})).contains(R"("n":2)"));
  QVERIFY(textOf(resolve({{"topic", "tides"}})).contains("tides, 3 lines"));
  QVERIFY(textOf(resolve({{"n", "7"}, {"lines", "1"}})).contains("{topic}, 1 lines"));
  QVERIFY(textOf(resolve({{"n", "7"}})).contains(R"("n":7)"));

  const auto problems = std::get<std::vector<Diagnostic>>(resolve({{"n", "300"}, {"lines", "few"}}));
  QCOMPARE(problems.size(), std::size_t{2});
  QCOMPARE(problems[0].pointer, std::string("/cross/0/repeat/n"));
  QCOMPARE(problems[1].pointer, std::string("/cross/0/repeat/g/input/user"));
  QCOMPARE(problems[1].found, std::string("the value \"few\" for the parameter \"lines\""));
  QCOMPARE(problems[1].expected, worded(std::string("<whole-number-query-walk>")));
  QCOMPARE(parameterKinds().front(), ParameterKind::Text);
  QCOMPARE(narrowerKind(ParameterKind::Count, ParameterKind::Temperature), ParameterKind::Count);
}

void TestQueryTree::parametersAreFilledIn() {
  const Node root = parsed(R"({"seq":[
    {"repeat":{"n":"{n}","g":{"model":"spnl/{model}","max_tokens":"{max}","temperature":"{t}","input":
      {"user":"about {topic}, {topic}"}}}},
    {"map":[["m",null],["{topic}"]]},
    {"g":{"model":"m","input":{"augment":["{e}",{"user":"q"},["{d}",{"Text":"{topic}"}]]}}}]})");
  const auto resolved = resolveParameters(root, Values{{"n", "255"},
                                                       {"model", "x"},
                                                       {"max", "-2147483648"},
                                                       {"t", "0.25"},
                                                       {"topic", "{n}"},
                                                       {"e", "emb"},
                                                       {"d", "doc"},
                                                       {"unused", "1"}});
  QVERIFY(std::holds_alternative<Node>(resolved));
  const Node expected = parsed(R"({"seq":[
    {"repeat":{"n":255,"g":{"model":"spnl/x","max_tokens":-2147483648,"temperature":0.25,"input":
      {"user":"about {n}, {n}"}}}},
    {"map":[["m",null],["{n}"]]},
    {"g":{"model":"m","input":{"augment":["emb",{"user":"q"},["doc",{"Text":"{topic}"}]]}}}]})");
  QCOMPARE(writePretty(std::get<Node>(resolved)), writePretty(expected));
  QCOMPARE(findParameters(root).size(), std::size_t{9});
}

void TestQueryTree::onlyGivenNamesAreReplaced_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("resolved");
  const auto row = [](const char* text, const char* resolved) {
    QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(resolved);
  };
  row("{a}", "1");
  row("x{a}y{b}z", "x1y{\"k\": 2}z");
  row("{c} {a }", "{c} {a }");
  row("{{a}}", "{1}");
  row("{a{a}", "{a1");
  row("{a", "{a");
  row("{}{a}{", "{}1{");
  row("é{a}日", "é1日");
}

void TestQueryTree::onlyGivenNamesAreReplaced() {
  QFETCH(QString, text);
  QFETCH(QString, resolved);
  const Node root{Message{Role::User, text.toStdString()}};
  const auto result = resolveParameters(root, Values{{"a", "1"}, {"b", "{\"k\": 2}"}});
  QCOMPARE(QString::fromStdString(std::get<Node>(result).as<Message>()->text), resolved);
}

void TestQueryTree::badValues_data() {
  QTest::addColumn<QString>("field");
  QTest::addColumn<QString>("value");
  QTest::addColumn<bool>("accepted");
  const auto row = [](const char* field, const char* value, bool accepted) {
    QTest::newRow(qPrintable(QStringLiteral("%1=%2").arg(QLatin1String(field), QLatin1String(value))))
        << QString::fromLatin1(field) << QString::fromLatin1(value) << accepted;
  };
  row("n", "0", true);
  row("n", "255", true);
  row("n", "256", false);
  row("n", "-1", false);
  row("n", "1.0", false);
  row("n", "", false);
  row("n", " 1", false);
  row("n", "01", false);
  row("n", "+1", false);
  row("n", "1x", false);
  row("max_tokens", "2147483647", true);
  row("max_tokens", "2147483648", false);
  row("max_tokens", "99999999999999999999999", false);
  row("max_tokens", "-0", false);
  row("max_tokens", "null", false);
  row("temperature", "0", true);
  row("temperature", "-1.5e-3", true);
  row("temperature", "1e39", false);
  row("temperature", "1e999", false);
  row("temperature", "nan", false);
  row("temperature", "0,5", false);
  row("temperature", ".5", false);
}

void TestQueryTree::badValues() {
  QFETCH(QString, field);
  QFETCH(QString, value);
  QFETCH(bool, accepted);
  const Node root = parsed(R"({"repeat":{"n":"{n}","g":{"model":"m","max_tokens":"{max_tokens}",
    "temperature":"{temperature}","input":{"user":"x"}}}})");
  Values values{{"n", "1"}, {"max_tokens", "1"}, {"temperature", "1"}};
  values[field.toStdString()] = value.toStdString();
  const auto result = resolveParameters(root, values);
  QCOMPARE(std::holds_alternative<Node>(result), accepted);
  if (accepted) return;
  const auto& diagnostics = std::get<std::vector<Diagnostic>>(result);
  QCOMPARE(diagnostics.size(), std::size_t{1});
  const std::string prefix = field == QLatin1String("n") ? "/repeat/" : "/repeat/g/";
  QCOMPARE(diagnostics[0].pointer, prefix + field.toStdString());
  const std::string expected = "Spanscope found the value \"" + value.toStdString() + "\" for the parameter \"" +
                               field.toStdString() + "\", but needs a ";
  QVERIFY2(diagnostics[0].message().starts_with(expected), diagnostics[0].message().c_str());
}

void TestQueryTree::everyBadValueIsReported() {
  const Node root = parsed(R"({"seq":[{"map":[["m","{max}","{t}"],["{x}"]]},
    {"repeat":["{n}",{"model":"{m}","temperature":"{t}","input":{"user":"x"}}]}]})");
  const auto result = resolveParameters(root, Values{{"t", "hot"}});
  const auto& diagnostics = std::get<std::vector<Diagnostic>>(result);
  QCOMPARE(diagnostics.size(), std::size_t{4});
  QCOMPARE(diagnostics[0].located({}),
           worded(std::string(
               "/seq/0/map/metadata/max_tokens: Spanscope found the parameter \"max\" without a value, "
               "but needs <whole-number> -2147483648 to 2147483647")));
  QCOMPARE(diagnostics[1].pointer, std::string("/seq/0/map/metadata/temperature"));
  QCOMPARE(diagnostics[2].pointer, std::string("/seq/1/repeat/n"));
  QCOMPARE(diagnostics[3].located({}),
           worded(std::string(
               "/seq/1/repeat/g/temperature: Spanscope found the value \"hot\" for the parameter \"t\", "
               "but needs <number-bit-float-can>")));
}

SPANSCOPE_TEST(tst_query_tree, TestQueryTree)
#include "tst_query_tree.moc"
