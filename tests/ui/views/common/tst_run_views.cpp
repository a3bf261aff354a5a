// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/compare/compare_view.h"
#include "ui/views/log/log_view.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/views/output/output_view.h"
#include "ui/views/plan/plan_view.h"
#include "ui/views/scrubber/scrubber.h"
#include "ui/views/scrubber/scrubber_track.h"
#include "ui/views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCoreApplication>
#include <QDir>
#include <QHelpEvent>
#include <QList>
#include <QModelIndex>
#include <QObject>
#include <QPoint>
#include <QPointF>
#include <QSet>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QStyleOptionComboBox>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>
#include <set>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

struct Wanted {
  std::vector<Selection> selections;
  std::vector<std::size_t> positions;

  explicit Wanted(View& view) {
    QObject::connect(&view, &View::selectionWanted, &view,
                     [this](const Selection& s) { selections.push_back(s); });
    QObject::connect(&view, &View::positionWanted, &view, [this](std::size_t p) { positions.push_back(p); });
  }
};

const QStringList kRunViews{
    QStringLiteral("attention"), QStringLiteral("output"),   QStringLiteral("plan"),
    QStringLiteral("timeline"),  QStringLiteral("metrics"),  QStringLiteral("compare"),
    QStringLiteral("log"),       QStringLiteral("scrubber"), QStringLiteral("mask")};

std::unique_ptr<View> makeView(const QString& id) {
  for (const ViewInfo& info : viewTable()) {
    if (info.id == id) return std::unique_ptr<View>(info.make(nullptr));
  }
  return nullptr;
}

QSize sizeOf(const QString& id) {
  if (id == QLatin1String("scrubber")) return {1200, 48};
  if (id == QLatin1String("timeline")) return {1100, 260};
  if (id == QLatin1String("metrics")) return {1100, 460};
  return {600, 460};
}

template <class T>
void show(T& view, const ViewInput& input, const QSize& size) {
  view.resize(size);
  view.setInput(input);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  QCoreApplication::processEvents();
}

/// Keys of actions reach only a widget with the focus, in the active window.
void focus(QWidget& widget) {
  widget.window()->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(widget.window()));
  widget.setFocus();
}

}  // namespace

class TestRunViews : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    test::RunRecorder recorder;
    document::Document rag = test::exampleDocument("rag.json");
    recorder.run(rag);
    recorder.run(test::swapped(rag));
    m_rag = recorder.recorded();
    recorder.forgetPaths();
    recorder.run(test::exampleDocument("judge-4.json"));
    m_judge = recorder.recorded();
  }

  void everyViewDraws_data() {
    QTest::addColumn<QString>("id");
    for (const QString& id : kRunViews) QTest::newRow(qPrintable(id)) << id;
  }

  /// With SPANSCOPE_PICTURES set to a folder, the pictures stay there to be looked at.
  void everyViewDraws() {
    QFETCH(QString, id);
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      qApp->setPalette(theme.palette());
      qApp->setStyleSheet(theme.styleSheet());
      const QString dark = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
      int number = 0;
      for (const ViewInput& input : {m_rag.input(scheme), m_judge.input(scheme), m_rag.input(0, scheme)}) {
        const std::unique_ptr<View> view = makeView(id);
        QVERIFY(view);
        show(*view, input, sizeOf(id));
        QVERIFY(!view->accessibleName().isEmpty());
        const bool empty = input.position == 0;
        QCOMPARE(view->csv().isEmpty(), empty);
        const QImage shown = view->grab().toImage();
        QImage painted(sizeOf(id), QImage::Format_ARGB32_Premultiplied);
        painted.fill(Qt::transparent);
        QPainter painter(&painted);
        view->paintTo(painter, painted.size());
        painter.end();
        for (const QImage& picture : {shown, painted}) {
          QSet<QRgb> colours;
          for (int y = 0; y < picture.height(); y += 3) {
            for (int x = 0; x < picture.width(); x += 3) colours.insert(picture.pixel(x, y));
          }
          QVERIFY(colours.size() > 3);
        }
        if (!folder.isEmpty()) {
          const QString name = QStringLiteral("%1/%2-%3-%4").arg(folder, id, dark).arg(number++);
          QVERIFY(shown.save(name + QStringLiteral(".png")));
          QVERIFY(painted.save(name + QStringLiteral("-painted.png")));
          const std::unique_ptr<QWidget> controls(view->takeTitleControls());
          if (controls && number == 1) {
            controls->adjustSize();
            QVERIFY(controls->grab().save(name + QStringLiteral("-controls.png")));
          }
        }
      }
      qApp->setStyleSheet({});
    }
  }

  void hiddenViewsComputeWhenShown() {
    OutputView view;
    view.setInput(m_rag.input());
    QVERIFY(view.model().answers.empty());
    view.show();
    QCOMPARE(view.model().answers.size(), std::size_t{2});
  }

  void attentionClickSelectsBlockAndNode() {
    AttentionView view;
    view.setDisplay(AttentionDisplay::Map);
    view.setOptions({});
    show(view, m_rag.input(), {600, 500});
    Wanted wanted(view);
    const AttentionModel& model = view.model();
    const AttentionSegment question = model.segments[4];
    const QPoint cell =
        view.plot().cellRect({question.firstRow, 1, model.segments[1].firstColumn, 1}).center().toPoint();
    QTest::mouseClick(&view.plot(), Qt::LeftButton, {}, cell);
    QCOMPARE(wanted.selections.size(), std::size_t{1});
    QVERIFY(wanted.selections[0].block);
    QCOMPARE(*wanted.selections[0].block,
             (BlockRef{.request = model.request, .segment = 4, .virtualIndex = 0}));
    QCOMPARE(wanted.selections[0].currentNode(), question.id);
    QVERIFY(question.id != document::kNoNode);
    QVERIFY2(view.readout().contains(QStringLiteral("→")), qPrintable(view.readout()));

    ViewInput input = m_rag.input();
    input.selection = wanted.selections[0];
    view.setInput(input);
    QTRY_COMPARE(view.plot().marks().row, std::optional<std::int32_t>(question.firstRow));
    QCOMPARE(view.plot().marks().column, std::optional<std::int32_t>(question.firstColumn));
    QCOMPARE(view.plot().marks().parts, std::vector<std::size_t>{4});
  }

  void attentionKeysMoveZoomAndOpen() {
    AttentionView view;
    view.setDisplay(AttentionDisplay::Map);
    view.setOptions({});
    show(view, m_rag.input(), {600, 500});
    AttentionPlot& plot = view.plot();
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_Up);
    QVERIFY(plot.cursor());
    const std::int32_t row = plot.cursor()->row;
    QTest::keyClick(&plot, Qt::Key_Up);
    QCOMPARE(plot.cursor()->row, row - 1);
    QTest::keyClick(&plot, Qt::Key_Right);
    QCOMPARE(plot.cursor()->column, 1);
    QTest::keyClick(&plot, Qt::Key_Plus);
    QVERIFY(plot.xAxis->range().size() < view.model().columns);
    QTest::keyClick(&plot, Qt::Key_F);
    QCOMPARE(plot.xAxis->range().size(), static_cast<double>(view.model().columns));

    // A document was recorded block by block only; of the question the decoded tokens are there.
    plot.setCursorCell(AttentionCell{view.model().segments[1].firstRow, 0});
    QTest::keyClick(&plot, Qt::Key_Return);
    QVERIFY(view.readout().contains(QStringLiteral("Record every token")));
    QVERIFY(!view.options().tokensOf);
    plot.setCursorCell(AttentionCell{view.model().segments[4].firstRow, 0});
    QTest::keyClick(&plot, Qt::Key_Return);
    QCOMPARE(view.options().tokensOf, std::optional<std::uint32_t>(4));
    QTest::keyClick(&plot, Qt::Key_Escape);
    QVERIFY(!view.options().tokensOf);
  }

  void attentionChoosersChooseLayerAndHead() {
    AttentionView view;
    show(view, m_rag.input(), {600, 500});
    const std::unique_ptr<QWidget> controls(view.takeTitleControls());
    const QList<QComboBox*> boxes = controls->findChildren<QComboBox*>();
    QCOMPARE(boxes.size(), 2);
    QCOMPARE(boxes[0]->count(), 7);
    boxes[0]->setCurrentIndex(3);
    boxes[1]->setCurrentIndex(1);
    QCOMPARE(view.options().layer, std::optional<std::int32_t>(2));
    QCOMPARE(view.options().head, std::optional<std::int32_t>(0));
    QVERIFY(view.model() == attentionModel(m_rag.input(), view.options()));
  }

  void scrubberTipsNameTheEvent() {
    Scrubber view;
    const ViewInput input = m_judge.input();
    show(view, input, {1000, 46});
    const auto& track = *view.findChild<ScrubberTrack*>();
    const TraceStore& trace = *input.trace;
    for (const std::size_t position : {std::size_t{1}, trace.size() / 2, trace.size()}) {
      const QString facts = track.factsAt(track.xOf(position));
      QVERIFY2(facts.startsWith(QStringLiteral("event %1 of %2: ").arg(position).arg(trace.size())),
               qPrintable(facts));
      const QString event = QString::fromStdString(trace::describe(trace.event(position - 1))).simplified();
      QVERIFY2(facts.contains(event.left(100)), qPrintable(facts));
      const QString plain = EventNames(input).of(trace.event(position - 1));
      QVERIFY2(facts.section(QLatin1Char('\n'), 0, 0).endsWith(plain), qPrintable(facts));
    }
    QCOMPARE(track.factsAt(0), QStringLiteral("event 0 of %1").arg(trace.size()));
    QVERIFY2(track.accessibleDescription().endsWith(view.model().event),
             qPrintable(track.accessibleDescription()));
  }

  /// Shift marks a range with mouse and keys, moves nothing, and gives totals to copy.
  void scrubberRangesGiveTotals() {
    Scrubber view;
    const ViewInput input = m_rag.input();
    show(view, input, {1200, 70});
    Wanted wanted(view);
    ScrubberTrack& track = view.track();
    const std::size_t total = input.trace->size();
    const auto at = [&](std::size_t position) {
      return QPoint(static_cast<int>(track.xOf(position)), track.height() / 2);
    };
    QVERIFY(view.totalsText().isEmpty());
    QTest::mousePress(&track, Qt::LeftButton, Qt::ShiftModifier, at(total / 4));
    QMouseEvent move(QEvent::MouseMove, at(total / 2), track.mapToGlobal(at(total / 2)), Qt::NoButton,
                     Qt::LeftButton, Qt::ShiftModifier);
    QApplication::sendEvent(&track, &move);
    QTest::mouseRelease(&track, Qt::LeftButton, Qt::ShiftModifier, at(total / 2));
    QVERIFY(!track.marked().isEmpty());
    QCOMPARE(view.totalsText(), rangeText(rangeTotals(*input.trace, track.marked())));
    QVERIFY(wanted.positions.empty());
    QApplication::clipboard()->clear();
    track.setFocus();
    QTest::keyClick(&track, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), view.totalsText());
    QTest::keyClick(&track, Qt::Key_Escape);
    QVERIFY(track.marked().isEmpty() && view.totalsText().isEmpty());

    // The position is at the end.
    QTest::keyClick(&track, Qt::Key_Left, Qt::ShiftModifier);
    QVERIFY((track.marked() == EventRange{total - 1, total}));
    QTest::keyClick(&track, Qt::Key_Home, Qt::ShiftModifier);
    QVERIFY((track.marked() == EventRange{0, total}));
    QVERIFY(wanted.positions.empty());

    // Another trace has another range.
    view.setInput(m_judge.input());
    QVERIFY(track.marked().isEmpty());
  }

  void timelineClickSelectsAndWheelZooms() {
    TimelineView view;
    show(view, m_judge.input(), {1000, 260});
    Wanted wanted(view);
    TimelineTable& table = view.table();
    const QPoint bar = table.barRect(2, view.model().rows[2].bars.back()).center().toPoint();
    QVERIFY(table.factsAt(bar).contains(view.model().rows[2].name));
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, bar);
    QCOMPARE(wanted.selections.size(), std::size_t{1});
    QCOMPARE(wanted.selections[0].request, std::optional<RequestId>(view.model().rows[2].request));
    QVERIFY(wanted.selections[0].currentNode() != document::kNoNode);

    const auto length = [&table] { return table.scale().end - table.scale().begin; };
    const double before = length();
    QWheelEvent wheel(bar, table.viewport()->mapToGlobal(bar), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(table.viewport(), &wheel);
    QVERIFY(length() < before);
    focus(table);
    const double begin = table.scale().begin;
    QTest::keyClick(&table, Qt::Key_Right);
    QVERIFY(table.scale().begin > begin);
    QTest::keyClick(&table, Qt::Key_F);
    QCOMPARE(length(), before);
    QTest::keyClick(&table, Qt::Key_Up);
    QCOMPARE(wanted.selections.size(), std::size_t{2});
    QCOMPARE(wanted.selections[1].request, std::optional<RequestId>(view.model().rows[1].request));
    QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QApplication::clipboard()->text().startsWith(view.model().rows[1].name + QLatin1Char('\t')));
  }

  void outputCopies() {
    OutputView view;
    show(view, m_rag.input(), {500, 400});
    QCOMPARE(view.cards().size(), std::size_t{2});
    QTest::mouseClick(&view.cards()[0]->copyButton(), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), view.model().answers[0].text);
    Wanted wanted(view);
    focus(*view.cards()[1]);
    QTest::keyClick(view.cards()[1], Qt::Key_Return);
    QCOMPARE(wanted.selections.size(), std::size_t{1});
    QTest::keyClick(view.cards()[1], Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), view.model().answers[1].text);
    QCOMPARE(wanted.selections[0].request, std::optional<RequestId>(view.model().answers[1].request));
  }

  void outputStreams() {
    OutputView view;
    const ViewInput whole = m_rag.input();
    ViewInput input = whole;
    const RequestEvents* events = whole.trace->request(1);
    input.position = events->of<trace::TokenGenerated>()[2] + 1;
    show(view, input, {500, 400});
    QCOMPARE(view.model().answers[0].state, AnswerState::Streaming);
    const QString text = view.model().answers[0].text;
    input.position = events->of<trace::TokenGenerated>()[4] + 1;
    view.setInput(input);
    QTRY_VERIFY(view.model().answers[0].text.size() > text.size());
    QVERIFY(view.model().answers[0].text.startsWith(text));
  }

  void compareChooses() {
    CompareView view;
    show(view, m_judge.input(), {600, 400});
    const std::unique_ptr<QWidget> controls(view.takeTitleControls());
    const QList<QComboBox*> boxes = controls->findChildren<QComboBox*>();
    QCOMPARE(boxes[0]->count(), 3);
    QCOMPARE(view.model().left, RunId{2});
    boxes[0]->setCurrentIndex(0);
    QCOMPARE(view.model().left, RunId{1});
    QCOMPARE(view.model().right, RunId{3});
  }

  void planSelectsTheStep() {
    PlanView view;
    show(view, m_judge.input(), {600, 400});
    Wanted wanted(view);
    const QModelIndex cell = view.table().model()->index(3, 1);
    QTest::mouseClick(view.table().viewport(), Qt::LeftButton, {}, view.table().visualRect(cell).center());
    QCOMPARE(wanted.selections.size(), std::size_t{1});
    QCOMPARE(wanted.selections[0].request, std::optional<RequestId>(view.model().steps[3].request));
  }

  void logOpensTheMoment() {
    LogView view;
    show(view, m_rag.input(), {600, 400});
    Wanted wanted(view);
    view.table().setFocus();
    view.table().selectRow(1);
    view.table().setCurrentIndex(view.model().index(1, 0));
    QTest::keyClick(&view.table(), Qt::Key_Return);
    QCOMPARE(wanted.positions, std::vector<std::size_t>{view.model().eventIndex(1) + 1});
    view.setOptions({.allEvents = true});
    QCOMPARE(view.model().rowCount(), static_cast<int>(m_rag.events.size()));
  }

  void metricsCardsAreNoTowers_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("columns");  // at most
    QTest::newRow("wide and low") << QSize(1720, 420) << 6;
    QTest::newRow("wide and high") << QSize(1600, 760) << 5;
    QTest::newRow("narrow") << QSize(620, 900) << 2;
    QTest::newRow("narrow and high") << QSize(300, 1600) << 1;
  }
  void metricsCardsAreNoTowers() {
    QFETCH(const QSize, size);
    QFETCH(const int, columns);
    MetricsView view;
    show(view, m_judge.input(), size);
    std::set<int> tops;
    for (const MetricCard* card : view.cards()) tops.insert(card->y());
    const auto cards = static_cast<int>(view.cards().size());
    QCOMPARE(static_cast<int>(tops.size()), (cards + columns - 1) / columns);
  }

  /// Whatever is drawn is named: beside the title as far as there is room, then beside the value. Nothing of
  /// it lies on anything else.
  void everySeriesIsNamed_data() {
    QTest::addColumn<int>("width");
    for (const int width : {230, 260, 290, 320, 480}) QTest::addRow("%d px", width) << width;
  }
  void everySeriesIsNamed() {
    QFETCH(int, width);
    MetricsView view;
    show(view, m_judge.input(), {900, 600});
    for (const MetricCard* card : view.cards()) {
      int leftOut = 0;
      int overlap = 0;
      const std::vector<std::optional<QRect>> places = card->legend(width);
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) ++leftOut;
        for (std::size_t j = 0; places[i] && j < i; ++j)
          overlap += places[j] ? places[i]->intersected(*places[j]).width() : 0;
        QVERIFY(!places[i] || QRect(0, 0, width, 48).contains(*places[i]));
      }
      QVERIFY2(leftOut == 0 && overlap == 0,
               qPrintable(QStringLiteral("%1: %2 names left out, %3 px on each other")
                              .arg(card->content().title)
                              .arg(leftOut)
                              .arg(overlap)));
    }
  }

  /// Marks that lie on each other are drawn as plainly as they are seen; each is still found.
  void crowdedMetricsAreDrawnPlainly_data() {
    QTest::addColumn<int>("runs");
    QTest::addColumn<bool>("isPlain");
    QTest::newRow("a few runs") << 40 << false;
    QTest::newRow("2000 runs") << 2000 << true;
  }
  void crowdedMetricsAreDrawnPlainly() {
    QFETCH(const int, runs);
    QFETCH(const bool, isPlain);
    MetricCardContent content;
    for (const SeriesKind kind : {SeriesKind::Bars, SeriesKind::Markers, SeriesKind::Line}) {
      PlotSeries series{.kind = kind, .name = QStringLiteral("series"), .points = {}};
      if (kind == SeriesKind::Bars) series.role = BlockRole::Relocated;
      for (int run = 1; run <= runs; ++run)
        series.points.push_back({.x = double(run), .y = double(run % 7), .text = QString::number(run)});
      content.series.push_back(series);
    }
    MetricCard card;
    card.resize(400, 240);
    card.setContent(content, Theme());
    card.show();
    card.plot().replot();
    QCOMPARE(card.plot().graph(0)->scatterStyle().shape() == QCPScatterStyle::ssDot, isPlain);
    QCOMPARE(card.plot().graph(1)->scatterStyle().isNone(), isPlain);
    const auto* bars = qobject_cast<QCPBars*>(card.plot().plottable(0));
    QVERIFY(bars != nullptr);
    QCOMPARE(bars->pen().style() == Qt::NoPen, isPlain);
    QCOMPARE(bars->dataCount(), runs);
    const QPointF last(card.plot().xAxis->coordToPixel(runs), card.plot().yAxis->coordToPixel(runs % 7));
    const PlotPoint* found = card.pointAt(last);
    QVERIFY(found != nullptr);
    QCOMPARE(found->text, QString::number(runs));
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (!folder.isEmpty()) card.grab().save(QStringLiteral("%1/card-%2-runs.png").arg(folder).arg(runs));
  }

  void metricsPointsSelect() {
    MetricsView view;
    show(view, m_judge.input(), {1100, 460});
    Wanted wanted(view);
    MetricCard& card = *view.cards()[0];
    focus(card);
    QTest::keyClick(&card, Qt::Key_Left);
    QTest::keyClick(&card, Qt::Key_Return);
    QCOMPARE(wanted.selections.size(), std::size_t{1});
    QVERIFY(wanted.selections[0].request);
    QVERIFY(!card.content().value.isEmpty());
    QVERIFY(card.content().change.contains(QStringLiteral("vs run")));
  }

  /// A name that is longer than its box ends in an ellipsis: no letter is cut by the edge. The tool tip has
  /// all of it.
  void scrubberNamesOfRunsAreCutByAnEllipsis_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<bool>("fits");
    QTest::newRow("short") << QStringLiteral("spans") << true;
    QTest::newRow("long") << QStringLiteral("blend(0.125, layer 3, by values, 12 filtering layers)") << false;
  }
  void scrubberNamesOfRunsAreCutByAnEllipsis() {
    QFETCH(QString, policy);
    QFETCH(bool, fits);
    test::Recorded recorded = m_rag;
    for (trace::Event& event : recorded.events) {
      if (auto* started = std::get_if<trace::RunStarted>(&event.payload))
        started->policy = policy.toStdString();
    }
    const Theme theme(Scheme::Light);
    qApp->setPalette(theme.palette());
    qApp->setStyleSheet(theme.styleSheet());
    Scrubber view;
    show(view, recorded.input(), {900, 48});
    auto* const runs = view.findChild<QComboBox*>();
    QVERIFY(runs != nullptr && runs->isVisible());
    QVERIFY2(runs->currentText().contains(policy), qPrintable(runs->currentText()));

    QStyleOptionComboBox option;
    option.initFrom(runs);
    option.subControls = QStyle::SC_All;
    const QRect field =
        runs->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, runs);
    const QFontMetrics metrics(runs->font());
    QCOMPARE(metrics.horizontalAdvance(runs->currentText()) <= field.width(), fits);
    // The columns beside the end of the field are empty.
    const QImage picture = runs->grab().toImage();
    int inked = 0;
    for (int x = field.right() - 1; x <= field.right(); ++x) {
      for (int y = 6; y < picture.height() - 6; ++y)
        inked += picture.pixel(x, y) == picture.pixel(field.left() - 1, y) ? 0 : 1;
    }
    QCOMPARE(inked, 0);
    QHelpEvent help(QEvent::ToolTip, QPoint(8, 8), runs->mapToGlobal(QPoint(8, 8)));
    QApplication::sendEvent(runs, &help);
    QCOMPARE(QToolTip::text().contains(runs->currentText()), !fits);
    QToolTip::hideText();
    if (auto* elided = dynamic_cast<ElidedCombo*>(runs)) {
      QCOMPARE(elided->shown().endsWith(QStringLiteral("…")), !fits);
      QCOMPARE(elided->shown() == runs->currentText(), fits);
    }
  }

  /// The name of a run has precedence over the long label. A window of 1024 pixels has such a scrubber.
  void scrubberShowsTheWholeRunBeforeTheTime() {
    test::Recorded recorded = m_rag;
    for (trace::Event& event : recorded.events) {
      if (auto* started = std::get_if<trace::RunStarted>(&event.payload)) started->policy = "spans, padded";
    }
    qApp->setStyleSheet(Theme(Scheme::Light).styleSheet());
    Scrubber view;
    show(view, recorded.input(), {727, 48});
    const auto* runs = dynamic_cast<ElidedCombo*>(view.findChild<QComboBox*>());
    QVERIFY(runs != nullptr && runs->isVisible());
    QTRY_COMPARE(runs->shown(), runs->currentText());
  }

  void scrubberAsksForPositions() {
    Scrubber view;
    ViewInput input = m_rag.input();
    const std::size_t total = input.trace->size();
    show(view, input, {1200, 48});
    Wanted wanted(view);
    // What the window does with it.
    QObject::connect(&view, &View::positionWanted, &view, [&](std::size_t position) {
      input.position = position;
      view.setInput(input);
    });
    view.track().setFocus();
    QTest::keyClick(&view.track(), Qt::Key_Left);
    QCOMPARE(input.position, total - 1);
    QTest::keyClick(&view.track(), Qt::Key_Home);
    QCOMPARE(input.position, std::size_t{0});
    view.step(1);
    QCOMPARE(input.position, std::size_t{1});
    QTest::mouseClick(&view.track(), Qt::LeftButton, {},
                      QPoint(static_cast<int>(view.track().xOf(total / 2)), view.track().height() / 2));
    QVERIFY(input.position > total / 2 - total / 100 - 2 && input.position < total / 2 + total / 100 + 2);
    QVERIFY2(view.label().startsWith(QStringLiteral("event %1 of %2").arg(input.position).arg(total)),
             qPrintable(view.label()));
    view.toEnd();
    QCOMPARE(input.position, total);

    view.setPlaying(true);
    QVERIFY(view.isPlaying());
    QCOMPARE(input.position, std::size_t{0});
    QTRY_VERIFY(input.position > 2);
    QTest::keyClick(&view, Qt::Key_Space);
    QVERIFY(!view.isPlaying());
    QVERIFY(!wanted.positions.empty());
  }

 private:
  test::Recorded m_rag;
  test::Recorded m_judge;
};

SPANSCOPE_TEST(tst_run_views, TestRunViews, QApplication)
#include "tst_run_views.moc"
