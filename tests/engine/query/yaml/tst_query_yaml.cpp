// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as YAML: what the reference accepts and how it reads it, errors and their places, limits, and that
// nothing is lost on the way.
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/query_form.h"
#include "engine/query/yaml/yaml.h"
#include "engine/query/yaml/yaml_cursor.h"
#include "tests/engine/query/diagnostic_lines.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/processor_timer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QFile>
#include <QIODevice>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <map>
#include <set>
#include <string>

using namespace spanscope::query;
using spanscope::product_text::worded;
using spanscope::query::testing::textOf;

namespace {

void removeAll(std::string& text, const std::string& part) {
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i))
    text.erase(i, part.size());
}

std::string nested(std::size_t containers) {
  std::string text;
  for (std::size_t i = 0; i < containers / 2; ++i) text += "{plus: [";
  text += "{user: x}";
  for (std::size_t i = 0; i < containers / 2; ++i) text += "]}";
  return text;
}

}  // namespace

class TestQueryYaml : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reference_data();
  void reference();
  void scalars_data();
  void scalars();
  void written_data();
  void written();
  void diagnostics_data();
  void diagnostics();
  void everyTruncationIsSurvived();
  void remarks_data();
  void remarks();
  void escapesAreCharacters();
  void returnsAloneEndLines();
  void jsonIsRead();
  void depthLimit();
  void limits();
  void largeInputsAreReadQuickly_data();
  void largeInputsAreReadQuickly();
  void sourcesOfNodes();
};

// Rows that the reference refuses and that are read here on purpose.
const std::map<QString, const char*> kDepartures = {
    {QStringLiteral("yaml-013"),
     "text in quotes is text even if it looks like a number: the reference cannot say \"1\" at all"},
    {QStringLiteral("yaml-041"), "!!str says that what follows is text"},
};

void TestQueryYaml::reference_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<bool>("accepted");
  QTest::addColumn<QByteArray>("canonical");
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/query/data/spnl-yaml.jsonl"));
  QVERIFY2(file.open(QIODevice::ReadOnly), "the golden rows are missing");
  int rows = 0;
  while (!file.atEnd()) {
    const QJsonObject row = QJsonDocument::fromJson(file.readLine()).object();
    QTest::newRow(qPrintable(row[QLatin1String("id")].toString()))
        << row[QLatin1String("text")].toString().toUtf8() << row[QLatin1String("accepted")].toBool()
        << row[QLatin1String("canonical_text")].toString().toUtf8();
    ++rows;
  }
  QCOMPARE(rows, 84);
}

void TestQueryYaml::reference() {
  QFETCH(QByteArray, text);
  QFETCH(bool, accepted);
  QFETCH(QByteArray, canonical);
  const ParseResult result = parseYaml(text.toStdString());
  const bool departs = kDepartures.count(QString::fromUtf8(QTest::currentDataTag())) > 0;
  QVERIFY2(result.query.has_value() == (accepted || departs), qPrintable(textOf(result.diagnostics)));
  QCOMPARE(hasErrors(result.diagnostics), !result.query.has_value());
  if (departs) {
    QVERIFY(!accepted);
    // What is read here and not there is what the remarks are for.
    QVERIFY(!yamlRemarks(*result.query).empty());
  }
  if (!accepted) return;

  QVERIFY(yamlRemarks(*result.query).empty());
  QVERIFY(parseYaml(writeYaml(*result.query)).query == result.query);
  // As in JSON, a setting that is null is written null; the reference leaves it out.
  std::string written = writeCanonical(*result.query);
  removeAll(written, R"(,"max_tokens":null)");
  removeAll(written, R"(,"temperature":null)");
  QCOMPARE(QByteArray::fromStdString(written), canonical);
}

void TestQueryYaml::scalars_data() {
  QTest::addColumn<int>("kind");
  QTest::addColumn<QString>("number");
  const auto row = [](const char* text, JsonKind kind, const char* number = "") {
    QTest::newRow(text) << static_cast<int>(kind) << QString::fromUtf8(number);
  };
  for (const char* text : {"~", "null", "Null", "NULL"}) row(text, JsonKind::Null);
  row("true", JsonKind::True);
  row("false", JsonKind::False);
  for (const char* text : {"",      "True",
                           "yes",   "-",
                           "+",     ".",
                           "e1",    "1e",
                           "1e+",   "0x",
                           "0xg",   "0o8",
                           "0x1_0", "1 2",
                           "1_000", "--1",
                           "1.2.3", ".e1",
                           "inf",   ".nan",
                           "nulls", "0x8000000000000000"}) {
    row(text, JsonKind::String);
  }
  row("0", JsonKind::Number, "0");
  row("-0", JsonKind::Number, "0");
  row("+7", JsonKind::Number, "7");
  row("007", JsonKind::Number, "7");
  row("-012", JsonKind::Number, "-12");
  row("0x10", JsonKind::Number, "16");
  row("0o17", JsonKind::Number, "15");
  row(".5", JsonKind::Number, "0.5");
  row("-.5", JsonKind::Number, "-0.5");
  row("5.", JsonKind::Number, "5.0");
  row("-0.0", JsonKind::Number, "-0.0");
  row("1E+2", JsonKind::Number, "1E+2");
  row("00.10e-01", JsonKind::Number, "0.10e-01");
  row(".inf", JsonKind::Number, "1e39");
  row("-.Inf", JsonKind::Number, "-1e39");
  row("1e999", JsonKind::Number, "1e39");
  row("-1e999", JsonKind::Number, "-1e39");
}

void TestQueryYaml::scalars() {
  QFETCH(int, kind);
  QFETCH(QString, number);
  const std::string text = QTest::currentDataTag();
  QCOMPARE(static_cast<int>(yamlScalarKind(text)), kind);
  if (yamlScalarKind(text) == JsonKind::Number) QCOMPARE(QString::fromStdString(yamlNumber(text)), number);
}

// What is written for a text, after "user:".
void TestQueryYaml::written_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("yaml");
  const auto row = [](const char* name, const QByteArray& text, const char* yaml) {
    QTest::newRow(name) << text << QByteArray(yaml);
  };
  row("words", "be short", " be short\n");
  row("other letters", "日本 é", " 日本 é\n");
  row("nothing", "", " \"\"\n");
  row("a number", "1", " \"1\"\n");
  row("a word of YAML 1.1", "off", " \"off\"\n");
  row("a colon", "a: b", " \"a: b\"\n");
  row("a colon at the end", "a:", " \"a:\"\n");
  row("a comment sign", "a #b", " \"a #b\"\n");
  row("a sign first", "- a", " \"- a\"\n");
  row("a space at the end", "a ", " \"a \"\n");
  row("quotes", "say \"x\\\"", " \"say \\\"x\\\\\\\"\"\n");
  row("lines", "a\nb", " |-\n  a\n  b\n");
  row("lines with a break at the end", "a: 1\n\nb # c\n", " |\n  a: 1\n\n  b # c\n");
  row("two breaks at the end", "a\n\n", " \"a\\n\\n\"\n");
  row("lines that begin with a space", "a\n b", " \"a\\n b\"\n");
  row("a line with a tab", "a\n\tb", " \"a\\n\\tb\"\n");
  row("a carriage return", "a\r\nb", " \"a\\r\\nb\"\n");
  row("control characters", QByteArray("\0\x1b\x7f", 3), " \"\\u0000\\u001b\\u007f\"\n");
  row("line breaks of Unicode", "a\u2028b\u0085c\uFEFF", " \"a\\u2028b\\u0085c\\ufeff\"\n");
}

void TestQueryYaml::written() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, yaml);
  const Node node{Message{Role::User, text.toStdString()}};
  const std::string written = writeYaml(node);
  QCOMPARE(QByteArray::fromStdString(written), "user:" + yaml);
  QVERIFY(parseYaml(written).query == node);
}

// Every line is "line:column: pointer: message"; warnings are marked.
void TestQueryYaml::diagnostics_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const QByteArray& text, const std::string& expected) {
    QTest::newRow(name) << text << worded(QString::fromStdString(expected));
  };
  row("nothing", "", "1:1: Spanscope found <end-document>, but needs a value\n");
  row("a comment", "# only\n", "2:1: Spanscope found nothing, but needs <query-object-operator>\n");
  row("a number for text", "plus:\n  - user: 12\n",
      "2:11: /plus/0/user: Spanscope found the number 12, but needs text. <text-stands-quotes>.\n");
  row("nothing for text", "seq:\n  - user:\n  - system: ~\n",
      "3:3: /seq/0/user: Spanscope found nothing, but needs text. <text-stands-quotes>.\n"
      "3:13: /seq/1/system: Spanscope found null, but needs text. <text-stands-quotes>.\n");
  row("several errors", "cross:\n- usr: a\n- g: {input: {user: true}}\n",
      "2:3: /cross/0/usr: Spanscope found the unknown operator \"usr\", but needs one of user, system, "
      "assistant, g, "
      "seq, par, cross, plus, monad, zip, print, repeat, map, augment, ask, file. Did you mean "
      "\"user\"?\n"
      "3:6: /cross/1/g: Spanscope found no field \"model\", but needs \"model\": <name-model>\n"
      "3:21: /cross/1/g/input/user: Spanscope found true, but needs text. <text-stands-quotes>.\n");
  row("an alias", "plus: [&x {user: a}, *x, {usr: b}]\n",
      "1:22: /plus/1: Spanscope found an alias, but needs the value itself. <aliases-not-read>.\n"
      "1:27: /plus/2/usr: "
      "Spanscope found the unknown operator \"usr\", but needs one of user, system, assistant, g, seq, par, "
      "cross, "
      "plus, monad, zip, print, repeat, map, augment, ask, file. Did you mean \"user\"?\n");
  row("a list as a key", "? [a]\n: b\n",
      "1:1: Spanscope found an empty object, but needs <query-object-operator>\n"
      "1:3: Spanscope found a list as a key, but needs a "
      "word\n");
  row("a second document", "user: a\n---\nuser: b\n",
      "warning 2:1: Spanscope found <second-document>, but expects one YAML document. <first-read>.\n");
  row("an error and bad syntax", "seq:\n- user: 1\n- user: \"a\n",
      "2:9: /seq/0/user: Spanscope found the number 1, but needs text. <text-stands-quotes>.\n"
      "4:1: /seq/1/user: Spanscope found <end-document>, but needs YAML. <something-not-closed>.\n");
  const std::string tab = "Spanscope found <tab-indents>, but needs spaces. <yaml-not-indent>.\n";
  row("a tab before a key", "g:\n\tmodel: m\n\tinput:\n\t\tuser: x\n", "2:1: /g: " + tab);
  row("a tab in a list", "seq:\n  - user: a\n\t- user: b\n", "3:1: /seq/0/user: " + tab);
  row("a tab behind a dash", "seq:\n  -\tuser: a\n", "2:4: /seq: " + tab);
  row("a list behind a dash and a tab", "seq:\n-\t- user: a\n", "2:2: /seq: " + tab);
  row("a tab behind spaces", "g:\n  model: m\n  input:\n \tuser: x\n", "4:2: /g/input: " + tab);
  row("a tab below a dash", "seq:\n  - g:\n  \tmodel: m\n", "3:3: /seq/0/g: " + tab);
  row("a tab in a block of text", "user: |\n  a\n\tb\n", "3:1: /user: " + tab);
  row("a line of a tab", "seq:\n  - user: a\n\t\n  - user: b\n", "3:1: /seq/0/user: " + tab);
  row("an error before a tab", "seq:\n  - user: 1\n  - user: a\n\t- user: b\n",
      "2:11: /seq/0/user: Spanscope found the number 1, but needs text. <text-stands-quotes>.\n"
      "4:1: /seq/1/user: " +
          tab);
  row("a byte order mark and a tab", "\xEF\xBB\xBFg:\n\tmodel: m\n", "2:1: /g: " + tab);
  row("tabs within brackets", "plus: [\n\t{user: a},\n\t{user:\t'b'}\n\t]\n", "");
  row("tabs within text", "user: a\tb # c\n", "");
  row("a tab within brackets is not to blame", "plus: [\n\t{user: a: b}\n]\n",
      "2:10: /plus/0: Spanscope found \": b}\", but needs YAML. End of map flow not found.\n");
  row("a byte order mark", "\xEF\xBB\xBFuser: 1",
      "1:7: /user: Spanscope found the number 1, but needs text. <text-stands-quotes>.\n");
  row("a quote that is not closed before spaces", "user: 'a  ",
      "1:11: Spanscope found <end-document>, but needs YAML. <something-not-closed>.\n");
  row("a block that ends in spaces", "user: |\n  a  ", "");
  row("a bracket that is not closed", "plus: [{user: a}\nx",
      "2:1: /plus: Spanscope found \"x\", but needs YAML. End of sequence flow not found.\n");
  row("the end of the document is marked", "user: a\n...\n", "");
  row("a control character", QByteArray("user: a\x01\n"),
      "1:8: Spanscope found a control character, but needs <text-without-any>\n");
  row("a quoted number", "g: {model: m, max_tokens: '5', temperature: \"0.5\", input: {user: x}}", "");
  row("a parameter", "g: {model: m, max_tokens: \"{n}\", temperature: t, input: {user: x}}",
      "1:47: /g/temperature: Spanscope found the text \"t\", but needs <number-null>. "
      "<parameter-written-name|{name}>.\n");
  row("not a count", "repeat: {n: 1.5, g: {model: m, input: {user: x}}}",
      "1:13: /repeat/n: Spanscope found the number 1.5, but needs <whole-number-query-walk>. "
      "<write-without-fraction>.\n");
}

void TestQueryYaml::diagnostics() {
  QFETCH(QByteArray, text);
  QFETCH(QString, expected);
  const ParseResult result = parseYaml(text.toStdString());
  QCOMPARE(textOf(result.diagnostics), expected);
  QCOMPARE(result.query.has_value(), !hasErrors(result.diagnostics));
}

void TestQueryYaml::everyTruncationIsSurvived() {
  const std::string whole = writeYaml(spanscope::query::testing::queryOfEveryKind());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ParseResult result = parseYaml(whole.substr(0, size));
    QCOMPARE(result.query.has_value(), !hasErrors(result.diagnostics));
    for (const Diagnostic& diagnostic : result.diagnostics) QVERIFY(diagnostic.offset <= size);
  }
}

void TestQueryYaml::remarks_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::addColumn<QStringList>("pointers");
  const auto row = [](const char* name, const char* json, const QStringList& pointers) {
    QTest::newRow(name) << QByteArray(json) << pointers;
  };
  row("nothing to say", R"({"cross":[{"user":"one"},{"print":""}]})", {});
  row("texts that look like numbers",
      R"({"plus":[{"user":"1"},{"system":"-.5e3"},{"user":"1 2"},{"user":"0x1f"}]})",
      {"/plus/0/user", "/plus/1/system", "/plus/3/user"});
  row("words", R"({"plus":[{"user":"null"},{"user":"~"},{"user":"true"},{"user":"nothing"}]})",
      {"/plus/0/user", "/plus/1/user", "/plus/2/user"});
  row("texts beside messages",
      R"({"augment":{"embedding_model":"1","body":{"user":"q"},"doc":["2",{"Text":"3"}]}})",
      {"/augment/embedding_model", "/augment/doc/0", "/augment/doc/1/Text"});
  row("inputs", R"({"map":{"metadata":{"model":"m"},"inputs":["a","7"]}})", {"/map/inputs/1"});
  row("older forms", R"({"seq":[{"ask":"?"},{"file":"a"}]})", {"/seq/0", "/seq/1"});
  row("parameters",
      R"({"repeat":{"n":"{n}","g":{"model":"m","max_tokens":"{m}","temperature":"{t}","input":{"user":"{x}"}}}})",
      {"/repeat/n", "/repeat/g/max_tokens", "/repeat/g/temperature"});
}

void TestQueryYaml::remarks() {
  QFETCH(QByteArray, json);
  QFETCH(QStringList, pointers);
  QStringList found;
  for (const Diagnostic& remark : yamlRemarks(*parseJson(json.toStdString()).query)) {
    QVERIFY(remark.severity == spanscope::Severity::Warning);
    found << QString::fromStdString(remark.pointer);
  }
  QCOMPARE(found, pointers);
}

void TestQueryYaml::escapesAreCharacters() {
  const ParseResult result = parseYaml(R"(user: "é\N\_\L\P\x41\e\/\u00e9\U0001F600")");
  QVERIFY2(result.query.has_value(), qPrintable(textOf(result.diagnostics)));
  QCOMPARE(QByteArray::fromStdString(result.query->as<Message>()->text),
           QByteArray("é\u0085\u00a0\u2028\u2029A\x1b/é😀"));
  QVERIFY(!parseYaml(R"(user: "\ud83d")").query.has_value());
}

/// Old programs end lines in carriage returns alone. Every form but JSON depends on lines.
void TestQueryYaml::returnsAloneEndLines() {
  const std::string text = "# all\rplus:\r- user: |\r    a\r    b\r- user: c # more\r";
  const ParseResult read = parseYaml(text);
  QVERIFY(read.query == parseJson(R"({"plus":[{"user":"a\nb\n"},{"user":"c"}]})").query);
  QCOMPARE(unkeptParts(text, QueryForm::Yaml).size(), std::size_t{1});
  const ParseResult wrong = parseYaml("plus:\r- user: a\r- usr: b\r");
  QVERIFY(!wrong.diagnostics.empty());
  QCOMPARE(wrong.diagnostics.front().position.line, std::size_t{3});
  QVERIFY(parseLisp("; a\r(user \"b\")\r").query == parseJson(R"({"user":"b"})").query);
  // Within a text with line feeds they are part of the lines.
  QVERIFY(parseYaml("user: a\r\n").query == parseJson(R"({"user":"a"})").query);
}

/// JSON is YAML, but for characters that JSON escapes in two halves.
void TestQueryYaml::jsonIsRead() {
  for (const char* json : {R"({"user": "\ud83d\ude00"})",
                           "\xEF\xBB\xBF\n[{\"role\": \"user\", \"content\": \"\\uD83D\\uDE00\"}]"}) {
    const ParseResult read = parseYaml(json);
    QVERIFY(read.query.has_value());
    QVERIFY(read.query == parseJson(json).query);
  }
  QVERIFY(!parseYaml(R"({"user": "\ud83d"})").query);
}

void TestQueryYaml::depthLimit() {
  QVERIFY(parseYaml(nested(kMaxDepth - 1)).query.has_value());
  const ParseResult deep = parseYaml(nested(kMaxDepth + 1));
  QVERIFY(!deep.query.has_value());
  QCOMPARE(QString::fromStdString(deep.diagnostics.back().expected),
           worded("at most 127 <containers-within-each>"));
  const Node node = *parseYaml(nested(kMaxDepth - 1)).query;
  QVERIFY(parseYaml(writeYaml(node)).query == node);
}

void TestQueryYaml::limits() {
  ParseLimits limits;
  limits.maxBytes = 9;
  QVERIFY(parseYaml("user: abc", limits).query.has_value());
  QVERIFY(!parseYaml("user: abcd", limits).query.has_value());
  const ParseResult large = parseYaml(std::string(kMaxYamlBytes + 1, ' '));
  QCOMPARE(QString::fromStdString(large.diagnostics.at(0).expected), QStringLiteral("at most 16777216"));
  limits = {};
  limits.maxNodes = 3;
  QVERIFY(parseYaml("seq: [{user: a}, {user: b}]", limits).query.has_value());
  QVERIFY(!parseYaml("seq: [{user: a}, {user: b}, {user: c}]", limits).query.has_value());
  QVERIFY(!parseYaml("user: \xff").query.has_value());
}

void TestQueryYaml::largeInputsAreReadQuickly_data() {
  QTest::addColumn<QByteArray>("text");
  constexpr int kCount = 40'000;
  QTest::newRow("many messages") << "plus:\n" + QByteArray("- user: some words of text\n").repeated(kCount);
  QTest::newRow("a long text") << "user: |\n" + QByteArray("  a line of text\n").repeated(kCount);
  QTest::newRow("a long flow") << "plus: [" + QByteArray("{user: a}, ").repeated(kCount) + "]";
  QTest::newRow("open brackets") << QByteArray(kCount, '[');
  QTest::newRow("open braces") << QByteArray(kCount, '{');
  QTest::newRow("dashes") << QByteArray("- ").repeated(kCount);
  QTest::newRow("questions") << QByteArray("? ").repeated(kCount);
  QTest::newRow("anchors") << QByteArray("&a ").repeated(kCount);
  QTest::newRow("a long word") << QByteArray(16 * kCount, 'a');
}

void TestQueryYaml::largeInputsAreReadQuickly() {
  QFETCH(QByteArray, text);
  spanscope::test::ProcessorTimer timer;
  timer.start();
  parseYaml(text.toStdString());
  QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

void TestQueryYaml::sourcesOfNodes() {
  const std::string text = "cross:\n  - user: one\n  - plus: [{user: two}, {system: three}]\n";
  const ParseResult result = parseYaml(text);
  const auto at = [&](const char* path) {
    const auto range = result.sources.find(path);
    return range ? QString::fromStdString(text.substr(range->begin, range->end - range->begin)) : QString();
  };
  QCOMPARE(at(""), QString::fromStdString(text).trimmed());
  QCOMPARE(at("/cross/0"), QStringLiteral("user: one"));
  QCOMPARE(at("/cross/1/plus/0"), QStringLiteral("{user: two}"));
  QCOMPARE(result.sources.nodeAround(text.find("three")).value_or("none"), std::string("/cross/1/plus/1"));
  QCOMPARE(result.sources.nodeAround(text.find("one")).value_or("none"), std::string("/cross/0"));
}

SPANSCOPE_TEST(tst_query_yaml, TestQueryYaml)
#include "tst_query_yaml.moc"
