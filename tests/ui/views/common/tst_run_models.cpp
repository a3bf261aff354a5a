// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/trace_stats.h"
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/report.h"
#include "engine/trace/trace_file.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/run_history.h"
#include "ui/session/token_account.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/attention_rows.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/compare/compare_model.h"
#include "ui/views/log/log_view.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/views/output/output_model.h"
#include "ui/views/plan/plan_view.h"
#include "ui/views/scrubber/scrubber_model.h"
#include "ui/views/scrubber/scrubber_track.h"
#include "ui/views/timeline/timeline_model.h"
#include "ui/views/timeline/timeline_view.h"
#include "ui/words/metric_words.h"

#include <QAbstractItemModelTester>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

/// Everything that the views show, but for the scrubber, which looks ahead.
struct Models {
  AttentionModel attention;
  AttentionModel head;
  MetricsModel metrics;
  TimelineModel timeline;
  TimelineModel allRuns;
  OutputModel output;
  PlanModel plan;
  CompareModel compare;
  QString log;
  QString everything;
  bool operator==(const Models&) const = default;
};

QString logOf(const ViewInput& input, bool allEvents) {
  LogModel model;
  model.setInput(input);
  model.setOptions({.allEvents = allEvents});
  return model.csv();
}

Models modelsOf(const ViewInput& input) {
  AttentionOptions one;
  one.layer = 1;
  one.head = 2;
  return {.attention = attentionModel(input),
          .head = attentionModel(input, one),
          .metrics = metricsModel(input),
          .timeline = timelineModel(input),
          .allRuns = timelineModel(input, true),
          .output = outputModel(input),
          .plan = planModel(input),
          .compare = compareModel(input),
          .log = logOf(input, false),
          .everything = logOf(input, true)};
}

/// The request of the last step of a run.
RequestId lastOf(const ViewInput& input, RunId run) {
  return input.state().progress().runs.at(run).requests.back();
}

ViewInput selecting(ViewInput input, RequestId request) {
  input.selection.request = request;
  return input;
}

}  // namespace

class TestRunModels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    test::RunRecorder recorder;
    const document::Document rag = test::exampleDocument("rag.json");
    recorder.run(rag);
    recorder.run(test::swapped(rag));
    recorder.run(rag, policy::kPrefix, true);
    recorder.forgetPaths();
    recorder.run(test::exampleDocument("judge-4.json"));
    m_runs = recorder.recorded();
  }

  void fileGivesTheSameModels() {
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath(QStringLiteral("run.trace")).toStdString();
    trace::writeTrace(path, m_runs.events);
    const ViewInput live = m_runs.input();
    ViewInput read = live;
    read.trace = std::make_shared<const TraceStore>(TraceStore::open(path));
    QCOMPARE(read.trace->size(), live.trace->size());
    for (const RequestId request : {RequestId{0}, lastOf(live, 1), lastOf(live, 2), lastOf(live, 3)}) {
      ViewInput a = live;
      ViewInput b = read;
      if (request != 0) {
        a.selection.request = request;
        b.selection.request = request;
      }
      QVERIFY(modelsOf(a) == modelsOf(b));
      QVERIFY(scrubberModel(a) == scrubberModel(b));
    }
  }

  void scrubbedGivesTheModelsOfThatMoment() {
    const ViewInput whole = m_runs.input();
    auto growing = std::make_shared<TraceStore>();
    ViewInput partial = whole;
    partial.trace = growing;
    for (std::size_t count = 0; count <= m_runs.events.size(); ++count) {
      if (count > 0) growing->append(m_runs.events[count - 1]);
      if (count % 97 != 0 && count != m_runs.events.size()) continue;
      ViewInput scrubbed = whole;
      scrubbed.position = count;
      partial.position = count;
      QVERIFY2(modelsOf(scrubbed) == modelsOf(partial), qPrintable(QString::number(count)));
    }
  }

  void runsAreOfferedAsIfTheyWereListedAnew() {
    ViewInput input = m_runs.input();
    RunChoices kept;
    const auto isFresh = [&kept](const ViewInput& of) {
      RunChoices fresh;
      fresh.follow(of);
      kept.follow(of);
      return kept.all() == fresh.all() && kept.shown() == fresh.shown();
    };
    std::set<RunId> shown;
    for (std::size_t position = 0; position <= input.trace->size(); position += 41) {
      input.position = position;
      QVERIFY2(isFresh(input), qPrintable(QString::number(position)));
      shown.insert(kept.shown());
    }
    QVERIFY(shown.size() >= 4);  // none, and one after the other
    auto records = std::make_shared<RunRecords>(recordsOf(input.trace, QStringLiteral("rag")));
    input.records = records;
    QVERIFY(isFresh(input));
    QCOMPARE(kept.all().size(), input.paths.size());
    for (const auto& record : *records) input.paths[record->run];
    QVERIFY(isFresh(input));
    QCOMPARE(kept.all().size(), records->size());
    // Another name of a document, and a run that belongs to none any more.
    auto renamed = std::make_shared<RunRecords>(*records);
    RunRecord other = *renamed->front();
    other.document = QStringLiteral("another");
    renamed->front() = std::make_shared<const RunRecord>(other);
    input.records = renamed;
    QVERIFY(isFresh(input));
    QVERIFY2(kept.all().back().text.contains(QStringLiteral("another")), qPrintable(kept.all().back().text));
    input.paths.erase(input.paths.begin());
    QVERIFY(isFresh(input));
    QCOMPARE(kept.all().size(), input.paths.size());
    // A run that goes on.
    auto growing = std::make_shared<TraceStore>();
    input.records = nullptr;
    input.trace = growing;
    for (const trace::Event& event : m_runs.events) {
      growing->append(event);
      if (growing->size() % 53 != 0) continue;
      input.position = growing->size();
      QVERIFY(isFresh(input));
    }
    QCOMPARE(kept.all().size(), std::size_t(4));
  }

  void anOlderRunHasAllItsPasses() {
    ViewInput input = m_runs.input();
    const std::size_t whole = input.position;
    std::size_t end = 0;  // of the first run
    while (input.trace->event(end).run != 2) ++end;
    input = selecting(input, lastOf(input, 1));
    const TimelineModel later = timelineModel(input);
    input.position = end;
    const TimelineModel then = timelineModel(input);
    QVERIFY(end < whole);
    QCOMPARE(later.runs, std::vector<RunId>{1});
    QCOMPARE(later.rows.size(), then.rows.size());
    for (std::size_t i = 0; i < later.rows.size(); ++i) QVERIFY(later.rows[i] == then.rows[i]);
    QVERIFY(!later.rows.back().bars.empty());
  }

  void attentionThatWasLeftOutIsSaid() {
    ViewInput input = selecting(m_runs.input(), lastOf(m_runs.input(), 1));
    QVERIFY(!attentionModel(input).leftOut);
    auto longer = std::make_shared<TraceStore>(*input.trace);
    trace::Event event = longer->events().back();
    ++event.sequence;
    event.run = 1;
    event.request = 0;
    event.payload = trace::AttentionLeftOut{.leftOut = 12, .recorded = 30, .limit = 64ULL << 20};
    longer->append(event);
    QVERIFY(longer->contradictions().empty());
    input.trace = longer;
    input.position = longer->size();
    const AttentionModel model = attentionModel(input);
    QVERIFY(model.leftOut.has_value());
    const QString text = worded("<attention-records-left-out|12|64>");
    QCOMPARE(leftOutText(*model.leftOut), text);
    QVERIFY(logOf(input, false).contains(text));
    QVERIFY(!attentionModel(selecting(input, lastOf(input, 2))).leftOut);
  }

  void attentionRowsSumToOne() {
    const ViewInput input = selecting(m_runs.input(), lastOf(m_runs.input(), 1));
    for (const auto layer : {std::optional<std::int32_t>(), std::optional<std::int32_t>(2)}) {
      AttentionOptions options;
      options.layer = layer;
      const AttentionModel model = attentionModel(input, options);
      QVERIFY(model.recorded);
      QCOMPARE(model.layers.size(), std::size_t{6});
      QCOMPARE(model.heads, 4);
      QCOMPARE(model.segments.size(), std::size_t{5});
      for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
        double sum = 0;
        for (std::int32_t column = 0; column < model.columns; ++column) {
          sum += static_cast<double>(model.mass[model.at(row, column)]);
        }
        QVERIFY2(std::abs(sum - 1) < 1e-3, qPrintable(QStringLiteral("row %1: %2").arg(row).arg(sum)));
      }
    }
  }

  /// Columns of the answer differ from those of the question before it.
  void columnsOfTheAnswerAreItsOwn() {
    const ViewInput input = selecting(m_runs.input(), lastOf(m_runs.input(), 1));
    for (const AttentionGrain grain :
         {AttentionGrain::Segments, AttentionGrain::Blocks, AttentionGrain::Tokens}) {
      AttentionOptions options;
      options.grain = grain == AttentionGrain::Tokens ? AttentionGrain::Segments : grain;
      const auto lastSegment = static_cast<std::uint32_t>(attentionModel(input, options).segments.size()) - 1;
      if (grain == AttentionGrain::Tokens) options.opened = {{lastSegment, grain}};
      const AttentionModel model = attentionModel(input, options);
      const trace::RequestState& request = input.state().progress().requests.at(model.request);
      const auto prompt = static_cast<std::int32_t>(request.segments.back().tokens.size());
      const AttentionSegment& last = model.segments.back();
      const std::int32_t width = last.grain == AttentionGrain::Tokens ? 1 : model.blockSize;
      QCOMPARE(last.columns - last.answerColumns,
               last.grain == AttentionGrain::Segments ? 1 : (prompt + width - 1) / width);
      QCOMPARE(last.answerColumns > 0, last.grain != AttentionGrain::Segments);
      for (std::size_t s = 0; s + 1 < model.segments.size(); ++s)
        QCOMPARE(model.segments[s].answerColumns, 0);
    }
  }

  void attentionMaskFollowsTheTree() {
    const AttentionModel model = attentionModel(selecting(m_runs.input(), lastOf(m_runs.input(), 1)));
    const auto cell = [&](std::size_t query, std::size_t key) {
      return model.states[model.at(model.segments[query].firstRow, model.segments[key].firstColumn)];
    };
    QCOMPARE(cell(2, 1), CellState::Forbidden);  // children of plus
    QCOMPARE(cell(1, 2), CellState::Blank);
    QCOMPARE(cell(1, 1), CellState::Measured);
    QCOMPARE(cell(4, 2), CellState::Measured);  // the question sees every document
    QVERIFY(!model.regions(CellState::Forbidden).empty());
    std::int32_t forbidden = 0;
    for (const AttentionRegion& region : model.regions(CellState::Forbidden))
      forbidden += region.rows * region.columns;
    QCOMPARE(forbidden, static_cast<std::int32_t>(
                            std::count(model.states.begin(), model.states.end(), CellState::Forbidden)));
  }

  void reusedRowsComeFromTheRunThatStoredThem() {
    const ViewInput input = m_runs.input();
    const AttentionModel first = attentionModel(selecting(input, lastOf(input, 1)));
    const AttentionModel second = attentionModel(selecting(input, lastOf(input, 2)));
    QCOMPARE(second.earlierRuns, std::vector<RunId>{1});
    QCOMPARE(second.rows.back().source, RowSource::Computed);
    // Documents 1 and 2 changed places: the second run's first document is the first run's second one.
    const AttentionSegment& moved = second.segments[1];
    const AttentionSegment& stored = first.segments[2];
    QCOMPARE(moved.blocks, stored.blocks);
    for (std::int32_t row = 0; row < moved.rows; ++row) {
      QCOMPARE(second.rows[static_cast<std::size_t>(moved.firstRow + row)].source, RowSource::Earlier);
      for (std::int32_t column = 0; column < moved.columns; ++column) {
        QCOMPARE(second.mass[second.at(moved.firstRow + row, moved.firstColumn + column)],
                 first.mass[first.at(stored.firstRow + row, stored.firstColumn + column)]);
      }
    }
    const QString text = attentionReadout(second, {}, moved.firstRow, moved.firstColumn);
    QVERIFY2(text.contains(QStringLiteral("recorded in run 1, reused here")), qPrintable(text));
  }

  void tokensAreShownWhereTheyWereRecorded() {
    const ViewInput input = selecting(m_runs.input(), lastOf(m_runs.input(), 3));
    const AttentionModel blocks = attentionModel(input);
    QCOMPARE(blocks.segments.size(), std::size_t{1});
    QCOMPARE(blocks.tokenSegments, std::vector<std::uint32_t>{0});
    AttentionOptions options;
    options.tokensOf = 0;
    const AttentionModel tokens = attentionModel(input, options);
    QVERIFY(tokens.rows.size() > 83);
    QCOMPARE(tokens.rows[5].token, 5);
    QVERIFY(!tokens.rows[5].text.isEmpty());
    QVERIFY(tokens.tokenColumns);
    QCOMPARE(tokens.columns, static_cast<std::int32_t>(tokens.rows.size()));
    QCOMPARE(tokens.tokenOfColumn(20), 20);
    QCOMPARE(tokens.blockOfColumn(20), 1);
    QCOMPARE(tokens.states[tokens.at(20, 20)], CellState::Measured);
    QCOMPARE(tokens.states[tokens.at(20, 21)], CellState::Blank);
    // A block's row is the mean of its tokens', and a block's column the sum over its tokens.
    for (std::int32_t block = 0; block < blocks.columns; ++block) {
      double sum = 0;
      for (std::int32_t row = 16; row < 32; ++row) {
        for (std::int32_t key = 16 * block; key < std::min(16 * (block + 1), tokens.columns); ++key)
          sum += static_cast<double>(tokens.mass[tokens.at(row, key)]);
      }
      QVERIFY(std::abs(sum / 16 - static_cast<double>(blocks.mass[blocks.at(1, block)])) < 1e-4);
    }
    const QString text = attentionReadout(tokens, options, 20, 3);
    QVERIFY2(text.contains(QStringLiteral("token 3 “") + tokens.rows[3].text.trimmed()), qPrintable(text));
    const QString csv = attentionCsv(tokens);
    QCOMPARE(csv.section(QLatin1Char('\n'), 1, 1).count(QLatin1Char(',')), 8);
  }

  void manyBlocksShareCells() {
    AttentionOptions options;
    options.mostBlocks = 4;
    const AttentionModel model =
        attentionModel(selecting(m_runs.input(), lastOf(m_runs.input(), 4)), options);
    QVERIFY(model.blocksPerCell > 1);
    for (const AttentionSegment& segment : model.segments) {
      QCOMPARE(segment.columns, (segment.blocks + model.blocksPerCell - 1) / model.blocksPerCell);
    }
    const auto last = static_cast<std::int32_t>(model.rows.size()) - 1;
    double sum = 0;
    for (std::int32_t column = 0; column < model.columns; ++column) {
      sum += static_cast<double>(model.mass[model.at(last, column)]);
    }
    QVERIFY(std::abs(sum - 1) < 1e-3);
  }

  /// One look at a trace gives what looks at each of its runs give, at any moment.
  void ratesOfAllRunsAreThoseOfEach() {
    const ViewInput input = m_runs.input();
    const TraceStore& trace = *input.trace;
    for (const std::size_t position : {trace.size(), trace.size() / 2, std::size_t{1}}) {
      const std::map<RunId, RunRates> all = ratesOfRuns(trace, position);
      QCOMPARE(all.empty(), position == 1);
      for (RunId run = 1; run <= 5; ++run) {
        const auto found = all.find(run);
        QVERIFY((found == all.end() ? RunRates() : found->second) == ratesOf(trace, position, run));
      }
    }
  }

  void metricsAreThoseOfTheAccount() {
    const ViewInput input = m_runs.input();
    const MetricsModel model = metricsModel(input);
    QCOMPARE(model.runs.size(), std::size_t{4});
    QCOMPARE(model.runs[0].totals.account->prompt.cached(), 0);
    QVERIFY(model.runs[1].totals.account->prompt.relocated > 0);
    QVERIFY(model.runs[1].totals.account->prompt.hit > 0);
    for (const RunMetrics& run : model.runs) {
      metrics::PromptAccount sum;
      for (const RequestMetrics& request : run.requests) {
        sum += *request.totals.account;
        const auto& segments = input.state().progress().requests.at(request.request).segments;
        QCOMPARE(request.totals.account->total(), metrics::visibleTokens(segments));
        QCOMPARE(request.totals.account->unread, 0);
      }
      QVERIFY(sum == *run.totals.account);
    }
    QCOMPARE(model.runs[3].requests.size(), std::size_t{5});
    QVERIFY(model.runs[0].totals.prefillRate && model.runs[0].totals.decodeRate);
    const auto& request = input.state().progress().requests.at(lastOf(input, 1));
    QCOMPARE(*model.runs[0].totals.timeToFirstToken, request.metrics->timeToFirstToken);
    QCOMPARE(model.use.back().held, 0);
    QVERIFY(
        std::any_of(model.use.begin(), model.use.end(), [](const BlockUse& use) { return use.shared > 0; }));
  }

  void blockUseIsTheSameStepByStep() {
    const ViewInput input = m_runs.input();
    BlockUseSampler steps;
    for (std::size_t count = 0; count <= input.position; count += 13) (void)steps.sample(input.trace, count);
    BlockUseSampler once;
    QVERIFY(steps.sample(input.trace, input.position) == once.sample(input.trace, input.position));
    // The pool's own count at every moment that a point represents.
    for (const BlockUse& use : once.sample(input.trace, input.position)) {
      const trace::Replay& state = input.trace->stateAt(input.trace->countAt(use.time));
      QCOMPARE(static_cast<std::size_t>(use.held), state.pool().blockCount() - 1 - state.pool().freeCount());
    }
  }

  void cacheFiguresAreThoseOfTheTrace() {
    const ViewInput input = m_runs.input();
    // Step by step it is the same as at once.
    MetricsSamplers samplers;
    MetricsModel model;
    for (std::size_t count = 0; count <= input.position; count += 13) {
      ViewInput before = input;
      before.position = count;
      model = metricsModel(before, samplers);
    }
    model = metricsModel(input, samplers);
    QVERIFY(model == metricsModel(input));
    QVERIFY(model.residency == ResidencyCurves{});
    const metrics::TraceStats stats = metrics::stats(m_runs.events);
    QCOMPARE(stats.recent.rate(), stats.hitRate);
    const metrics::Metric& recent = metrics::get("recent-hit-rate");
    QCOMPARE(recent.number(model.runs[3].requests.back().totals), stats.recent.rate());
    QCOMPARE(recent.number(model.runs[3].totals), stats.recent.rate());
    // The first request found nothing; the same documents in another order were found.
    QCOMPARE(recent.number(model.runs[0].requests[0].totals), 0.0);
    QVERIFY(recent.number(model.runs[1].requests[0].totals) > 0.3);
    // Every metric of a request has a column.
    const QStringList lines = metricsCsv(model).split(QLatin1Char('\n'));
    for (const metrics::Metric& metric : metrics::all()) {
      if (metric.isOf(metrics::Scope::Request))
        QVERIFY2(lines.front().contains(metricHeading(metric.id)), metric.id);
    }
  }

  void evictedContentsHaveStayedForSoLong() {
    run::SessionConfig session;
    session.blockCount = 12;
    test::RunRecorder recorder(session);
    const document::Document rag = test::exampleDocument("rag.json");
    recorder.run(rag);
    recorder.run(rag);
    recorder.run(test::exampleDocument("judge-2.json"));
    const test::Recorded runs = recorder.recorded();
    const MetricsModel model = metricsModel(runs.input());
    const ResidencyCurves& residency = model.residency;
    const metrics::TraceStats stats = metrics::stats(runs.events);
    QVERIFY(residency.medians.evicted > 2);
    QCOMPARE(residency.medians.evicted, stats.blocksEvicted);
    QVERIFY(residency.medians == stats.residency);
    for (const ShareCurve* curve : {&residency.lifetime, &residency.idle}) {
      QVERIFY(curve->size() > 2);
      QCOMPARE(curve->back().share, 1.0);
      for (std::size_t i = 1; i < curve->size(); ++i) {
        QVERIFY((*curve)[i].share > (*curve)[i - 1].share);
        QVERIFY((*curve)[i].seconds >= (*curve)[i - 1].seconds);
      }
    }
    QVERIFY(*residency.medians.idle <= *residency.medians.lifetime);
    const std::vector<MetricCardContent> cards = metricCards(model);
    QVERIFY2(cards.back().change.contains(QStringLiteral("evicted")), qPrintable(cards.back().change));
  }

  void timelineTellsWaitingComputingDecoding() {
    const ViewInput input = m_runs.input();
    const TimelineModel model = timelineModel(input);
    QCOMPARE(model.runs, std::vector<RunId>{4});
    QCOMPARE(model.rows.size(), std::size_t{5});
    const auto& progress = input.state().progress();
    for (const TimelineRow& row : model.rows) {
      const auto& request = progress.requests.at(row.request);
      std::int64_t computed = 0;
      std::int64_t decoded = 0;
      std::int64_t last = model.begin;
      for (const TimelineBar& bar : row.bars) {
        QVERIFY(bar.begin >= last - 1000 && bar.end >= bar.begin);
        last = bar.end;
        if (bar.kind == BarKind::Prefill) computed += bar.tokens;
        if (bar.kind == BarKind::Decode) decoded += bar.tokens;
      }
      QCOMPARE(computed, request.computedTokens);
      QCOMPARE(decoded, request.generatedTokens - 1);
    }
    QCOMPARE(model.starts.size(), std::size_t{1});
    QCOMPARE(model.starts[0].closures, 4);
    QCOMPARE(model.starts[0].relocatedTokens,
             RequestAccount(input, model.starts[0].request).prompt().relocated);
    QCOMPARE(timelineModel(input, true).runs.size(), std::size_t{4});
  }

  void outputMarksTheSameAnswer() {
    const OutputModel model = outputModel(m_runs.input());
    QCOMPARE(model.answers.size(), std::size_t{8});
    QCOMPARE(model.answers[0].run, RunId{4});
    const auto second =
        std::find_if(model.answers.begin(), model.answers.end(), [](const Answer& a) { return a.run == 2; });
    QVERIFY(second != model.answers.end());
    QVERIFY(second->text.contains(QStringLiteral("Biscuit")));
    QCOMPARE(second->sameAs, RunId{1});
    QVERIFY(second->exactness.contains(QStringLiteral("block attention")));
    QVERIFY(second->cachedTokens > 0);
    QCOMPARE(outputModel(m_runs.input(), 3).left, std::size_t{5});
  }

  void failuresShowTheirText() {
    auto trace = std::make_shared<TraceStore>();
    for (const trace::Event& event : m_runs.events) trace->append(event);
    const auto send = [&trace](RunId run, RequestId request, trace::Payload payload) {
      const trace::Event& last = trace->event(trace->size() - 1);
      trace::Event event;
      event.sequence = last.sequence + 1;
      event.time = last.time + 1000;
      event.session = last.session;
      event.run = run;
      event.request = request;
      event.payload = std::move(payload);
      trace->append(std::move(event));
    };
    const RequestId request = m_runs.input().state().progress().requests.rbegin()->first + 1;
    send(5, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 0});
    send(5, request, trace::StepStarted{});
    send(5, request, trace::MessageLogged{.severity = Severity::Error, .text = "the prompt does not fit"});
    send(5, request, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::Failed, .text = {}});
    send(5, 0, trace::RunFinished{.outcome = trace::RunOutcome::Failed, .answer = {}});
    QVERIFY(trace->contradictions().empty());
    ViewInput input = m_runs.input();
    input.trace = trace;
    input.position = trace->size();
    const OutputModel model = outputModel(input);
    QCOMPARE(model.answers[0].run, RunId{5});
    QCOMPARE(model.answers[0].state, AnswerState::Failed);
    QCOMPARE(model.answers[0].problem, QStringLiteral("the prompt does not fit"));

    LogModel log;
    log.setInput(input);
    log.setOptions({.least = Severity::Error});
    QCOMPARE(log.rowCount(), 3);
    QCOMPARE(log.line(0).text, QStringLiteral("the prompt does not fit"));
    QCOMPARE(log.errors(), std::size_t{1});
  }

  /// A trace of a program that knows more policies: nothing is measured as if it were another one.
  void anUnknownPolicyIsSaidAndNotMeasured() {
    const auto withPolicy = [this](const std::string& policy) {
      auto trace = std::make_shared<TraceStore>();
      for (trace::Event event : m_runs.events) {
        if (auto* started = std::get_if<trace::RunStarted>(&event.payload)) started->policy = policy;
        trace->append(std::move(event));
      }
      ViewInput input = m_runs.input();
      input.trace = trace;
      input.replay.origin = TraceOrigin::Session;
      return input;
    };
    const ViewInput known = withPolicy("link(3)");
    const RunId run = outputModel(known).answers[0].run;
    const RequestId request = outputModel(known).answers[0].request;
    QCOMPARE(answerReason(known, request), QString());
    QCOMPARE(outputModel(known).answers[0].measureReason, QString());
    QVERIFY(!measurableRequests(known, run).empty());
    QVERIFY(finishedAnswer(known, request).policy == *policy::findChoice("link(3)"));
    for (const char* policy : {"magic(3)", "link(-1)", ""}) {
      const ViewInput unknown = withPolicy(policy);
      for (const QString& said :
           {answerReason(unknown, request), outputModel(unknown).answers[0].measureReason}) {
        QVERIFY2(said.contains(worded("<policy-not-known|%1>").arg(QLatin1String(policy))), qPrintable(said));
      }
      QVERIFY(measurableRequests(unknown, run).empty());
    }
  }

  void aAnswerThatEndsWithTheContextSaysSo() {
    auto trace = std::make_shared<TraceStore>();
    const auto send = [&trace](RequestId request, trace::Payload payload) {
      trace::Event event;
      event.sequence = trace->size() + 1;
      event.run = 1;
      event.request = request;
      event.payload = std::move(payload);
      trace->append(std::move(event));
    };
    send(0, trace::SessionStarted{});
    send(0, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 0});
    send(1, trace::StepStarted{});
    send(1, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::ContextLimit, .text = "cut"});
    ViewInput input = m_runs.input();
    input.trace = trace;
    input.position = trace->size();
    const OutputModel model = outputModel(input);
    QCOMPARE(model.answers.size(), std::size_t{1});
    QCOMPARE(model.answers[0].state, AnswerState::Finished);
    QCOMPARE(answerFacts(model.answers[0]), worded("<ended-with-the-context>"));

    LogModel log;
    log.setInput(input);
    QStringList lines;
    for (int row = 0; row < log.rowCount(); ++row) lines.push_back(log.line(row).text);
    QVERIFY2(says(lines.join('\n'), "<step-filled-context|…|cut>"), qPrintable(lines.join('\n')));
  }

  void planListsItsSteps() {
    const PlanModel model = planModel(m_runs.input());
    QCOMPARE(model.run, RunId{4});
    QCOMPARE(model.steps.size(), std::size_t{5});
    QCOMPARE(needsText(model.steps[4].needs), QStringLiteral("0, 1, 2, 3"));
    QCOMPARE(model.steps[4].state, StepState::Finished);
    QVERIFY(model.explain.contains(QStringLiteral("distribute plus")));
    QCOMPARE(model.steps[1].name, worded("<subquery-step> 2"));
  }

  void compareTellsBetterFromWorse() {
    const ViewInput input = m_runs.input();
    const CompareModel model = compareModel(input, 1, 2);
    const auto row = [&](const char* name) {
      return *std::find_if(model.rows.begin(), model.rows.end(),
                           [&](const CompareRow& r) { return r.id == std::string_view(name); });
    };
    QCOMPARE(row("computed-tokens").verdict, Verdict::Better);
    QCOMPARE(row("cached-tokens").left, QStringLiteral("0"));
    QCOMPARE(row("allocated-blocks").verdict, Verdict::Better);
    QCOMPARE(row("prompt-tokens").verdict, Verdict::Same);
    QCOMPARE(row("answer").verdict, Verdict::Same);
    QCOMPARE(compareModel(input).left, RunId{3});
    QCOMPARE(compareModel(input).right, RunId{4});
  }

  void logFollowsAndGoesBack() {
    const ViewInput whole = m_runs.input();
    LogModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const bool all : {false, true}) {
      model.setOptions({.allEvents = all});
      for (const std::size_t position :
           {std::size_t{0}, std::size_t{3}, std::size_t{200}, std::size_t{90}, whole.position}) {
        ViewInput input = whole;
        input.position = position;
        model.setInput(input);
        QCOMPARE(model.csv(), logOf(input, all));
      }
    }
    QCOMPARE(model.rowCount(), static_cast<int>(whole.position));
    const QModelIndex first = model.index(0, LogModel::Text);
    QCOMPARE(first.data().toString().left(15), QStringLiteral("Session started"));
    // The exact identifiers are one look away.
    QVERIFY(first.data(Qt::ToolTipRole).toString().contains(QStringLiteral("session_started")));
    QVERIFY(model.csv().contains(QStringLiteral("session_started")));
  }

  /// Ranges that lie side by side add up, and the whole is the account of all requests.
  void rangesAddUpToTheAccount() {
    test::RunRecorder recorder;
    const document::Document rag = test::exampleDocument("rag.json");
    for (const policy::Policy* policy : policy::policies()) {
      recorder.run(rag, *policy);
      recorder.run(test::swapped(rag), *policy);
    }
    recorder.run(test::exampleDocument("judge-4.json"));
    const ViewInput input = recorder.recorded().input();
    const TraceStore& trace = *input.trace;
    TokenAccount whole;
    for (const auto& [id, request] : input.state().progress().requests)
      whole += RequestAccount(input, id).done().prompt;
    QVERIFY(whole.again > 0 && whole.relocated > 0);
    const RangeTotals all = rangeTotals(trace, {0, trace.size()});
    const auto text = [](const TokenAccount& account) {
      return QStringLiteral("%1 hit, %2 relocated, %3 computed, %4 again")
          .arg(account.hit)
          .arg(account.relocated)
          .arg(account.computed)
          .arg(account.again);
    };
    QCOMPARE(text(all.tokens), text(whole));
    QCOMPARE(all.requests, std::ssize(input.state().progress().requests));
    for (const std::size_t cut : {std::size_t{1}, trace.size() / 3, trace.size() / 2, trace.size() - 1}) {
      const RangeTotals left = rangeTotals(trace, {0, cut});
      const RangeTotals right = rangeTotals(trace, {cut, trace.size()});
      TokenAccount both = left.tokens;
      both += right.tokens;
      QCOMPARE(text(both), text(whole));
      QCOMPARE(left.generated + right.generated, all.generated);
      QCOMPARE(left.allocated + right.allocated, all.allocated);
      QCOMPARE(left.evicted + right.evicted, all.evicted);
      QCOMPARE(left.nanoseconds + right.nanoseconds, all.nanoseconds);
    }
    QVERIFY(rangeTotals(trace, {3, 3}) == (RangeTotals{.range = {3, 3}, .tokens = {}}));
    QVERIFY2(rangeText(all).contains(metricPhrase("tokens-computed-again", static_cast<double>(whole.again))),
             qPrintable(rangeText(all)));
  }

  /// The user never reads identifiers of the file format, or paths.
  void eventsHaveNamesInPlainWords() {
    const ViewInput input = m_runs.input();
    EventNames names(input);
    const QRegularExpression code(QStringLiteral("[a-z]_[a-z]|/g\\b|/input|/plus"));
    QStringList answers;
    for (const trace::Event& event : m_runs.events) {
      const QString name = names.of(event);
      // A model may write anything.
      if (!std::holds_alternative<trace::TokenGenerated>(event.payload))
        QVERIFY2(!name.contains(code), qPrintable(name));
      else
        answers += name;
      if (event.run != 0) QVERIFY2(name.contains(QStringLiteral("run %1").arg(event.run)), qPrintable(name));
    }
    QVERIFY2(answers.front().startsWith(QStringLiteral("Token generated · run 1 · answer of generate · “")),
             qPrintable(answers.front()));
    const auto found = std::find_if(m_runs.events.begin(), m_runs.events.end(), [](const auto& event) {
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload);
      return lookup != nullptr && lookup->outcome == trace::LookupOutcome::Relocated;
    });
    const QString block = names.of(*found);
    QVERIFY2(block.startsWith(QStringLiteral("Relocated hit · run 2 · document ")), qPrintable(block));
    QVERIFY2(scrubberModel(input).event.startsWith(QStringLiteral("Run ")),
             qPrintable(scrubberModel(input).event));
    QVERIFY(scrubberModel(input).exact.contains(QStringLiteral("run_finished")));
  }

  void ticksAreTheSameStepByStep() {
    auto trace = std::make_shared<TraceStore>();
    TickBins steps;
    std::uint64_t sequence = 0;
    const auto send = [&](trace::Payload payload, RequestId request) {
      trace::Event event;
      event.sequence = ++sequence;
      event.time = static_cast<std::int64_t>(sequence);
      event.session = 1;
      event.run = request == 0 ? 0 : 1;
      event.request = request;
      event.payload = std::move(payload);
      trace->append(std::move(event));
    };
    send(trace::SessionStarted{}, 0);
    send(trace::RunStarted{}, 0);
    send(trace::StepStarted{}, 1);
    for (int i = 0; i < 20000; ++i) {
      if (i % 3 == 0) {
        send(trace::TokenGenerated{.index = i / 3, .text = {}, .shown = {}, .segmentMass = {}}, 1);
      } else {
        send(trace::MessageLogged{.text = {}}, 0);
      }
      if (i % 777 == 0) steps.follow(trace);
    }
    steps.follow(trace);
    TickBins once;
    once.follow(trace);
    QVERIFY(once.bins().size() <= TickBins::kMostBins);
    QCOMPARE(once.eventsPerBin(), std::size_t{8});
    QVERIFY(steps.bins() == once.bins());
    std::size_t tokens = 0;
    for (const TickBin& bin : once.bins()) tokens += bin.counts[static_cast<std::size_t>(TickKind::Token)];
    std::size_t expected = 0;
    for (const trace::Event& event : trace->events()) {
      expected += std::holds_alternative<trace::TokenGenerated>(event.payload) ? 1 : 0;
    }
    QCOMPARE(tokens, expected);
  }

  /// Of runs that share a session, the document's own have the ticks; events of others are distinct.
  void ticksAreOfTheDocumentsRuns() {
    auto trace = std::make_shared<TraceStore>();
    std::uint64_t sequence = 0;
    const auto send = [&](RunId run, RequestId request, trace::Payload payload) {
      trace->append({.sequence = ++sequence,
                     .time = static_cast<std::int64_t>(sequence),
                     .session = 1,
                     .run = run,
                     .request = request,
                     .node = {},
                     .payload = std::move(payload)});
    };
    const auto token = [&](RunId run, std::int32_t index) {
      send(run, run, trace::TokenGenerated{.index = index, .text = {}, .shown = {}, .segmentMass = {}});
    };
    send(0, 0, trace::SessionStarted{});
    for (const RunId run : {RunId{1}, RunId{2}}) {
      send(run, 0, trace::RunStarted{});
      send(run, run, trace::StepStarted{});
    }
    send(1, 0, trace::BatchComputed{.entries = {{.request = 1, .count = 3}, {.request = 2, .count = 4}}});
    send(1, 0,
         trace::BatchComputed{
             .entries = {{.request = 1, .count = 1, .decode = true}, {.request = 2, .count = 4}}});
    token(1, 0);
    token(1, 1);
    token(2, 0);
    QVERIFY(trace->contradictions().empty());
    const auto sums = [&](const std::set<RunId>& own) {
      TickBins bins;
      bins.follow(trace, own);
      std::array<std::uint32_t, kTickKinds> counts{};
      for (const TickBin& bin : bins.bins()) {
        for (std::size_t kind = 0; kind < kTickKinds; ++kind) counts[kind] += bin.counts[kind];
      }
      return counts;
    };
    using Counts = std::array<std::uint32_t, kTickKinds>;  // computed, relocated, hit, token, other
    QVERIFY(sums({}) == (Counts{2, 0, 0, 3, 0}));
    QVERIFY(sums({1}) == (Counts{1, 0, 0, 2, 2}));
    QVERIFY(sums({2}) == (Counts{2, 0, 0, 1, 2}));
    // A document without a run here sees the session.
    QVERIFY(sums({9}) == (Counts{2, 0, 0, 3, 0}));
    // A run that begins while they are followed is distinct from then on, also in the events that were read
    // before.
    TickBins followed;
    followed.follow(trace, {2});
    send(3, 0, trace::RunStarted{});
    followed.follow(trace, {2, 3});
    TickBins once;
    once.follow(trace, {2, 3});
    QVERIFY(followed.bins() == once.bins());
  }

  /// Of a document that never ran, the scrubber shows nothing of the others.
  void theScrubberShowsNoForeignRuns() {
    ViewInput input = m_runs.input();
    input.replay.origin = TraceOrigin::Session;
    QVERIFY(!input.paths.empty());
    QCOMPARE(scrubberModel(input).total, input.trace->size());
    input.paths.clear();
    QCOMPARE(scrubberModel(input).total, std::size_t{0});
    QVERIFY(scrubberModel(input).runs.empty());
  }

  void emptyTraceGivesEmptyModels() {
    const ViewInput input = m_runs.input(0);
    QVERIFY(modelsOf(input).attention == AttentionModel{});
    QVERIFY(metricsModel(input) == MetricsModel{});
    QVERIFY(timelineModel(input) == TimelineModel{});
    QVERIFY(outputModel(input) == OutputModel{});
    QVERIFY(planModel(input) == PlanModel{});
    QVERIFY(compareModel(input).rows.empty());
  }

  void numbersReadWell_data() {
    QTest::addColumn<double>("seconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("small") << 0.00027 << QStringLiteral("0.27 ms");
    QTest::newRow("some") << 0.0031 << QStringLiteral("3.1 ms");
    QTest::newRow("many") << 0.1204 << QStringLiteral("120 ms");
    QTest::newRow("seconds") << 1.25 << QStringLiteral("1.25 s");
  }
  void numbersReadWell() {
    QFETCH(double, seconds);
    QFETCH(QString, text);
    QCOMPARE(durationText(seconds), text);
  }

  void changesReadWell() {
    QCOMPARE(changeText(1, 14.8), QStringLiteral("▼ 15×"));
    QCOMPARE(changeText(1.12, 1), QStringLiteral("▲ +12 %"));
    QCOMPARE(changeText(0.9, 1), QStringLiteral("▼ −10 %"));
    QCOMPARE(changeText(2, 2), QStringLiteral("= same"));
    QVERIFY(changeText(2, 0).isEmpty());
    QCOMPARE(csvLine({QStringLiteral("a"), QString(), QStringLiteral("x,\"y\"")}),
             QStringLiteral("a,,\"x,\"\"y\"\"\"\n"));
    QCOMPARE(axisTicks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    QVERIFY(axisTicks(1, 1, 5).empty());
    // No number on the axis has more digits than its ticks need.
    QVERIFY(axisTickText(100'000, 20'000).startsWith(QStringLiteral("100 ")));
    QVERIFY(axisTickText(200, 50).startsWith(QStringLiteral("200 ")));
  }

 private:
  test::Recorded m_runs;
};

SPANSCOPE_TEST(tst_run_models, TestRunModels, QApplication)
#include "tst_run_models.moc"
