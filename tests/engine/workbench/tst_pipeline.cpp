// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/pipeline.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <string>
#include <string_view>
#include <variant>

using namespace spanscope;
using namespace spanscope::workbench;
using spanscope::product_text::worded;

namespace {

/// One file and one answer; keeps what it was asked for.
class Given final : public query::Surroundings {
 public:
  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    asked += "file " + path + "\n";
    if (path == "a.txt") return std::string("from the {n} file");
    return query::NotGiven{.found = "no file \"" + path + "\"", .expected = "one", .hint = {}};
  }
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override {
    asked += "ask " + prompt + "\n";
    return std::string("the answer");
  }

  std::string asked;
};

/// Who goes through the stages, as those who use the pipeline do.
enum class User { Run, Prediction, Problems, Export, Server };

struct Case {
  PipelineInput input;
  Stage last = Stage::Plan;
};

Case caseOf(User user, std::string_view text, Given& given) {
  Case made;
  PipelineInput& input = made.input;
  input.source = text;
  input.surroundings = &given;
  switch (user) {
    case User::Run:
      input.plansWithoutLocality = true;
      break;
    case User::Prediction:
      input.endsAtAsk = true;
      input.endsAtAugment = true;
      input.plan.recordTrees = true;
      break;
    case User::Problems:
      break;
    case User::Export:
      input.surroundings = nullptr;
      input.keepsNumbers = true;
      made.last = Stage::Parameters;
      break;
    case User::Server:
      input.surroundings = nullptr;
      input.isForServer = true;
      made.last = Stage::Retrieve;
      break;
  }
  return made;
}

QString endName(PipelineEnd end) {
  static const std::map<PipelineEnd, QString> kNames = {{PipelineEnd::Reached, QStringLiteral("reached")},
                                                        {PipelineEnd::Problem, QStringLiteral("problem")},
                                                        {PipelineEnd::Asks, QStringLiteral("asks")},
                                                        {PipelineEnd::Retrieves, QStringLiteral("retrieves")},
                                                        {PipelineEnd::Stopped, QStringLiteral("stopped")}};
  return kNames.at(end);
}

QString problemsOf(const PipelineResult& made) {
  QString text;
  for (const query::Diagnostic& problem : made.diagnostics) {
    if (problem.severity == Severity::Error) text += QString::fromStdString(problem.located({}) + "\n");
  }
  return text;
}

QString generate(const QString& input, const QString& settings = {}) {
  return QStringLiteral(R"({"g": {"model": "m", %1"input": %2}})").arg(settings, input);
}

const QString kUser = QStringLiteral(R"({"user": "Hello {n}"})");
const QString kAsk = QStringLiteral(R"({"ask": "Who?"})");
const QString kFile = QStringLiteral(R"({"file": "a.txt"})");
const QString kNoFile = QStringLiteral(R"({"file": "b.txt"})");
const QString kAugment = QStringLiteral(
    R"({"augment": {"embedding_model": "", "body": {"user": "q"}, "doc": ["d.txt", {"Text": "t"}]}})");

}  // namespace

class TestPipeline : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void users_data();
  void users();
  void keepsTheQueryOfEachStage();
  void beginsLater();
  void pointsIntoTheText();
  void plansWithoutLocality();
  void keepsNumbersWithoutValues();
};

void TestPipeline::users_data() {
  QTest::addColumn<User>("user");
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("end");
  QTest::addColumn<Stage>("at");
  QTest::addColumn<QString>("problems");
  QTest::addColumn<QString>("asked");
  const auto row = [](const char* name, User user, const QString& query, const char* end, Stage at,
                      const QString& problems = {}, const QString& asked = {}) {
    QTest::newRow(name) << user << query << QString::fromLatin1(end) << at << problems << asked;
  };
  const QString noNumber = generate(kUser, QStringLiteral(R"("max_tokens": "{n}", )"));
  const QString unknownFile =
      QStringLiteral("1:31: /g/input: Spanscope found no file \"b.txt\", but needs one\n");
  const QString both = QStringLiteral(R"({"seq": [%1, %2]})");

  row("a run", User::Run, generate(kUser), "reached", Stage::Plan);
  row("a run asks and reads", User::Run, generate(both.arg(kAsk, kFile)), "reached", Stage::Plan, {},
      QStringLiteral("ask Who?\nfile a.txt\n"));
  row("a run lacks a file", User::Run, generate(kNoFile), "problem", Stage::Sugar, unknownFile,
      QStringLiteral("file b.txt\n"));
  row("a run without a query", User::Run, QStringLiteral(R"({"usr": 1})"), "problem", Stage::Read,
      QStringLiteral("*"));
  row("a run that cannot retrieve", User::Run, generate(kAugment), "problem", Stage::Plan,
      QStringLiteral("*"));

  row("a prediction", User::Prediction, generate(kFile), "reached", Stage::Plan, {},
      QStringLiteral("file a.txt\n"));
  row("a prediction does not ask", User::Prediction, generate(both.arg(kAsk, kNoFile)), "asks", Stage::Sugar);
  row("a prediction does not retrieve", User::Prediction, generate(both.arg(kNoFile, kAugment)), "retrieves",
      Stage::Sugar);
  row("asking comes first", User::Prediction, generate(both.arg(kAugment, kAsk)), "asks", Stage::Sugar);
  row("a prediction lacks a file", User::Prediction, generate(kNoFile), "problem", Stage::Sugar, unknownFile,
      QStringLiteral("file b.txt\n"));

  row("problems", User::Problems, generate(both.arg(kAsk, kFile)), "reached", Stage::Plan, {},
      QStringLiteral("ask Who?\nfile a.txt\n"));
  row("problems of a number", User::Problems, noNumber, "problem", Stage::Parameters, QStringLiteral("*"));

  row("an export keeps sugar", User::Export, generate(both.arg(kAsk, kAugment)), "reached",
      Stage::Parameters);
  row("an export keeps numbers", User::Export, noNumber, "reached", Stage::Parameters);

  row("a server knows an augment", User::Server, generate(kAugment), "reached", Stage::Retrieve);
  row("a server does not ask", User::Server, generate(both.arg(kAsk, kFile)), "problem", Stage::Retrieve,
      worded("1:40: /g/input/seq/0: Spanscope found an operator \"ask\", but needs <servers-know-put>.\n"
             "1:57: /g/input/seq/1: Spanscope found an operator \"file\", but needs <servers-know-put>.\n"));
  row("a server needs numbers", User::Server, noNumber, "problem", Stage::Parameters, QStringLiteral("*"));
}

void TestPipeline::users() {
  QFETCH(const User, user);
  QFETCH(const QString, query);
  QFETCH(const QString, problems);
  const std::string text = query.toStdString();
  Given given;
  Case made = caseOf(user, text, given);
  const Stage last = made.last;
  const PipelineResult result = runPipeline(std::move(made.input), last);
  QTEST(endName(result.end), "end");
  QTEST(result.at, "at");
  // "*": something is said; what, is the matter of who says it.
  if (problems == QLatin1String("*"))
    QVERIFY(!problemsOf(result).isEmpty());
  else
    QCOMPARE(problemsOf(result), problems);
  QTEST(QString::fromStdString(given.asked), "asked");
  QCOMPARE(result.isReached(), problemsOf(result).isEmpty() && result.end == PipelineEnd::Reached);
  QCOMPARE(result.plan.has_value(), result.isReached() && last == Stage::Plan);
  QCOMPARE(result.queryAfter(last) != nullptr, result.isReached());
}

void TestPipeline::keepsTheQueryOfEachStage() {
  Given given;
  const std::string text = generate(QStringLiteral(R"({"seq": [%1, %2]})").arg(kUser, kFile)).toStdString();
  PipelineInput input{.source = std::string_view(text), .parameters = {{"n", "7"}}, .surroundings = &given};
  PipelineResult result = runPipeline(input);
  const auto after = [&result](Stage stage) {
    const query::Node* const query = result.queryAfter(stage);
    return query == nullptr ? std::string() : query::writeCanonical(*query);
  };
  QVERIFY(after(Stage::Read).find("Hello {n}") != std::string::npos);
  QVERIFY(after(Stage::Parameters).find("Hello 7") != std::string::npos);
  QVERIFY(after(Stage::Parameters).find("a.txt") != std::string::npos);
  // What a file says is not searched for parameters.
  QVERIFY(after(Stage::Sugar).find("from the {n} file") != std::string::npos);
  QCOMPARE(after(Stage::Retrieve), after(Stage::Sugar));
  QCOMPARE(after(Stage::Plan), after(Stage::Sugar));
  const std::string whole = after(Stage::Plan);
  QCOMPARE(query::writeCanonical(result.takeQuery()), whole);
  QVERIFY(result.queryAfter(Stage::Read) == nullptr);

  result = runPipeline(input, Stage::Parameters);
  QVERIFY(result.queryAfter(Stage::Sugar) == nullptr);
  QVERIFY(!result.plan);
}

void TestPipeline::beginsLater() {
  Given given;
  const std::string text = generate(kUser).toStdString();
  PipelineResult first = runPipeline({.source = std::string_view(text)}, Stage::Read);
  const PipelineResult result = runPipeline({.source = first.takeQuery(),
                                             .from = Stage::Retrieve,
                                             .parameters = {{"n", "7"}},
                                             .surroundings = &given});
  QVERIFY(result.isReached());
  QVERIFY(query::writeCanonical(*result.queryAfter(Stage::Plan)).find("{n}") != std::string::npos);
}

void TestPipeline::pointsIntoTheText() {
  const std::string text = "{\"g\": {\"model\": \"m\",\n  \"input\": {\"seq\": [{\"ask\": \"Who?\"}]}}}";
  PipelineInput input{.source = std::string_view(text)};
  const PipelineResult ofText = runPipeline(input);
  QCOMPARE(ofText.at, Stage::Plan);
  QCOMPARE(ofText.diagnostics.front().position, (query::TextPosition{2, 21}));
  QCOMPARE(ofText.diagnostics.front().pointer, std::string("/g/input/seq/0"));
  // A node has no text to point into.
  const PipelineResult ofNode = runPipeline({.source = *ofText.queryAfter(Stage::Read)});
  QCOMPARE(ofNode.diagnostics.front().position, query::TextPosition());
  QCOMPARE(ofNode.diagnostics.front().pointer, std::string("/g/input/seq/0"));
}

void TestPipeline::plansWithoutLocality() {
  const std::string text =
      generate(QStringLiteral(R"({"cross": [{"plus": [{"user": "a"}, {"user": "b"}, {"user": "c"},
                                 {"user": "d"}]}, {"user": "Which?"}]})"))
          .toStdString();
  PipelineInput input{.source = std::string_view(text)};
  input.plan.locality = {.fanIn = 2, .shape = plan::LocalityShape::MapReduce};
  QVERIFY(!runPipeline(input).planWithoutLocality);
  input.plansWithoutLocality = true;
  const PipelineResult result = runPipeline(input);
  QVERIFY(result.plan && result.planWithoutLocality);
  QVERIFY(result.plan->steps.size() > result.planWithoutLocality->steps.size());
}

void TestPipeline::keepsNumbersWithoutValues() {
  const std::string text =
      generate(QStringLiteral(R"({"user": "{t}"})"), QStringLiteral(R"("max_tokens": "{n}", )"))
          .toStdString();
  PipelineInput input{.source = std::string_view(text), .parameters = {{"t", "Hi"}, {"n", "many"}}};
  QVERIFY(!runPipeline(input, Stage::Parameters).isReached());
  input.keepsNumbers = true;
  PipelineResult result = runPipeline(input, Stage::Parameters);
  QVERIFY(result.isReached());
  const std::string json = query::writeCanonical(result.takeQuery());
  QVERIFY(json.find("\"{n}\"") != std::string::npos);
  QVERIFY(json.find("\"Hi\"") != std::string::npos);
}

SPANSCOPE_TEST(tst_pipeline, TestPipeline)
#include "tst_pipeline.moc"
