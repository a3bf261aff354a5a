// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backends.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/processor_timer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/problems.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <functional>

using namespace spanscope;
using namespace spanscope::document;
using namespace spanscope::ui;
using spanscope::product_text::matches;
using spanscope::product_text::worded;

namespace {

Document documentOf(std::string_view text) {
  const query::ParseResult result = query::parseJson(text);
  if (!result.query) qFatal("%s", result.diagnostics.front().located("query").c_str());
  return fromQuery(*result.query);
}

QStringList textsOf(const std::vector<Problem>& problems) {
  QStringList texts;
  for (const Problem& problem : problems) {
    texts += (problem.severity == Severity::Error ? QStringLiteral("error ") : QStringLiteral("warning ")) +
             QString::number(problem.node) + QStringLiteral(": ") + problem.text;
  }
  return texts;
}

constexpr auto kPlain = R"({"g": {"model": "spanlet", "input": {"user": "Hello"}}})";

}  // namespace

class TestProblems : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void examplesHaveNone();
  void finds_data();
  void finds();
  void depthIsTheParsers();
  void measuresThePrompt();
  void predictionsThePool();
  void tellsOfTheDevice();
  void leavesOutWhatIsNotRun();
  void saysWhereFrozenAnswersAreMoreOrFewer();
  void isQuick();
  void doesNotWriteOutHugeQueries();
};

void TestProblems::examplesHaveNone() {
  const QDir directory(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries"));
  for (const QString& name : directory.entryList({QStringLiteral("*.json")})) {
    QFile file(directory.filePath(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(textsOf(findProblems(documentOf(file.readAll().toStdString()))), QStringList());
  }
}

void TestProblems::finds_data() {
  using Change = std::function<void(Document&)>;
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<Change>("change");
  QTest::addColumn<QStringList>("expected");
  const auto row = [](const char* name, const char* query, const Change& change,
                      const QStringList& expected) {
    QTest::newRow(name) << QByteArray(query) << change << expected;
  };
  const Change nothing = [](Document&) {};
  row("none", kPlain, nothing, {});
  row("empty", kPlain, [](Document& d) { removeSubtrees(d, {d.root()}); },
      {worded("error 0: <query-empty>")});
  row("missing input", kPlain, [](Document& d) { removeSubtrees(d, {1}); },
      {QStringLiteral("error 2: The generate has no input")});
  row("missing inputs of a zip", R"({"zip": {"first": {"user": "a"}, "second": {"user": "b"}}})",
      [](Document& d) {
        removeSubtrees(d, {1, 2});
      },
      {worded("error 3: <no-first-input|zip>"), worded("error 3: <no-second-input|zip>")});
  row("muted input", kPlain, [](Document& d) { setMuted(d, {1}, true); },
      {worded("error 2: <input-muted|generate>")});
  row("draft", kPlain, [](Document& d) { addNode(d, makeOperator("user")); },
      {worded("warning 3: <tree-not-part>")});
  row("empty join", R"({"g": {"model": "spanlet", "input": {"cross": [{"user": "a"}, {"plus": []}]}}})",
      nothing, {QStringLiteral("warning 2: The plus has no children")});
  row("all muted",
      R"({"g": {"model": "spanlet", "input": {"cross": [{"user": "a"}, {"plus": [{"user": "b"}]}]}}})",
      [](Document& d) { setMuted(d, {2}, true); }, {worded("warning 3: <children-muted|plus>")});
  row("no model", R"({"g": {"model": "", "input": {"user": "a"}}})", nothing, {});
  const char* other = R"({"g": {"model": "openai/gpt", "input": {"user": "a"}}})";
  row("another model", other, nothing, {worded("warning 2: <query-names-model|openai/gpt|spanlet>")});
  row("another model that is accepted", other, [](Document& d) { d.settings.standsFor = "x, openai/gpt"; },
      {});
  row("another model in a frozen generate", R"({"g": {"model": "spanlet", "input": {"cross": [{"user": "b"},
      {"g": {"model": "openai/gpt", "input": {"user": "a"}}}]}}})",
      [](Document& d) { setFrozen(d, 3, {"c"}); }, {});
  row("another model by a parameter", R"({"g": {"model": "{m}", "input": {"user": "a"}}})",
      [](Document& d) { d.parameters["m"] = "gpt"; }, {worded("warning 2: <query-names-model|gpt|spanlet>")});
  row("model parameter", R"({"g": {"model": "{m}", "input": {"user": "a"}}})", nothing,
      {worded("error 2: <model-parameter-no|m>")});
  row("number parameter", R"({"g": {"model": "spanlet", "max_tokens": "{n}", "input": {"user": "a {b}"}}})",
      nothing, {QStringLiteral("error 2: Spanscope found …\"n\"…, but needs …-2147483648 to 2147483647")});
  row("number parameter with a value",
      R"({"g": {"model": "spanlet", "max_tokens": "{n}", "input": {"user": "a"}}})",
      [](Document& d) { d.parameters["n"] = "12"; }, {});
  row("number parameter with a default",
      R"({"g": {"model": "spanlet", "max_tokens": "{n}", "input": {"user": "a"}}})",
      [](Document& d) { declareParameter(d, {.name = "n", .kind = {}, .defaultValue = "12"}); }, {});
  row("text parameter that is declared a number",
      R"({"g": {"model": "spanlet", "max_tokens": 5, "input": {"user": "{n} lines"}}})",
      [](Document& d) {
        declareParameter(d, {.name = "n", .kind = query::ParameterKind::Count, .defaultValue = "few"});
      },
      {QStringLiteral("error 1: Spanscope found …\"few\"…\"n\", but needs …0 to 255")});
  row("negative max tokens", R"({"g": {"model": "spanlet", "max_tokens": -1, "input": {"user": "a"}}})",
      nothing, {QStringLiteral("warning 2: Max tokens is -1")});
  row("negative temperature", R"({"g": {"model": "spanlet", "temperature": -1.5, "input": {"user": "a"}}})",
      nothing, {worded("error 2: <temperature-expected-finite|-1.5>")});
  row("hot", R"({"g": {"model": "spanlet", "temperature": 5.0, "input": {"user": "a"}}})", nothing,
      {QStringLiteral("warning 2: The temperature is 5")});
  row("no repeats",
      R"({"cross": [{"repeat": {"n": 0, "g": {"model": "spanlet", "input": {"user": "a"}}}}, {"g": {"model": "spanlet", "input": {"user": "b"}}}]})",
      nothing, {QStringLiteral("warning 2: A repeat of 0 times")});
  row("nothing to generate", R"({"user": "a"})", nothing, {worded("error 1: <nothing-to-generate>")});
  row("question", R"({"g": {"model": "spanlet", "input": {"ask": "Who?"}}})", nothing, {});
  row("file", R"({"g": {"model": "spanlet", "input": {"file": "notes.txt"}}})", nothing, {});
  row("file without a path", R"({"g": {"model": "spanlet", "input": {"file": ""}}})", nothing,
      {worded("error 1: <file-no-path>")});
  row("policy", R"({"g": {"model": "spanlet", "input": {"plus": [{"user": "a"}, {"user": "b"}]}}})",
      [](Document& d) { d.settings.policy = "prefix"; },
      {worded("warning 3: <under-policy-children|prefix>")});
  row("inner answer",
      R"({"g": {"model": "spanlet", "input": {"cross": [{"g": {"model": "spanlet", "input": {"user": "a"}}}, {"user": "b"}]}}})",
      nothing, {worded("warning 2: <answer-inner-generate>")});
  row("inner answer, reused",
      R"({"g": {"model": "spanlet", "input": {"cross": [{"g": {"model": "spanlet", "input": {"user": "a"}}}, {"user": "b"}]}}})",
      [](Document& d) { d.settings.outputForm = "reused"; }, {});
  row("too deep", kPlain,
      [](Document& d) {
        for (int i = 0; i < 130; ++i) insertAbove(d, 1, addNode(d, makeOperator("monad")));
      },
      {worded("error 128: <nested-too-deeply|127>")});
}

void TestProblems::finds() {
  QFETCH(QByteArray, query);
  QFETCH(std::function<void(Document&)>, change);
  QFETCH(QStringList, expected);
  Document document = documentOf(query.toStdString());
  change(document);
  const QStringList texts = textsOf(findProblems(document));
  QCOMPARE(texts.size(), expected.size());
  for (qsizetype i = 0; i < texts.size(); ++i) QVERIFY2(matches(texts[i], expected[i]), qPrintable(texts[i]));
}

void TestProblems::depthIsTheParsers() {
  Document document = documentOf(kPlain);
  const auto isReadable = [&document] {
    return query::parseJson(query::writePretty(toTree(document, document.root()))).query.has_value();
  };
  for (int i = 0; i < 124; ++i) QVERIFY(insertAbove(document, 1, addNode(document, makeOperator("monad"))));
  QVERIFY(isReadable());
  QVERIFY(findProblems(document).empty());
  QVERIFY(insertAbove(document, 1, addNode(document, makeOperator("monad"))));
  QVERIFY(!isReadable());
  QCOMPARE(findProblems(document).size(), std::size_t{1});
}

void TestProblems::measuresThePrompt() {
  Document document = documentOf(
      R"({"g": {"model": "spanlet", "max_tokens": 5, "input": {"cross": [{"user": "123456"}, {"user": "1234"}]}}})");
  ProblemContext context{
      .countTokens = [](const std::string& text) { return static_cast<std::int64_t>(text.size()); },
      .contextLength = 15};
  QVERIFY(findProblems(document, context).empty());
  context.contextLength = 14;
  QCOMPARE(textsOf(findProblems(document, context)),
           QStringList({worded("warning 4: <prompt-least-tokens|10|5|14>")}));
  context.contextLength = 10;
  QCOMPARE(textsOf(findProblems(document, context)),
           QStringList({worded("error 4: <prompt-least-tokens-model|10|10>")}));
}

void TestProblems::predictionsThePool() {
  Document document = documentOf(
      R"({"g": {"model": "spanlet", "max_tokens": 3, "input": {"cross": [{"user": "123456"}, {"user": "1234"}]}}})");
  document.settings.blockSize = 2;
  document.settings.blockCount = 8;
  const ProblemContext context{
      .countTokens = [](const std::string& text) { return static_cast<std::int64_t>(text.size()); }};
  QVERIFY(findProblems(document, context).empty());
  // One block less than the thirteen tokens fill, the null block not counted.
  document.settings.blockCount = 7;
  QCOMPARE(textsOf(findProblems(document, context)),
           QStringList({worded("warning 4: <prompt-answer-take|7|2|6>")}));
  document.settings.blockSize = 4;
  QVERIFY(findProblems(document, context).empty());
  // Without a tokenizer nothing is known.
  document.settings.blockCount = 1;
  QVERIFY(findProblems(document).empty());
}

void TestProblems::tellsOfTheDevice() {
  const std::vector<compute::Device> devices = {
      {.name = "cpu", .description = "AMD EPYC", .memoryBytes = 0, .reason = {}},
      {.name = "cuda", .description = {}, .memoryBytes = 0, .reason = "no driver"}};
  ProblemContext context;
  context.devices = &devices;
  Document document = documentOf(kPlain);
  QVERIFY(findProblems(document, context).empty());
  document.settings.device = "cuda";
  const QString kind = worded("error 0: <device-cannot-used|cuda|no driver>");
  QCOMPARE(textsOf(findProblems(document, context)), QStringList(kind));
  QVERIFY(findProblems(document, context).front().isOfDevice);
  document.settings.device = "cuda:1";
  QCOMPARE(textsOf(findProblems(document, context)),
           QStringList(worded("error 0: <device-cannot-used|cuda:1|no driver>")));
  // Where nobody knows the machine yet, nothing is said; and of the query everything is.
  QVERIFY(findProblems(document).empty());
  Document other = documentOf(R"({"plus": [{"user": "a"}]})");
  const QStringList before = textsOf(findProblems(other));
  QVERIFY(!before.isEmpty());
  other.settings.device = "cuda";
  QCOMPARE(textsOf(findProblems(other, context)), QStringList(kind) + before);
  document.settings.device = "cpu";
  QVERIFY(findProblems(document, context).empty());
}

void TestProblems::leavesOutWhatIsNotRun() {
  Document document = documentOf(
      R"({"g": {"model": "spanlet", "input": {"cross": [{"user": "a"}, {"g": {"model": "other", "input": {"ask": "b"}}}]}}})");
  const NodeId inner = document.at(document.at(document.root()).children[0]).children[1];
  QVERIFY(!findProblems(document).empty());
  Document muted = document;
  setMuted(muted, {inner}, true);
  QCOMPARE(textsOf(findProblems(muted)), QStringList());
  setFrozen(document, inner, {"answer"});
  QCOMPARE(textsOf(findProblems(document)), QStringList());
}

void TestProblems::saysWhereFrozenAnswersAreMoreOrFewer() {
  Document document = documentOf(
      R"({"g": {"model": "spanlet", "input": {"cross": [{"repeat": {"n": 2, "g": {"model": "spanlet", "input": {"user": "b"}}}},
      {"map": {"metadata": {"model": "spanlet"}, "inputs": ["c", "d"]}}]}}})");
  const NodeId join = document.at(document.root()).children[0];
  const NodeId repeat = document.at(join).children[0];
  const NodeId map = document.at(join).children[1];
  setFrozen(document, repeat, {"x", "y"});
  setFrozen(document, map, {"z", "w"});
  QCOMPARE(textsOf(findProblems(document)), QStringList());
  query::Node own = document.at(repeat).own;
  own.as<query::Repeat>()->count = std::uint8_t{3};
  setOwn(document, repeat, own);
  setFrozen(document, map, {"z"});
  const QStringList texts = textsOf(findProblems(document));
  QCOMPARE(texts.size(), 2);
  QVERIFY2(texts[0].contains(worded("<frozen-answers-stand|2|repeat|3>")), qPrintable(texts[0]));
  QVERIFY2(texts[1].contains(worded("<frozen-answer-stands|map|2>")), qPrintable(texts[1]));
  // A count that is a parameter is that of its value.
  own.as<query::Repeat>()->count = query::Parameter{"n"};
  setOwn(document, repeat, own);
  setFrozen(document, map, {"z", "w"});
  document.parameters["n"] = "2";
  QCOMPARE(textsOf(findProblems(document)), QStringList());
  document.parameters["n"] = "4";
  QCOMPARE(textsOf(findProblems(document)).size(), 1);
}

void TestProblems::isQuick() {
  std::string text = R"({"g": {"model": "spanlet", "input": {"cross": [)";
  for (int i = 0; i < 31; ++i) {
    text += R"({"plus": [{"user": "question"})";
    for (int j = 0; j < 31; ++j)
      text += R"(, {"user": "A document of a few words, as long as such things are."})";
    text += "]}, ";
  }
  const Document document = documentOf(text + R"({"user": "end"}]}}})");
  QVERIFY(document.size() > 1000);
  qint64 best = std::numeric_limits<qint64>::max();
  for (int i = 0; i < 5; ++i) {
    QElapsedTimer timer;
    timer.start();
    QVERIFY(findProblems(document).empty());
    best = std::min(best, timer.nsecsElapsed());
  }
  qInfo("%.2f ms for %zu nodes", double(best) / 1e6, document.size());
}

void TestProblems::doesNotWriteOutHugeQueries() {
  std::string text = R"({"user": "a"})";
  for (int i = 0; i < 6; ++i)
    text = R"({"repeat": {"n": 255, "g": {"model": "spanlet", "input": )" + text + "}}}";
  spanscope::test::ProcessorTimer timer;
  timer.start();
  // The planner would refuse it, which is said without writing it out.
  const std::vector<Problem> problems = findProblems(documentOf(text));
  QCOMPARE(problems.size(), std::size_t{1});
  QVERIFY(problems.front().severity == Severity::Error);
  QVERIFY(timer.elapsed() < 1000);
}

SPANSCOPE_TEST(tst_problems, TestProblems, QCoreApplication)
#include "tst_problems.moc"
