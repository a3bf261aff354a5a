// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about texts that are no queries, or doubtful ones: where, what was found, what was expected.
#include "engine/query/json/json.h"
#include "engine/query/operators/vocabulary.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <string>
#include <vector>

using namespace spanscope::query;
using spanscope::product_text::matches;
using spanscope::product_text::worded;

namespace {

/// A query that has something of everything, to be spoiled.
const std::string kSample =
    R"({"g": {"model": "m", "max_tokens": 12, "temperature": 0.5e-1, "input": {"cross": [)"
    R"({"system": "é\n😀\ud83d\ude00"}, {"plus": [{"user": "a"}, {"repeat": {"n": 2, "g": {"model": "o",)"
    R"( "max_tokens": null, "input": {"seq": []}}}}]}, {"map": {"metadata": {"model": "m"}, "inputs": ["a", "b"]}},)"
    R"( {"zip": [{"user": "a"}, {"monad": {"print": "x"}}]}, {"augment": {"embedding_model": "e", "body":)"
    R"( {"user": "q"}, "doc": ["d", {"Binary": [0, 255]}]}}, {"user": "b"}]}, "unknown": [true, false, null]}})";

QString textOf(const std::vector<Diagnostic>& diagnostics) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::string mark = diagnostic.severity == spanscope::Severity::Warning ? "warning " : "";
    lines += mark + diagnostic.located({}) + "\n";
  }
  return QString::fromStdString(lines);
}

}  // namespace

class TestQueryErrors : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void diagnostics_data();
  void diagnostics();
  void everythingAtOnce();
  void bytesThatAreNotUtf8_data();
  void bytesThatAreNotUtf8();
  void everyTruncationIsRefused();
  void everySpoiledByteIsSurvived();
  void messagesAndPlaces();
  void nearestNames_data();
  void nearestNames();
};

// Every line is "line:column: pointer: message"; warnings are marked.
void TestQueryErrors::diagnostics_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const char* text, const char* expected) {
    QTest::newRow(name) << QByteArray(text) << QString::fromUtf8(expected);
  };
  const auto maxTokens = [](const char* name, const char* value, const char* found, const char* hint) {
    QTest::newRow(name) << R"({"g":{"input":{"user":"x"},"model":"m","max_tokens":)" + QByteArray(value) +
                               "}}"
                        << QStringLiteral(
                               "1:53: /g/max_tokens: found %1, expected <whole-number> -2147483648 to "
                               "2147483647, or null%2\n")
                               .arg(QString::fromUtf8(found), QString::fromUtf8(hint));
  };

  // The shape of a query.
  row("nothing", "", "1:1: found <end-document>, expected a value\n");
  row("only white space", " \n ", "2:2: found <end-document>, expected a value\n");
  row("text", R"("hello")",
      "1:1: found the text \"hello\", expected <query-object-operator>; <text-stands-under>\n");
  row("a list", "[]", "1:1: found a list, expected <query-object-operator>; <list-queries-stands>\n");
  row("a number", "{\"monad\":\n  4.5}",
      "2:3: /monad: found the number 4.5, expected <query-object-operator>\n");
  row("null", R"({"seq":[null]})", "1:9: /seq/0: found null, expected <query-object-operator>\n");
  row("an empty object", R"({"seq":[{}]})",
      "1:9: /seq/0: found an empty object, expected <query-object-operator>\n");
  row("an unknown operator", R"({"usr":"x"})",
      "1:2: /usr: found the unknown operator \"usr\", expected one of user, system, assistant, g, seq, par, "
      "cross, "
      "plus, monad, zip, print, repeat, map, augment, ask, file; did you mean \"user\"?\n");
  row("an operator in capitals", R"({"Plus":[]})",
      "1:2: /Plus: found the unknown operator \"Plus\", expected one of user, system, assistant, g, seq, "
      "par, cross, "
      "plus, monad, zip, print, repeat, map, augment, ask, file; did you mean \"plus\"?\n");
  row("a message of another format", R"({"role":"user","content":"x"})",
      "1:2: /role: found the unknown operator \"role\", expected one of user, system, assistant, g, seq, "
      "par, cross, plus, monad, zip, print, repeat, map, augment, ask, file; <message-written-user>\n");
  row("a key with signs of a pointer", R"({"a/b~c":1})",
      "1:2: /a~1b~0c: found the unknown operator \"a/b~c\", expected one of user, system, assistant, g, seq, "
      "par, "
      "cross, plus, monad, zip, print, repeat, map, augment, ask, file\n");
  row("two operators", R"({"user":"a","system":"b"})",
      "1:13: found a second key, \"system\", expected <operator-each-object>; <several-queries-stand>\n");
  row("one operator twice", R"({"user":"a","user":"b"})",
      "1:13: found the operator \"user\" twice, expected <operator-each-object>; <several-queries-stand>\n");
  row("two operators, both wrong", R"({"user":1,"seq":2})",
      "1:9: /user: found the number 1, expected text\n1:11: found a second key, \"seq\", expected "
      "<operator-each-object>; <several-queries-stand>\n"
      "1:17: /seq: found the number 2, expected <list-queries>\n");
  row("an object for a list", R"({"plus":{"user":"x"}})",
      "1:9: /plus: found an object, expected <list-queries>; <put-query-into>\n");
  row("text for a list", R"({"plus":"x"})", "1:9: /plus: found the text \"x\", expected <list-queries>\n");
  row("a list for text", R"({"user":["x"]})", "1:9: /user: found a list, expected text\n");
  row("ask for a number", R"({"ask":1})", "1:8: /ask: found the number 1, expected text\n");
  row("file that is null", R"({"file":null})", "1:9: /file: found null, expected <path-file>\n");

  // Fields.
  row("a generate without fields", R"({"g":{}})",
      "1:6: /g: found no field \"model\", expected \"model\": <name-model>\n"
      "1:6: /g: found no field "
      "\"input\", expected \"input\": …\n");
  row("a generate as a list", R"({"g":["m",{"user":"x"}]})",
      "1:6: /g: found a list, expected <object-fields> model, max_tokens, temperature and input\n");
  row("a model that is null", R"({"g":{"model":null,"input":{"user":"x"}}})",
      "1:15: /g/model: found null, expected <name-model>\n");
  row("a field twice", R"({"g":{"model":"m","model":"n","input":{"user":"x"}}})",
      "1:19: /g/model: found the field \"model\" twice, expected it once\n");
  maxTokens("a fraction", "1.5", "the number 1.5", "; <write-without-fraction>");
  maxTokens("a whole fraction", "1.0", "the number 1.0", "; <write-without-fraction>");
  maxTokens("an exponent", "1e2", "the number 1e2", "; <write-without-fraction>");
  maxTokens("minus zero", "-0", "the number -0", "; write 0");
  maxTokens("too large", "2147483648", "the number 2147483648", "");
  maxTokens("far too large", "99999999999999999999", "the number 99999999999999999999", "");
  maxTokens("a number as text", R"("100")", R"(the text "100")", "; <write-without-quotes>");
  maxTokens("text", R"("many")", R"(the text "many")", "; <parameter-written-name|{name}>");
  maxTokens("a parameter and more", R"("{n} ")", R"(the text "{n} ")", "; <parameter-written-name|{name}>");
  maxTokens("a parameter without a name", R"("{}")", R"(the text "{}")", "; <parameter-written-name|{name}>");
  maxTokens("true", "true", "true", "");
  row("a temperature as text", R"({"g":{"model":"m","input":{"user":"x"},"temperature":"0.3"}})",
      "1:54: /g/temperature: found the text \"0.3\", expected <number-null>; <write-without-quotes>\n");
  row("a temperature that is a list", R"({"g":{"model":"m","input":{"user":"x"},"temperature":[]}})",
      "1:54: /g/temperature: found a list, expected <number-null>\n");
  row("a temperature beyond all numbers", R"({"g":{"model":"m","input":{"user":"x"},"temperature":1e400}})",
      "1:54: /g/temperature: found the number 1e400, expected <number-bit-float>; <largest-about-e>\n");
  row("too many repeats", R"({"repeat":{"n":256,"g":{"model":"m","input":{"user":"x"}}}})",
      "1:16: /repeat/n: found the number 256, expected <whole-number-query-walk>\n");
  row("a repeat without a generate", R"({"repeat":{"n":2}})",
      "1:11: /repeat: found no field \"g\", expected \"g\": <repeat-generate>\n");
  row("a repeat as a short list", R"({"repeat":[2]})",
      "1:11: /repeat: found <list-without> g, expected a list of n and g\n");
  row("a repeat as a long list", R"({"repeat":[2,{"model":"m","input":{"user":"x"}},3,4]})",
      "1:49: /repeat/2: found one more element, expected a list of n and g\n");
  row("a repeat with the operator in g", R"({"repeat":{"n":2,"g":{"g":{"model":"m","input":{"user":"x"}}}}})",
      "1:22: /repeat/g: found no field \"model\", expected \"model\": <name-model>\n"
      "1:22: /repeat/g: found "
      "no field \"input\", expected \"input\": …\nwarning 1:23: /repeat/g/g: found the "
      "unknown field \"g\", expected one of model, max_tokens, temperature and input; it is "
      "ignored<fields-generate-stand>\n");
  row("an older repeat of a message", R"({"repeat":{"n":2,"query":{"user":"x"}}})",
      "1:27: /repeat/query/user: found the key \"user\", expected a generate node: {\"g\": {…}}; "
      "<generate-can-repeated>\n");
  row("an older repeat of text", R"({"repeat":{"n":2,"query":"x"}})",
      "1:26: /repeat/query: found the text \"x\", expected a generate node: {\"g\": {…}}\n");
  row("an older repeat of nothing", R"({"repeat":{"n":2,"query":{}}})",
      "1:26: /repeat/query: found an empty object, expected a generate node: {\"g\": {…}}\n");
  row("an older repeat, twice",
      R"({"repeat":{"n":2,"query":{"g":{"model":"m","input":{"user":"x"}}},"query":0}})",
      "1:67: /repeat: found the field \"query\" twice, expected it once\n");
  row("an older repeat with errors",
      R"({"repeat":{"query":{"g":{"model":"\x","input":{"user":1e999}}},"n":-1}})",
      "1:35: /repeat/query/g/model: found <backslash-begins-no>, expected one of \\\" \\\\ \\/ \\b \\f \\n "
      "\\r \\t \\uXXXX; <backslash-itself-written>\n"
      "1:55: /repeat/query/g/input/user: found the number 1e999, expected <number-bit-float>; "
      "<largest-about-e>\n"
      "1:55: /repeat/query/g/input/user: found the "
      "number 1e999, expected text\n1:68: /repeat/n: found the number -1, expected "
      "<whole-number-query-walk>\n");
  row("queries as inputs of a map", R"({"map":{"metadata":{"model":"m"},"inputs":[{"user":"a"}, 1]}})",
      "1:44: /map/inputs/0: found an object, expected text; <the-inputs-of> map <texts-each-becomes>\n"
      "1:58: "
      "/map/inputs/1: found the number 1, expected text\n");
  row("a map without metadata", R"({"map":{"model":"m","inputs":["a"]}})",
      "1:8: /map: found no field \"metadata\", expected \"metadata\": …\n"
      "warning 1:9: /map/model: found the unknown field \"model\", expected one of metadata and inputs; it "
      "is "
      "ignored\n");
  row("half a zip", R"({"zip":[{"user":"a"}]})",
      "1:8: /zip: found <list-without> second, expected a list of first and second\n");
  row("a document of an unknown kind",
      R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["d.txt",{"text":"t"}]}})",
      "1:71: /augment/doc/1/text: found the key \"text\", expected {\"Text\": …} or {\"Binary\": […]}; did "
      "you mean "
      "\"Text\"?\n");
  row("a document without content", R"({"augment":["e",{"user":"q"},["d"]]})",
      "1:30: /augment/2: found <list-element>, expected <list-two-name>\n");
  row("a document with too much", R"({"augment":["e",{"user":"q"},["d",{"Text":"t"},1,2]]})",
      "1:48: /augment/2/2: found one more element, expected <list-two-name>\n");
  row("a document as an object", R"({"augment":["e",{"user":"q"},{}]})",
      "1:30: /augment/2: found an object, expected <list-two-name>\n");
  row("a document of two kinds", R"({"augment":["e",{"user":"q"},["d",{"Text":"t","Binary":[]}]]})",
      "1:47: /augment/2/1/Binary: found a second key, \"Binary\", expected {\"Text\": …} or {\"Binary\": "
      "[…]}\n");
  row("a byte too large", R"({"augment":["e",{"user":"q"},["d",{"Binary":[0,256,"a"]}]]})",
      "1:48: /augment/2/1/Binary/1: found the number 256, expected <byte-whole-number>\n"
      "1:52: /augment/2/1/Binary/2: found the text \"a\", expected <byte-whole-number>\n");

  // Syntax.
  row("single quotes", "{'user':'a'}",
      "1:2: found \"'user'\", expected <key-double-quotes>; <keys-stand-double>\n");
  row("single quotes around text", "{\"user\":'a'}",
      "1:9: /user: found \"'a'\", expected a value; <text-in-double-quotes>\n");
  row("a comment", "// x\n{}", "1:1: found \"//\", expected a value; <json-no-comments>\n");
  row("a comma too many", R"({"seq":[{"user":"a"},]})",
      "1:21: /seq: found a comma before ], expected ]; remove the comma\n");
  row("a comma too few", "{\"seq\":[{\"user\":\"a\"}\n{\"user\":\"b\"}]}",
      "2:1: /seq: found \"{\", expected a comma or ]\n");
  row("no colon", R"({"user" "a"})", "1:9: found a double quote, expected <colon-after-key> \"user\"\n");
  row("the wrong bracket", R"({"seq":[{"user":"a"}})", "1:21: /seq: found \"}\", expected a comma or ]\n");
  row("an unfinished object", R"({"user":"a")", "1:12: found <end-document>, expected a comma or }\n");
  row("an unfinished text", "{\"user\":\"a}",
      "1:9: /user: found <text-not-closed>, expected <closing-double-quote>\n");
  row("a line break in text", "{\"user\":\"a\nb\"}",
      "1:11: /user: found <end-line>, expected <closing-double-quote-same>; <line-break-within>\n");
  row("a byte order mark before a mistake", "\xEF\xBB\xBF{\"user\":1}",
      "1:9: /user: found the number 1, expected text\n");
  row("a byte order mark within", "{\"user\":\xEF\xBB\xBF\"a\"}",
      "1:9: /user: found <byte-order-mark>, expected a value; <save-file-utf>\n");
  row("a second document", R"({"user":"a"}{"user":"b"})",
      "1:13: found \"{\", expected <nothing-after-query>; <document-holds-query>\n");
  row("rubbish at the end", R"({"user":"a"} x)", "1:14: found \"x\", expected <nothing-after-query>\n");
  row("a leading zero", R"({"monad":01})",
      "1:10: /monad: found the number 01, expected <query-object-operator>\n"
      "1:10: /monad: found \"01\", expected <number-such-e>; <number-not-begin>\n");
  row("Python's true", R"({"g":{"model":"m","input":{"user":"x"},"x":True}})",
      "warning 1:40: /g/x: found the unknown field \"x\", expected one of model, max_tokens, temperature and "
      "input; it is ignored\n"
      "1:44: /g/x: found \"True\", expected a value; <json-writes-true>\n");
  row("not a number", R"({"user":NaN})", "1:9: /user: found \"NaN\", expected a value; <json-numbers-no>\n");
  row("a plus sign", R"({"user":+1})", "1:9: /user: found \"+1\", expected a value; <number-no-plus>\n");
  row("a control character", "{\"user\":\"a\tb\"}",
      "1:11: /user: found <control-character-within>, expected an escape; write \\t\n");
  row("another control character", "{\"user\":\"a\x01\"}",
      "1:11: /user: found <control-character-within>, expected an escape; write \\u0001\n");
  row("an escape cut short", R"({"user":"\u12"})",
      "1:10: /user: found an incomplete \\u escape, expected <four-hexadecimal-digits>\n");
  row("half a surrogate pair", R"({"user":"a\udc00"})",
      "1:11: /user: found <half-surrogate-pair>dc00, expected a whole character; <write-character-itself>\n");
  row("two first halves", R"({"user":"\ud83d\ud83d"})",
      "1:10: /user: found <half-surrogate-pair>d83d, expected a whole character; <write-character-itself>\n"
      "1:16: /user: found <half-surrogate-pair>d83d, expected a whole character; <write-character-itself>\n");
  row("columns are characters", "{\"user\":\"é日😀\\x\"}",
      "1:13: /user: found <backslash-begins-no>, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; "
      "<backslash-itself-written>\n");

  // Advice on queries that are read.
  row("an empty plus", R"({"plus":[]})",
      "warning 1:9: /plus: found a plus without queries, expected at least one; it adds nothing\n");
  row("an empty cross", R"({"cross":[]})",
      "warning 1:10: /cross: found a cross without queries, expected at least one; it adds nothing\n");
  row("an empty input", R"({"g":{"model":"m","input":{"user":""}}})",
      "warning 1:27: /g/input: found …; <generates-without-prompt>\n");
  row("an input of prints", R"({"g":{"model":"m","input":{"seq":[{"print":"x"},{"monad":{"user":"y"}}]}}})",
      "warning 1:27: /g/input: found …; <generates-without-prompt>\n");
  row("no repeats", R"({"repeat":{"n":0,"g":{"model":"m","input":{"user":"x"}}}})",
      "warning 1:16: /repeat/n: found a repeat of 0 times, expected at least 1; it adds nothing\n");
  row("no inputs", R"({"map":[["m"],[]]})",
      "warning 1:15: /map/1: found a map without inputs, expected at least one; it adds nothing\n");
  row("an unknown field", R"({"g":{"model":"m","input":{"user":"x"},"maxTokens":5,"top_p":1}})",
      "warning 1:40: /g/maxTokens: found the unknown field \"maxTokens\", expected one of model, max_tokens, "
      "temperature and input; it is ignored; did you mean \"max_tokens\"?\n"
      "warning 1:54: /g/top_p: found the unknown field \"top_p\", expected one of model, max_tokens, "
      "temperature and "
      "input; it is ignored\n");
  row("both forms of a repeat", R"({"repeat":{"n":1,"query":3,"g":{"model":"m","input":{"user":"x"}}}})",
      "warning 1:18: /repeat: found \"query\" beside \"g\", expected one of them; \"query\" is ignored\n");
  row("no model", R"({"g":{"model":"","input":{"user":"x"}}})", "");
  row("an infinite temperature", R"({"g":{"model":"m","input":{"user":"x"},"temperature":3.4e39}})",
      "warning 1:54: /g/temperature: found the number 3.4e39, expected <temperature-bit-float>; "
      "<read-infinite>\n");
  row("a negative temperature", R"({"g":{"model":"m","input":{"user":"x"},"temperature":-1}})",
      "warning 1:54: /g/temperature: found the number -1, expected a temperature of 0 or more\n");
  row("negative max_tokens", R"({"g":{"model":"m","input":{"user":"x"},"max_tokens":-1}})",
      "warning 1:53: /g/max_tokens: found the number -1, expected <servers-own-limit>\n");
  row("nothing to say",
      R"({"g":{"model":"{model}","input":{"cross":[{"user":"x"},{"ask":"y"}]},"max_tokens":null}})", "");
}

void TestQueryErrors::diagnostics() {
  QFETCH(QByteArray, text);
  QFETCH(QString, expected);
  const ParseResult result = parseJson(text.toStdString());
  const QString said = textOf(result.diagnostics);
  QVERIFY2(matches(said, expected), qPrintable(said + worded(expected)));
  QCOMPARE(result.query.has_value(), !hasErrors(result.diagnostics));
}

void TestQueryErrors::everythingAtOnce() {
  const ParseResult result = parseJson(R"({
  "g": {
    "model": 5,
    "max_tokens": 1.5,
    "input": {
      "cross": [
        {"sytem": "be brief"},
        {"plus": [{"user": 1}, {"user": "b", "assistant": "c"}, {"repeat": {"n": 300}}]},
        {"user": "ende"}
      ]
    },
    "temperature": "warm"
  ]
}
)");
  QVERIFY(!result.query.has_value());
  std::vector<std::string> pointers;
  std::vector<std::size_t> lines;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    pointers.push_back(diagnostic.pointer);
    lines.push_back(diagnostic.position.line);
  }
  const std::vector<std::string> expected = {"/g/model",
                                             "/g/max_tokens",
                                             "/g/input/cross/0/sytem",
                                             "/g/input/cross/1/plus/0/user",
                                             "/g/input/cross/1/plus/1",
                                             "/g/input/cross/1/plus/2/repeat",
                                             "/g/input/cross/1/plus/2/repeat/n",
                                             "/g/temperature",
                                             "/g"};
  QCOMPARE(pointers, expected);
  QCOMPARE(lines, (std::vector<std::size_t>{3, 4, 7, 8, 8, 8, 8, 12, 13}));
  QCOMPARE(result.diagnostics.back().found, std::string("\"]\""));
}

void TestQueryErrors::bytesThatAreNotUtf8_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::newRow("a lone continuation") << QByteArray("\x80");
  QTest::newRow("a lead without continuation") << QByteArray("\xC3");
  QTest::newRow("overlong, two bytes") << QByteArray("\xC0\xAF");
  QTest::newRow("overlong, three bytes") << QByteArray("\xE0\x80\xAF");
  QTest::newRow("overlong, four bytes") << QByteArray("\xF0\x80\x80\xAF");
  QTest::newRow("a surrogate") << QByteArray("\xED\xA0\x80");
  QTest::newRow("above the last character") << QByteArray("\xF4\x90\x80\x80");
  QTest::newRow("no lead at all") << QByteArray("\xFF");
  QTest::newRow("cut short") << QByteArray("\xF0\x9F\x98");
  QTest::newRow("Latin-1") << QByteArray("\xE9t\xE9");
}

void TestQueryErrors::bytesThatAreNotUtf8() {
  QFETCH(QByteArray, bytes);
  const std::string front = "{\n\"user\":\"日 ";
  const ParseResult result = parseJson(front + bytes.toStdString() + "\"}");
  QVERIFY(!result.query.has_value());
  QCOMPARE(result.diagnostics.size(), std::size_t{1});
  const Diagnostic& diagnostic = result.diagnostics[0];
  QCOMPARE(diagnostic.offset, front.size());
  QCOMPARE(diagnostic.position, (TextPosition{2, 11}));
  QCOMPARE(diagnostic.expected, std::string("UTF-8"));
  QVERIFY(diagnostic.found.starts_with("the byte 0x"));
}

void TestQueryErrors::everyTruncationIsRefused() {
  QVERIFY(parseJson(kSample).query.has_value());
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    const ParseResult result = parseJson(kSample.substr(0, length));
    QVERIFY2(!result.query.has_value(), kSample.substr(0, length).c_str());
    QVERIFY(hasErrors(result.diagnostics));
    QVERIFY(result.diagnostics.back().offset <= length);
  }
}

void TestQueryErrors::everySpoiledByteIsSurvived() {
  for (std::size_t i = 0; i < kSample.size(); ++i) {
    for (const char c :
         {'\0', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e', ' ', '\n', '\x80', '\xFF'}) {
      std::string text = kSample;
      text[i] = c;
      const ParseResult result = parseJson(text);
      QCOMPARE(result.query.has_value(), !hasErrors(result.diagnostics));
      for (const Diagnostic& diagnostic : result.diagnostics) {
        QVERIFY(diagnostic.offset <= text.size());
        QVERIFY(diagnostic.position.line > 0 && diagnostic.position.column > 0);
        QVERIFY(!diagnostic.found.empty() && !diagnostic.expected.empty());
      }
      if (result.query) QVERIFY(parseJson(writePretty(*result.query)).query == result.query);
    }
  }
}

void TestQueryErrors::messagesAndPlaces() {
  Diagnostic diagnostic;
  diagnostic.pointer = "/g";
  diagnostic.found = "x";
  diagnostic.expected = "y";
  QCOMPARE(diagnostic.message(), std::string("found x, expected y"));
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json: /g: found x, expected y"));
  diagnostic.position = {3, 4};
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: /g: found x, expected y"));
  diagnostic.pointer = "/a\nb";
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: /a\\nb: found x, expected y"));
  diagnostic.found.clear();
  diagnostic.hint = "do z";
  diagnostic.pointer.clear();
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: expected y; do z"));

  const std::string text = "é\n\n日b";
  QCOMPARE(positionAt(text, 0), (TextPosition{1, 1}));
  QCOMPARE(positionAt(text, 2), (TextPosition{1, 2}));
  QCOMPARE(positionAt(text, 3), (TextPosition{2, 1}));
  QCOMPARE(positionAt(text, 7), (TextPosition{3, 2}));
  QCOMPARE(positionAt(text, 8), (TextPosition{3, 3}));
  QCOMPARE(positionAt(text, 99), (TextPosition{3, 3}));
}

void TestQueryErrors::nearestNames_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("hint");
  const auto row = [](const char* key, const char* hint) {
    QTest::newRow(key) << QString::fromUtf8(key) << QString::fromUtf8(hint);
  };
  row("generate", "did you mean \"g\"?");
  row("Gen", "did you mean \"g\"?");
  row("assistent", "did you mean \"assistant\"?");
  row("sysem", "did you mean \"system\"?");
  row("sequence", "did you mean \"seq\"?");
  row("repeats", "did you mean \"repeat\"?");
  row("crosss", "did you mean \"cross\"?");
  row("cors", "did you mean \"cross\"?");
  row("mapp", "did you mean \"map\"?");
  row("x", "");
  row("tool", "");
  row("banana", "");
}

void TestQueryErrors::nearestNames() {
  QFETCH(QString, key);
  QFETCH(QString, hint);
  QCOMPARE(QString::fromStdString(hintForOperator(key.toStdString())), hint);
}

SPANSCOPE_TEST(tst_query_errors, TestQueryErrors)
#include "tst_query_errors.moc"
