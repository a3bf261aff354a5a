// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and writing of queries: what the reference accepts and writes, and that nothing is lost on the way.
#include "engine/query/json/json.h"
#include "engine/query/number_text.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>
#include <string>

using namespace spanscope::query;
using spanscope::product_text::worded;

namespace {

std::string allMessages(const ParseResult& result) {
  std::string lines;
  for (const Diagnostic& diagnostic : result.diagnostics) lines += diagnostic.located("query") + "\n";
  return lines;
}

std::string nested(std::size_t containers) {
  // Each plus is two containers, the message at the end one.
  std::string text;
  for (std::size_t i = 0; i < containers / 2; ++i) text += R"({"plus":[)";
  text += R"({"user":"x"})";
  for (std::size_t i = 0; i < containers / 2; ++i) text += "]}";
  return text;
}

/// Wraps fields of a generate into one.
std::string generateWith(const std::string& fields) {
  return R"({"g":{"model":"m","input":{"user":"x"},)" + fields + "}}";
}

/// What the reference was given and made of it.
std::vector<QJsonObject> recorded() {
  std::vector<QJsonObject> rows;
  for (const char* name : {"/spnl-json.jsonl", "/spnl-json-more.jsonl"}) {
    QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/query/data") + QLatin1String(name));
    if (!file.open(QIODevice::ReadOnly)) continue;
    while (!file.atEnd()) rows.push_back(QJsonDocument::fromJson(file.readLine()).object());
  }
  return rows;
}

void removeAll(std::string& text, const std::string& part) {
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i))
    text.erase(i, part.size());
}

}  // namespace

class TestQueryJson : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reference_data();
  void reference();
  void referenceDeparturesAreAsListed();
  void acceptance_data();
  void acceptance();
  void ownForms_data();
  void ownForms();
  void givenIsKept_data();
  void givenIsKept();
  void temperatures_data();
  void temperatures();
  void floatsSurvive();
  void textsAreUnescaped();
  void prettyForm();
  void randomTreesSurvive();
  void canonicalIsStable();
  void depthLimit();
  void nodeLimit();
  void sizeLimit();
  void diagnosticLimit();
  void largeInputsAreRefusedQuickly_data();
  void largeInputsAreRefusedQuickly();
  void longKeysAreCut();
  void sourcesOfNodes();
  void examples();
};

// Where the text that is written differs from the reference's, because its own text would be read as another
// query:
//  - "null": a max_tokens or temperature that was null is written null. The reference leaves it out, and what
//  is left
//    out is read as 0 or 0.6.
//  - "infinite": a temperature beyond a 32-bit float is written 1e+39. The reference writes null.
// The rows of the first kind are found by what was read; there are this many of them.
constexpr int kRowsWithNull = 43 + 37;
const std::set<QString> kRowsWithInfinity = {QStringLiteral("edge-036")};

// Rows that the reference refuses and this reader accepts: the older forms, which are resolved before a query
// is planned or exported, and which the exchange format no longer has; and a byte order mark.
const std::set<QString> kReadHereAlone = {
    QStringLiteral("edge-050"),  // {"repeat": {"n", "query"}}
    QStringLiteral("edge-071"),  // {"ask"}
    QStringLiteral("edge-072"),  // {"file"}
    QStringLiteral("edge-093"),  // U+FEFF in front
};

void TestQueryJson::reference_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<bool>("accepted");
  QTest::addColumn<QByteArray>("canonical");
  const std::vector<QJsonObject> rows = recorded();
  QCOMPARE(rows.size(), std::size_t{535 + 301});
  for (const QJsonObject& row : rows) {
    const bool accepted = row[QLatin1String("accepted")].toBool();
    QTest::newRow(qPrintable(row[QLatin1String("id")].toString()))
        << row[QLatin1String("text")].toString().toUtf8() << accepted
        << row[QLatin1String("canonical_text")].toString().toUtf8();
  }
}

void TestQueryJson::reference() {
  QFETCH(QByteArray, text);
  QFETCH(bool, accepted);
  QFETCH(QByteArray, canonical);
  const QString id = QString::fromUtf8(QTest::currentDataTag());
  const ParseResult result = parseJson(text.toStdString());
  const std::string messages = allMessages(result);
  if (kReadHereAlone.count(id) > 0) {
    QVERIFY(!accepted);
    QVERIFY2(result.query.has_value(), messages.c_str());
    return;
  }
  QVERIFY2(result.query.has_value() == accepted, messages.c_str());
  QCOMPARE(hasErrors(result.diagnostics), !accepted);
  if (!accepted) return;

  std::string written = writeCanonical(*result.query);
  QCOMPARE(writeCanonical(*parseJson(written).query), written);
  removeAll(written, R"(,"max_tokens":null)");
  removeAll(written, R"(,"temperature":null)");
  if (kRowsWithInfinity.count(id) > 0) {
    const std::string infinite = R"("temperature":1e+39)";
    const std::size_t at = written.find(infinite);
    QVERIFY(at != std::string::npos);
    written.replace(at, infinite.size(), R"("temperature":null)");
  }
  QCOMPARE(QByteArray::fromStdString(written), canonical);
  // Every row without an exception.
  QCOMPARE(QByteArray::fromStdString(writeAsReference(*result.query)), canonical);
}

void TestQueryJson::referenceDeparturesAreAsListed() {
  int rowsWithNull = 0;
  std::set<QString> rowsThatDiffer;
  for (const QJsonObject& row : recorded()) {
    const ParseResult result = parseJson(row[QLatin1String("text")].toString().toStdString());
    if (!result.query) continue;
    const std::string written = writeCanonical(*result.query);
    const bool hasNull = written.find(R"(_tokens":null)") != std::string::npos ||
                         written.find(R"(temperature":null)") != std::string::npos;
    rowsWithNull += hasNull ? 1 : 0;
    const bool differs = written != row[QLatin1String("canonical_text")].toString().toStdString();
    if (differs && !hasNull) rowsThatDiffer.insert(row[QLatin1String("id")].toString());
  }
  QCOMPARE(rowsWithNull, kRowsWithNull);
  std::set<QString> listed = kRowsWithInfinity;
  listed.insert(kReadHereAlone.begin(), kReadHereAlone.end());
  QCOMPARE(rowsThatDiffer, listed);
}

// More of what the reference accepts and refuses, found by trying it.
void TestQueryJson::acceptance_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("accepted");
  const auto row = [](const char* name, const std::string& text, bool accepted) {
    QTest::newRow(name) << QString::fromStdString(text) << accepted;
  };
  row("map metadata as a list of one", R"({"map":[["m"],["a"]]})", true);
  row("map metadata as a list of two", R"({"map":[["m",3],["a"]]})", true);
  row("map metadata as a list of three", R"({"map":[["m",3,0.5],["a"]]})", true);
  row("map metadata as a list with nulls", R"({"map":[["m",null,null],["a"]]})", true);
  row("map metadata as a list of four", R"({"map":[["m",3,0.5,1],["a"]]})", false);
  row("map metadata as an empty list", R"({"map":[[],["a"]]})", false);
  row("map of three", R"({"map":[{"model":"m"},["a"],3]})", false);
  row("map of one", R"({"map":[{"model":"m"}]})", false);
  row("unknown fields twice", R"({"map":{"metadata":{"model":"m","x":1,"x":2},"inputs":["a"],"y":3,"y":4}})",
      true);
  row("model twice", R"({"map":{"metadata":{"model":"m","model":"m"},"inputs":["a"]}})", false);
  row("inputs twice", R"({"map":{"metadata":{"model":"m"},"inputs":["a"],"inputs":["b"]}})", false);
  row("minus zero as a temperature", generateWith(R"("temperature":-0)"), true);
  row("true as a temperature", generateWith(R"("temperature":true)"), false);
  row("a list as a temperature", generateWith(R"("temperature":[1])"), false);
  row("an object as a temperature", generateWith(R"("temperature":{})"), false);
  row("zero with an endless exponent", generateWith(R"("temperature":0e999999999999)"), true);
  row("zero point zero with an endless exponent", generateWith(R"("temperature":0.0e+999999999999999999999)"),
      true);
  row("too small for a double", generateWith(R"("temperature":1e-999999999999999999999)"), true);
  row("too small for a float", generateWith(R"("temperature":1e-300)"), true);
  row("too large for a float", generateWith(R"("temperature":1e308)"), true);
  row("minus infinity as a float", generateWith(R"("temperature":-1e39)"), true);
  row("too large for a double", generateWith(R"("temperature":1.7976931348623159e308)"), false);
  row("small digits, large exponent", generateWith(R"("temperature":0.000000000000000001e326)"), true);
  row("many digits, large exponent", generateWith(R"("temperature":)" + std::string(40, '1') + "e270"),
      false);
  row("more digits than 64 bits", generateWith(R"("temperature":123456789012345678901234567890)"), true);
  row("one more than 64 bits", generateWith(R"("temperature":18446744073709551616)"), true);
  row("more digits than a double", generateWith(R"("temperature":)" + std::string(310, '1')), false);
  row("too large in an unknown field", generateWith(R"("foo":1e400)"), false);
  row("half a surrogate pair in an unknown field", generateWith(R"("foo":"\ud800")"), false);
  row("true as max_tokens", generateWith(R"("max_tokens":true)"), false);
  row("minus zero point zero as max_tokens", generateWith(R"("max_tokens":-0.0)"), false);
  row("64 bits as max_tokens", generateWith(R"("max_tokens":18446744073709551616)"), false);
  row("an exponent in capitals", generateWith(R"("temperature":1E5)"), true);
  row("a point without digits", generateWith(R"("temperature":1.)"), false);
  row("a point in front", generateWith(R"("temperature":.5)"), false);
  row("an exponent without digits", generateWith(R"("temperature":1e)"), false);
  row("a lone minus", generateWith(R"("temperature":-)"), false);
  row("infinity by name", generateWith(R"("temperature":Infinity)"), false);
  row("query beside g", R"({"repeat":{"n":2,"g":{"model":"m","input":{"user":"x"}},"query":3}})", true);
  row("query before g, twice",
      R"({"repeat":{"query":3,"g":{"model":"m","input":{"user":"x"}},"n":1,"query":4}})", true);
  row("repeat of three", R"({"repeat":[2,{"model":"m","input":{"user":"x"}},1]})", false);
  row("repeat of one", R"({"repeat":[2]})", false);
  row("repeat null times", R"({"repeat":{"n":null,"g":{"model":"m","input":{"user":"x"}}}})", false);
  row("repeat of a list", R"({"repeat":{"n":2,"g":["m",null,null,{"user":"x"}]}})", false);
  row("n twice", R"({"repeat":{"n":2,"n":2,"g":{"model":"m","input":{"user":"x"}}}})", false);
  row("repeat of null", R"({"repeat":null})", false);
  row("an escaped key", R"({"\u0075ser":"x"})", true);
  row("an escaped slash", R"({"user":"\u0000\/"})", true);
  row("delete is no control character", "{\"user\":\"\x7f\"}", true);
  row("two high surrogates", R"({"user":"\ud83d\ud83d"})", false);
  row("a pair in capitals", R"({"user":"\uDBFF\uDFFF"})", true);
  row("all white space", "\r\n\t {\"user\"\n:\t\"x\"\r}\n ", true);
  row("a vertical tab is no white space", "{\"user\":\"x\"}\x0b", false);
  row("a no-break space is no white space", "{\"user\":\"x\"}\u00a0", false);
  row("zip of three", R"({"zip":[{"user":"a"},{"user":"b"},{"user":"b"}]})", false);
  row("first twice", R"({"zip":{"first":{"user":"a"},"second":{"user":"a"},"first":{"user":"a"}}})", false);
  row("monad of nothing", R"({"monad":null})", false);
  row("null in a list", R"({"seq":[null]})", false);
}

void TestQueryJson::acceptance() {
  QFETCH(QString, text);
  QFETCH(bool, accepted);
  const ParseResult result = parseJson(text.toStdString());
  QVERIFY2(result.query.has_value() == accepted, allMessages(result).c_str());
}

// The older forms and parameters: the first text is read as the second, which is the form of today.
void TestQueryJson::ownForms_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("canonical");
  const auto row = [](const char* name, const char* text, const char* canonical) {
    QTest::newRow(name) << QString::fromUtf8(text) << QString::fromUtf8(canonical);
  };
  row("ask", R"({"ask":"name?"})", R"({"ask":"name?"})");
  row("file", R"({"file":"./a.txt"})", R"({"file":"./a.txt"})");
  row("repeat of a query", R"({"repeat":{"n":4,"query":{"g":{"model":"m","input":{"user":"x"}}}}})",
      R"({"repeat":{"n":4,"g":{"model":"m","max_tokens":0,"temperature":0.6,"input":{"user":"x"}}}})");
  row("repeat of a query, n behind it",
      R"({"repeat":{"query":{"g":{"model":"m","input":{"user":"x"}}},"n":4}})",
      R"({"repeat":{"n":4,"g":{"model":"m","max_tokens":0,"temperature":0.6,"input":{"user":"x"}}}})");
  row("repeat of a query of a repeat of a query",
      R"({"repeat":{"query":{"g":{"model":"m","input":{"repeat":{"n":1,"query":{"g":{"model":"o","input":{"user":"x"}}}}}}},"n":4}})",
      R"({"repeat":{"n":4,"g":{"model":"m","max_tokens":0,"temperature":0.6,"input":{"repeat":{"n":1,"g":{"model":"o","max_tokens":0,"temperature":0.6,"input":{"user":"x"}}}}}}})");
  row("parameters for numbers",
      R"({"repeat":{"n":"{n}","g":{"model":"{model}","max_tokens":"{max_tokens}","temperature":"{t.1}","input":{"user":"{x}"}}}})",
      R"({"repeat":{"n":"{n}","g":{"model":"{model}","max_tokens":"{max_tokens}","temperature":"{t.1}","input":{"user":"{x}"}}}})");
  row("parameters in a list", R"({"map":[["m","{a}","{b}"],[]]})",
      R"({"map":{"metadata":{"model":"m","max_tokens":"{a}","temperature":"{b}"},"inputs":[]}})");
}

void TestQueryJson::ownForms() {
  QFETCH(QString, text);
  QFETCH(QString, canonical);
  const ParseResult result = parseJson(text.toStdString());
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  QCOMPARE(QString::fromStdString(writeCanonical(*result.query)), canonical);
}

void TestQueryJson::givenIsKept_data() {
  QTest::addColumn<QString>("fields");
  QTest::newRow("nothing") << "\"model\": \"m\",";
  QTest::newRow("nulls") << R"("model": "m", "max_tokens": null, "temperature": null,)";
  QTest::newRow("defaults") << R"("model": "m", "max_tokens": 0, "temperature": 0.6,)";
  QTest::newRow("mixed") << R"("model": "m", "max_tokens": null, "temperature": 0.0,)";
  QTest::newRow("parameters") << R"("model": "m", "max_tokens": "{n}", "temperature": "{t}",)";
}

void TestQueryJson::givenIsKept() {
  QFETCH(QString, fields);
  const std::string text = "{\"g\": {" + fields.toStdString() + "\"input\": {\"user\": \"x\"}}}";
  const ParseResult result = parseJson(text);
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  std::string written = writePretty(*result.query);
  written.erase(std::remove(written.begin(), written.end(), '\n'), written.end());
  removeAll(written, " ");
  std::string given = text;
  removeAll(given, " ");
  QCOMPARE(written, given);
}

void TestQueryJson::temperatures_data() {
  QTest::addColumn<QString>("given");
  QTest::addColumn<QString>("written");
  const auto row = [](const char* given, const char* written) {
    QTest::newRow(given) << QString::fromLatin1(given) << QString::fromLatin1(written);
  };
  row("0", "0.0");
  row("-0", "-0.0");
  row("-0.0", "-0.0");
  row("1", "1.0");
  row("100", "100.0");
  row("1.5", "1.5");
  row("-2.25", "-2.25");
  row("0.1", "0.1");
  row("0.30000001192092896", "0.3");
  row("123456.789", "123456.79");
  row("16777217", "16777216.0");
  row("1e12", "1000000000000.0");
  row("9.999999e12", "9999999000000.0");
  row("1e13", "1e+13");
  row("1.25e13", "1.25e+13");
  row("3.4028235e38", "3.4028235e+38");
  row("3.4e39", "1e+39");
  row("-3.4e39", "-1e+39");
  row("0.00001", "0.00001");
  row("0.000001", "0.000001");
  row("0.0000015", "0.0000015");
  row("0.0000009", "9e-7");
  row("1.5e-7", "1.5e-7");
  row("1e-45", "1e-45");
  row("1e-60", "0.0");
  row("-1e-60", "-0.0");
  row("18446744073709551615", "1.8446744e+19");
  row("-9223372036854775808", "-9.223372e+18");
}

void TestQueryJson::temperatures() {
  QFETCH(QString, given);
  QFETCH(QString, written);
  const ParseResult result = parseJson(generateWith("\"temperature\":" + given.toStdString()));
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  const auto temperature = std::get<float>(result.query->as<Generate>()->settings.temperature);
  QCOMPARE(QString::fromStdString(floatText(temperature)), written);
}

void TestQueryJson::floatsSurvive() {
  std::mt19937 random(testing::testSeed(1));
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    const std::string text = floatText(value);
    if (!isJsonNumber(text) ||
        std::bit_cast<std::uint32_t>(floatValue(text)) != std::bit_cast<std::uint32_t>(value)) {
      QFAIL(text.c_str());
    }
  }
  QCOMPARE(floatText(std::numeric_limits<float>::quiet_NaN()), std::string("null"));
}

void TestQueryJson::textsAreUnescaped() {
  const ParseResult result = parseJson(R"({"user":"\"\\\/\b\f\n\r\t\u0041\u00e9\u65e5\ud83d\uDE00\u0000."})");
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  const std::string expected("\"\\/\b\f\n\r\tAé日😀\0.", 20);
  QCOMPARE(result.query->as<Message>()->text, expected);
}

void TestQueryJson::prettyForm() {
  const ParseResult result = parseJson(
      R"({"g":{"model":"m","max_tokens":null,"input":{"cross":[{"system":"s"},{"plus":[{"user":"a"},{"user":"b"}]},
         {"seq":[]},{"augment":["e",{"user":"q"},["d",{"Binary":[0,255]}]]},{"map":[["m"],["a","b"]]}]}}})");
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  const std::string expected = R"({"g": {
  "model": "m",
  "max_tokens": null,
  "input": {"cross": [
    {"system": "s"},
    {"plus": [
      {"user": "a"},
      {"user": "b"}
    ]},
    {"seq": []},
    {"augment": {
      "embedding_model": "e",
      "body": {"user": "q"},
      "doc": ["d", {"Binary": [0, 255]}]
    }},
    {"map": {
      "metadata": {
        "model": "m"
      },
      "inputs": [
        "a",
        "b"
      ]
    }}
  ]}
}}
)";
  QCOMPARE(writePretty(*result.query), expected);
}

void TestQueryJson::randomTreesSurvive() {
  std::mt19937 random(testing::testSeed(2));
  for (int i = 0; i < 3000; ++i) {
    const Node node = testing::randomQuery(random, 1 + i % 9);
    const std::string text = writePretty(node);
    const ParseResult result = parseJson(text);
    QVERIFY2(result.query.has_value(), allMessages(result).c_str());
    if (*result.query != node) QFAIL(text.c_str());
  }
}

void TestQueryJson::canonicalIsStable() {
  std::mt19937 random(testing::testSeed(3));
  for (int i = 0; i < 3000; ++i) {
    const std::string text = writeCanonical(testing::randomQuery(random, 1 + i % 9));
    const ParseResult result = parseJson(text);
    QVERIFY2(result.query.has_value(), allMessages(result).c_str());
    QCOMPARE(writeCanonical(*result.query), text);
  }
}

void TestQueryJson::depthLimit() {
  QVERIFY(parseJson(nested(127)).query.has_value());
  const ParseResult tooDeep = parseJson(nested(129));
  QVERIFY(!tooDeep.query.has_value());
  QCOMPARE(tooDeep.diagnostics.size(), std::size_t{1});
  QCOMPARE(tooDeep.diagnostics[0].expected, worded(std::string("at most 127 <containers-within-each>")));
  ParseLimits limits;
  limits.maxDepth = 1000;
  QVERIFY(!parseJson(nested(129), limits).query.has_value());
  limits.maxDepth = 3;
  QVERIFY(parseJson(nested(3), limits).query.has_value());
  QVERIFY(!parseJson(nested(5), limits).query.has_value());
  // Fields that are not read count as well.
  QVERIFY(
      parseJson(generateWith("\"x\":" + std::string(125, '[') + std::string(125, ']'))).query.has_value());
  QVERIFY(
      !parseJson(generateWith("\"x\":" + std::string(126, '[') + std::string(126, ']'))).query.has_value());
}

void TestQueryJson::nodeLimit() {
  ParseLimits limits;
  limits.maxNodes = 4;
  QVERIFY(parseJson(R"({"seq":[{"user":"a"},{"user":"b"},{"user":"c"}]})", limits).query.has_value());
  const ParseResult many =
      parseJson(R"({"seq":[{"user":"a"},{"user":"b"},{"user":"c"},{"user":"d"}]})", limits);
  QVERIFY(!many.query.has_value());
  QCOMPARE(many.diagnostics.size(), std::size_t{1});
  QCOMPARE(many.diagnostics[0].pointer, std::string("/seq/3"));
  QCOMPARE(
      many.diagnostics[0].message(),
      worded(std::string("Spanscope found too many nodes, but needs at most 4 nodes. <follows-not-read>.")));
  QVERIFY(parseJson(R"({"map":[["m"],["a","b","c"]]})", limits).query.has_value());
  QVERIFY(!parseJson(R"({"map":[["m"],["a","b","c","d"]]})", limits).query.has_value());
}

void TestQueryJson::sizeLimit() {
  ParseLimits limits;
  limits.maxBytes = 12;
  QVERIFY(parseJson(R"({"user":"x"})", limits).query.has_value());
  const ParseResult large = parseJson(R"({"user":"xy"})", limits);
  QVERIFY(!large.query.has_value());
  QCOMPARE(large.diagnostics.size(), std::size_t{1});
  QCOMPARE(large.diagnostics[0].message(),
           std::string("Spanscope found a text of 13 bytes, but needs at most 12"));
}

void TestQueryJson::diagnosticLimit() {
  std::string text = R"({"seq":[)";
  for (int i = 0; i < 1000; ++i) text += i == 0 ? "1" : ",1";
  const ParseResult many = parseJson(text + "]}");
  QVERIFY(!many.query.has_value());
  QCOMPARE(many.diagnostics.size(), std::size_t{101});
  QCOMPARE(many.diagnostics[99].pointer, std::string("/seq/99"));
  QCOMPARE(
      many.diagnostics.back().message(),
      worded(std::string("Spanscope found more than 100 errors, but needs no errors. <follows-not-read>.")));

  text = R"({"seq":[)";
  for (int i = 0; i < 1000; ++i) text += i == 0 ? R"({"plus":[]})" : R"(,{"plus":[]})";
  const ParseResult warnings = parseJson(text + "]}");
  QVERIFY(warnings.query.has_value());
  QCOMPARE(warnings.diagnostics.size(), std::size_t{100});
}

void TestQueryJson::largeInputsAreRefusedQuickly_data() {
  QTest::addColumn<QByteArray>("piece");
  QTest::addColumn<int>("megabytes");
  QTest::newRow("brackets, above the size limit") << QByteArray("[") << 100;
  QTest::newRow("brackets") << QByteArray("[") << 60;
  QTest::newRow("lists of queries") << QByteArray(R"({"seq":[)") << 60;
  QTest::newRow("wrong queries") << QByteArray(R"({"seq":[1],)") << 60;
  QTest::newRow("a long number") << QByteArray("1") << 60;
  QTest::newRow("a long word") << QByteArray("n") << 60;
  QTest::newRow("white space") << QByteArray(" ") << 60;
  QTest::newRow("bytes that are not UTF-8") << QByteArray("\xC3") << 60;
}

void TestQueryJson::largeInputsAreRefusedQuickly() {
  QFETCH(QByteArray, piece);
  QFETCH(int, megabytes);
  const std::string text = piece.repeated((megabytes << 20) / static_cast<int>(piece.size())).toStdString();
  const std::clock_t begin = std::clock();
  const ParseResult result = parseJson(text);
  QVERIFY(!result.query.has_value());
  QVERIFY(!result.diagnostics.empty());
  QVERIFY2(result.diagnostics.front().found.size() < 200, "what was found is quoted at length");
  // Of the processor's time, so that a busy machine does not count; generous, because it is about being
  // linear.
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  QVERIFY2(seconds < 10, qPrintable(QString::number(seconds)));
}

void TestQueryJson::longKeysAreCut() {
  const std::string key(1'000'000, 'k');
  const ParseResult result = parseJson("{\"" + key + "\":[\"\\x\",\"\\x\"]}");
  QCOMPARE(result.diagnostics.size(), std::size_t{3});
  for (const Diagnostic& diagnostic : result.diagnostics) QVERIFY(diagnostic.located("query").size() < 1000);
}

void TestQueryJson::sourcesOfNodes() {
  const std::string text = R"( {"cross": [ {"user":"é"},
  {"repeat":{"query":{"g":{"input": {"zip":[{"user":"a"}, {"plus":[]}]},"model":"m"}},"n":2}} ] } )";
  const ParseResult result = parseJson(text);
  QVERIFY2(result.query.has_value(), allMessages(result).c_str());
  const auto at = [&](const char* path) {
    const auto range = result.sources.find(path);
    return range ? text.substr(range->begin, range->end - range->begin) : std::string("none");
  };
  QCOMPARE(result.sources.size(), std::size_t{6});
  QCOMPARE(at(""), text.substr(1, text.size() - 2));
  QCOMPARE(at("/cross/0"), std::string(R"({"user":"é"})"));
  QCOMPARE(at("/cross/1/repeat/g/input/zip/second"), std::string(R"({"plus":[]})"));
  QCOMPARE(at("/cross/2"), std::string("none"));
  QCOMPARE(at("/cross"), std::string("none"));
  QCOMPARE(result.sources.nodeAround(text.find("\"a\"")),
           spanscope::NodePath("/cross/1/repeat/g/input/zip/first"));
  QCOMPARE(result.sources.nodeAround(text.find("\"n\"")), spanscope::NodePath("/cross/1"));
  QCOMPARE(result.sources.nodeAround(1), spanscope::NodePath());
  QVERIFY(!result.sources.nodeAround(0).has_value());
  QVERIFY(!parseJson("{").sources.find("").has_value());
}

void TestQueryJson::examples() {
  const QDir folder(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries"));
  const QStringList names = folder.entryList({QStringLiteral("*.json")}, QDir::Files);
  QVERIFY(!names.isEmpty());
  for (const QString& name : names) {
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const ParseResult result = parseJson(file.readAll().toStdString());
    QVERIFY2(result.query.has_value(), (name.toStdString() + ": " + allMessages(result)).c_str());
    QVERIFY2(result.diagnostics.empty(), (name.toStdString() + ": " + allMessages(result)).c_str());
  }
}

SPANSCOPE_TEST(tst_query_json, TestQueryJson)
#include "tst_query_json.moc"
