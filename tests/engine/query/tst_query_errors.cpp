// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about texts that are no queries, or doubtful ones: where, what was found, what was expected.
#include "engine/query/json/json.h"
#include "engine/query/operators/vocabulary.h"
#include "tests/engine/query/diagnostic_lines.h"
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
using spanscope::query::testing::textOf;

namespace {

/// A query that has something of everything, to be spoiled.
const std::string kSample =
    R"({"g": {"model": "m", "max_tokens": 12, "temperature": 0.5e-1, "input": {"cross": [)"
    R"({"system": "é\n😀\ud83d\ude00"}, {"plus": [{"user": "a"}, {"repeat": {"n": 2, "g": {"model": "o",)"
    R"( "max_tokens": null, "input": {"seq": []}}}}]}, {"map": {"metadata": {"model": "m"}, "inputs": ["a", "b"]}},)"
    R"( {"zip": [{"user": "a"}, {"monad": {"print": "x"}}]}, {"augment": {"embedding_model": "e", "body":)"
    R"( {"user": "q"}, "doc": ["d", {"Binary": [0, 255]}]}}, {"user": "b"}]}, "unknown": [true, false, null]}})";

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
    QTest::newRow(name)
        << R"({"g":{"input":{"user":"x"},"model":"m","max_tokens":)" + QByteArray(value) + "}}"
        << QStringLiteral(
               "1:53: /g/max_tokens: Spanscope found %1, but needs <whole-number> -2147483648 to "
               "2147483647, or null%2\n")
               .arg(QString::fromUtf8(found), QString::fromUtf8(hint));
  };

  // The shape of a query.
  row("nothing", "", "1:1: Spanscope found <end-document>, but needs a value\n");
  row("only white space", " \n ", "2:2: Spanscope found <end-document>, but needs a value\n");
  row("text", R"("hello")",
      "1:1: Spanscope found the text \"hello\", but needs <query-object-operator>. <text-stands-under>.\n");
  row("a list", "[]",
      "1:1: Spanscope found a list, but needs <query-object-operator>. <list-queries-stands>.\n");
  row("a number", "{\"monad\":\n  4.5}",
      "2:3: /monad: Spanscope found the number 4.5, but needs <query-object-operator>\n");
  row("null", R"({"seq":[null]})", "1:9: /seq/0: Spanscope found null, but needs <query-object-operator>\n");
  row("an empty object", R"({"seq":[{}]})",
      "1:9: /seq/0: Spanscope found an empty object, but needs <query-object-operator>\n");
  row("an unknown operator", R"({"usr":"x"})",
      "1:2: /usr: Spanscope found the unknown operator \"usr\", but needs one of user, system, assistant, g, "
      "seq, par, "
      "cross, "
      "plus, monad, zip, print, repeat, map, augment, ask, file. Did you mean \"user\"?\n");
  row("an operator in capitals", R"({"Plus":[]})",
      "1:2: /Plus: Spanscope found the unknown operator \"Plus\", but needs one of user, system, assistant, "
      "g, seq, "
      "par, cross, "
      "plus, monad, zip, print, repeat, map, augment, ask, file. Did you mean \"plus\"?\n");
  row("a message of another format", R"({"role":"user","content":"x"})",
      "1:2: /role: Spanscope found the unknown operator \"role\", but needs one of user, system, assistant, "
      "g, seq, "
      "par, cross, plus, monad, zip, print, repeat, map, augment, ask, file. <message-written-user>.\n");
  row("a key with signs of a pointer", R"({"a/b~c":1})",
      "1:2: /a~1b~0c: Spanscope found the unknown operator \"a/b~c\", but needs one of user, system, "
      "assistant, g, seq, "
      "par, "
      "cross, plus, monad, zip, print, repeat, map, augment, ask, file\n");
  row("two operators", R"({"user":"a","system":"b"})",
      "1:13: Spanscope found a second key, \"system\", but needs <operator-each-object>. "
      "<several-queries-stand>.\n");
  row("one operator twice", R"({"user":"a","user":"b"})",
      "1:13: Spanscope found the operator \"user\" twice, but needs <operator-each-object>. "
      "<several-queries-stand>.\n");
  row("two operators, both wrong", R"({"user":1,"seq":2})",
      "1:9: /user: Spanscope found the number 1, but needs text\n1:11: Spanscope found a second key, "
      "\"seq\", but needs "
      "<operator-each-object>. <several-queries-stand>.\n"
      "1:17: /seq: Spanscope found the number 2, but needs <list-queries>\n");
  row("an object for a list", R"({"plus":{"user":"x"}})",
      "1:9: /plus: Spanscope found an object, but needs <list-queries>. <put-query-into>.\n");
  row("text for a list", R"({"plus":"x"})",
      "1:9: /plus: Spanscope found the text \"x\", but needs <list-queries>\n");
  row("a list for text", R"({"user":["x"]})", "1:9: /user: Spanscope found a list, but needs text\n");
  row("ask for a number", R"({"ask":1})", "1:8: /ask: Spanscope found the number 1, but needs text\n");
  row("file that is null", R"({"file":null})", "1:9: /file: Spanscope found null, but needs <path-file>\n");

  // Fields.
  row("a generate without fields", R"({"g":{}})",
      "1:6: /g: Spanscope found no field \"model\", but needs \"model\": <name-model>\n"
      "1:6: /g: Spanscope found no field "
      "\"input\", but needs \"input\": …\n");
  row("a generate as a list", R"({"g":["m",{"user":"x"}]})",
      "1:6: /g: Spanscope found a list, but needs <object-fields> model, max_tokens, temperature and "
      "input\n");
  row("a model that is null", R"({"g":{"model":null,"input":{"user":"x"}}})",
      "1:15: /g/model: Spanscope found null, but needs <name-model>\n");
  row("a field twice", R"({"g":{"model":"m","model":"n","input":{"user":"x"}}})",
      "1:19: /g/model: Spanscope found the field \"model\" twice, but needs this field once\n");
  maxTokens("a fraction", "1.5", "the number 1.5", ". <write-without-fraction>.");
  maxTokens("a whole fraction", "1.0", "the number 1.0", ". <write-without-fraction>.");
  maxTokens("an exponent", "1e2", "the number 1e2", ". <write-without-fraction>.");
  maxTokens("minus zero", "-0", "the number -0", ". Write 0.");
  maxTokens("too large", "2147483648", "the number 2147483648", "");
  maxTokens("far too large", "99999999999999999999", "the number 99999999999999999999", "");
  maxTokens("a number as text", R"("100")", R"(the text "100")", ". <write-without-quotes>.");
  maxTokens("text", R"("many")", R"(the text "many")", ". <parameter-written-name|{name}>.");
  maxTokens("a parameter and more", R"("{n} ")", R"(the text "{n} ")", ". <parameter-written-name|{name}>.");
  maxTokens("a parameter without a name", R"("{}")", R"(the text "{}")",
            ". <parameter-written-name|{name}>.");
  maxTokens("true", "true", "true", "");
  row("a temperature as text", R"({"g":{"model":"m","input":{"user":"x"},"temperature":"0.3"}})",
      "1:54: /g/temperature: Spanscope found the text \"0.3\", but needs <number-null>. "
      "<write-without-quotes>.\n");
  row("a temperature that is a list", R"({"g":{"model":"m","input":{"user":"x"},"temperature":[]}})",
      "1:54: /g/temperature: Spanscope found a list, but needs <number-null>\n");
  row("a temperature beyond all numbers", R"({"g":{"model":"m","input":{"user":"x"},"temperature":1e400}})",
      "1:54: /g/temperature: Spanscope found the number 1e400, but needs <number-bit-float>. "
      "<largest-about-e>.\n");
  row("too many repeats", R"({"repeat":{"n":256,"g":{"model":"m","input":{"user":"x"}}}})",
      "1:16: /repeat/n: Spanscope found the number 256, but needs <whole-number-query-walk>\n");
  row("a repeat without a generate", R"({"repeat":{"n":2}})",
      "1:11: /repeat: Spanscope found no field \"g\", but needs \"g\": <repeat-generate>\n");
  row("a repeat as a short list", R"({"repeat":[2]})",
      "1:11: /repeat: Spanscope found <list-without> g, but needs a list of n and g\n");
  row("a repeat as a long list", R"({"repeat":[2,{"model":"m","input":{"user":"x"}},3,4]})",
      "1:49: /repeat/2: Spanscope found one more element, but needs a list of n and g\n");
  row("a repeat with the operator in g", R"({"repeat":{"n":2,"g":{"g":{"model":"m","input":{"user":"x"}}}}})",
      "1:22: /repeat/g: Spanscope found no field \"model\", but needs \"model\": <name-model>\n"
      "1:22: /repeat/g: Spanscope found "
      "no field \"input\", but needs \"input\": …\nwarning 1:23: /repeat/g/g: Spanscope found the "
      "unknown field \"g\", but expects one of model, max_tokens, temperature and input. "
      "<field-ignored><fields-generate-stand>.\n");
  row("an older repeat of a message", R"({"repeat":{"n":2,"query":{"user":"x"}}})",
      "1:27: /repeat/query/user: Spanscope found the key \"user\", but needs a generate node: {\"g\": {…}}. "
      "<generate-can-repeated>.\n");
  row("an older repeat of text", R"({"repeat":{"n":2,"query":"x"}})",
      "1:26: /repeat/query: Spanscope found the text \"x\", but needs a generate node: {\"g\": {…}}\n");
  row("an older repeat of nothing", R"({"repeat":{"n":2,"query":{}}})",
      "1:26: /repeat/query: Spanscope found an empty object, but needs a generate node: {\"g\": {…}}\n");
  row("an older repeat, twice",
      R"({"repeat":{"n":2,"query":{"g":{"model":"m","input":{"user":"x"}}},"query":0}})",
      "1:67: /repeat: Spanscope found the field \"query\" twice, but needs this field once\n");
  row("an older repeat with errors",
      R"({"repeat":{"query":{"g":{"model":"\x","input":{"user":1e999}}},"n":-1}})",
      "1:35: /repeat/query/g/model: Spanscope found <backslash-begins-no>, but needs one of \\\" \\\\ \\/ "
      "\\b \\f \\n "
      "\\r \\t \\uXXXX. <backslash-itself-written>.\n"
      "1:55: /repeat/query/g/input/user: Spanscope found the number 1e999, but needs <number-bit-float>. "
      "<largest-about-e>.\n"
      "1:55: /repeat/query/g/input/user: Spanscope found the "
      "number 1e999, but needs text\n1:68: /repeat/n: Spanscope found the number -1, but needs "
      "<whole-number-query-walk>\n");
  row("queries as inputs of a map", R"({"map":{"metadata":{"model":"m"},"inputs":[{"user":"a"}, 1]}})",
      "1:44: /map/inputs/0: Spanscope found an object, but needs text. <the-inputs-of> map "
      "<texts-each-becomes>.\n"
      "1:58: "
      "/map/inputs/1: Spanscope found the number 1, but needs text\n");
  row("a map without metadata", R"({"map":{"model":"m","inputs":["a"]}})",
      "1:8: /map: Spanscope found no field \"metadata\", but needs \"metadata\": …\n"
      "warning 1:9: /map/model: Spanscope found the unknown field \"model\", but expects one of metadata and "
      "inputs. <field-ignored>.\n");
  row("half a zip", R"({"zip":[{"user":"a"}]})",
      "1:8: /zip: Spanscope found <list-without> second, but needs a list of first and second\n");
  row("a document of an unknown kind",
      R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["d.txt",{"text":"t"}]}})",
      "1:71: /augment/doc/1/text: Spanscope found the key \"text\", but needs {\"Text\": …} or {\"Binary\": "
      "[…]}. Did "
      "you mean "
      "\"Text\"?\n");
  row("a document without content", R"({"augment":["e",{"user":"q"},["d"]]})",
      "1:30: /augment/2: Spanscope found <list-element>, but needs <list-two-name>\n");
  row("a document with too much", R"({"augment":["e",{"user":"q"},["d",{"Text":"t"},1,2]]})",
      "1:48: /augment/2/2: Spanscope found one more element, but needs <list-two-name>\n");
  row("a document as an object", R"({"augment":["e",{"user":"q"},{}]})",
      "1:30: /augment/2: Spanscope found an object, but needs <list-two-name>\n");
  row("a document of two kinds", R"({"augment":["e",{"user":"q"},["d",{"Text":"t","Binary":[]}]]})",
      "1:47: /augment/2/1/Binary: Spanscope found a second key, \"Binary\", but needs {\"Text\": …} or "
      "{\"Binary\": "
      "[…]}\n");
  row("a byte too large", R"({"augment":["e",{"user":"q"},["d",{"Binary":[0,256,"a"]}]]})",
      "1:48: /augment/2/1/Binary/1: Spanscope found the number 256, but needs <byte-whole-number>\n"
      "1:52: /augment/2/1/Binary/2: Spanscope found the text \"a\", but needs <byte-whole-number>\n");

  // Syntax.
  row("single quotes", "{'user':'a'}",
      "1:2: Spanscope found \"'user'\", but needs <key-double-quotes>. <keys-stand-double>.\n");
  row("single quotes around text", "{\"user\":'a'}",
      "1:9: /user: Spanscope found \"'a'\", but needs a value. <text-in-double-quotes>.\n");
  row("a comment", "// x\n{}", "1:1: Spanscope found \"//\", but needs a value. <json-no-comments>.\n");
  row("a comma too many", R"({"seq":[{"user":"a"},]})",
      "1:21: /seq: Spanscope found a comma before ], but needs ]. Remove the comma.\n");
  row("a comma too few", "{\"seq\":[{\"user\":\"a\"}\n{\"user\":\"b\"}]}",
      "2:1: /seq: Spanscope found \"{\", but needs a comma or ]\n");
  row("no colon", R"({"user" "a"})",
      "1:9: Spanscope found a double quote, but needs <colon-after-key> \"user\"\n");
  row("the wrong bracket", R"({"seq":[{"user":"a"}})",
      "1:21: /seq: Spanscope found \"}\", but needs a comma or ]\n");
  row("an unfinished object", R"({"user":"a")",
      "1:12: Spanscope found <end-document>, but needs a comma or }\n");
  row("an unfinished text", "{\"user\":\"a}",
      "1:9: /user: Spanscope found <text-not-closed>, but needs <closing-double-quote>\n");
  row("a line break in text", "{\"user\":\"a\nb\"}",
      "1:11: /user: Spanscope found <end-line>, but needs <closing-double-quote-same>. "
      "<line-break-within>.\n");
  row("a byte order mark before a mistake", "\xEF\xBB\xBF{\"user\":1}",
      "1:9: /user: Spanscope found the number 1, but needs text\n");
  row("a byte order mark within", "{\"user\":\xEF\xBB\xBF\"a\"}",
      "1:9: /user: Spanscope found <byte-order-mark>, but needs a value. <save-file-utf>.\n");
  row("a second document", R"({"user":"a"}{"user":"b"})",
      "1:13: Spanscope found \"{\", but needs <nothing-after-query>. <document-holds-query>.\n");
  row("rubbish at the end", R"({"user":"a"} x)",
      "1:14: Spanscope found \"x\", but needs <nothing-after-query>\n");
  row("a leading zero", R"({"monad":01})",
      "1:10: /monad: Spanscope found the number 01, but needs <query-object-operator>\n"
      "1:10: /monad: Spanscope found \"01\", but needs <number-such-e>. <number-not-begin>.\n");
  row("Python's true", R"({"g":{"model":"m","input":{"user":"x"},"x":True}})",
      "warning 1:40: /g/x: Spanscope found the unknown field \"x\", but expects one of model, max_tokens, "
      "temperature and "
      "input. <field-ignored>.\n"
      "1:44: /g/x: Spanscope found \"True\", but needs a value. <json-writes-true>.\n");
  row("not a number", R"({"user":NaN})",
      "1:9: /user: Spanscope found \"NaN\", but needs a value. <json-numbers-no>.\n");
  row("a plus sign", R"({"user":+1})",
      "1:9: /user: Spanscope found \"+1\", but needs a value. <number-no-plus>.\n");
  row("a control character", "{\"user\":\"a\tb\"}",
      "1:11: /user: Spanscope found <control-character-within>, but needs an escape. Write \\t.\n");
  row("another control character", "{\"user\":\"a\x01\"}",
      "1:11: /user: Spanscope found <control-character-within>, but needs an escape. Write \\u0001.\n");
  row("an escape cut short", R"({"user":"\u12"})",
      "1:10: /user: Spanscope found an incomplete \\u escape, but needs <four-hexadecimal-digits>\n");
  row("half a surrogate pair", R"({"user":"a\udc00"})",
      "1:11: /user: Spanscope found <half-surrogate-pair>dc00, but needs a whole character. "
      "<write-character-itself>.\n");
  row("two first halves", R"({"user":"\ud83d\ud83d"})",
      "1:10: /user: Spanscope found <half-surrogate-pair>d83d, but needs a whole character. "
      "<write-character-itself>.\n"
      "1:16: /user: Spanscope found <half-surrogate-pair>d83d, but needs a whole character. "
      "<write-character-itself>.\n");
  row("columns are characters", "{\"user\":\"é日😀\\x\"}",
      "1:13: /user: Spanscope found <backslash-begins-no>, but needs one of \\\" \\\\ \\/ \\b \\f \\n \\r "
      "\\t \\uXXXX. "
      "<backslash-itself-written>.\n");

  // Advice on queries that are read.
  row("an empty plus", R"({"plus":[]})",
      "warning 1:9: /plus: Spanscope found a plus without queries, but expects <one-query-least>. "
      "<node-adds-nothing>.\n");
  row("an empty cross", R"({"cross":[]})",
      "warning 1:10: /cross: Spanscope found a cross without queries, but expects <one-query-least>. "
      "<node-adds-nothing>.\n");
  row("an empty input", R"({"g":{"model":"m","input":{"user":""}}})",
      "warning 1:27: /g/input: Spanscope found … <generates-without-prompt>.\n");
  row("an input of prints", R"({"g":{"model":"m","input":{"seq":[{"print":"x"},{"monad":{"user":"y"}}]}}})",
      "warning 1:27: /g/input: Spanscope found … <generates-without-prompt>.\n");
  row("no repeats", R"({"repeat":{"n":0,"g":{"model":"m","input":{"user":"x"}}}})",
      "warning 1:16: /repeat/n: Spanscope found a repeat of 0 times, but expects at least 1. "
      "<node-adds-nothing>.\n");
  row("no inputs", R"({"map":[["m"],[]]})",
      "warning 1:15: /map/1: Spanscope found a map without inputs, but expects <one-input-least>. "
      "<node-adds-nothing>.\n");
  row("an unknown field", R"({"g":{"model":"m","input":{"user":"x"},"maxTokens":5,"top_p":1}})",
      "warning 1:40: /g/maxTokens: Spanscope found the unknown field \"maxTokens\", but expects one of "
      "model, max_tokens, "
      "temperature and input. <field-ignored>. Did you mean \"max_tokens\"?\n"
      "warning 1:54: /g/top_p: Spanscope found the unknown field \"top_p\", but expects one of model, "
      "max_tokens, "
      "temperature and "
      "input. <field-ignored>.\n");
  row("both forms of a repeat", R"({"repeat":{"n":1,"query":3,"g":{"model":"m","input":{"user":"x"}}}})",
      "warning 1:18: /repeat: Spanscope found \"query\" beside \"g\", but expects one field. "
      "Spanscope ignores \"query\".\n");
  row("no model", R"({"g":{"model":"","input":{"user":"x"}}})", "");
  row("an infinite temperature", R"({"g":{"model":"m","input":{"user":"x"},"temperature":3.4e39}})",
      "warning 1:54: /g/temperature: Spanscope found the number 3.4e39, but expects <temperature-bit-float>. "
      "<read-infinite>.\n");
  row("a negative temperature", R"({"g":{"model":"m","input":{"user":"x"},"temperature":-1}})",
      "warning 1:54: /g/temperature: Spanscope found the number -1, but expects a temperature of 0 or "
      "more\n");
  row("negative max_tokens", R"({"g":{"model":"m","input":{"user":"x"},"max_tokens":-1}})",
      "warning 1:53: /g/max_tokens: Spanscope found the number -1, but expects <servers-own-limit>\n");
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
  QCOMPARE(diagnostic.message(), std::string("Spanscope found x, but needs y"));
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json: /g: Spanscope found x, but needs y"));
  diagnostic.position = {3, 4};
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: /g: Spanscope found x, but needs y"));
  diagnostic.pointer = "/a\nb";
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: /a\\nb: Spanscope found x, but needs y"));
  diagnostic.found.clear();
  diagnostic.hint = "do z";
  diagnostic.pointer.clear();
  QCOMPARE(diagnostic.located("a.json"), std::string("a.json:3:4: Spanscope needs y. Do z."));

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
