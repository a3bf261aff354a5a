// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as Lisp: what the reference's macro makes of them, errors that point at the form, limits, and that
// nothing is lost on the way.
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/lisp/lisp_evaluator.h"
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
#include <string>

using namespace spanscope::query;
using spanscope::product_text::worded;

namespace {

QString textOf(const std::vector<Diagnostic>& diagnostics) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) lines += diagnostic.located({}) + "\n";
  return QString::fromStdString(lines);
}

/// Files and answers without a disk and a user.
class Prepared final : public Surroundings {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> answers;

  std::variant<std::string, NotGiven> readFile(const std::string& path) override {
    const auto found = files.find(path);
    if (found == files.end()) return NotGiven{"no file " + path, "a file", {}};
    return found->second;
  }
  std::variant<std::string, NotGiven> ask(const std::string& prompt) override {
    const auto found = answers.find(prompt);
    if (found == answers.end()) return NotGiven{"no answer to " + prompt, "an answer", {}};
    return found->second;
  }
};

Prepared prepared() {
  Prepared surroundings;
  surroundings.files = {{"a.txt", "text of a"}, {"list.json", R"(["p", "q", "r"])"}, {"x.bin", "\xff\x01"}};
  surroundings.answers = {{"who?", "me"}};
  return surroundings;
}

std::string nested(std::size_t joins) {
  std::string text;
  for (std::size_t i = 0; i < joins; ++i) text += "(plus ";
  text += "(user \"x\")";
  return text + std::string(joins, ')');
}

}  // namespace

class TestQueryLisp : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reference_data();
  void reference();
  void values_data();
  void values();
  void olderForms_data();
  void olderForms();
  void aWarningIsSaidOnce();
  void diagnostics_data();
  void diagnostics();
  void everyTruncationIsRefused();
  void debugTexts_data();
  void debugTexts();
  void numbers_data();
  void numbers();
  void written();
  void remarks_data();
  void remarks();
  void limits();
  void evaluationIsBounded_data();
  void evaluationIsBounded();
  void sourcesOfNodes();
};

void TestQueryLisp::reference_data() {
  QTest::addColumn<QByteArray>("canonical");
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/query/data/spnl-lisp.jsonl"));
  QVERIFY2(file.open(QIODevice::ReadOnly), "the golden rows are missing");
  int rows = 0;
  while (!file.atEnd()) {
    const QJsonObject row = QJsonDocument::fromJson(file.readLine()).object();
    QTest::newRow(row[QLatin1String("lisp")].toString().toUtf8().constData())
        << row[QLatin1String("canonical_text")].toString().toUtf8();
    ++rows;
  }
  QCOMPARE(rows, 25);
}

void TestQueryLisp::reference() {
  QFETCH(QByteArray, canonical);
  const ParseResult result = parseLisp(QTest::currentDataTag());
  QVERIFY2(result.query.has_value(), qPrintable(textOf(result.diagnostics)));
  QCOMPARE(QByteArray::fromStdString(writeCanonical(*result.query)), canonical);
  QVERIFY(parseLisp(writeLisp(*result.query)).query == result.query);
}

// More of what forms evaluate to, as canonical JSON.
void TestQueryLisp::values_data() {
  QTest::addColumn<QByteArray>("lisp");
  QTest::addColumn<QByteArray>("canonical");
  const auto row = [](const char* name, const char* lisp, const char* canonical) {
    QTest::newRow(name) << QByteArray(lisp) << QByteArray(canonical);
  };
  row("a text alone", R"("hello")", R"({"user":"hello"})");
  row("comments", "; first\n(user ; second\n \"a;b\") ; third", R"({"user":"a;b"})");
  row("escapes", R"((user "\"\'\\\n\r\t\x41\u{e9}\u{1F600}"))",
      "{\"user\":\"\\\"'\\\\\\n\\r\\tA\u00e9\U0001F600\"}");
  row("a line that goes on", "(user \"a\\\n   b\nc\")", R"({"user":"ab\nc"})");
  row("nothing in a join", "(plus)", R"({"plus":[]})");
  row("one in a join", R"((seq (user "a")))", R"({"seq":[{"user":"a"}]})");
  row("a list among others", R"((cross (list "a" (user "b")) "c"))",
      R"({"cross":[{"user":"a"},{"user":"b"},{"user":"c"}]})");
  row("forms of the tree alone",
      R"((seq (assistant "a") (monad "b") (zip "c" "d") (augment "e" "f" (doc "n" (bytes 0 255)))))",
      R"({"seq":[{"assistant":"a"},{"monad":{"user":"b"}},{"zip":{"first":{"user":"c"},"second":{"user":"d"}}},)"
      R"({"augment":{"embedding_model":"e","body":{"user":"f"},"doc":["n",{"Binary":[0,255]}]}}]})");
  row("map", R"((map "m" (list "a" "b") 0.5 7))",
      R"({"map":{"metadata":{"model":"m","max_tokens":7,"temperature":0.5},"inputs":["a","b"]}})");
  row("none", R"((g "m" "x" none none))",
      R"({"g":{"model":"m","max_tokens":null,"temperature":null,"input":{"user":"x"}}})");
  row("parameters", R"((repeat "{n}" "{model}" "x" "{t}" "{k}"))",
      R"({"repeat":{"n":"{n}","g":{"model":"{model}","max_tokens":"{k}","temperature":"{t}","input":{"user":"x"}}}})");
  row("numbers", R"((g "m" "x" +1 0x10))",
      R"({"g":{"model":"m","max_tokens":16,"temperature":1.0,"input":{"user":"x"}}})");
  row("a file and a question where queries belong", R"((seq (file "missing") (ask "anyone?")))",
      R"({"seq":[{"file":"missing"},{"ask":"anyone?"}]})");
  row("a file and a question where texts belong",
      R"((seq (system (fetch "a.txt")) (user (format "{}!" (ask "who?")))))",
      R"({"seq":[{"system":"text of a"},{"user":"me!"}]})");
  row("take from a file", R"((plus (prefix "" (take 2 (file "list.json")))))",
      R"({"plus":[{"user":"1: \"p\""},{"user":"2: \"q\""}]})");
  row("documents from files", R"((with "e" "q" (list (filen "a.txt") (fetchb "x.bin"))))",
      R"({"cross":[{"plus":[{"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["a.txt",{"Text":"text of a"}]}},)"
      R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["x.bin",{"Binary":[255,1]}]}}]},)"
      R"({"user":"Please answer this question:"},{"user":"q"}]})");
  row("loops within each other", R"((plus (foreach i 0 2 (seq (foreach j i 2 (format "{i}{j}"))))))",
      R"({"plus":[{"seq":[{"user":"00"},{"user":"01"}]},{"seq":[{"user":"11"},{"user":"12"}]}]})");
  row("an inner name hides an outer one", R"((plus (foreach i 0 1 (seq (foreach i 7 1 (format "{i}"))))))",
      R"({"plus":[{"seq":[{"user":"7"}]}]})");
  row("a format", R"((user (format "{{{1}}} {0:?} {} {:?} {}" "a" 1.0 0.5)))",
      R"({"user":"{1} \"a\" a 1.0 0.5"})");
  row("the last of a lambda counts", R"((plus (chunk 1 (list "a") (lambda (x) (user "no") (seq x)))))",
      R"({"plus":[{"seq":[{"user":"a"}]}]})");
}

void TestQueryLisp::values() {
  QFETCH(QByteArray, lisp);
  QFETCH(QByteArray, canonical);
  Prepared surroundings = prepared();
  const ParseResult result = parseLisp(lisp.toStdString(), {}, &surroundings);
  QVERIFY2(result.query.has_value(), qPrintable(textOf(result.diagnostics)));
  QCOMPARE(QByteArray::fromStdString(writeCanonical(*result.query)), canonical);
}

// Shapes of the reference's older built-in files and documents, as canonical JSON, and what is said of them.
void TestQueryLisp::olderForms_data() {
  QTest::addColumn<QByteArray>("lisp");
  QTest::addColumn<QByteArray>("canonical");
  QTest::addColumn<QString>("warnings");
  const auto row = [](const char* name, const char* lisp, const char* canonical, const char* warnings) {
    QTest::newRow(name) << QByteArray(lisp) << QByteArray(canonical) << worded(warnings);
  };
  const auto read = [](const char* place, const char* settings) {
    return std::string(place) +
           ": Spanscope found <older-form-g>, but expects (g model input [temperature [max_tokens]]). "
           "<read-g> " +
           settings + ").\n";
  };
  const std::string repeated =
      ": Spanscope found <older-form> repeat, but expects (repeat n model input [temperature [max_tokens]]). "
      "<it-is-read> "
      "repeat of this node.\n";
  const char* const plain = R"({"g":{"model":"m","max_tokens":0,"temperature":0.0,"input":{"user":"x"}}})";
  row("a flag", R"((g "m" "x" 0 0.0 #f))", plain, read("1:1", "0.0 0").c_str());
  row("a flag behind numbers that both orders take", R"((g "m" "x" 7 1 #f))",
      R"({"g":{"model":"m","max_tokens":7,"temperature":1.0,"input":{"user":"x"}}})",
      read("1:1", "1 7").c_str());
  row("no flag", R"((g "m" (user "x") 1000 0.3))",
      R"({"g":{"model":"m","max_tokens":1000,"temperature":0.3,"input":{"user":"x"}}})",
      read("1:1", "0.3 1000").c_str());
  row("nothing twice", R"((g "m" "x" 0 0.0))", plain, read("1:1", "0.0 0").c_str());
  row("the current order", R"((g "m" "x" 0.3 1000))",
      R"({"g":{"model":"m","max_tokens":1000,"temperature":0.3,"input":{"user":"x"}}})", "");
  row("numbers that both orders take", R"((g "m" "x" 1 7))",
      R"({"g":{"model":"m","max_tokens":7,"temperature":1.0,"input":{"user":"x"}}})", "");
  row("parameters without quotes", R"((g "{model}" "x" {k} {t} #f))",
      R"({"g":{"model":"{model}","max_tokens":"{k}","temperature":"{t}","input":{"user":"x"}}})",
      read("1:1", R"("{t}" "{k}")").c_str());
  row("the same without a flag", R"((g "{model}" "x" {k} {t}))",
      R"({"g":{"model":"{model}","max_tokens":"{k}","temperature":"{t}","input":{"user":"x"}}})",
      read("1:1", R"("{t}" "{k}")").c_str());
  row("one parameter without quotes", R"((g "m" "x" {k} 1))",
      R"({"g":{"model":"m","max_tokens":"{k}","temperature":1.0,"input":{"user":"x"}}})",
      read("1:1", R"(1 "{k}")").c_str());
  row("parameters in quotes", R"((g "m" "x" "{t}" "{k}"))",
      R"({"g":{"model":"m","max_tokens":"{k}","temperature":"{t}","input":{"user":"x"}}})", "");
  row("parameters in quotes before a flag", R"((g "m" "x" "{k}" none #f))",
      R"({"g":{"model":"m","max_tokens":"{k}","temperature":null,"input":{"user":"x"}}})",
      read("1:1", R"(none "{k}")").c_str());
  row("a list as input", R"((g "m" (seq (list "x" "y")) 0 0.0 #f))",
      R"({"g":{"model":"m","max_tokens":0,"temperature":0.0,"input":{"seq":[{"user":"x"},{"user":"y"}]}}})",
      read("1:1", "0.0 0").c_str());
  const char* const copies =
      R"({"repeat":{"n":4,"g":{"model":"m","max_tokens":9,"temperature":0.2,"input":{"cross":[{"system":"s"},{"user":"x"}]}}}})";
  row("repeat of an older generate", "(repeat 4\n (g \"m\" (cross (system \"s\") \"x\") 9 0.2 #f))", copies,
      ("1:1" + repeated + read("2:2", "0.2 9")).c_str());
  row("repeat of a current generate", R"((repeat 4 (g "m" (cross (system "s") "x") 0.2 9)))", copies,
      ("1:1" + repeated).c_str());
  row("repeat by a parameter without quotes", R"((plus (repeat {n} (g "m" "x"))))",
      R"({"plus":[{"repeat":{"n":"{n}","g":{"model":"m","max_tokens":0,"temperature":0.0,"input":{"user":"x"}}}}]})",
      ("1:7" + repeated).c_str());
  row("read", R"((g "m" (read "What?")))",
      R"({"g":{"model":"m","max_tokens":0,"temperature":0.0,"input":{"ask":"What?"}}})",
      "1:8: Spanscope found the older name \"read\", but expects (ask text). <it-is-read-as>.\n");
  row("a byte order mark", "\xEF\xBB\xBF(g \"m\" \"x\" 0 0.0)", plain, read("1:1", "0.0 0").c_str());
}

void TestQueryLisp::olderForms() {
  QFETCH(QByteArray, lisp);
  QFETCH(QByteArray, canonical);
  const ParseResult result = parseLisp(lisp.toStdString());
  QTEST(textOf(result.diagnostics), "warnings");
  QVERIFY(result.query.has_value());
  QCOMPARE(QByteArray::fromStdString(writeCanonical(*result.query)), canonical);
  for (const Diagnostic& diagnostic : result.diagnostics)
    QVERIFY(diagnostic.severity == spanscope::Severity::Warning);
  const ParseResult written = parseLisp(writeLisp(*result.query));
  QVERIFY(written.query == result.query);
  QVERIFY(written.diagnostics.empty());
  QCOMPARE(result.sources.size(), parseJson(canonical.toStdString()).sources.size());
}

void TestQueryLisp::aWarningIsSaidOnce() {
  // Also where a form is evaluated often, and beside errors.
  const ParseResult looped = parseLisp(R"((plus (foreach i 0 500 (g "m" "x" 0 0.0)) (g "m" "y" 0 0.0)))");
  QVERIFY(looped.query.has_value());
  QCOMPARE(looped.diagnostics.size(), std::size_t{2});
  const ParseResult wrong = parseLisp(R"((seq (g "m" "x" 0 0.0) (user 1)))");
  QVERIFY(!wrong.query.has_value());
  QCOMPARE(wrong.diagnostics.size(), std::size_t{2});
  ParseLimits limits;
  limits.maxDiagnostics = 2;
  const ParseResult many =
      parseLisp(R"((seq (g "m" "x" 0 0.0) (g "m" "x" 0 0.0) (g "m" "x" 0 0.0) (user 1) (user 2)))", limits);
  QVERIFY(!many.query.has_value());
  QCOMPARE(many.diagnostics.size(), std::size_t{4});
}

// Every line is "line:column: message".
void TestQueryLisp::diagnostics_data() {
  QTest::addColumn<QByteArray>("lisp");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const char* lisp, const char* expected) {
    QTest::newRow(name) << QByteArray(lisp) << worded(expected);
  };
  row("nothing", " ; only this\n", "2:1: Spanscope found <end-document>, but needs <form-such-user>\n");
  row("not closed", "(seq\n  (user \"a\")\n  (plus",
      "3:3: Spanscope found <not-closed>, but needs a ) before <end-document>\n");
  row("closed too often", "(user \"a\"))",
      "1:11: Spanscope found a ) that closes nothing, but needs one form\n");
  row("only closed", ")", "1:1: Spanscope found a ) that closes nothing, but needs a form\n");
  row("two forms", "(user \"a\")\n(user \"b\")",
      "2:1: Spanscope found a second form, but needs one form. <several-queries-stand-seq>.\n");
  row("a quote that is not closed", "(user \"a)",
      "1:7: Spanscope found <text-not-closed>, but needs <closing-double-quote>\n");
  row("escapes", R"((user "\q\xff\u{d800}\u{zz}"))",
      "1:8: Spanscope found <backslash-begins-no>, but needs one of \\\" \\' \\\\ \\n \\r \\t \\0 \\xXX "
      "\\u{XXXX}. "
      "<backslash-itself-written>.\n"
      "1:10: Spanscope found <escape-no-character>, but needs \\x00 … \\x7f, or \\u{…} of a character\n"
      "1:14: Spanscope found <escape-no-character>, but needs \\x00 … \\x7f, or \\u{…} of a character\n"
      "1:22: Spanscope found <escape-no-character>, but needs \\x00 … \\x7f, or \\u{…} of a character\n");
  row("an empty list", "(seq ())", "1:6: Spanscope found an empty list, but needs <form-such-user>\n");
  row("a list of values", "(plus (\"a\" \"b\"))",
      "1:7: Spanscope found <list-not-begin>, but needs <form-such-user>. <list-values-written>.\n");
  row("a name without a value", "(g model \"x\")",
      "1:4: Spanscope found the name \"model\"<no-value>, but needs <text-double-quotes>. "
      "<parameter-written-name|{model}>.\n");
  row("too few and too many", "(seq (user) (g \"m\"))",
      "1:6: Spanscope found a user with 0 arguments, but needs (user text)\n"
      "1:13: Spanscope found a g with 1 argument, but needs (g model input [temperature [max_tokens]])\n");
  row("wrong kinds", "(seq (user 1)\n 2 (g \"m\" \"x\" \"hot\" 1.5) (length \"a\"))",
      "1:12: Spanscope found the number 1, but needs text. <lisp-text-in-quotes>.\n"
      "2:2: Spanscope found "
      "the number 2, but needs a query\n"
      "2:15: Spanscope found the text \"hot\", but needs <temperature-number-none>. "
      "<parameter-written-name|{name}>.\n"
      "2:21: Spanscope found the number 1.5, but needs <whole-number> -2147483648 to 2147483647\n2:34: "
      "Spanscope found the text "
      "\"a\", but needs a list\n");
  row("a count", "(repeat 256 \"m\" \"x\")",
      "1:9: Spanscope found the number 256, but needs <whole-number-query-walk>\n");
  row("the flag of a chat", R"((g "m" "x" 0 0.0 #t))",
      "1:18: Spanscope found the flag #t, but needs #f, or (g model input [temperature [max_tokens]]). "
      "<chat-goes-itself>.\n");
  row("a fifth argument", R"((g "m" "x" 0 0.0 "y"))",
      "1:18: Spanscope found one more argument, but needs #f, or (g model input [temperature "
      "[max_tokens]])\n");
  row("older settings of another kind", R"((g "m" "x" 0.5 "hot" #f))",
      "1:12: Spanscope found the number 0.5, but needs <whole-number> -2147483648 to 2147483647\n"
      "1:16: Spanscope found the text \"hot\", but needs <temperature-number-none>. "
      "<parameter-written-name|{name}>.\n");
  row("repeat of something else", R"((seq (repeat 2 (user "x")) (repeat 2 "m")))",
      "1:16: Spanscope found a query, user, but needs a generate node: (g model input …). "
      "<repeated-generate-written>repeat "
      "n model input …).\n1:38: Spanscope found the text \"m\", but needs a generate node: (g model input "
      "…). "
      "<repeated-generate-written>repeat n model input …).\n");
  row("a parameter without quotes", R"((user {topic}))",
      "1:7: Spanscope found the name \"{topic}\"<no-value>, but needs <text-double-quotes>. "
      "<parameter-stands-double> "
      "\"{topic}\".\n");
  row("a byte order mark before a mistake", "\xEF\xBB\xBF(user)",
      "1:1: Spanscope found a user with 0 arguments, but needs (user text)\n");
  row("a byte order mark within", "(user \xEF\xBB\xBF\"a\")",
      "1:1: Spanscope found a user with 2 arguments, but needs (user text)\n");
  row("an error in a loop is said once", "(plus (foreach i 0 9 (user i)))",
      "1:28: Spanscope found the number 0, but needs text. <lisp-text-in-quotes>.\n");
  row("formats",
      "(seq (user (format \"{} {}\" 1)) (user (format \"a\" 1)) (user (format \"{x}\")) (user (format "
      "\"{:>3}\" 1))"
      " (user (format \"}\")))",
      "1:20: Spanscope found <format-more-placeholders>, but needs <value-per-placeholder>. "
      "<brace-itself-written>.\n"
      "1:50: Spanscope found <value-format-not>, but needs <many-values-placeholders>\n"
      "1:68: Spanscope found the placeholder \"{x}\", but needs <name-foreach-lambda>. "
      "<parameter-written-name|{{x}}> "
      "here.\n"
      "1:90: Spanscope found the placeholder \"{:>3}\", but needs <placeholder-forms>. "
      "<brace-itself-written>.\n"
      "1:116: Spanscope found a lone brace, but needs <placeholder-forms>. "
      "<brace-itself-written>.\n");
  row("lambdas",
      "(plus (chunk 0 (list) (lambda (x) x)) (chunk 1 (list \"a\") \"b\") (chunk 1 (list) (lambda x x)))",
      "1:14: Spanscope found the number 0, but needs <whole-number> 1 to 2147483647\n"
      "1:59: Spanscope found the text \"b\", "
      "but needs a lambda: (lambda (name) query)\n"
      "1:88: Spanscope found something else, but needs <name-lambda-given>\n");
  row("files and questions", "(seq (user (file \"b.txt\")) (user (ask \"where?\")) (user (file \"x.bin\")))",
      "1:12: Spanscope found no file b.txt, but needs a file\n1:34: Spanscope found no answer to where? "
      "Spanscope needs an "
      "answer.\n"
      "1:56: Spanscope found the file \"x.bin\", which is not UTF-8, but needs <text-in-utf8>\n");
  row("not a list of texts", "(plus (take 2 (file \"a.txt\")))",
      "1:15: Spanscope found the text \"text of a\", but needs <list-text-json>\n");
  row("a document that is none", "(with \"e\" \"q\" (list \"d.txt\"))",
      "1:21: Spanscope found the text \"d.txt\", but needs a document: (doc name text), (filen path) or "
      "(fetchb "
      "path)\n");
}

void TestQueryLisp::diagnostics() {
  QFETCH(QByteArray, lisp);
  QFETCH(QString, expected);
  Prepared surroundings = prepared();
  const ParseResult result = parseLisp(lisp.toStdString(), {}, &surroundings);
  QCOMPARE(textOf(result.diagnostics), expected);
  QVERIFY(!result.query.has_value());
}

void TestQueryLisp::everyTruncationIsRefused() {
  const std::string whole = writeLisp(spanscope::query::testing::queryOfEveryKind());
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    const ParseResult result = parseLisp(whole.substr(0, size));
    QVERIFY(!result.query.has_value() && hasErrors(result.diagnostics));
    for (const Diagnostic& diagnostic : result.diagnostics) QVERIFY(diagnostic.offset <= size);
  }
}

void TestQueryLisp::debugTexts_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("shown");
  const auto row = [](const char* name, const QByteArray& text, const char* shown) {
    QTest::newRow(name) << text << QByteArray(shown);
  };
  row("plain", "it's é 日本 😀", "\"it's é 日本 😀\"");
  row("escapes", "\"\\\n\r\t", R"("\"\\\n\r\t")");
  row("control characters", QByteArray("\0\x1b\x7f", 3), R"("\0\u{1b}\u{7f}")");
  row("spaces", "\u00a0\u3000 \u2028", R"("\u{a0}\u{3000} \u{2028}")");
  row("format characters", "\u200d\ufeff", R"("\u{200d}\u{feff}")");
}

void TestQueryLisp::debugTexts() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, shown);
  QCOMPARE(QByteArray::fromStdString(rustDebugText(text.toStdString())), shown);
}

void TestQueryLisp::numbers_data() {
  QTest::addColumn<QString>("shown");
  QTest::addColumn<QString>("debug");
  QTest::newRow("12") << "12"
                      << "12";
  QTest::newRow("1.0") << "1"
                       << "1.0";
  QTest::newRow("0.50") << "0.5"
                        << "0.5";
  QTest::newRow("1e3") << "1000"
                       << "1000.0";
  QTest::newRow("-2.5e-3") << "-0.0025"
                           << "-0.0025";
}

void TestQueryLisp::numbers() {
  QFETCH(QString, shown);
  QFETCH(QString, debug);
  QCOMPARE(QString::fromStdString(rustNumber(QTest::currentDataTag(), false)), shown);
  QCOMPARE(QString::fromStdString(rustNumber(QTest::currentDataTag(), true)), debug);
}

void TestQueryLisp::written() {
  const Node node = *parseJson(R"({"g":{"model":"m","max_tokens":null,"input":{"cross":[{"system":"a\n\"b\""},
      {"plus":[{"map":{"metadata":{"model":"o"},"inputs":["x","y"]}},{"seq":[]}]}]}}})")
                         .query;
  QCOMPARE(QString::fromStdString(writeLisp(node)),
           QStringLiteral("(g \"m\"\n"
                          "  (cross\n"
                          "    (system \"a\\n\\\"b\\\"\")\n"
                          "    (plus\n"
                          "      (map \"o\" (list \"x\" \"y\") 0.6 0)\n"
                          "      (seq)))\n"
                          "  0.6 none)\n"));
}

void TestQueryLisp::remarks_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::addColumn<QStringList>("pointers");
  const auto row = [](const char* name, const char* json, const QStringList& pointers) {
    QTest::newRow(name) << QByteArray(json) << pointers;
  };
  row("nothing to say",
      R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"1"},{"print":"p"}]},{"system":"{x}"}]}}})",
      {});
  row("one query in a join",
      R"({"seq":[{"plus":[{"user":"a"}]},{"cross":[{"user":"a"}]},{"cross":[]},{"par":[]}]})",
      {"/seq/0", "/seq/2", "/seq/3"});
  row("nodes",
      R"({"cross":[{"assistant":"a"},{"monad":{"user":"a"}},{"zip":{"first":{"user":"a"},"second":{"user":"b"}}},
      {"map":{"metadata":{"model":"m"},"inputs":[]}},{"ask":"?"},{"file":"f"}]})",
      {"/cross/0", "/cross/1", "/cross/2", "/cross/3", "/cross/4"});
  row("settings",
      R"({"repeat":{"n":"{n}","g":{"model":"m","max_tokens":null,"temperature":"{t}","input":{"user":"a"}}}})",
      {"/repeat/n", "/repeat/g/max_tokens", "/repeat/g/temperature"});
}

void TestQueryLisp::remarks() {
  QFETCH(QByteArray, json);
  QFETCH(QStringList, pointers);
  QStringList found;
  for (const Diagnostic& remark : lispRemarks(*parseJson(json.toStdString()).query)) {
    QVERIFY(remark.severity == spanscope::Severity::Warning);
    found << QString::fromStdString(remark.pointer);
  }
  QCOMPARE(found, pointers);
}

void TestQueryLisp::limits() {
  QVERIFY(parseLisp(nested(kMaxDepth / 2)).query.has_value());
  QVERIFY(!parseLisp(nested(kMaxDepth / 2 + 1)).query.has_value());
  // What helpers make counts too.
  std::string extracts = "(user \"x\")";
  for (int i = 0; i < 40; ++i) extracts = "(extract \"m\" 1 " + extracts + ")";
  const ParseResult deep = parseLisp(extracts);
  QCOMPARE(deep.diagnostics.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(deep.diagnostics[0].expected), QStringLiteral("at most 127"));

  QVERIFY(!parseLisp(std::string(100'000, '(')).query.has_value());
  QVERIFY(!parseLisp(std::string(kMaxLispBytes + 1, ' ')).query.has_value());
  QVERIFY(!parseLisp("(user \"\xff\")").query.has_value());
  ParseLimits limits;
  limits.maxNodes = 3;
  QVERIFY(parseLisp(R"((plus "a" "b"))", limits).query.has_value());
  QVERIFY(!parseLisp(R"((plus "a" "b" "c"))", limits).query.has_value());
  QVERIFY(!parseLisp(R"((map "m" (list "a" "b" "c")))", limits).query.has_value());
  limits = {};
  limits.maxDiagnostics = 2;
  QCOMPARE(parseLisp("(seq (user) (user) (user) (user))", limits).diagnostics.size(), std::size_t{3});
}

void TestQueryLisp::evaluationIsBounded_data() {
  QTest::addColumn<QByteArray>("lisp");
  QTest::addColumn<QString>("expected");
  const QByteArray loops = "(plus (foreach a 0 1000000 (seq (foreach b 0 1000 (user \"x\")))))";
  QTest::newRow("loops") << loops << "at most 4000000 steps";
  QByteArray doubled = "(chunk 1 (list \"" + QByteArray(1000, 'x') + "\") (lambda (a) (seq a a)))";
  for (int i = 0; i < 40; ++i) doubled = "(chunk 999 " + doubled + " (lambda (a) (seq a a)))";
  QTest::newRow("doubling") << "(plus " + doubled + ")"
                            << "at most";
  QTest::newRow("long texts") << QByteArray("(plus (foreach a 0 100000 (user (file \"long\"))))")
                              << "at most 67108864 bytes in all";
}

void TestQueryLisp::evaluationIsBounded() {
  QFETCH(QByteArray, lisp);
  QFETCH(QString, expected);
  Prepared surroundings = prepared();
  surroundings.files["long"] = std::string(10'000, 'x');
  spanscope::test::ProcessorTimer timer;
  timer.start();
  const ParseResult result = parseLisp(lisp.toStdString(), {}, &surroundings);
  QVERIFY(!result.query.has_value());
  QVERIFY2(result.diagnostics.back().expected.find(expected.toStdString()) == 0,
           qPrintable(textOf(result.diagnostics)));
  // Seconds, and with sanitizers a little more; without the limits it would be hours.
  QVERIFY2(timer.elapsed() < 60'000, qPrintable(QString::number(timer.elapsed())));
}

void TestQueryLisp::sourcesOfNodes() {
  const std::string text = "(cross \"one\"\n (plus (foreach i 0 2 (user (format \"{i}\")))))";
  const ParseResult result = parseLisp(text);
  const auto at = [&](const char* path) {
    const auto range = result.sources.find(path);
    return range ? QString::fromStdString(text.substr(range->begin, range->end - range->begin)) : QString();
  };
  QCOMPARE(at(""), QString::fromStdString(text));
  QCOMPARE(at("/cross/0"), QStringLiteral("\"one\""));
  QCOMPARE(at("/cross/1/plus/1"), QStringLiteral("(user (format \"{i}\"))"));
  QCOMPARE(result.sources.nodeAround(text.find("one")).value_or("none"), std::string("/cross/0"));
}

SPANSCOPE_TEST(tst_query_lisp, TestQueryLisp)
#include "tst_query_lisp.moc"
