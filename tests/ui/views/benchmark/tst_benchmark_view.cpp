// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of a benchmark, and the user's actions in the dock.
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/sample_benchmarks.h"
#include "ui/views/benchmark/benchmark_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QObject>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSize>
#include <QSpinBox>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <cstdlib>
#include <memory>

using namespace spanscope;
using namespace spanscope::ui;
using experiment::CaseGap;
using experiment::RunCase;
using spanscope::product_text::worded;

namespace {

ViewInput inputOf(const document::Document& document, Benchmark benchmark,
                  workbench::JobState state = workbench::JobState::Finished, const QString& problem = {}) {
  ViewInput input;
  input.document = std::make_shared<const document::Document>(document);
  input.trace = std::make_shared<TraceStore>();
  test::setMeasured<jobs::BenchmarkJob>(input, std::move(benchmark), state, problem);
  return input;
}

bool says(const BenchmarkModel& model, const QString& text) {
  return std::any_of(model.remarks.begin(), model.remarks.end(),
                     [&](const BenchmarkRemark& remark) { return remark.text.contains(text); });
}

bool warns(const BenchmarkModel& model, const QString& text) {
  return std::any_of(model.remarks.begin(), model.remarks.end(), [&](const BenchmarkRemark& remark) {
    return remark.kind == RemarkKind::Warning && remark.text.contains(text);
  });
}

QString cell(const BenchmarkModel& model, std::size_t row, const QString& column) {
  for (std::size_t c = 1; c < model.table.headers.size(); ++c) {
    if (model.table.headers[c] == column) return model.table.rows[row][c].text;
  }
  return QStringLiteral("no such column");
}

experiment::RunSample& sampleOf(Benchmark& benchmark, std::size_t turn, RunCase runCase) {
  return *benchmark.turns[turn][static_cast<std::size_t>(runCase)];
}

/// But for what smoothing makes of it.
bool isNear(const QColor& one, const QColor& other) {
  constexpr int kNear = 40;
  return std::abs(one.red() - other.red()) + std::abs(one.green() - other.green()) +
             std::abs(one.blue() - other.blue()) <
         kNear;
}

void setTimes(Benchmark& benchmark, RunCase runCase, std::vector<double> milliseconds) {
  for (std::size_t turn = 0; turn < milliseconds.size(); ++turn)
    sampleOf(benchmark, turn, runCase).measured.timeToFirstToken = milliseconds[turn] / 1000;
}

}  // namespace

class TestBenchmarkView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    m_rag = test::exampleDocument("rag.json");
  }

  void nothingIsKnownAtFirst() {
    ViewInput input = inputOf(m_rag, {});
    input.measured.clear();
    QVERIFY(!benchmarkModel(input).isKnown);
  }

  void casesBecomeRows() {
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, test::sampleBenchmark(m_rag)));
    QVERIFY(model.isKnown && !model.isRunning);
    QCOMPARE(model.setup,
             QStringLiteral("7 repeats · spanlet · CPU, 2 threads · policy spans · block size 16"));
    QCOMPARE(model.table.rows.size(), std::size_t(4));
    QCOMPARE(model.table.rows[2][0].text, QStringLiteral("order swapped"));
    QCOMPARE(cell(model, 0, metricShortHeading("time-to-first-token")), QStringLiteral("206.0"));
    QCOMPARE(cell(model, 0, QStringLiteral("Min – max")), QStringLiteral("200.0\u00A0–\u00A0212.0"));
    QCOMPARE(cell(model, 0, QStringLiteral("Speed-up")), QStringLiteral("1.0×"));
    QCOMPARE(cell(model, 1, QStringLiteral("Speed-up")), QStringLiteral("57×"));
    QCOMPARE(cell(model, 1, QStringLiteral("Cached")), QStringLiteral("82\u00A0·\u00A099\u00A0%"));
    QCOMPARE(cell(model, 2, QStringLiteral("Relocated")), QStringLiteral("57"));
    QCOMPARE(cell(model, 2, QStringLiteral("Computed")), QStringLiteral("13"));
    QCOMPARE(cell(model, 3, metricShortHeading("whole-run")), QStringLiteral("17.3"));
    QVERIFY(says(model, worded("<swapped-order-sooner|10×>")));
    QVERIFY(says(model, worded("<swapped-order-floor-time|2.0×>")));
    QVERIFY(says(model, worded("<same-answer-except-floor>")));
    QVERIFY(says(model, QStringLiteral("511 blocks")));
    QVERIFY(model.table.rows[2][0].help.endsWith(QStringLiteral("Answer: The pet of Tarek is Biscuit.")));
    // One step: its time is that of the run, and is not said twice.
    QCOMPARE(cell(model, 0, metricShortTitle("final-time-to-first-token")), QStringLiteral("no such column"));

    QCOMPARE(model.series.size(), std::size_t(4));
    QCOMPARE(model.series[1].points.front().samples.size(), std::size_t(7));
    QCOMPARE(model.series[0].points.front().median, 206.0);
    QCOMPARE(model.series[0].points.front().least, 200.0);
  }

  void stepsHaveAColumnOfTheirOwn() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    for (std::size_t turn = 0; turn < benchmark.turns.size(); ++turn)
      sampleOf(benchmark, turn, RunCase::Swapped).lastTimeToFirstToken = 0.5;
    QCOMPARE(
        cell(benchmarkModel(inputOf(m_rag, benchmark)), 2, metricShortTitle("final-time-to-first-token")),
        QStringLiteral("500.0"));
  }

  void noiseIsNotCalledFaster() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    setTimes(benchmark, RunCase::Swapped, {150, 190, 202, 204, 206, 208, 240});
    setTimes(benchmark, RunCase::Floor, {150, 190, 202, 204, 206, 208, 240});
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, benchmark));
    QCOMPARE(cell(model, 2, QStringLiteral("Speed-up")), QStringLiteral("overlaps"));
    QVERIFY(says(model, worded("<spreads-overlap|cold|order swapped>")));
    QVERIFY(says(model, worded("<spreads-overlap|order swapped|floor>")));
    QVERIFY(!says(model, QStringLiteral("sooner than cold")));

    benchmark.turns.resize(2);
    const BenchmarkModel few = benchmarkModel(inputOf(m_rag, benchmark));
    QCOMPARE(cell(few, 1, QStringLiteral("Speed-up")), QStringLiteral("–"));
    QVERIFY(says(few, worded("<repeats-show-no-spread|3>")));
    QVERIFY(!says(few, QStringLiteral("sooner")));
  }

  void otherAnswersAreSaid() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    sampleOf(benchmark, 1, RunCase::Swapped).answer = "Coco.";
    sampleOf(benchmark, 4, RunCase::Swapped).answer = "Coco.";
    sampleOf(benchmark, 4, RunCase::Floor).answer = "I do not know.";
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, benchmark));
    QVERIFY(warns(model, worded("<answer-differs-from-cold|Order swapped|2|7>")));
    QVERIFY(!warns(model, QStringLiteral("Floor")));
    QVERIFY(!says(model, worded("<all-runs-same-answer>")));
    QVERIFY(!says(model, worded("<same-answer-except-floor>")));
  }

  void casesThatThereAreNotAreSaid() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    for (const RunCase runCase : {RunCase::Swapped, RunCase::Floor}) {
      benchmark.gaps[static_cast<std::size_t>(runCase)] = CaseGap::NoPlus;
      for (experiment::RepeatTurn& turn : benchmark.turns) turn[static_cast<std::size_t>(runCase)].reset();
    }
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, benchmark));
    QCOMPARE(model.table.rows.size(), std::size_t(2));
    QVERIFY(says(model, worded("<no-swap-without-plus|order swapped>")));
    QVERIFY(says(model, worded("<no-floor-without-plus|floor>")));
    QVERIFY(says(model, worded("<all-runs-same-answer>")));
  }

  void whatWasEditedSinceIsSaid() {
    const QString edited = worded("<measured-before-last-edit>");
    const Benchmark benchmark = test::sampleBenchmark(m_rag);
    document::Document document = m_rag;
    QVERIFY(!warns(benchmarkModel(inputOf(document, benchmark)), edited));
    // The place of a node on the canvas, and the recorded data, change no number.
    document::setPosition(document, document.root(), document::Point{.x = 10, .y = 10});
    document.settings.observe = !document.settings.observe;
    QVERIFY(!warns(benchmarkModel(inputOf(document, benchmark)), edited));
    document.settings.blockSize = 4;
    QVERIFY(warns(benchmarkModel(inputOf(document, benchmark)), edited));
    document = test::swapped(m_rag);
    QVERIFY(warns(benchmarkModel(inputOf(document, benchmark)), edited));
    // Made-up documents do not depend on the query.
    const Benchmark lengths = test::sampleLengths(m_rag);
    QVERIFY(!warns(benchmarkModel(inputOf(document, lengths)), edited));
    document.settings.blockSize = 4;
    QVERIFY(warns(benchmarkModel(inputOf(document, lengths)), edited));
  }

  void endsThatWereNotWantedAreSaid() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    benchmark.turns.resize(3);
    const BenchmarkModel stopped = benchmarkModel(inputOf(m_rag, benchmark, workbench::JobState::Stopped));
    QVERIFY(says(stopped, QStringLiteral("stopped after 3 of 7 repeats.")));
    QVERIFY(stopped.setup.startsWith(QStringLiteral("3 of 7 repeats")));
    QCOMPARE(stopped.table.rows.size(), std::size_t(4));
    QVERIFY(warns(benchmarkModel(inputOf(m_rag, benchmark, workbench::JobState::Failed,
                                         QStringLiteral("the pool is too small"))),
                  QStringLiteral("The benchmark stopped: the pool is too small")));
  }

  void progressIsTold() {
    Benchmark benchmark = test::sampleBenchmark(m_rag);
    benchmark.turns.resize(1);
    benchmark.turn = 2;
    benchmark.runCase = RunCase::Swapped;
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, benchmark, workbench::JobState::Working));
    QVERIFY(model.isRunning);
    QCOMPARE(model.doing, worded("<benchmark-turn-swapped|2|7>"));
    QCOMPARE(model.progress, 2.5 / 8);
    benchmark.turn = 0;
    const auto doing = [](const Benchmark& now) { return eventText(jobs::BenchmarkJob::activity(now)); };
    QCOMPARE(doing(benchmark), worded("<warming-up-swapped>"));
    QCOMPARE(doing(test::sampleLengths(m_rag)), QStringLiteral("Benchmark: documents of 256 tokens, 3 of 3"));
  }

  void lengthsBecomeRowsAndLines() {
    const BenchmarkModel model = benchmarkModel(inputOf(m_rag, test::sampleLengths(m_rag)));
    QCOMPARE(model.table.rows.size(), std::size_t(2));
    QCOMPARE(model.table.rows[1][0].text, QStringLiteral("128"));
    QCOMPARE(cell(model, 1, QStringLiteral("Cold, ms")), QStringLiteral("14.7 (12.8\u00A0–\u00A016.6)"));
    QCOMPARE(cell(model, 1, QStringLiteral("Speed-up")), QStringLiteral("6.2×"));
    QCOMPARE(cell(model, 1, QStringLiteral("Cached")), QStringLiteral("280 of 312"));
    QCOMPARE(model.series.size(), std::size_t(3));
    QCOMPARE(model.series[0].points.size(), std::size_t(2));
    QCOMPARE(model.series[0].points[1].x, 128.0);
    QVERIFY(says(model, worded("<lengths-spreads-overlap|2|2>")));

    Benchmark slow = test::sampleLengths(m_rag);
    slow.lengths[1].row->swapped = slow.lengths[1].row->cold;
    QVERIFY(says(benchmarkModel(inputOf(m_rag, slow)), worded("<lengths-spreads-overlap|1|2>")));
    for (MeasuredLength& length : slow.lengths) {
      if (length.row) length.row->same.seconds.samples.resize(2);
    }
    QVERIFY(says(benchmarkModel(inputOf(m_rag, slow)), worded("<repeats-show-no-spread|3>")));
  }

  void everySampleIsExported() {
    const Benchmark benchmark = test::sampleBenchmark(m_rag);
    const QStringList lines = benchmarkCsv(benchmark).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 1 + 7 * 4);
    QVERIFY(lines[0].startsWith(QStringLiteral("turn,case,time to first token ms")));
    QCOMPARE(lines[3],
             QStringLiteral("1,order swapped,20,20,27,83,70,57,13,8,9,The pet of Tarek is Biscuit."));
    const QStringList lengths =
        benchmarkCsv(test::sampleLengths(m_rag)).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lengths.size(), 1 + 2 * 3 * 7);
    QCOMPARE(lengths[1], QStringLiteral("64,184,cold,1,6.4,0"));
  }

  /// A recorded trace has the newest result of each kind; a damaged one is not shown.
  void aTraceHasWhatWasMeasured() {
    ViewInput input = inputOf(m_rag, {});
    const Benchmark older = test::sampleLengths(m_rag);
    Benchmark newer = test::sampleBenchmark(m_rag);
    input = test::withResult<jobs::BenchmarkJob>(input, older.choice, older);
    input = test::withResult<jobs::BenchmarkJob>(input, newer.choice, newer);
    input.measured = measuredJobs(*input.trace);
    QCOMPARE(benchmarkModel(input), benchmarkModel(inputOf(m_rag, newer)));
    newer.turns.front()[static_cast<std::size_t>(RunCase::Cold)]->measured.whole = -1;
    input = test::withResult<jobs::BenchmarkJob>(input, newer.choice, newer);
    input.measured = measuredJobs(*input.trace);
    QVERIFY(!benchmarkModel(input).isKnown);
    // A tab shows what it asked for, and not what another one did.
    const AskedJobs asked{{jobs::BenchmarkJob::kId,
                           {.call = jobs::callOf<jobs::BenchmarkJob>(older.choice),
                            .job = {.state = workbench::JobState::Finished}}}};
    input.measured = measuredJobs(asked, *input.trace);
    QVERIFY(benchmarkModel(input).kind == BenchmarkKind::Lengths);
  }

  void wishesAreWrittenAndRead() {
    const BenchmarkChoice request{.kind = BenchmarkKind::Lengths, .repeats = 3};
    QCOMPARE(benchmarkRequest(request), QStringLiteral("lengths:3"));
    QVERIFY(readBenchmarkRequest(QStringLiteral("lengths:3")) == request);
    for (const char* wrong : {"", "query", "query:0", "query:101", "query:x", "other:3"})
      QVERIFY2(!readBenchmarkRequest(QString::fromLatin1(wrong)), wrong);
  }

  void theDockIsOperated() {
    BenchmarkView view;
    view.resize(640, 400);
    ViewInput input = inputOf(m_rag, {});
    input.measured.clear();
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* table = view.findChild<TableView*>();
    auto* button = view.findChild<QPushButton*>();
    QVERIFY(!table->isVisible());
    const QString start = button->text();
    QVERIFY(!start.isEmpty());
    QVERIFY(view.csv().isEmpty());

    QSignalSpy commands(&view, &View::commandWanted);
    view.findChild<QSpinBox*>()->setValue(12);
    QTest::keyClick(button, Qt::Key_Space);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.benchmark:query:12"));
    view.findChild<QComboBox*>()->setCurrentIndex(1);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.benchmark:lengths:12"));

    Benchmark benchmark = test::sampleBenchmark(m_rag);
    test::setMeasured<jobs::BenchmarkJob>(input, benchmark, workbench::JobState::Working);
    view.setInput(input);
    QTRY_VERIFY(table->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Stop"));
    QVERIFY(view.findChild<QProgressBar*>()->isVisible());
    QVERIFY(!view.findChild<QSpinBox*>()->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.stop:measurement"));

    test::setMeasured<jobs::BenchmarkJob>(input, test::sampleBenchmark(m_rag));
    view.setInput(input);
    QTRY_VERIFY(!view.model().isRunning);
    QCOMPARE(button->text(), start);
    QCOMPARE(table->model()->rowCount(), 4);
    QCOMPARE(table->model()->index(2, 0).data().toString(), QStringLiteral("order swapped"));
    // All rows are seen without scrolling in the table.
    QVERIFY(table->height() >= table->horizontalHeader()->height() + 4 * table->rowHeight(0));
    table->setFocus();
    QTest::keySequence(table, QKeySequence::Copy);
    QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("order swapped\t20.3\t20.0 – 20.6")));
    auto* plot = view.findChild<BenchmarkPlot*>();
    const QCPAxis& y = *plot->plot().yAxis;
    QVERIFY(y.scaleType() == QCPAxis::stLogarithmic);
    QVERIFY(y.range().lower <= 3.3 && y.range().upper >= 212);
    const MeasuredPoint* point = plot->pointAt({plot->plot().xAxis->coordToPixel(2), y.coordToPixel(20.3)});
    QVERIFY(point != nullptr);
    QVERIFY(point->text.startsWith(QStringLiteral("order swapped")));
  }

  void picturesHoldTableAndPlot() {
    BenchmarkView view;
    view.setInput(inputOf(m_rag, test::sampleBenchmark(m_rag)));
    const QColor cold = Theme().color(Role::ComputedInk);
    const auto count = [&](const QSize& size) {
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      view.paintTo(painter, size);
      painter.end();
      int found = 0;
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) found += isNear(image.pixelColor(x, y), cold) ? 1 : 0;
      }
      return found;
    };
    QVERIFY(count({900, 600}) > 20);
    // Where there is no room for a plot worth its name, the table is all.
    QCOMPARE(count({900, 200}), 0);
  }

 private:
  document::Document m_rag;
};

SPANSCOPE_TEST(tst_benchmark_view, TestBenchmarkView, QApplication)
#include "tst_benchmark_view.moc"
