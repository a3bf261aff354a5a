// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments: what may be asked of them, what they find, and how it is written and drawn.
#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/experiment_table.h"
#include "engine/experiment/policy_text.h"
#include "engine/text/chat_template.h"
#include "tests/engine/run/session_fixture.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace spanscope;
using spanscope::experiment::Experiment;
using spanscope::experiment::ExperimentResult;
using spanscope::experiment::ExperimentWish;

namespace {

/// The bundled model, and sessions on it.
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
  ExperimentResult run(ExperimentWish wish, std::stop_token stop = {}) {
    ExperimentResult result;
    result.wish = std::move(wish);
    experiment::runExperiment(
        result, model(), [this](const ExperimentResult& now) { told.push_back(now.progress()); }, stop);
    return result;
  }

  test::SpanletSession spanlet;
  const text::ChatTemplate& chat = text::findChatTemplate(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  std::vector<double> told;
};

const experiment::ExperimentPoint& pointOf(const ExperimentResult& result, const std::string& series,
                                           double x) {
  return *std::find_if(
      result.points.begin(), result.points.end(),
      [&](const experiment::ExperimentPoint& point) { return point.series == series && point.x == x; });
}

double medianOf(const ExperimentResult& result, const std::string& series, double x, std::size_t measure) {
  return experiment::summarize(pointOf(result, series, x).samples[measure]).median;
}

double most(const std::vector<double>& samples) {
  return *std::max_element(samples.begin(), samples.end());
}

double least(const std::vector<double>& samples) {
  return *std::min_element(samples.begin(), samples.end());
}

std::string errorOf(ExperimentWish wish) {
  try {
    experiment::completed(std::move(wish));
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestExperiments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyOneIsWhole() {
    std::set<std::string> names;
    for (const Experiment* experiment : experiment::experiments()) {
      QVERIFY(names.insert(experiment->name).second);
      QCOMPARE(experiment::findExperiment(experiment->name), experiment);
      QVERIFY(!experiment->fields.empty() && !experiment->measures.empty());
      const ExperimentWish wish = experiment::completed({.experiment = experiment->name, .values = {}});
      QCOMPARE(wish.repeats, experiment->repeats);
      QCOMPARE(wish.values.size(), experiment->fields.size());
      for (const experiment::ExperimentField& field : experiment->fields) {
        if (field.kind == experiment::FieldKind::Policies)
          QVERIFY(!experiment::policiesOf(wish, field.key).empty());
        else
          QVERIFY(!experiment::numbersOf(wish, field.key).empty());
      }
    }
    QCOMPARE(experiment::findExperiment("nothing"), nullptr);
  }

  void wishesAreChecked() {
    QVERIFY(errorOf({.experiment = "rug", .values = {}}).find("rag") != std::string::npos);
    QVERIFY(errorOf({.experiment = "rag", .values = {{"documents", "1,x"}}}).find("documents") !=
            std::string::npos);
    QVERIFY(!errorOf({.experiment = "rag", .values = {{"documents", "0"}}}).empty());
    QVERIFY(!errorOf({.experiment = "rag", .values = {{"words", "10,20"}}}).empty());
    QVERIFY(!errorOf({.experiment = "rag", .values = {{"depth", "1"}}}).empty());
    QVERIFY(errorOf({.experiment = "rag", .values = {{"policies", "spans,nothing"}}}).find("nothing") !=
            std::string::npos);
    QVERIFY(errorOf({.experiment = "rag", .values = {{"documents", " 1, 2 ,4"}}}).empty());
  }

  void policiesAreParted() {
    QCOMPARE(experiment::splitPolicies("spans, prefix"), (std::vector<std::string>{"spans", "prefix"}));
  }

  void ragFindsDocumentsInAnyOrder() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "rag",
                   .values = {{"documents", "1,4"}, {"words", "20"}, {"policies", "spans,prefix"}},
                   .repeats = 2});
    QCOMPARE(result.series().size(), std::size_t{4});
    QCOMPARE(result.points.size(), std::size_t{8});
    QCOMPARE(result.done, result.total);
    QVERIFY(std::is_sorted(bench.told.begin(), bench.told.end()));
    for (const experiment::ExperimentPoint& point : result.points)
      QCOMPARE(point.samples[0].size(), std::size_t{2});
    QCOMPARE(medianOf(result, "spans, empty cache", 4, 1), 0.0);
    // Everything but the question and what the template puts around it.
    QVERIFY(medianOf(result, "spans, documents seen", 4, 1) > 70);
    QVERIFY(medianOf(result, "prefix, documents seen", 4, 1) < 30);
  }

  void judgeReusesItsCandidates() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "judge",
                   .values = {{"generates", "2,4"}, {"words", "12"}, {"tokens", "6"}},
                   .repeats = 2});
    QVERIFY(medianOf(result, "spans", 4, 1) > medianOf(result, "prefix", 4, 1));
    QVERIFY(medianOf(result, "spans", 4, 0) > 0);
  }

  void relocationLeavesOutWhatDoesNotFit() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "relocation", .values = {{"tokens", "16,60000"}}, .repeats = 2});
    QCOMPARE(result.points.size(), std::size_t{3});
    QCOMPARE(result.remarks.size(), std::size_t{1});
  }

  void fidelityOfPrefixIsWhole() {
    Bench bench;
    const ExperimentResult result = bench.run({.experiment = "fidelity",
                                               .values = {{"documents", "3"}, {"policies", "spans,prefix"}},
                                               .repeats = 2});
    const experiment::ExperimentPoint& prefix = pointOf(result, "prefix", 3);
    QCOMPARE(most(prefix.samples[0]), 0.0);
    QCOMPARE(least(prefix.samples[1]), 100.0);
    QCOMPARE(least(prefix.samples[2]), 100.0);
    QCOMPARE(most(prefix.samples[3]), 0.0);
    QVERIFY(most(pointOf(result, "spans", 3).samples[0]) > 0);
  }

  void allThatIsRepairedIsWhole() {
    Bench bench;
    const ExperimentResult result = bench.run(
        {.experiment = "repair", .values = {{"documents", "3"}, {"shares", "0,7,100"}}, .repeats = 2});
    QCOMPARE(result.series(), (std::vector<std::string>{"link", "blend, by keys", "blend, by values"}));
    for (const std::string& line : result.series()) {
      QVERIFY2(most(pointOf(result, line, 100).samples[0]) < 1e-6, line.c_str());
      QCOMPARE(least(pointOf(result, line, 100).samples[1]), 100.0);
      QVERIFY2(most(pointOf(result, line, 100).samples[2]) < 1e-3, line.c_str());
      QVERIFY2(least(pointOf(result, line, 0).samples[2]) > 1e-3, line.c_str());
      QVERIFY2(least(pointOf(result, line, 7).samples[3]) > 0, line.c_str());
    }
  }

  void bundledModelIsAccurate() {
    Bench bench;
    const ExperimentResult result = bench.run(
        {.experiment = "accuracy", .values = {{"documents", "3"}, {"policies", "spans"}}, .repeats = 4});
    QCOMPARE(least(pointOf(result, "spans", 3).samples[0]), 100.0);
  }

  void portionsFindNames() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "locality",
                   .values = {{"hay", "10"}, {"portions", "0,2"}, {"documents", "4"}},
                   .repeats = 2});
    QCOMPARE(result.series(), (std::vector<std::string>{"all at once", "k = 2"}));
    const experiment::ExperimentPoint& point = pointOf(result, "k = 2", 10);
    QCOMPARE(point.samples[0].size(), std::size_t{2});
    QCOMPARE(point.samples[1].size(), std::size_t{8});
    QVERIFY(most(point.samples[1]) > 0);
  }

  /// Replies of portions are lists of names: those that lose their ends lose names.
  void croppingLosesNames() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "cropping",
                   .values = {{"sizes", "2,16"}, {"documents", "4"}, {"portion", "2"}, {"hay", "20"}},
                   .repeats = 5});
    QCOMPARE(result.series(), (std::vector<std::string>{"exact", "padded", "cropped"}));
    QCOMPARE(result.points.size(), std::size_t{6});
    QCOMPARE(result.done, result.total);
    const auto mean = [&](const char* series, double size, std::size_t measure) {
      const std::vector<double>& samples = pointOf(result, series, size).samples[measure];
      double sum = 0;
      for (const double sample : samples) sum += sample;
      return sum / static_cast<double>(samples.size());
    };
    for (const double size : {2.0, 16.0}) {
      QCOMPARE(pointOf(result, "exact", size).samples[0].size(), std::size_t{20});
      QCOMPARE(mean("exact", size, 2), 100.0);
      QCOMPARE(most(pointOf(result, "exact", size).samples[3]), 0.0);
      QCOMPARE(most(pointOf(result, "padded", size).samples[3]), 0.0);
      QVERIFY(least(pointOf(result, "cropped", size).samples[3]) > 0);
      QVERIFY(mean("padded", size, 4) > 0);
    }
    QVERIFY(mean("exact", 16, 0) > 60);
    QVERIFY(mean("cropped", 16, 0) < mean("padded", 16, 0));
    QVERIFY(mean("cropped", 16, 3) > mean("cropped", 2, 3));
  }

  void isStopped() {
    Bench bench;
    std::stop_source stop;
    stop.request_stop();
    bool isThrown = false;
    try {
      bench.run({.experiment = "rag", .values = {}}, stop.get_token());
    } catch (const Failure&) {
      isThrown = true;
    }
    QVERIFY(isThrown);
  }

  void isWrittenAndDrawn() {
    ExperimentResult result;
    result.wish = experiment::completed({.experiment = "rag", .values = {}});
    result.model = "a model, small";
    result.machine = "a machine";
    result.points = {{.series = "spans, empty cache", .x = 2, .samples = {{3, 1, 2}, {0, 0, 0}}},
                     {.series = "spans, empty cache", .x = 1, .samples = {{5}, {50}}}};
    const experiment::ExperimentTable table = experiment::experimentTable(result);
    QCOMPARE(table.rows.size(), std::size_t{2});
    QCOMPARE(table.rows[0][1], std::string("1"));
    QCOMPARE(table.rows[1][3], std::string("2.00"));
    QCOMPARE(table.rows[1][4], std::string("1.00 … 3.00"));
    QCOMPARE(table.rows[0].size(), table.titles.size());
    const std::string csv = experiment::experimentCsv(result);
    QVERIFY(csv.find("rag,\"a model, small\",a machine,\"spans, empty "
                     "cache\",documents,2,ttft_ms,ms,median,2,1,3,3 1 2\n") != std::string::npos);
    const std::string svg = experiment::experimentSvg(result);
    QVERIFY(svg.starts_with("<"));
    QVERIFY(svg.find("Time to first token of RAG") != std::string::npos);
    QVERIFY(experiment::experimentSvg({}).empty());
  }

  void ticksAreRound() {
    QCOMPARE(experiment::axisTicks(0, 100, false), (std::vector<double>{0, 20, 40, 60, 80, 100}));
    QCOMPARE(experiment::axisTicks(1, 8, true), (std::vector<double>{1, 2, 4, 8}));
    QCOMPARE(experiment::axisTicks(0, 0.07, false).back(), 0.08);
  }
};

QTEST_APPLESS_MAIN(TestExperiments)
#include "tst_experiments.moc"
