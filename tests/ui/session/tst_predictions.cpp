// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions follow document, settings and cache, and say what the run then does.
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/query/parameters.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/session/predictions.h"
#include "ui/session/problem_finder.h"
#include "ui/session/run_request.h"
#include "ui/session/trace_store.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <optional>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 60'000;  // milliseconds, for slow and instrumented machines
constexpr std::uint32_t kTab = 1;

document::Document example(const QString& name) {
  return *openDocument(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + name).document;
}

document::Document fromJson(const std::string& json) {
  return document::fromQuery(*query::parseJson(json).query);
}

document::NodeId plusOf(const document::Document& document) {
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus) return id;
  }
  return document::kNoNode;
}

document::Document swapped(document::Document document) {
  (void)document::swapChildren(document, plusOf(document), 0, 1);
  return document;
}

/// An engine, its predictions, and the events of its runs.
struct Bench {
  EngineHost host{test::cpuBackends()};
  Predictions predictions{host};

  /// Shows the document and waits for its prediction.
  std::shared_ptr<const DocumentPrediction> predictionOf(const document::Document& document,
                                                         const QString& path = {}) {
    shown = std::make_shared<const document::Document>(document);
    predictions.watch(kTab, shown, path);
    return wait();
  }
  std::shared_ptr<const DocumentPrediction> wait() {
    return QTest::qWaitFor([this] { return !predictions.isPending(); }, kPatience)
               ? predictions.state(kTab).newest
               : nullptr;
  }
  /// Runs the plan of a prediction to its end; the metrics of each step.
  std::vector<trace::StepMetrics> run(const DocumentPrediction& prediction) {
    RunRequest request;
    request.settings = shown->settings;
    request.plan = *prediction.plan;
    request.queryJson = prediction.queryJson;
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    if (!host.submit({.work = makeRunJob(std::move(request)), .tab = kTab}) || !ended.wait(kPatience))
      return {};
    std::vector<trace::Event> events;
    host.drain(events);
    std::vector<trace::StepMetrics> metrics;
    for (const trace::Event& event : events) {
      if (const auto* own = std::get_if<trace::StepMetrics>(&event.payload)) metrics.push_back(*own);
    }
    std::sort(metrics.begin(), metrics.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    return metrics;
  }

  std::shared_ptr<const document::Document> shown;
};

run::CountRange exactly(std::int64_t count) {
  return {.least = count, .most = count};
}

}  // namespace

class TestPredictions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Whatever the cache holds: a pool that is too small, and the smallest that is not.
  void saysWhetherTheRunFits() {
    Bench bench;
    document::Document rag = example(QStringLiteral("rag.json"));
    const auto fitWith = [&](std::int32_t blocks) {
      rag.settings.blockCount = blocks;
      const auto prediction = bench.predictionOf(rag);
      return prediction && prediction->isKnown() ? std::optional(prediction->fit) : std::nullopt;
    };
    const std::optional<run::PlanFit> fit = fitWith(6);
    QVERIFY(fit && fit->error && fit->blocksNeeded > 6);
    const std::int32_t enough = fit->blocksNeeded;
    QVERIFY(fitWith(enough) == run::PlanFit{});
    QCOMPARE(fitWith(enough - 1)->blocksNeeded, enough);
    // Every list of problems has it.
    ProblemFinder finder;
    const auto problems = finder.find(rag, nullptr, nullptr, nullptr, QString(), document::kNoNode,
                                      bench.predictions.state(kTab).newest.get());
    QVERIFY(std::any_of(problems.begin(), problems.end(),
                        [enough](const Problem& problem) { return problem.poolNeeded == enough; }));
  }

  /// A tokenizer that is cut: only the prediction reads it before the run.
  void saysWhyTheModelCannotBeOpened() {
    const QTemporaryDir folder;
    std::filesystem::copy(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", folder.path().toStdString(),
                          std::filesystem::copy_options::recursive);
    std::filesystem::resize_file(folder.filePath(QStringLiteral("tokenizer.model")).toStdString(), 1000);
    document::Document rag = example(QStringLiteral("rag.json"));
    rag.settings.model = folder.path().toStdString();
    Bench bench;
    const auto prediction = bench.predictionOf(rag);
    QVERIFY(prediction && prediction->modelError);
    ProblemFinder finder;
    const auto find = [&] {
      return refusalOf(
          finder.find(rag, nullptr, nullptr, nullptr, QString(), document::kNoNode, prediction.get()));
    };
    QVERIFY(!find().isEmpty());
    // It says nothing of another model.
    rag.settings.model.clear();
    QCOMPARE(find(), QString());
  }

  /// The documents are swapped, the prediction comes, and the run has exactly its counts.
  void saysWhatTheRunDoes() {
    Bench bench;
    const document::Document rag = example(QStringLiteral("rag.json"));
    auto prediction = bench.predictionOf(rag);
    QVERIFY(prediction && prediction->isKnown());
    QVERIFY(prediction->startsEmpty);
    QCOMPARE(prediction->present.steps.size(), std::size_t{1});
    QCOMPARE(bench.run(*prediction).size(), std::size_t{1});

    prediction = bench.wait();
    QVERIFY(!prediction->startsEmpty);
    QVERIFY(prediction->present.steps[0].computed.most < prediction->empty.steps[0].computed.least);
    prediction = bench.predictionOf(swapped(rag));
    const run::StepPrediction& step = prediction->present.steps.at(0);
    QCOMPARE(step.doubt, run::Doubt::None);
    QVERIFY(step.relocated.least > 0);
    QVERIFY(bench.predictions.state(kTab).before);
    const std::vector<trace::StepMetrics> ran = bench.run(*prediction);
    QCOMPARE(step.prompt, exactly(ran.at(0).promptTokens));
    QCOMPARE(step.cached, exactly(ran.at(0).cachedTokens));
    QCOMPARE(step.relocated, exactly(ran.at(0).relocatedTokens));
    QCOMPARE(step.computed, exactly(ran.at(0).computedTokens));
  }

  /// With attention locality too, what runs is within what was said.
  void boundsHoldTheRun_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("locality");
    QTest::newRow("judge") << QStringLiteral("judge-4.json") << 0;
    QTest::newRow("attention locality") << QStringLiteral("judge-4.json") << 2;
    QTest::newRow("nested") << QStringLiteral("list-and-combine.json") << 0;
  }
  void boundsHoldTheRun() {
    QFETCH(QString, file);
    QFETCH(int, locality);
    Bench bench;
    document::Document document = example(file);
    document.settings.locality = locality;
    document.settings.seed = 3;
    const auto prediction = bench.predictionOf(document);
    QVERIFY2(prediction && prediction->isKnown(), prediction ? prediction->problem.c_str() : "none");
    const std::vector<trace::StepMetrics> ran = bench.run(*prediction);
    QCOMPARE(ran.size(), prediction->present.steps.size());
    for (std::size_t i = 0; i < ran.size(); ++i) {
      const run::StepPrediction& step = prediction->present.steps[i];
      QVERIFY(step.prompt.holds(ran[i].promptTokens));
      QVERIFY(step.cached.holds(ran[i].cachedTokens));
      QVERIFY(step.relocated.holds(ran[i].relocatedTokens));
      QVERIFY(step.computed.holds(ran[i].computedTokens));
    }
    QVERIFY(prediction->present.steps.back().doubt == run::Doubt::HoldsAnswer);
  }

  void parametersHaveTheirValues() {
    Bench bench;
    document::Document document =
        fromJson(R"({"g":{"model":"m","max_tokens":"{n}","input":{"user":"Tell me of {topic}."}}})");
    document.parameters = {{"n", "3"}, {"topic", "cats"}};
    const auto few = bench.predictionOf(document);
    QVERIFY2(few && few->isKnown(), few ? few->problem.c_str() : "none");
    document.parameters["topic"] = "cats, dogs and the garden that needs water";
    const auto many = bench.predictionOf(document);
    QVERIFY(few->present.steps.at(0).prompt.least < many->present.steps.at(0).prompt.least);
    QCOMPARE(exactly(bench.run(*many).at(0).promptTokens), many->present.steps.at(0).prompt);
  }

  /// A prediction refuses what a run would refuse, in the same words.
  void valuesAreOfTheDeclaredType_data() {
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("byDefault");
    QTest::addColumn<bool>("isKnown");
    QTest::newRow("a value of the type") << QStringLiteral("3") << QString() << true;
    QTest::newRow("a default of the type") << QString() << QStringLiteral("3") << true;
    QTest::newRow("another value") << QStringLiteral("cats") << QString() << false;
    QTest::newRow("another value before a default") << QStringLiteral("cats") << QStringLiteral("3") << false;
    QTest::newRow("another default") << QString() << QStringLiteral("many") << false;
    QTest::newRow("a value before another default") << QStringLiteral("3") << QStringLiteral("many") << true;
  }
  void valuesAreOfTheDeclaredType() {
    QFETCH(QString, value);
    QFETCH(QString, byDefault);
    QFETCH(bool, isKnown);
    const query::Node query =
        *query::parseJson(R"({"g":{"model":"m","max_tokens":4,"input":{"user":"{n} cats"}}})").query;
    document::Document document = document::fromQuery(query);
    query::ParameterDeclaration declared{
        .name = "n", .kind = query::ParameterKind::Count, .defaultValue = {}, .description = {}};
    if (!byDefault.isEmpty()) declared.defaultValue = byDefault.toStdString();
    document.declarations = {declared};
    if (!value.isEmpty()) document.parameters["n"] = value.toStdString();
    Bench bench;
    const auto prediction = bench.predictionOf(document);
    QVERIFY(prediction);
    QCOMPARE(prediction->isKnown(), isKnown);
    const auto run = query::resolveParameters(query, document.declarations, document.parameters);
    const auto* problems = std::get_if<std::vector<query::Diagnostic>>(&run);
    QCOMPARE(problems == nullptr, isKnown);
    if (problems != nullptr) QCOMPARE(prediction->problem, problems->front().located({}));
  }

  void whatIsNotKnown_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<PredictionGap>("gap");
    const auto generate = [](const QByteArray& input) {
      return R"({"g":{"model":"m","max_tokens":4,"input":)" + input + "}}";
    };
    QTest::newRow("question") << generate(R"({"ask":"Who?"})") << PredictionGap::Asks;
    QTest::newRow("retrieval")
        << generate(R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["d.txt",{"Text":"t"}]}})")
        << PredictionGap::Retrieves;
    QTest::newRow("no generate") << QByteArray(R"({"user":"a"})") << PredictionGap::Nothing;
    QTest::newRow("number without a value")
        << QByteArray(R"({"g":{"model":"m","max_tokens":"{n}","input":{"user":"a"}}})")
        << PredictionGap::Problem;
    QTest::newRow("file that is not there") << generate(R"({"file":"none.txt"})") << PredictionGap::Problem;
    QTest::newRow("all is there") << generate(R"({"user":"a"})") << PredictionGap::None;
  }
  void whatIsNotKnown() {
    QFETCH(QByteArray, json);
    QFETCH(PredictionGap, gap);
    Bench bench;
    const auto parsed = query::parseJson(json.toStdString());
    QVERIFY2(parsed.query, json.constData());
    const auto prediction = bench.predictionOf(document::fromQuery(*parsed.query));
    QVERIFY(prediction);
    QCOMPARE(prediction->gap, gap);
    QCOMPARE(prediction->problem.empty(), gap != PredictionGap::Problem);
  }

  /// A file beside the document is read, as the run will.
  void filesAreRead() {
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("d.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("Mira lives in Lisbon.");
    file.close();
    Bench bench;
    const auto prediction =
        bench.predictionOf(fromJson(R"({"g":{"model":"m","max_tokens":4,"input":{"file":"d.txt"}}})"),
                           folder.filePath(QStringLiteral("q.span")));
    QVERIFY2(prediction && prediction->isKnown(), prediction ? prediction->problem.c_str() : "none");
    QVERIFY(prediction->present.steps.at(0).prompt.least > 5);
  }

  void whatMakesNoDifferenceIsNotAskedAgain() {
    Bench bench;
    document::Document document = example(QStringLiteral("rag.json"));
    const auto prediction = bench.predictionOf(document);
    document.edit(plusOf(document)).position = document::Point{.x = 40, .y = 7};
    document.settings.observe = !document.settings.observe;
    QCOMPARE(bench.predictionOf(document), prediction);
    document.settings.blockSize = 8;
    const auto smaller = bench.predictionOf(document);
    QVERIFY(smaller != prediction);
    QVERIFY(smaller->present.steps.at(0).blocks.size() > prediction->present.steps.at(0).blocks.size());
    QCOMPARE(bench.predictions.state(kTab).before, prediction);
  }

  void followsTheCache() {
    Bench bench;
    auto prediction = bench.predictionOf(example(QStringLiteral("rag.json")));
    const run::CountRange whole = prediction->present.steps.at(0).computed;
    bench.run(*prediction);
    QCOMPARE(bench.wait()->present.steps.at(0).computed, exactly(1));
    bench.host.clearCache();
    QCOMPARE(bench.wait()->present.steps.at(0).computed, whole);
  }

  /// Other settings of the cache mean another session: what the present one holds is of no use then.
  void anotherSessionStartsEmpty() {
    Bench bench;
    document::Document document = example(QStringLiteral("rag.json"));
    bench.run(*bench.predictionOf(document));
    document.settings.blockCount = 300;
    const auto prediction = bench.predictionOf(document);
    QVERIFY(prediction->startsEmpty);
    QCOMPARE(prediction->present.steps.at(0).cached, exactly(0));
  }

  void aModelThatIsNotThereIsSaid() {
    Bench bench;
    document::Document document = example(QStringLiteral("rag.json"));
    bench.run(*bench.predictionOf(document));
    document::Document other = document;
    other.settings.model = "/no/such/model";
    const auto problem = bench.predictionOf(other);
    QCOMPARE(problem->gap, PredictionGap::Problem);
    QVERIFY(problem->problem.find("/no/such/model") != std::string::npos);
    // The session that is loaded is as it was.
    QCOMPARE(bench.predictionOf(document)->present.steps.at(0).computed, exactly(1));
  }

  /// A run does not wait for a prediction; the one that follows is of what the run has left.
  void aRunGoesFirst() {
    Bench bench;
    const auto prediction = bench.predictionOf(example(QStringLiteral("rag.json")));
    document::Document document = *bench.shown;
    for (int i = 0; i < 5; ++i) {
      document.settings.seed = static_cast<std::uint64_t>(i);
      bench.shown = std::make_shared<const document::Document>(document);
      bench.predictions.watch(kTab, bench.shown, {});
      QCOMPARE(bench.run(*prediction).size(), std::size_t{1});
    }
    QCOMPARE(bench.wait()->present.steps.at(0).computed, exactly(1));
  }

  void incompleteQueries() {
    Bench bench;
    document::Document document;
    QCOMPARE(bench.predictionOf(document)->gap, PredictionGap::Problem);
    document::DocumentNode generate;
    generate.own = {query::Generate{}};
    generate.children = {document::kNoNode};
    document.setRoot(document.insert(std::move(generate)));
    QCOMPARE(bench.predictionOf(document)->gap, PredictionGap::Problem);
    QVERIFY(!bench.predictions.state(kTab).newest->problem.empty());
    bench.predictions.forget(kTab);
    QVERIFY(!bench.predictions.state(kTab).newest && !bench.predictions.isPending());
  }
};

SPANSCOPE_TEST(tst_predictions, TestPredictions, QCoreApplication)
#include "tst_predictions.moc"
