// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments: what may be asked of them, what they find, and how it is written and drawn.
#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/studies/study.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <variant>

using namespace spanscope;
using spanscope::experiment::Experiment;
using spanscope::experiment::ExperimentRequest;
using spanscope::experiment::ExperimentResult;
using spanscope::product_text::says;

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
            .scratch = scratch.path().toStdString(),
            .published = {SPANSCOPE_GOLDEN_DIR},
            .open = [this](const run::SessionConfig& config, trace::Sink& sink) {
              return std::make_unique<run::Session>(config, *spanlet.decoder, *spanlet.backend, "spanlet",
                                                    "spanlet", spanlet.tokenizer.get(), &chat, sink);
            }};
  }
  ExperimentResult run(ExperimentRequest request, std::stop_token stop = {}) {
    ExperimentResult result;
    result.request = std::move(request);
    experiment::runExperiment(
        result, model(), [this](const ExperimentResult& now) { reported.push_back(now.progress()); }, stop);
    return result;
  }

  test::SpanletSession spanlet;
  const text::ChatTemplate& chat = text::findChatTemplate(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  std::vector<double> reported;
  QTemporaryDir scratch;
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

std::string errorOf(ExperimentRequest request) {
  try {
    experiment::completed(std::move(request));
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
      const ExperimentRequest request = experiment::completed({.experiment = experiment->name, .values = {}});
      QCOMPARE(request.repeats, experiment->repeats);
      QCOMPARE(request.values.size(), experiment::fieldsOf(*experiment).size());
      for (const experiment::ExperimentField& field : experiment::fieldsOf(*experiment)) {
        switch (field.kind) {
          case experiment::FieldKind::Policies:
            QVERIFY(!experiment::policiesOf(request, field.key).empty());
            break;
          case experiment::FieldKind::Words:
            QVERIFY(!experiment::wordsOf(request, field.key).empty());
            break;
          case experiment::FieldKind::Folder:
          case experiment::FieldKind::Models:
            QCOMPARE(experiment::textOf(request, field.key), std::string());
            break;
          case experiment::FieldKind::Numbers:
          case experiment::FieldKind::Number:
            QVERIFY(!experiment::numbersOf(request, field.key).empty());
        }
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
    QVERIFY(errorOf({.experiment = "conversation", .values = {{"orders", "passages-kept, history-first"}}})
                .empty());
    QVERIFY(
        errorOf({.experiment = "conversation", .values = {{"orders", "backwards"}}}).find("passages-kept") !=
        std::string::npos);
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
    QVERIFY(std::is_sorted(bench.reported.begin(), bench.reported.end()));
    for (const experiment::ExperimentPoint& point : result.points)
      QCOMPARE(point.samples[0].size(), std::size_t{2});
    QCOMPARE(medianOf(result, "spans, empty cache", 4, 1), 0.0);
    // Everything but the question and what the template puts around it.
    QVERIFY(medianOf(result, "spans, cached documents", 4, 1) > 70);
    QVERIFY(medianOf(result, "prefix, cached documents", 4, 1) < 30);
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

  /// Earlier turns in a conversation's prompt are cache hits under either policy; passages from other
  /// positions are hits under spans alone.
  void conversationsAreFoundByTurn() {
    if (!std::filesystem::is_directory(std::filesystem::path(SPANSCOPE_GOLDEN_DIR) / "mtrag"))
      QSKIP("no mtrag in the folder of published data");
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "conversation", .values = {{"turns", "3"}, {"words", "20"}}, .repeats = 2});
    QCOMPARE(result.done, result.total);
    QCOMPARE(result.series(), (std::vector<std::string>{"spans, history first", "prefix, history first",
                                                        "spans, passages first", "prefix, passages first"}));
    for (const std::string& line : result.series()) {
      QCOMPARE(medianOf(result, line, 1, 0), 0.0);
      QCOMPARE(pointOf(result, line, 3).samples[0].size(), std::size_t{2});
      QVERIFY(medianOf(result, line, 3, 1) > 0);
    }
    QVERIFY(medianOf(result, "spans, history first", 3, 0) >=
            medianOf(result, "prefix, history first", 3, 0));
    QVERIFY(medianOf(result, "prefix, history first", 3, 0) >
            medianOf(result, "prefix, passages first", 3, 0));
  }

  /// Block hashes are of whole blocks under prefix; spans find documents in any order.
  void reuseDependsOnOrderAndBlocks() {
    Bench bench;
    const ExperimentResult result = bench.run({.experiment = "reuse",
                                               .values = {{"words", "20"},
                                                          {"block_sizes", "4,64"},
                                                          {"orders", "same,reversed,shuffled"},
                                                          {"policies", "spans,prefix"}},
                                               .repeats = 2});
    QCOMPARE(result.done, result.total);
    QCOMPARE(result.points.size(), std::size_t{12});
    const auto found = [&](const char* line) { return medianOf(result, line, 20, 0); };
    QVERIFY(found("spans, reversed order, blocks of 4") > 80);
    QVERIFY(found("prefix, same order, blocks of 4") > 80);
    QVERIFY(found("prefix, reversed order, blocks of 4") < 30);
    QVERIFY(found("spans, same order, blocks of 4") >= found("spans, same order, blocks of 64"));
  }

  /// Lines of several models are side by side, and progress covers all of them.
  void modelsStandBesideEachOther() {
    Bench bench;
    ExperimentResult result;
    result.request = {
        .experiment = "rag",
        .values = {{"documents", "1,2"}, {"words", "12"}, {"policies", "spans"}, {"models", " a, b"}},
        .repeats = 1};
    QCOMPARE(experiment::furtherModels(result.request), (std::vector<std::string>{"a", "b"}));
    std::vector<double> reported;
    std::size_t loaded = 0;
    const auto load = [&](std::size_t index) {
      ++loaded;
      experiment::ExperimentModel model = bench.model();
      model.name = index == 0 ? "spanlet" : "other";
      return model;
    };
    experiment::runOnModels(result, 2, load,
                            [&](const ExperimentResult& now) { reported.push_back(now.progress()); }, {});
    QCOMPARE(loaded, std::size_t{2});
    QCOMPARE(result.model, std::string("spanlet, other"));
    QCOMPARE(result.series(),
             (std::vector<std::string>{"spanlet: spans, empty cache", "spanlet: spans, cached documents",
                                       "other: spans, empty cache", "other: spans, cached documents"}));
    QCOMPARE(result.points.size(), std::size_t{8});
    QVERIFY(std::is_sorted(reported.begin(), reported.end()));
    QCOMPARE(reported.back(), 1.0);
    // The measurements of one model remain if the next model cannot be loaded.
    ExperimentResult cut;
    cut.request = result.request;
    QVERIFY_EXCEPTION_THROWN(experiment::runOnModels(
                                 cut, 2,
                                 [&](std::size_t index) {
                                   if (index == 1) throw Failure(errorAt("b", "no model", "one"));
                                   return load(0);
                                 },
                                 [](const ExperimentResult&) {}, {}),
                             Failure);
    QCOMPARE(cut.points.size(), std::size_t{4});
  }

  void conversationsThatAreMissingAreNamed() {
    Bench bench;
    try {
      bench.run({.experiment = "conversation", .values = {{"folder", "/no/such/folder"}}});
    } catch (const Failure& failure) {
      const std::string said = failure.what();
      QVERIFY(said.find("/no/such/folder") != std::string::npos);
      QVERIFY(said.find("MTRAG") != std::string::npos);
      return;
    }
    QFAIL("nothing was said");
  }

  void loadingStandsBesideComputing() {
    Bench bench;
    const ExperimentResult result =
        bench.run({.experiment = "load", .values = {{"tokens", "32,128"}}, .repeats = 2});
    QCOMPARE(result.series(), (std::vector<std::string>{"computed", "host", "disk", "cold disk"}));
    QCOMPARE(result.points.size(), std::size_t{8});
    for (const experiment::ExperimentPoint& point : result.points) {
      QCOMPARE(point.samples[0].size(), std::size_t{2});
      QVERIFY(least(point.samples[0]) > 0);
      QCOMPARE(medianOf(result, point.series, point.x, 2) > 0, point.series != "computed");
    }
    // Nothing is left where blocks were stored for a while.
    QVERIFY(std::filesystem::is_empty(bench.scratch.path().toStdString()));
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
    // Of every token one.
    QVERIFY(prefix.samples[4].size() > 2 * prefix.samples[0].size());
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

  /// Answers of batches are lists of names: truncated answers lose names.
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
    result.request = experiment::completed({.experiment = "rag", .values = {}});
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
    QVERIFY(says(svg, "<time-first-token>"));
    QVERIFY(experiment::experimentSvg({}).empty());
  }

  /// What the window and a file draw is one value, its words in the language of the window.
  void chartsAreValues() {
    ExperimentResult result;
    result.request = experiment::completed({.experiment = "rag", .values = {}});
    result.points = {{.series = "a", .x = 2, .samples = {{3, 1, 2}, {0, 0, 0}}},
                     {.series = "a", .x = 1, .samples = {{5}, {50}}},
                     {.series = "b", .x = 4, .samples = {{7}, {50}}}};
    const auto loud = [](const char* text) { return "<" + std::string(text) + ">"; };
    const experiment::Chart chart = experiment::experimentChart(result, {}, loud);
    const auto* lines = std::get_if<experiment::LineChart>(&chart);
    QVERIFY(lines != nullptr);
    QVERIFY(lines->texts.title.starts_with("<") && lines->texts.xLabel.starts_with("<"));
    QCOMPARE(lines->series.size(), std::size_t{2});
    QCOMPARE(lines->series[0].points[0].x, 1.0);
    QCOMPARE(lines->series[0].points[1].number.value, 2.0);
    QCOMPARE(lines->x.ticks.size(), std::size_t{3});
    QCOMPARE(lines->x.ticks[2].text, std::string("4"));
    QVERIFY(lines->y.low <= 1 && lines->y.high >= 7);
    for (const experiment::ChartTick& tick : lines->y.ticks)
      QVERIFY(tick.at >= lines->y.low && tick.at <= lines->y.high);
    QVERIFY(std::holds_alternative<std::monostate>(experiment::experimentChart({}, {})));
  }

  void depthsAreCells() {
    Bench bench;
    const ExperimentResult result = bench.run(
        {.experiment = "depth",
         .values = {{"hay", "10,20"}, {"portions", "0,2"}, {"depths", "0,50,100"}, {"documents", "4"}},
         .repeats = 2});
    QCOMPARE(result.done, result.total);
    QCOMPARE(result.points.size(), std::size_t{12});
    const experiment::HeatChart map = experiment::heatCellsOf(result, 0);
    QCOMPARE(map.rows, (std::vector<std::string>{"0", "50", "100"}));
    QCOMPARE(map.columns, (std::vector<std::string>{"10", "20"}));
    QCOMPARE(map.panels.size(), std::size_t{2});
    QCOMPARE(map.panels[1].title, std::string("k = 2"));
    QCOMPARE(map.scale.back().text, std::string("100"));
    const std::string svg = experiment::experimentSvg(result, {.kind = experiment::ChartKind::HeatMap});
    QVERIFY(svg.find("depth, %") != std::string::npos);
    const experiment::ExperimentTable table = experiment::experimentTable(result);
    QCOMPARE(table.titles[2], std::string("depth, %"));
    QCOMPARE(table.rows[0].size(), table.titles.size());
    QCOMPARE(table.rows[1][2], std::string("50"));
    QVERIFY(experiment::experimentCsv(result).find("x,y name,y,measure") != std::string::npos);
  }

  void mapsShadeFromLeastToMost() {
    ExperimentResult result;
    result.request = experiment::completed({.experiment = "rag", .values = {}});
    result.points = {{.series = "a", .x = 1, .samples = {{1}, {0}}},
                     {.series = "a", .x = 2, .samples = {{10}, {50}}},
                     {.series = "b", .x = 2, .samples = {{100}, {}}}};
    const experiment::HeatChart times = experiment::heatCellsOf(result, 0);
    QCOMPARE(times.rows, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(times.panels.front().cells[0][0]->shade, 0.0);
    QVERIFY(std::abs(times.panels.front().cells[0][1]->shade - 0.5) < 1e-9);
    QCOMPARE(times.panels.front().cells[1][1]->shade, 1.0);
    QVERIFY(!times.panels.front().cells[1][0]);
    QCOMPARE(times.panels.front().cells[1][1]->text, std::string("100"));
    QCOMPARE(times.scale, (std::vector<experiment::ChartTick>{{0, "1"}, {0.5, "10"}, {1, "100"}}));
    // A measure without a sample has no cell.
    QVERIFY(!experiment::heatCellsOf(result, 1).panels.front().cells[1][1]);
    QVERIFY(experiment::heatCellsOf({}, 0).panels.empty());
  }

  void histogramsCountEverySample() {
    ExperimentResult result;
    result.request = experiment::completed({.experiment = "rag", .values = {}});
    result.points = {{.series = "a", .x = 1, .samples = {{1, 2, 3, 4}, {0, 1e-6, 1, 1}}},
                     {.series = "a", .x = 2, .samples = {{5}, {0}}},
                     {.series = "b", .x = 2, .samples = {{5, 5, 5}, {2, 3}}}};
    const auto sum = [](const experiment::Histogram& part) {
      return std::accumulate(part.counts.begin(), part.counts.end(), part.zeros);
    };
    const experiment::HistogramChart all = experiment::histogramsOf(result, 0, {});
    QVERIFY(!all.isLogarithmic && !all.hasZeros);
    QCOMPARE(all.edges.front(), 1.0);
    QCOMPARE(all.edges.back(), 5.0);
    QCOMPARE(all.parts.size(), std::size_t{2});
    QCOMPARE(sum(all.parts[0]), std::size_t{5});
    QCOMPARE(all.parts[0].median, 3.0);
    QCOMPARE(all.parts[1].counts.back(), std::size_t{3});
    const experiment::HistogramChart one = experiment::histogramsOf(result, 0, 1.0);
    QCOMPARE(one.parts[0].total, std::size_t{4});
    QCOMPARE(one.parts[1].total, std::size_t{0});
    const experiment::HistogramChart wide = experiment::histogramsOf(result, 1, {});
    QVERIFY(wide.isLogarithmic && wide.hasZeros);
    QCOMPARE(wide.parts[0].zeros, std::size_t{2});
    QCOMPARE(sum(wide.parts[0]), std::size_t{5});
    for (const experiment::ChartTick& tick : wide.ticks) QVERIFY(tick.at >= -1e-9 && tick.at <= 1 + 1e-9);
    QVERIFY(experiment::histogramsOf(result, 0, 7.0).edges.empty());
    const experiment::ExperimentDrawing drawing{.kind = experiment::ChartKind::Histograms};
    QVERIFY(experiment::experimentSvg(result, drawing).find("5 samples, median 3") != std::string::npos);
  }

  void numbersAreShort() {
    QCOMPARE(experiment::shortNumber(0), std::string("0"));
    QCOMPARE(experiment::shortNumber(1176.6), std::string("1177"));
    QCOMPARE(experiment::shortNumber(88.04), std::string("88"));
    QCOMPARE(experiment::shortNumber(0.5666), std::string("0.57"));
    QCOMPARE(experiment::shortNumber(0.0123), std::string("0.0123"));
    QCOMPARE(experiment::shortNumber(1e-15), std::string("1e-15"));
  }

  void ticksAreRound() {
    QCOMPARE(experiment::axisTicks(0, 100, false), (std::vector<double>{0, 20, 40, 60, 80, 100}));
    QCOMPARE(experiment::axisTicks(1, 8, true), (std::vector<double>{1, 2, 4, 8}));
    QCOMPARE(experiment::axisTicks(0, 0.07, false).back(), 0.08);
  }
};

SPANSCOPE_TEST(tst_experiments, TestExperiments)
#include "tst_experiments.moc"
