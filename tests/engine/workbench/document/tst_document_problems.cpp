// SPDX-License-Identifier: GPL-3.0-or-later
// The list of problems that the window, a run and the command line share: its places, files and subtrees.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/document/problems.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace spanscope;
using namespace spanscope::document;
using spanscope::product_text::worded;

namespace {

Document documentOf(std::string_view text) {
  const query::ParseResult result = query::parseJson(text);
  if (!result.query) qFatal("%s", result.diagnostics.front().located("query").c_str());
  return fromQuery(*result.query);
}

QStringList textsOf(const std::vector<QueryProblem>& problems) {
  QStringList texts;
  for (const QueryProblem& problem : problems) texts << QString::fromStdString(problem.text.words());
  return texts;
}

/// A run finds the files "there.txt" and "docs".
ProblemContext withFiles() {
  ProblemContext context;
  context.fileReason = [](const std::string& path, FileUse use) -> std::optional<query::NotGiven> {
    if (path == (use == FileUse::Text ? "there.txt" : "docs")) return std::nullopt;
    return query::NotGiven{.found = "the file \"" + path + "\"", .expected = "a file", .hint = "save it"};
  };
  return context;
}

}  // namespace

class TestDocumentProblems : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The planner would refuse it, but such a query is not planned while it is typed.
  void repeatsThatBecomeTooLarge() {
    const auto problemsWith = [](int times) {
      std::string text = R"({"user":"a"})";
      for (int i = 0; i < 3; ++i)
        text = R"({"repeat":{"n":)" + std::to_string(times) + R"(,"g":{"model":"","input":)" + text + "}}}";
      const Document document = fromQuery(*query::parseJson(text).query);
      std::vector<QueryProblem> errors = problemsOf(document);
      std::erase_if(errors, [](const QueryProblem& problem) { return problem.severity != Severity::Error; });
      return errors.size();
    };
    QCOMPARE(problemsWith(20), std::size_t{0});
    QCOMPARE(problemsWith(200), std::size_t{1});
  }

  void emptyMessagesHaveTheirPlace_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, const char* json, const QStringList& places) {
      QTest::newRow(name) << QByteArray(json) << places;
    };
    row("none", R"({"seq":[{"user":" "},{"print":""},{"user":"{x}"}]})", {});
    row("alone", R"({"user":""})", {"/user"});
    row("in joins", R"({"cross":[{"system":""},{"plus":[{"user":"a"},{"assistant":""}]}]})",
        {"/cross/0/system", "/cross/1/plus/1/assistant"});
    row("below other nodes",
        R"({"zip":{"first":{"user":""},"second":{"repeat":{"n":2,"g":{"model":"m","input":{"user":""}}}}}})",
        {"/zip/first/user", "/zip/second/repeat/g/input/user"});
  }
  void emptyMessagesHaveTheirPlace() {
    QFETCH(QByteArray, json);
    QFETCH(QStringList, expected);
    const Document document = documentOf(json.toStdString());
    const std::vector<QueryProblem> problems = problemsOf(document);
    const std::vector<std::string> places = placesOf(document, problems);
    QCOMPARE(places.size(), problems.size());
    QStringList found;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (problems[i].text.words() != worded(std::string("<message-empty>"))) continue;
      QVERIFY(problems[i].severity == Severity::Warning);
      found << QString::fromStdString(places[i]);
    }
    QCOMPARE(found, expected);
  }

  void filesAreLookedAt_data() {
    QTest::addColumn<QByteArray>("input");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const char* input, const char* problem) {
      QTest::newRow(name) << QByteArray(input) << QString::fromLatin1(problem);
    };
    row("a file that is there", R"({"file":"there.txt"})", "");
    row("a file that is not", R"({"file":"none.txt"})",
        "Spanscope found the file \"none.txt\", but needs a file");
    row("a path with a value", R"({"file":"{name}.txt"})", "");
    row("files to search in",
        R"({"augment":{"embedding_model":"","body":{"user":"q"},"doc":["docs",{"Text":""}]}})", "");
    row("a document to search in",
        R"({"augment":{"embedding_model":"","body":{"user":"q"},"doc":["none.txt",{"Text":""}]}})",
        "Spanscope found the file \"none.txt\", but needs a file");
    row("a document with its text",
        R"({"augment":{"embedding_model":"","body":{"user":"q"},"doc":["none.txt",{"Text":"a"}]}})", "");
  }
  void filesAreLookedAt() {
    QFETCH(QByteArray, input);
    QFETCH(QString, problem);
    Document document = documentOf(R"({"g":{"model":"","input":)" + input.toStdString() + "}}");
    if (input.contains("{name}")) document.parameters["name"] = "there";
    const std::vector<QueryProblem> problems = problemsOf(document, withFiles());
    QCOMPARE(textsOf(problems), problem.isEmpty() ? QStringList() : QStringList(problem));
    if (!problems.empty()) {
      QVERIFY(problems.front().severity == Severity::Error);
      QCOMPARE(problems.front().hint.words(), std::string("Save it"));
    }
    // Where files are not looked at, they are there.
    QVERIFY(problemsOf(document).empty());
  }

  /// What is run below a node has the problems of that node only.
  void ofASubtree() {
    const Document document = documentOf(
        R"({"g":{"model":"","input":{"cross":[{"g":{"model":"","input":{"user":"a"}}},{"file":""}]}}})");
    const NodeId join = document.at(document.root()).children.front();
    const NodeId inner = document.at(join).children.front();
    QVERIFY(textsOf(problemsOf(document)).contains(worded("<file-no-path>")));
    QVERIFY(problemsOf(document, {}, inner).empty());
    QCOMPARE(textsOf(problemsOf(document, {}, document.at(inner).children.front())),
             QStringList(worded("<nothing-to-generate>")));
  }

  /// A number may be right at its place, and wrong as it was declared.
  void valuesHaveTheDeclaredKind() {
    Document document = documentOf(R"({"g":{"model":"","max_tokens":"{n}","input":{"user":"a"}}})");
    declareParameter(document, {.name = "n", .kind = query::ParameterKind::Count, .defaultValue = {}});
    document.parameters["n"] = "30";
    QVERIFY(problemsOf(document).empty());
    document.parameters["n"] = "300";
    const std::vector<QueryProblem> problems = problemsOf(document);
    QCOMPARE(problems.size(), std::size_t{1});
    QVERIFY(problems.front().severity == Severity::Error);
    QCOMPARE(placesOf(document, problems), std::vector<std::string>{"/g/max_tokens"});
  }

  void aMutedQueryCannotBeRun() {
    Document document = documentOf(R"({"g":{"model":"","input":{"user":"a"}}})");
    setMuted(document, {document.root()}, true);
    QCOMPARE(textsOf(problemsOf(document)), QStringList(worded("<whole-query-muted>")));
  }

  /// What the run says of its room is said at its node, with what would help.
  void theRunsOwnWordsOfItsRoom() {
    Document document = documentOf(R"({"g":{"model":"","input":{"g":{"model":"","input":{"user":"a"}}}}})");
    const NodeId inner = document.at(document.root()).children.front();
    const auto problems = [&](const run::PlanFit& fit, NodeId top = kNoNode) {
      ProblemContext context;
      context.fit = &fit;
      return problemsOf(document, context, top);
    };
    const auto ofPool = [](const std::vector<QueryProblem>& all) {
      std::vector<QueryProblem> found;
      for (const QueryProblem& problem : all) {
        if (problem.poolNeeded > 0) found.push_back(problem);
      }
      return found;
    };
    run::PlanFit fit{
        .error = errorAt("/g/input", "too many blocks", "fewer"), .isCertain = true, .blocksNeeded = 245};
    QCOMPARE(ofPool(problems(fit)).size(), std::size_t{1});
    const QueryProblem certain = ofPool(problems(fit)).front();
    QCOMPARE(certain.node, inner);
    QCOMPARE(certain.poolNeeded, 245);
    QVERIFY(certain.severity == Severity::Error);
    QVERIFY(certain.text.words().find("oo many blocks") != std::string::npos);
    QVERIFY(certain.hint.words().find("245") != std::string::npos);
    fit.isCertain = false;
    QVERIFY(ofPool(problems(fit)).front().severity == Severity::Warning);
    // It is of the whole query, and of the embedded engine.
    QVERIFY(ofPool(problems(fit, inner)).empty());
    setServer(document, inner, "gpu-3");
    QVERIFY(ofPool(problems(fit)).empty());
    QVERIFY(ofPool(problems({})).empty());
  }

  /// A query that is too large to be planned here has its room checked all the same.
  void theRoomOfALargeQuery() {
    const Document document =
        documentOf(R"({"g":{"model":"","input":{"plus":[{"repeat":{"n":200,"g":{"model":"","input":{"plus":[)"
                   R"({"repeat":{"n":200,"g":{"model":"","input":{"user":"a"}}}}]}}}}]}}})");
    const run::PlanFit fit{
        .error = errorAt("", "too many blocks", "fewer"), .isCertain = true, .blocksNeeded = 245};
    ProblemContext context;
    context.fit = &fit;
    const std::vector<QueryProblem> problems = problemsOf(document, context);
    QVERIFY(std::any_of(problems.begin(), problems.end(),
                        [](const QueryProblem& problem) { return problem.poolNeeded == 245; }));
  }

  /// Texts of the query are no places for arguments.
  void argumentsStandAsTheyAre() {
    const Document document = documentOf(R"({"g":{"model":"%2","input":{"user":"a"}}})");
    QCOMPARE(textsOf(problemsOf(document)), QStringList(worded("<query-names-model|%2|spanlet>")));
  }

  /// A server decides what a name means to it.
  void modelsOfServersAreTheirs() {
    Document document =
        documentOf(R"({"g":{"model":"big","input":{"g":{"model":"other","input":{"user":"a"}}}}})");
    const NodeId inner = document.at(document.root()).children.front();
    const auto named = [&] {
      std::vector<std::string> names;
      for (const QueryProblem& problem : problemsOf(document)) {
        if (!problem.otherModel.empty()) names.push_back(problem.otherModel);
      }
      return names;
    };
    QCOMPARE(named(), (std::vector<std::string>{"big", "other"}));
    setServer(document, document.root(), "gpu-3");
    QCOMPARE(named(), (std::vector<std::string>{"other"}));
    setServer(document, document.root(), "");
    document.settings.server = "gpu-3";
    QVERIFY(named().empty() && goesOnlyToServers(document));
    setServer(document, inner, kEmbedded);
    QCOMPARE(named(), (std::vector<std::string>{"other"}));
    QVERIFY(!goesOnlyToServers(document));
  }
};

SPANSCOPE_TEST(tst_document_problems, TestDocumentProblems)
#include "tst_document_problems.moc"
