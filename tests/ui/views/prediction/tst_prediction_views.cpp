// SPDX-License-Identifier: GPL-3.0-or-later
// The prediction, the rules of a plan with the trees around them: models, and the user's actions with them.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/run_history.h"
#include "ui/views/plan/pass_view.h"
#include "ui/views/plan/plan_view.h"
#include "ui/views/prediction/prediction_model.h"
#include "ui/views/prediction/prediction_places.h"
#include "ui/views/prediction/prediction_view.h"
#include "ui/words/metric_words.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QCoreApplication>
#include <QHeaderView>
#include <QImage>
#include <QListWidget>
#include <QMap>
#include <QModelIndex>
#include <QObject>
#include <QPainter>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTableView>
#include <QTest>
#include <QTreeView>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using Column = PredictionModel::Column;

namespace {

plan::TreeLine line(std::uint32_t depth, const char* label) {
  return {.depth = depth, .node = {}, .label = label, .changed = false};
}

/// "− a | + b": both sides of a row as they are shown.
QStringList shownRows(const TreePairModel& model) {
  QStringList rows;
  for (int row = 0; row < model.rowCount(); ++row) {
    rows << model.index(row, 0).data().toString() + QStringLiteral("|") +
                model.index(row, 1).data().toString();
  }
  return rows;
}

QString cell(const PredictionModel& model, int row, int column, const QModelIndex& parent = {}) {
  return model.index(row, column, parent).data().toString();
}

std::shared_ptr<const RunRecords> ranInThisWindow(const std::shared_ptr<const TraceStore>& trace) {
  auto records = std::make_shared<RunRecords>();
  for (const auto& record : recordsOf(trace, QStringLiteral("rag"))) {
    auto own = std::make_shared<RunRecord>(*record);
    own->tab = 1;
    own->settings = {};
    records->push_back(std::move(own));
  }
  return records;
}

/// The row of a place; -1: there is none.
int placeRow(PredictionView& view, const QString& name) {
  const std::vector<PredictionPlace>& places = view.places().places();
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&name](const PredictionPlace& place) { return place.name == name; });
  return found == places.end() ? -1 : static_cast<int>(found - places.begin());
}

template <class T>
void show(T& view, const ViewInput& input, const QSize& size = {800, 420}) {
  view.resize(size);
  view.setInput(input);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QCoreApplication::processEvents();
}

QString computed(int tokens) {
  return metricPart("computed-tokens", QString::number(tokens), "prompt-tokens", QStringLiteral("83"));
}

}  // namespace

Q_DECLARE_METATYPE(spanscope::ui::PredictionCounts)

class TestPredictionViews : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    test::RunRecorder recorder;
    const document::Document rag = test::exampleDocument("rag.json");
    const document::Document swapped = test::swapped(rag);
    const auto first = recorder.predict(rag);
    recorder.run(rag);
    m_repeated = recorder.recorded().input();
    m_repeated.prediction.newest = recorder.predict(rag);
    m_repeated.prediction.before = first;
    m_swapped = m_repeated;
    m_swapped.document = std::make_shared<const document::Document>(swapped);
    m_swapped.prediction.newest = recorder.predict(swapped);
    m_swapped.prediction.before = first;
    m_layouts = m_repeated;
    m_layouts.prediction.newest = recorder.predict(rag, true);
    m_sent = m_swapped;
    m_sent.records = ranInThisWindow(m_swapped.trace);
    const document::Document judge = test::exampleDocument("judge-4.json");
    m_judge.document = std::make_shared<const document::Document>(judge);
    m_judge.trace = std::make_shared<const TraceStore>();
    m_judge.prediction.newest = recorder.predict(judge);
  }

  /// Documents swapped: they keep their numbers and are relocated hits and the question is computed; before,
  /// all would have been.
  void tableOfSwappedDocuments() {
    const PredictionTable table = predictionTable(m_swapped, Against::Present);
    QCOMPARE(table.gap, QString());
    QCOMPARE(table.steps.size(), std::size_t{1});
    QCOMPARE(rangeText(table.totals.prompt), QStringLiteral("83"));
    QCOMPARE(rangeText(table.totals.cached), QStringLiteral("70"));
    QCOMPARE(rangeText(table.totals.relocated), QStringLiteral("38"));
    QCOMPARE(changedText(table.computedBefore, table.totals.computed), QStringLiteral("83 → 13"));
    QVERIFY(!table.ran);  // no run was of this plan
    const std::vector<PredictionSegment>& segments = table.steps[0].segments;
    QCOMPARE(segments.size(), std::size_t{5});
    QCOMPARE(segments[1].name, QStringLiteral("document 2"));
    QCOMPARE(segments[1].kind, QStringLiteral("independent"));
    QCOMPARE(segments[1].blockWords, QStringLiteral("2 relocated hit"));
    QCOMPARE(segments[1].account.relocated, segments[1].account.total());
    QCOMPARE(segments[3].account.relocated, std::int64_t{0});
    QCOMPARE(segments[4].blockWords, worded("1 <computed-attends-elsewhere>"));
    QCOMPARE(segments[4].blocks.at(0).role, BlockRole::Computed);
    QCOMPARE(segments[4].sees, QStringLiteral("system, document 2, document 1, document 3"));
    QVERIFY(predictionComparison(table).contains(worded("<before-last-change|83>")));
  }

  void everyPolicyForetellsItsAccount_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<bool>("isSwapped");
    for (const policy::Policy* policy : policy::policies()) {
      QTest::addRow("%s, same order", policy->name) << QString::fromLatin1(policy->name) << false;
      QTest::addRow("%s, swapped", policy->name) << QString::fromLatin1(policy->name) << true;
    }
  }
  /// Only the run shows which tokens blending recomputes; their number is predicted, and bounds for sections.
  void everyPolicyForetellsItsAccount() {
    QFETCH(QString, policy);
    QFETCH(bool, isSwapped);
    const policy::Policy& own = *policy::findPolicy(policy.toStdString());
    test::RunRecorder recorder;
    document::Document rag = test::exampleDocument("rag.json");
    rag.settings.policy = own.name;
    const auto cold = recorder.predict(rag);
    recorder.run(rag, own);
    document::Document next = isSwapped ? test::swapped(rag) : rag;
    next.settings.policy = rag.settings.policy;
    const auto warm = recorder.predict(next);
    recorder.run(next, own);
    ViewInput input = recorder.recorded().input();
    input.document = std::make_shared<const document::Document>(next);
    input.prediction.newest = warm;
    const PredictionTable table = predictionTable(input, Against::Present);
    QVERIFY(table.ran);
    const auto exactly = [](std::int64_t count) { return run::CountRange{.least = count, .most = count}; };
    QCOMPARE(table.totals.prompt, exactly(table.ran->total()));
    QCOMPARE(table.totals.cached, exactly(table.ran->cached()));
    QCOMPARE(table.totals.again, exactly(table.ran->again));
    QCOMPARE(table.totals.computed, exactly(table.ran->computed));
    QVERIFY(table.totals.relocated.holds(table.ran->relocated));
    if (own.name != std::string("blend")) QVERIFY(table.totals.relocated.known());
    QCOMPARE(accountWords(table.totals), accountWords(*table.ran));
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (const PredictionSegment& segment : table.steps[0].segments) {
      least += segment.again.least;
      most += segment.again.most;
    }
    QVERIFY(least <= table.ran->again && table.ran->again <= most);
    if (own.name == std::string("blend")) QVERIFY(table.ran->again > 0);
    // With an empty cache nothing is found that could be computed again.
    input.prediction.newest = cold;
    const PredictionTable empty = predictionTable(input, Against::Present);
    QCOMPARE(rangeText(empty.totals.again), QStringLiteral("0"));
  }

  void layoutsStandSideBySide() {
    QCOMPARE(layoutTable(m_repeated).rows.size(), std::size_t{0});
    QVERIFY(!layoutTable(m_repeated).gap.isEmpty());
    const LayoutTable table = layoutTable(m_layouts);
    QCOMPARE(table.gap, QString());
    QCOMPARE(table.rows.size(), std::size_t{9});
    QStringList names;
    for (const LayoutTableRow& row : table.rows) {
      QCOMPARE(row.cells.size(), table.columns.size());
      names << row.cells[0] + QLatin1Char(' ') + row.cells[1];
      // The document has the default layout and block size.
      QCOMPARE(row.isChosen, names.back() == QStringLiteral("exact 16"));
    }
    QCOMPARE(names, (QStringList{"exact 2", "exact 4", "exact 16", "padded 2", "padded 4", "padded 16",
                                 "cropped 2", "cropped 4", "cropped 16"}));
    QCOMPARE(table.rows[2].cells[2], QStringLiteral("83"));
    QCOMPARE(table.rows[5].cells[2], QStringLiteral("126"));
    QCOMPARE(table.rows[5].cells[7], QStringLiteral("+51.8 %"));
    QCOMPARE(layoutTableCsv(table).count(QLatin1Char('\n')), 10);
  }

  void layoutsTakeThePlaceOfThePrediction() {
    PredictionView view;
    QSignalSpy wanted(&view, &PredictionView::layoutsWanted);
    show(view, m_layouts);
    QVERIFY(view.tree().isVisible());
    const QString before = view.csv();
    view.showLayouts(true);
    QCOMPARE(wanted.takeFirst().value(0).toBool(), true);
    QVERIFY(!view.tree().isVisible());
    QCOMPARE(view.layouts().table().rows.size(), std::size_t{9});
    QVERIFY(view.layouts().isVisible());
    QVERIFY(view.csv() != before);
    QPixmap picture(600, 300);
    QPainter painter(&picture);
    view.paintTo(painter, picture.size());
    // While they are not known, that is said instead.
    view.setInput(m_repeated);
    QVERIFY(!view.layouts().isVisible());
    view.showLayouts(false);
    QVERIFY(view.tree().isVisible());
    QCOMPARE(wanted.takeFirst().value(0).toBool(), false);
  }

  void tableOfTheSamePlanNamesTheLastRun() {
    const PredictionTable table = predictionTable(m_repeated, Against::Present);
    QVERIFY(table.ran);
    QCOMPARE(table.ran->computed, std::int64_t{83});
    QCOMPARE(table.ranRun, RunId{1});
    QCOMPARE(rangeText(table.totals.computed), QStringLiteral("1"));
    const PredictionTable empty = predictionTable(m_repeated, Against::Empty);
    QCOMPARE(rangeText(empty.totals.computed), QStringLiteral("83"));
    QVERIFY(empty.cache != table.cache);
  }

  void tableOfAJudgeSaysWhyItIsNotExact() {
    const PredictionTable table = predictionTable(m_judge, Against::Present);
    const PredictionStep& judge = table.steps.back();
    QVERIFY(judge.sentences.join(QString()).contains(QStringLiteral("not sampled yet")));
    QVERIFY(rangeText(judge.counts.computed).contains(QStringLiteral("–")));
    QVERIFY(std::any_of(judge.segments.begin(), judge.segments.end(),
                        [](const PredictionSegment& segment) { return segment.holdsAnswer; }));
    QVERIFY(table.steps.front().sentences.isEmpty());
    // In the exact layout, nothing of that is in doubt.
    QCOMPARE(judge.counts.padding, std::optional<std::int64_t>(0));
    QCOMPARE(judge.counts.delimiters, std::optional<std::int64_t>(0));
    QCOMPARE(judge.counts.cropped, std::optional<std::int64_t>(0));
    PredictionView view;
    show(view, m_judge);
    for (const int column : {Column::Again, Column::Padding, Column::Delimiters, Column::Cropped})
      QVERIFY(view.tree().isColumnHidden(column));
    // Every copy has a name of its own.
    QCOMPARE(table.steps[0].name, worded("<subquery-step> 1"));
    QCOMPARE(table.steps[1].name, worded("<subquery-step> 2"));
  }

  /// No header is cut or outside of a narrow dock. The tool tips have the values of the hidden columns.
  void headersAreWholeInANarrowDock() {
    PredictionView view;
    show(view, m_judge, {320, 420});
    const auto hasWholeHeaders = [&] {
      const QHeaderView& header = *view.tree().header();
      for (int column = 0; column < Column::ColumnCount; ++column) {
        if (view.tree().isColumnHidden(column)) continue;
        const QString title = view.model().headerData(column, Qt::Horizontal).toString();
        if (header.sectionSize(column) < header.fontMetrics().horizontalAdvance(title)) return false;
      }
      return header.length() <= view.tree().viewport()->width();
    };
    QTRY_VERIFY(hasWholeHeaders());
    QVERIFY(!view.tree().isColumnHidden(Column::Cached) && !view.tree().isColumnHidden(Column::Computed));
    view.resize(900, 420);
    QTRY_VERIFY(hasWholeHeaders());
    QVERIFY(!view.tree().isColumnHidden(Column::Tokens));
  }

  void gapsAreSaid_data() {
    QTest::addColumn<PredictionGap>("gap");
    QTest::addColumn<QString>("words");
    QTest::newRow("asks") << PredictionGap::Asks << QStringLiteral("<unknown-asks>");
    QTest::newRow("retrieves") << PredictionGap::Retrieves << QStringLiteral("<unknown-searches>");
    QTest::newRow("nothing") << PredictionGap::Nothing << QStringLiteral("no generate");
    QTest::newRow("problem") << PredictionGap::Problem << QStringLiteral("a thing is missing");
  }
  void gapsAreSaid() {
    QFETCH(PredictionGap, gap);
    QFETCH(QString, words);
    ViewInput input = m_swapped;
    auto prediction = std::make_shared<DocumentPrediction>();
    prediction->gap = gap;
    prediction->problem = "a thing is missing";
    input.prediction.newest = prediction;
    const PredictionTable table = predictionTable(input, Against::Present);
    QVERIFY2(says(table.gap, words), qPrintable(table.gap));
    QVERIFY(predictionCsv(table).isEmpty());
    PredictionView view;
    show(view, input);
    QVERIFY(!view.tree().isVisible());
    input.prediction.newest = m_swapped.prediction.newest;
    view.setInput(input);
    QTRY_VERIFY(view.tree().isVisible());
  }

  /// The documents were swapped: as spans they are cache hits, and servers find the tokens before them.
  void boundsAreDrawnAsBoth_data() {
    QTest::addColumn<PredictionCounts>("counts");
    QTest::addColumn<QString>("upper");  ///< from left to right, a letter for ten tokens
    QTest::addColumn<QString>("lower");
    const auto row = [](const char* name, run::CountRange prompt, run::CountRange cached,
                        run::CountRange relocated, run::CountRange computed, const char* upper,
                        const char* lower) {
      PredictionCounts counts;
      counts.prompt = prompt;
      counts.cached = cached;
      counts.relocated = relocated;
      counts.computed = computed;
      QTest::newRow(name) << counts << QString(upper) << QString(lower);
    };
    row("known", {100, 100}, {70, 70}, {30, 30}, {30, 30}, "hhhhrrrccc", "hhhhrrrccc");
    row("here or elsewhere", {100, 100}, {70, 70}, {0, 50}, {30, 30}, "hhhhhhhccc", "hhrrrrrccc");
    row("found or not", {100, 100}, {10, 80}, {0, 0}, {20, 90}, "hhhhhhhhcc", "hccccccccc");
    row("nothing is known", {100, 100}, {0, 100}, {0, 0}, {0, 100}, "hhhhhhhhhh", "cccccccccc");
    row("a prompt of any length", {50, 100}, {50, 50}, {0, 0}, {0, 50}, "hhhhh.....", "hhhhh.....");
  }
  void boundsAreDrawnAsBoth() {
    QFETCH(PredictionCounts, counts);
    QFETCH(QString, upper);
    QFETCH(QString, lower);
    const Theme theme(Scheme::Light);
    const BlockPainter blocks(theme);
    QImage image(100, 16, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paintPredictionBar(painter, image.rect(), counts, blocks);
    painter.end();
    // A pattern leaves most of the fill as it is.
    const auto shown = [&](int top) {
      QString letters;
      for (int left = 0; left < 100; left += 10) {
        QMap<QChar, int> seen;
        for (int x = left + 1; x < left + 9; ++x) {
          for (int y = top; y < top + 5; ++y) {
            const QColor color = image.pixelColor(x, y);
            if (color == theme.fill(BlockRole::Hit)) ++seen['h'];
            if (color == theme.fill(BlockRole::Relocated)) ++seen['r'];
            if (color == theme.fill(BlockRole::Computed)) ++seen['c'];
            if (color == QColor(Qt::white)) ++seen['.'];
          }
        }
        const auto most = std::max_element(seen.cbegin(), seen.cend());
        letters += seen.isEmpty() ? QChar('?') : most.key();
      }
      return letters;
    };
    QCOMPARE(shown(2), upper);
    QCOMPARE(shown(9), lower);
  }

  void otherServersStandBesideIt() {
    PredictionView view;
    show(view, m_sent, {900, 600});
    QTRY_COMPARE(view.places().model()->rowCount(), 5);
    QVERIFY(view.places().isVisible());
    QStringList rows;
    for (const PredictionPlace& place : view.places().places())
      rows << place.name + QStringLiteral(": ") + foundText(place);
    QCOMPARE(rows, (QStringList{"With spans here: 70 of 83", "vLLM: 0 of 83", "SGLang: 14 of 83",
                                "llama.cpp, 4 slots: 14 of 83", "llama.cpp, one slot: 14 of 83"}));
    QCOMPARE(predictionSentence(view.model().table()),
             QStringLiteral("With spans here, next run: ") + computed(13));
    QVERIFY(!view.tree().isColumnHidden(Column::Relocated));

    QSignalSpy summary(&view, &View::summaryChanged);
    view.places().selectRow(placeRow(view, QStringLiteral("SGLang")));
    const PredictionTable& table = view.model().table();
    QCOMPARE(predictionSentence(table), worded("<for-run-there|On SGLang|%1>").arg(computed(69)));
    QVERIFY2(predictionComparison(table).contains(QStringLiteral("SGLang 0.5.23, by token")) &&
                 predictionComparison(table).contains(worded(QStringLiteral("<after-one-request>"))),
             qPrintable(predictionComparison(table)));
    QVERIFY(summary.last().front().toString().contains(QStringLiteral("SGLang")));
    QVERIFY(view.csv().contains(QStringLiteral("SGLang")) &&
            !view.csv().contains(QStringLiteral("With spans")));
    // The reasons, and the blocks of every part of the prompt.
    QCOMPARE(table.steps.size(), std::size_t{1});
    const PredictionStep& step = table.steps.front();
    QCOMPARE(step.sentences.size(), 2);
    QVERIFY2(step.sentences[0].startsWith(QStringLiteral("Tokens 0 to 13, cached: the longest prefix")),
             qPrintable(step.sentences[0]));
    QVERIFY2(step.sentences[1].startsWith(QStringLiteral("Tokens 14 to 82, computed: no branch")),
             qPrintable(step.sentences[1]));
    QStringList names;
    std::int64_t cached = 0;
    std::int64_t all = 0;
    for (const PredictionSegment& part : step.segments) {
      names << part.name;
      cached += part.account.cached();
      all += part.account.total();
      QVERIFY(!part.blocks.empty());
      QVERIFY(!part.blockWords.isEmpty());
    }
    QCOMPARE(names, (QStringList{"system", "document 2", "document 1", "document 3", "question"}));
    QCOMPARE(cached, std::int64_t{14});
    QCOMPARE(all, std::int64_t{83});
    // A block that holds the end of the cached tokens is a partial hit.
    QCOMPARE(step.segments[0].blocks.front().split, 14.0 / 16);
    QVERIFY(view.tree().isColumnHidden(Column::LastRun));

    // The list of places does not move when the button appears.
    const int top = view.places().y();
    QVERIFY(!view.blocksButton().isHidden() && view.blocksButton().y() > view.places().geometry().bottom());
    view.places().selectRow(0);
    QCoreApplication::processEvents();
    QVERIFY(view.blocksButton().isHidden());
    QCOMPARE(view.places().y(), top);
    view.places().selectRow(2);
    // The button takes no room from the places where there is little.
    view.resize(620, 190);
    QCoreApplication::processEvents();
    QVERIFY(!view.blocksButton().isHidden() && view.blocksButton().geometry().bottom() < view.places().y());
    const int beside = view.places().y();
    view.places().selectRow(0);
    QCoreApplication::processEvents();
    QVERIFY(view.blocksButton().isHidden());
    QCOMPARE(view.places().y(), beside);
    view.resize(700, 480);
    view.places().selectRow(2);

    // With an empty cache nothing is found, and the choice stays.
    view.setAgainst(Against::Empty);
    QCOMPARE(rangeText(view.model().table().totals.cached), QStringLiteral("0"));
    QVERIFY(predictionComparison(view.model().table()).contains(QStringLiteral("empty cache")));
    view.setAgainst(Against::Present);
    view.places().selectRow(0);
    QCOMPARE(view.model().table().shown, std::size_t{0});
  }

  /// Where the document is run on a server, that is what the dock is about; a model that cannot be opened
  /// here is nothing to it.
  void theServerOfTheDocumentComesFirst() {
    ViewInput input = m_sent;
    document::Document there = *input.document;
    there.settings.server = "gpu-3";
    input.document = std::make_shared<const document::Document>(there);
    input.servers = {"gpu-3"};
    PredictionView view;
    show(view, input, {900, 600});
    QTRY_COMPARE(view.places().model()->rowCount(), 6);
    const PredictionTable* table = &view.model().table();
    QCOMPARE(table->places[table->shown].id, QStringLiteral("server gpu-3"));
    QVERIFY2(says(predictionComparison(*table), "<nothing-sent-yet>"),
             qPrintable(predictionComparison(*table)));
    QVERIFY(table->steps.empty());

    // It has answered what was run.
    auto records = std::make_shared<RunRecords>();
    for (const auto& record : *input.records) {
      auto own = std::make_shared<RunRecord>(*record);
      auto metricValues = std::make_shared<trace::Progress>(*own->metricValues);
      trace::RunState run = metricValues->runs.at(own->run);
      run.policy = "vLLM on gpu-3";
      trace::ServerReported reported;
      reported.server = "gpu-3";
      reported.promptTokens = 83;
      for (const RequestId id : run.requests) {
        trace::RequestState request = metricValues->requests.at(id);
        request.reported = reported;
        metricValues->requests.set(id, request);
      }
      metricValues->runs.set(own->run, run);
      own->metricValues = metricValues;
      records->push_back(std::move(own));
    }
    input.records = records;
    auto prediction = std::make_shared<DocumentPrediction>(*input.prediction.newest);
    prediction->gap = PredictionGap::Problem;
    prediction->problem = "the model cannot be opened";
    input.prediction.newest = prediction;
    view.setInput(input);
    QTRY_COMPARE(view.model().table().steps.size(), std::size_t{1});
    table = &view.model().table();
    QCOMPARE(predictionSentence(*table), QStringLiteral("On gpu-3, vLLM, next run: ") + computed(3));
    QVERIFY2(predictionComparison(*table).contains(worded(QStringLiteral("<after-one-request-sent>"))),
             qPrintable(predictionComparison(*table)));
    QCOMPARE(table->places[0].problem, QStringLiteral("the model cannot be opened"));
    view.showPlace(table->places[0].id);
    QCOMPARE(predictionSentence(view.model().table()),
             worded(QStringLiteral("<next-run-not-predicted|%1>").arg(view.model().table().places[0].name)));
    QVERIFY(view.model().table().steps.empty());
  }

  void errorsAreSaid() {
    ViewInput input = m_swapped;
    auto prediction = std::make_shared<DocumentPrediction>(*m_swapped.prediction.newest);
    prediction->present.error = Error{.file = {}, .place = "pool", .found = "4 blocks", .expected = "more"};
    prediction->present.errorIsCertain = true;
    input.prediction.newest = prediction;
    const PredictionTable table = predictionTable(input, Against::Present);
    QVERIFY(table.errorIsCertain && table.error.contains(QStringLiteral("4 blocks")));
    QCOMPARE(predictionTable(input, Against::Empty).error, QString());
  }

  void model_data() {
    QTest::addColumn<ViewInput*>("input");
    QTest::newRow("swapped") << &m_swapped;
    QTest::newRow("judge") << &m_judge;
  }
  void model() {
    QFETCH(ViewInput*, input);
    PredictionModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setTable(predictionTable(*input, Against::Present), Theme());
    const PredictionTable& table = model.table();
    QCOMPARE(model.rowCount(), static_cast<int>(table.steps.size()));
    for (int row = 0; row < model.rowCount(); ++row) {
      const PredictionStep& step = table.steps[static_cast<std::size_t>(row)];
      const QModelIndex index = model.index(row, 0);
      const int sentences = static_cast<int>(step.sentences.size());
      QCOMPARE(model.rowCount(index), static_cast<int>(step.segments.size()) + sentences);
      QCOMPARE(cell(model, row, Column::Name), step.name);
      QCOMPARE(model.isSentence(model.index(0, 0, index)), sentences == 1);
      for (std::size_t i = 0; i < step.segments.size(); ++i) {
        const QModelIndex segment = model.index(static_cast<int>(i) + sentences, 0, index);
        QCOMPARE(model.segment(segment), &step.segments[i]);
        QCOMPARE(model.parent(segment), index);
        QVERIFY(segment.siblingAtColumn(Column::Blocks)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(step.segments[i].blockWords));
      }
    }
    model.setTable({}, Theme());
    QCOMPARE(model.rowCount(), 0);
  }

  /// A click selects the node on the canvas; a node selected there is marked here.
  void selectionIsLinked() {
    PredictionView view;
    show(view, m_swapped);
    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view, [&](const Selection& s) { wanted.push_back(s); });
    const PredictionModel& model = view.model();
    const QModelIndex document = model.index(2, 0, model.index(0, 0));
    QTest::mouseClick(view.tree().viewport(), Qt::LeftButton, {}, view.tree().visualRect(document).center());
    QCOMPARE(wanted.size(), std::size_t{1});
    QCOMPARE(wanted[0].currentNode(), model.node(document));
    ViewInput input = m_swapped;
    input.selection.nodes = {model.node(model.index(3, 0, model.index(0, 0)))};
    view.setInput(input);
    QTRY_COMPARE(view.tree().currentIndex().row(), 3);
    // By the keyboard as well.
    view.tree().setFocus();
    QTest::keyClick(&view.tree(), Qt::Key_Return);
    QCOMPARE(wanted.back().currentNode(), input.selection.nodes[0]);
  }

  void foldedStepsStayFolded() {
    PredictionView view;
    show(view, m_swapped);
    QVERIFY(view.tree().isExpanded(view.model().index(0, 0)));
    view.tree().collapse(view.model().index(0, 0));
    view.setInput(m_repeated);
    QTRY_VERIFY(!view.tree().isExpanded(view.model().index(0, 0)));
  }

  void theCacheIsChosen() {
    PredictionView view;
    show(view, m_repeated);
    const std::unique_ptr<QWidget> controls(view.takeTitleControls());
    auto* box = controls->findChild<QComboBox*>();
    QVERIFY(box);
    box->setCurrentIndex(1);
    QCOMPARE(rangeText(view.model().table().totals.computed), QStringLiteral("83"));
    QVERIFY(view.csv().contains(QStringLiteral("83")));
  }

  void treesArePaired_data() {
    using Lines = std::vector<plan::TreeLine>;
    QTest::addColumn<Lines>("before");
    QTest::addColumn<Lines>("after");
    QTest::addColumn<QStringList>("rows");
    const Lines abc{line(0, "a"), line(1, "b"), line(1, "c")};
    QTest::newRow("same") << abc << abc << QStringList{"  a|  a", "    b|    b", "    c|    c"};
    QTest::newRow("one replaced") << abc << Lines{line(0, "a"), line(1, "x"), line(1, "c")}
                                  << QStringList{"  a|  a", "−   b|+   x", "    c|    c"};
    QTest::newRow("one added") << abc << Lines{line(0, "a"), line(1, "b"), line(1, "x"), line(1, "c")}
                               << QStringList{"  a|  a", "    b|    b", "|+   x", "    c|    c"};
    QTest::newRow("all gone") << abc << Lines{} << QStringList{"− a|", "−   b|", "−   c|"};
    QTest::newRow("deeper") << Lines{line(0, "a")} << Lines{line(1, "a")} << QStringList{"− a|+   a"};
  }
  void treesArePaired() {
    QFETCH(std::vector<plan::TreeLine>, before);
    QFETCH(std::vector<plan::TreeLine>, after);
    QFETCH(QStringList, rows);
    TreePairModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRows(pairTrees(before, after), Theme());
    QCOMPARE(shownRows(model), rows);
  }

  /// Too many lines to be matched one by one: all of both are there, in order.
  void largeTreesAreShownWhole() {
    std::vector<plan::TreeLine> before;
    std::vector<plan::TreeLine> after;
    for (int i = 0; i < 5000; ++i) {
      before.push_back(line(0, ("a" + std::to_string(i)).c_str()));
      after.push_back(line(0, ("b" + std::to_string(i)).c_str()));
    }
    const std::vector<TreePairRow> rows = pairTrees(before, after);
    QCOMPARE(rows.size(), std::size_t{5000});
    QCOMPARE(rows.back().before->label, std::string("a4999"));
    QCOMPARE(rows.back().after->label, std::string("b4999"));
  }

  void passesShowTheirTrees() {
    PlanView view;
    show(view, m_judge);
    QCOMPARE(view.page(), PlanView::Page::Rules);
    PassView& passes = view.passes();
    const std::size_t count = m_judge.prediction.newest->plan->passes.size();
    QVERIFY(count >= 3);
    QCOMPARE(passes.list().count(), static_cast<int>(count) + 1);
    const QStringList whole = shownRows(passes.model());
    QVERIFY(!whole.filter(QStringLiteral("repeat")).isEmpty());
    QTest::keyClick(&passes.list(), Qt::Key_Down);
    QCOMPARE(passes.chosen(), 1);
    QVERIFY(shownRows(passes.model()) != whole);
    QVERIFY(!shownRows(passes.model()).filter(QStringLiteral("+ ")).isEmpty());
    QVERIFY(view.csv().contains(QStringLiteral("distribute plus")));

    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view, [&](const Selection& s) { wanted.push_back(s); });
    const QModelIndex system = passes.model().index(2, 0);
    QTest::mouseClick(passes.trees().viewport(), Qt::LeftButton, {},
                      passes.trees().visualRect(system).center());
    QCOMPARE(wanted.size(), std::size_t{1});
    QVERIFY(m_judge.document->contains(wanted[0].currentNode()));
  }

  void planViewTurnsToWhatThereIs() {
    PlanView view;
    ViewInput input = m_repeated;
    input.prediction.newest = nullptr;
    show(view, input);
    QCOMPARE(view.page(), PlanView::Page::Steps);  // a run, and nothing planned ahead
    view.setInput(m_repeated);
    QTRY_COMPARE(view.page(), PlanView::Page::Rules);
    view.setPage(PlanView::Page::Steps);
    QCOMPARE(view.page(), PlanView::Page::Steps);
    QVERIFY(view.table().isVisible());
    view.setInput(m_judge);
    QTRY_COMPARE(view.page(), PlanView::Page::Rules);  // nothing has run
  }

  /// With SPANSCOPE_PICTURES set to a folder, the pictures stay there to be looked at.
  void viewsDraw() {
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      qApp->setPalette(theme.palette());
      qApp->setStyleSheet(theme.styleSheet());
      int number = 0;
      for (ViewInput input : {m_swapped, m_judge}) {
        input.theme = theme;
        PredictionView prediction;
        PlanView plan;
        for (View* view : {static_cast<View*>(&prediction), static_cast<View*>(&plan)}) {
          show(*view, input);
          const QImage shown = view->grab().toImage();
          QSet<QRgb> colours;
          for (int y = 0; y < shown.height(); y += 3) {
            for (int x = 0; x < shown.width(); x += 3) colours.insert(shown.pixel(x, y));
          }
          QVERIFY(colours.size() > 6);
          if (folder.isEmpty()) continue;
          QVERIFY(shown.save(
              QStringLiteral("%1/%2-%3-%4.png")
                  .arg(folder, view == &plan ? QStringLiteral("rules") : QStringLiteral("prediction"),
                       scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"))
                  .arg(number)));
        }
        ++number;
      }
    }
  }

 private:
  ViewInput m_repeated;  ///< the same query again after it has run
  ViewInput m_swapped;
  ViewInput m_sent;     ///< the same, with what was run in this window
  ViewInput m_layouts;  ///< its documents in another order, after it has run
  ViewInput m_judge;    ///< another query, before it has run
};

SPANSCOPE_TEST(tst_prediction_views, TestPredictionViews, QApplication)
#include "tst_prediction_views.moc"
