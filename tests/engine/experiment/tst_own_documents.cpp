// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments on the user's documents and question: what is taken from the query, what is refused, and what
// is measured.
#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/own_documents.h"
#include "engine/query/json/json.h"
#include "engine/text/chat_template.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace spanscope;
using spanscope::experiment::DocumentSource;
using spanscope::experiment::ExperimentRequest;
using spanscope::experiment::ExperimentResult;
using spanscope::experiment::OwnDocuments;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

query::Node queryOf(const std::string& json) {
  return *query::parseJson(json).query;
}

constexpr const char* kWhole = R"({"g":{"model":"m","max_tokens":12,"temperature":0.9,"input":{"cross":[
  {"system":"Answer from the notes."},
  {"plus":[{"user":"Mira lives in Lisbon. The lamp gave little light."},
           {"user":"Tarek is a baker. The stairs are steep."},
           {"cross":[{"user":"Otto plays the cello."},{"user":"The soup was cold."}]},
           {"user":"Nora works in Oslo. The river is wide."}]},
  {"user":"Where does Mira live?"}]}}})";

std::shared_ptr<const OwnDocuments> whole() {
  return std::make_shared<const OwnDocuments>(queryOf(kWhole), "four notes");
}

std::string errorOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

struct Bench {
  experiment::ExperimentModel model() {
    return {.name = "spanlet",
            .machine = "a machine, 2 threads",
            .decoder = *spanlet.decoder,
            .backend = *spanlet.backend,
            .tokenizer = spanlet.tokenizer.get(),
            .chat = nullptr,
            .session = {},
            .open = [this](const run::SessionConfig& config, trace::Sink& sink) {
              return std::make_unique<run::Session>(config, *spanlet.decoder, *spanlet.backend, "spanlet",
                                                    "spanlet", spanlet.tokenizer.get(), &chat, sink);
            }};
  }
  ExperimentResult run(ExperimentRequest request) {
    ExperimentResult result;
    request.source = DocumentSource::Own;
    if (!request.own) request.own = whole();
    result.request = std::move(request);
    experiment::runExperiment(result, model(), [](const ExperimentResult&) {}, {});
    return result;
  }

  test::SpanletSession spanlet;
  const text::ChatTemplate& chat = text::findChatTemplate(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
};

const experiment::ExperimentPoint& pointOf(const ExperimentResult& result, const std::string& series,
                                           double x) {
  return *std::find_if(
      result.points.begin(), result.points.end(),
      [&](const experiment::ExperimentPoint& point) { return point.series == series && point.x == x; });
}

bool isSaid(const ExperimentResult& result, const std::string& words) {
  return std::any_of(result.remarks.begin(), result.remarks.end(),
                     [&](const std::string& remark) { return remark.find(words) != std::string::npos; });
}

}  // namespace

class TestOwnDocuments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void documentsAndQuestionAreTaken() {
    const std::shared_ptr<const OwnDocuments> own = whole();
    QCOMPARE(own->count(), std::size_t{4});
    QCOMPARE(experiment::countDocuments(queryOf(kWhole)), std::size_t{4});
    QCOMPARE(own->meanWords(2), 8.5);
    const query::Node asked = own->query({.documents = {2, 0}, .question = 0, .maxTokens = 1});
    const query::Node wanted = queryOf(R"({"g":{"model":"","max_tokens":1,"temperature":0.0,"input":{"cross":[
      {"system":"Answer from the notes."},
      {"plus":[{"cross":[{"user":"Otto plays the cello."},{"user":"The soup was cold."}]},
               {"user":"Mira lives in Lisbon. The lamp gave little light."}]},
      {"user":"Where does Mira live?"}]}}})");
    QVERIFY(asked == wanted);
    const query::Node another = own->query({.documents = {0}, .question = 3});
    const query::Node wantedThird =
        queryOf(R"j({"g":{"model":"","max_tokens":12,"temperature":0.0,"input":{"cross":[
      {"system":"Answer from the notes."},
      {"plus":[{"user":"Mira lives in Lisbon. The lamp gave little light."}]},
      {"user":"Where does Mira live? (3)"}]}}})j");
    QVERIFY(another == wantedThird);
    QCOMPARE(experiment::documentsInTurn(3, 1), (std::vector<std::size_t>{1, 2, 0}));
  }

  void whatHasNoneIsRefused_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("found");
    QTest::newRow("no plus") << R"({"g":{"model":"m","input":{"user":"Hello"}}})"
                             << "no plus";
    QTest::newRow("two")
        << R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"}]},{"plus":[{"user":"b"}]},
        {"user":"c"}]}}})"
        << "2 plus nodes";
    QTest::newRow("empty") << R"({"g":{"model":"m","input":{"cross":[{"plus":[]},{"user":"c"}]}}})"
                           << "nothing under plus";
    QTest::newRow("no question") << R"({"g":{"model":"m","input":{"plus":[{"user":"a"}]}}})"
                                 << "no user message";
    QTest::newRow("generated") << R"({"g":{"model":"m","input":{"cross":[{"plus":[{"g":{"model":"m","input":
        {"user":"a"}}}]},{"user":"c"}]}}})"
                               << worded("<generate-under-plus>");
    QTest::newRow("not on top") << R"({"seq":[{"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"}]},
        {"user":"c"}]}}}]})"
                                << "a seq on top";
    QTest::newRow("augment that was not resolved")
        << R"({"g":{"model":"m","input":{"cross":[{"plus":[{"augment":{"embedding_model":"",
        "body":{"user":"q"},"doc":["a.txt",{"Text":"b"}]}}]},{"user":"c"}]}}})"
        << "augment";
  }
  void whatHasNoneIsRefused() {
    QFETCH(const QString, json);
    QFETCH(const QString, found);
    const auto parsed = query::parseJson(json.toStdString());
    if (!parsed.query) QSKIP("not a query");
    const std::string said = errorOf([&] { const OwnDocuments own(*parsed.query, "it"); });
    QVERIFY2(said.find(found.toStdString()) != std::string::npos, said.c_str());
  }

  /// Choosing documents only counts them. At run time an augment becomes a plus of its documents, so it
  /// counts as the one plus. Their number is not known before.
  void documentsOfAnAugmentAreNotCountedYet_data() {
    QTest::addColumn<QString>("children");
    QTest::addColumn<QString>("refused");
    const QString augment = QStringLiteral(
        R"({"augment":{"embedding_model":"","body":{"user":"q"},"doc":["a.txt",{"Text":"b"}]}})");
    QTest::newRow("alone") << augment << QString();
    QTest::newRow("two") << augment + QLatin1Char(',') + augment << "2 augment nodes";
    QTest::newRow("beside a plus") << augment + QStringLiteral(R"(,{"plus":[{"user":"d"}]})")
                                   << worded("<augment-beside-plus>");
    QTest::newRow("under a plus") << QStringLiteral(R"({"plus":[%1,{"user":"d"}]})").arg(augment)
                                  << worded("<augment-under-plus>");
  }
  void documentsOfAnAugmentAreNotCountedYet() {
    QFETCH(const QString, children);
    QFETCH(const QString, refused);
    const QString json =
        QStringLiteral(R"({"g":{"model":"m","input":{"cross":[%1,{"user":"c"}]}}})").arg(children);
    const query::Node query = queryOf(json.toStdString());
    std::optional<std::size_t> count = 77;
    const std::string said = errorOf([&] { count = experiment::countDocuments(query); });
    QVERIFY2(refused.isEmpty() ? said.empty() : said.find(refused.toStdString()) != std::string::npos,
             said.c_str());
    if (refused.isEmpty()) QVERIFY(!count);
  }

  /// The usual numbers were filled in before the number of documents was known. Other numbers were typed by
  /// the user.
  void documentsThatAreFoundLaterFitTheNumbers() {
    ExperimentRequest request =
        experiment::completed({.experiment = "rag", .values = {}, .source = DocumentSource::Own});
    QVERIFY(request.values["documents"] != "1,2,4");
    QVERIFY(!request.values.contains("words"));
    const ExperimentRequest fitted = experiment::withDocuments(request, whole());
    QCOMPARE(fitted.values.at("documents"), std::string("1,2,4"));
    QVERIFY(fitted.own != nullptr);
    request.values["documents"] = "2,3";
    QCOMPARE(experiment::withDocuments(request, whole()).values.at("documents"), std::string("2,3"));
    request.values["documents"] = "2,5";
    const std::string said = errorOf([&] { experiment::withDocuments(request, whole()); });
    QVERIFY2(says(said, "1 to 4<documents-under-plus>"), said.c_str());
  }

  /// Of the usual numbers those that there are documents for; more than there are is refused, with their
  /// number.
  void numbersFitTheDocuments() {
    const auto filled = [](const char* name, const char* value) {
      ExperimentRequest request{
          .experiment = name, .values = {}, .source = DocumentSource::Own, .own = whole()};
      if (value != nullptr) request.values["documents"] = value;
      return experiment::completed(std::move(request)).values["documents"];
    };
    QCOMPARE(filled("rag", nullptr), std::string("1,2,4"));
    QCOMPARE(filled("fidelity", nullptr), std::string("3,4"));
    QCOMPARE(filled("repair", nullptr), std::string("4"));
    QCOMPARE(filled("fidelity", "1,4"), std::string("1,4"));
    const std::string said = errorOf([&] { filled("rag", "2,5"); });
    QVERIFY2(says(said, "1 to 4<documents-under-plus>"), said.c_str());
    // How documents are made up means nothing then.
    const ExperimentRequest request = experiment::completed(
        {.experiment = "rag", .values = {}, .source = DocumentSource::Own, .own = whole()});
    QVERIFY(!request.values.contains("words"));
  }

  void othersTakeNone() {
    for (const experiment::Experiment* one : experiment::experiments()) {
      const std::string said = errorOf([&] {
        experiment::completed(
            {.experiment = one->name, .values = {}, .source = DocumentSource::Own, .own = whole()});
      });
      QCOMPARE(said.empty(), experiment::takesOwnDocuments(*one));
    }
    // An answer is expected where answers are judged.
    const auto expecting = [](const char* name, DocumentSource source) {
      return errorOf([&] {
        experiment::completed({.experiment = name, .values = {}, .source = source, .expected = "Lisbon"});
      });
    };
    QVERIFY(expecting("accuracy", DocumentSource::Own).empty());
    QVERIFY(!expecting("accuracy", DocumentSource::Made).empty());
    QVERIFY(!expecting("rag", DocumentSource::Own).empty());
  }

  void theyAreMeasured() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "rag", .values = {{"policies", "spans,prefix"}}, .repeats = 2});
    QCOMPARE(result.done, result.total);
    QCOMPARE(result.points.size(), std::size_t{12});
    const auto found = [&](const char* line, double x) {
      return experiment::summarize(pointOf(result, line, x).samples[1]).median;
    };
    QCOMPARE(found("spans, empty cache", 4), 0.0);
    QVERIFY(found("spans, cached documents", 4) > 50);
    QVERIFY(found("prefix, cached documents", 4) < 40);
    QVERIFY(isSaid(result, "a number"));
    QVERIFY(experiment::experimentSetup(result).find("documents of “four notes”") != std::string::npos);
  }

  void reuseHasTheirLength() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "reuse", .values = {{"block_sizes", "4"}}, .repeats = 1});
    QCOMPARE(result.points.size(), std::size_t{2});
    QCOMPARE(pointOf(result, "spans, same order, blocks of 4", 8).samples[0].size(), std::size_t{1});
  }

  /// Equal answers are not counted twice: a repeat is another order, and there are no more than documents.
  void repeatsAreOrders() {
    Bench bench;
    const ExperimentResult result = bench.run(
        {.experiment = "fidelity", .values = {{"documents", "2,4"}, {"policies", "prefix"}}, .repeats = 3});
    QCOMPARE(result.done, result.total);
    QCOMPARE(pointOf(result, "prefix", 2).samples[0], (std::vector<double>{0, 0}));
    QCOMPARE(pointOf(result, "prefix", 4).samples[0], (std::vector<double>{0, 0, 0}));
    QVERIFY(isSaid(result, "another order"));
    const ExperimentResult repair = bench.run(
        {.experiment = "repair", .values = {{"shares", "0,100"}, {"documents", "2"}}, .repeats = 5});
    QCOMPARE(repair.done, repair.total);
    QCOMPARE(pointOf(repair, "link", 100).samples[0].size(), std::size_t{2});
  }

  void answersAreJudgedByWhatIsExpected() {
    Bench bench;
    ExperimentRequest request{
        .experiment = "accuracy", .values = {{"documents", "4"}, {"policies", "spans"}}, .repeats = 2};
    request.expected = " Lisbon ";
    const ExperimentResult judged = bench.run(request);
    const experiment::ExperimentPoint& right = pointOf(judged, "spans", 4);
    QCOMPARE(right.samples[0], (std::vector<double>{0, 0}));  // it says a whole sentence
    QCOMPARE(right.samples[1], (std::vector<double>{100, 100}));
    QCOMPARE(right.samples[2].size(), std::size_t{2});
    QVERIFY(isSaid(judged, worded(std::string("<answers-compared-word>"))));
    QVERIFY(isSaid(judged, "Mira lives in Lisbon."));
    QVERIFY(experiment::experimentSetup(judged).find("expected answer “ Lisbon ”") != std::string::npos);
    request.expected = "Mira lives in Lisbon.";
    QCOMPARE(pointOf(bench.run(request), "spans", 4).samples[0], (std::vector<double>{100, 100}));

    // Without one, nothing is said of right and wrong, and what needs none is reported.
    request.expected.clear();
    const ExperimentResult open = bench.run(request);
    const experiment::ExperimentPoint& point = pointOf(open, "spans", 4);
    QVERIFY(point.samples[0].empty() && point.samples[1].empty());
    QCOMPARE(point.samples[2].size(), std::size_t{2});
    QVERIFY(isSaid(open, "no expected answer"));
    const experiment::ExperimentTable table = experiment::experimentTable(open);
    QCOMPARE(table.rows.front()[3], std::string("–"));
    QVERIFY(!experiment::experimentSvg(open).empty());
  }
};

SPANSCOPE_TEST(tst_own_documents, TestOwnDocuments)
#include "tst_own_documents.moc"
