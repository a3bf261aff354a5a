// SPDX-License-Identifier: GPL-3.0-or-later
// The map of twenty documents: rows of the answer, what is opened, scales, and names that are never left out.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/attention/attention_layers.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/attention/head_grid.h"
#include "ui/views/attention/share_bar.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/short_names.h"

#include <QObject>
#include <QPoint>
#include <QRect>
#include <QRectF>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

AttentionOptions answerOptions() {
  AttentionOptions options;
  options.rowSet = AttentionRowSet::Answer;
  options.grain = AttentionGrain::Segments;
  return options;
}

double rowSum(const AttentionModel& model, std::int32_t row) {
  double sum = 0;
  for (std::int32_t column = 0; column < model.columns; ++column)
    sum += static_cast<double>(model.mass[model.at(row, column)]);
  return sum;
}

void give(AttentionView& view, const ViewInput& input, const QSize& size) {
  view.setDisplay(AttentionDisplay::Map);
  view.resize(size);
  view.setInput(input);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
}

}  // namespace

class TestAttentionMap : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The rules between hundreds of segments do not cover their cells, nor do names cover each other.
  void hundredsOfSegmentsAreSeen() {
    constexpr std::int32_t kSegments = 300;
    constexpr std::int32_t kRows = 6;
    AttentionModel model;
    model.request = 1;
    model.recorded = true;
    model.rowSet = AttentionRowSet::Answer;
    model.columns = kSegments;
    for (std::int32_t i = 0; i < kSegments; ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      const QString name = QStringLiteral("document %1").arg(i + 1);
      AttentionSegment segment;
      segment.segment = number;
      segment.name = name;
      segment.blocks = 1;
      segment.firstColumn = i;
      segment.columns = 1;
      model.segments.push_back(segment);
      AttentionPart part;
      part.segment = number;
      part.name = name;
      part.firstColumn = i;
      part.columns = 1;
      model.parts.push_back(part);
    }
    for (std::int32_t i = 0; i < kRows; ++i) {
      AttentionRow& row = model.rows.emplace_back();
      row.answer = i;
      row.answers = 1;
      row.source = RowSource::Computed;
    }
    model.mass.assign(kSegments * kRows, 0.01F);
    model.states.assign(kSegments * kRows, CellState::Measured);
    model.highest = 0.02F;
    model.lowest = 0.01F;
    AttentionPlot plot;
    for (const int width : {380, 1400}) {
      plot.resize(width, 240);
      plot.setContent(model, Theme(Scheme::Light), {});
      plot.layOut(plot.size());
      plot.fit();
      const QImage image = plot.toPixmap(width, 240).toImage();
      const QRect cells = plot.axisRect()->rect();
      int seen = 0;
      for (int x = cells.left(); x <= cells.right(); ++x)
        seen += image.pixelColor(x, cells.center().y()) != Theme(Scheme::Light).color(Role::Surface) ? 1 : 0;
      QVERIFY2(seen * 10 >= cells.width() * 6,
               qPrintable(QStringLiteral("%1 of %2").arg(seen).arg(cells.width())));
      double before = -100;
      for (const ColumnName& name : plot.columnNames()) {
        if (name.text.isEmpty()) continue;
        QVERIFY(!plot.hasUprightNames() || name.columns.center().x() - before >= 10);
        before = name.columns.center().x();
      }
    }
  }

  void aRowIsATokenOfTheAnswer() {
    const AttentionModel model = attentionModel(test::twentyDocuments(), answerOptions());
    QCOMPARE(model.rows.size(), static_cast<std::size_t>(test::kTwentyAnswerTokens));
    QCOMPARE(model.columns, static_cast<std::int32_t>(test::kTwentyDocuments) + 2);
    QCOMPARE(model.rows[3].text.trimmed(), QStringLiteral("word4"));
    QCOMPARE(model.rows[3].answer, 3);
    for (std::int32_t row = 0; row < test::kTwentyAnswerTokens; ++row) {
      QVERIFY(std::abs(rowSum(model, row) - 1) < 1e-4);
      const std::uint32_t needed = row < 14 ? test::kFirstNeeded : test::kSecondNeeded;
      for (std::uint32_t segment = 1; segment <= test::kTwentyDocuments; ++segment) {
        QVERIFY(segment == needed || model.mass[model.at(row, model.segments[segment].firstColumn)] <
                                         model.mass[model.at(row, model.segments[needed].firstColumn)]);
      }
    }
    QCOMPARE(model.layers.size(), std::size_t{4});
    QCOMPARE(model.heads, 3);
  }

  /// A lesson that speaks of a document frames its column, of a token of the answer its row, and scrolls both
  /// into sight where the map is zoomed, or where heads replace it.
  void partsAreFramedAndReached() {
    const ViewInput input = test::twentyDocuments();
    AttentionView view;
    give(view, input, {900, 600});
    AttentionPlot& plot = view.plot();
    QCOMPARE(&view.placesIn(), static_cast<const QWidget*>(&plot));
    const AttentionSegment& segment = view.model().segments[3];
    const Selection document = selectionOfToken(input, {view.model().request, 3, 2});
    std::vector<QRect> places = view.placesOf(document);
    QCOMPARE(places.size(), std::size_t{1});
    const auto first = plot.cellAt(places.front().topLeft() + QPointF(2, 2));
    const auto last = plot.cellAt(places.front().bottomRight() - QPointF(2, 2));
    QVERIFY(first && last);
    QCOMPARE(first->row, 0);
    QCOMPARE(last->row, static_cast<int>(view.model().rows.size()) - 1);
    QCOMPARE(first->column, segment.firstColumn);
    QCOMPARE(last->column, segment.firstColumn + segment.columns - 1);
    // The node alone, as it is selected on the canvas.
    Selection node;
    node.nodes = document.nodes;
    QCOMPARE(view.placesOf(node), places);

    const trace::RequestState& request = input.state().progress().requests.at(view.model().request);
    const auto answers = static_cast<std::uint32_t>(request.segments.size() - 1);
    const auto prompt = static_cast<std::int32_t>(request.segments.back().tokens.size());
    const Selection token =
        selectionOfToken(input, {view.model().request, answers, prompt + view.model().rows.back().answer});
    const std::vector<QRect> rows = view.placesOf(token);
    QVERIFY(!rows.empty());
    const auto row = plot.cellAt(rows.front().center());
    QVERIFY(row.has_value());
    QCOMPARE(row->row, static_cast<int>(view.model().rows.size()) - 1);
    QVERIFY(view.placesOf({}).empty());

    plot.zoom(8, QPointF(plot.width(), plot.height()));
    QTest::qWait(20);
    places = view.placesOf(document);
    QCOMPARE(places.size(), std::size_t{1});
    QVERIFY(!plot.rect().intersects(places.front()));
    view.bringIntoSight(document);
    places = view.placesOf(document);
    const auto found = plot.cellAt(places.front().center());
    QVERIFY(found.has_value());
    QCOMPARE(found->column, segment.firstColumn);
    view.setDisplay(AttentionDisplay::Heads);
    QVERIFY(view.placesOf(document).empty());
    view.bringIntoSight(document);
    QVERIFY(view.display() == AttentionDisplay::Map && !view.placesOf(document).empty());
  }

  void tokensShareRowsWhereRoomIsShort() {
    AttentionOptions options = answerOptions();
    const ViewInput input = test::twentyDocuments();
    const AttentionModel single = attentionModel(input, options);
    options.answersPerRow = 5;
    const AttentionModel shared = attentionModel(input, options);
    QCOMPARE(shared.rows.size(), std::size_t{5});
    QCOMPARE(shared.rows[0].text.simplified(), QStringLiteral("word1 word2 word3 word4 word5"));
    QCOMPARE(shared.rows[4].answers, 4);
    for (std::int32_t column = 0; column < shared.columns; ++column) {
      float sum = 0;
      for (std::int32_t row = 5; row < 10; ++row) sum += single.mass[single.at(row, column)];
      QVERIFY(std::abs(shared.mass[shared.at(1, column)] - sum / 5) < 1e-5F);
    }
    QCOMPARE(answersPerRowFor(input, 9 * 24), 1);
    QCOMPARE(answersPerRowFor(input, 100), 3);
  }

  void layersAndHeadsAreTold() {
    AttentionOptions options = answerOptions();
    options.layer = test::kFindingLayer;
    options.head = test::kFindingHead;
    const ViewInput input = test::twentyDocuments();
    const AttentionModel finds = attentionModel(input, options);
    options.head = 0;
    const AttentionModel other = attentionModel(input, options);
    const std::size_t cell = finds.at(0, finds.segments[test::kFirstNeeded].firstColumn);
    QVERIFY(finds.mass[cell] > 4 * other.mass[cell]);
    // By block only their mean was recorded.
    options.grain = AttentionGrain::Blocks;
    const AttentionModel blocks = attentionModel(input, options);
    QVERIFY(!blocks.recorded);
    QCOMPARE(blocks.states[blocks.at(0, blocks.segments[1].firstColumn)], CellState::Missing);
  }

  /// A layer with a window does not attend to tokens before it; the mean of layers does if any of them does.
  void windowsAreShown() {
    const ViewInput input = test::twentyDocuments({.windows = {400, 0, 400, 400}});
    AttentionOptions options = answerOptions();
    const AttentionModel mean = attentionModel(input, options);
    QCOMPARE(std::count(mean.states.begin(), mean.states.end(), CellState::Outside), 0);
    QCOMPARE(mean.window.windowed, 3);
    QCOMPARE(mean.window.widest, 400);
    options.layer = 2;
    const AttentionModel windowed = attentionModel(input, options);
    QCOMPARE(windowed.window.tokens, 400);
    // Two documents of some 180 tokens lie within 400 positions, and a part of a third.
    for (std::int32_t row : {0, test::kTwentyAnswerTokens - 1}) {
      QCOMPARE(windowed.states[windowed.at(row, 0)], CellState::Outside);
      QCOMPARE(windowed.states[windowed.at(row, 17)], CellState::Outside);
      QCOMPARE(windowed.states[windowed.at(row, 20)], CellState::Measured);
      QCOMPARE(windowed.states[windowed.at(row, 21)], CellState::Measured);
    }
    QVERIFY(attentionReadout(windowed, options, 0, 0).contains(worded("<outside-window>")));
    QVERIFY(attentionCsv(windowed).contains(worded("<outside-window>")));
    AttentionLegend legend;
    legend.setContent(windowed, Theme());
    const int withWindow = legend.heightForWidth(120);
    legend.setContent(attentionModel(test::twentyDocuments(), options), Theme());
    QVERIFY(legend.heightForWidth(120) < withWindow);
    options.layer = 1;
    const AttentionModel all = attentionModel(input, options);
    QCOMPARE(all.window.tokens, 0);
    QCOMPARE(std::count(all.states.begin(), all.states.end(), CellState::Outside), 0);
  }

  /// What was computed again after the run fills what the run recorded no finer.
  void replayedRowsAreShown() {
    ViewInput input = test::twentyDocuments();
    auto longer = std::make_shared<TraceStore>(*input.trace);
    std::uint64_t sequence = longer->events().back().sequence;
    const auto send = [&](trace::Payload payload) {
      trace::Event event = longer->events().back();
      event.sequence = ++sequence;
      event.run = 1;
      event.request = 1;
      event.payload = std::move(payload);
      longer->append(std::move(event));
    };
    trace::ReplayedMass row;
    for (const trace::Event& event : input.trace->events()) {
      const auto* mass = std::get_if<trace::AttentionMass>(&event.payload);
      if (mass != nullptr && row.mass.rows == 0) row.mass = *mass;
    }
    row.mass.layer = test::kFindingLayer;
    trace::AttentionReplayed replayed;
    replayed.layer = test::kFindingLayer;
    replayed.head = test::kFindingHead;
    replayed.rows = 1;
    send(replayed);
    send(row);
    QVERIFY(longer->contradictions().empty());
    input.trace = longer;
    input.position = longer->size();

    AttentionOptions options = answerOptions();
    options.grain = AttentionGrain::Blocks;
    options.layer = test::kFindingLayer;
    options.head = test::kFindingHead;
    const AttentionModel model = attentionModel(input, options);
    QVERIFY(model.recomputed);
    QCOMPARE(model.states[model.at(0, 3)], CellState::Measured);
    QCOMPARE(model.states[model.at(1, 3)], CellState::Missing);
    options.head = 0;
    QVERIFY(!attentionModel(input, options).recorded);
    // It is no part of means.
    options.head.reset();
    options.layer.reset();
    QVERIFY(!attentionModel(input, options).recomputed);
  }

  /// Brackets of hues beyond the palette differ by pattern from those whose hue they repeat.
  void repeatedHuesHaveAPattern() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      AttentionView view;
      give(view, test::twentyDocuments({}, scheme), {900, 500});
      const auto coloursIn = [](const QImage& image, const QRect& area) {
        std::set<QRgb> colours;
        for (int y = area.top(); y <= area.bottom(); ++y) {
          for (int x = area.left(); x <= area.right(); ++x) colours.insert(image.pixel(x, y));
        }
        return colours;
      };
      const QImage map = view.plot().grab().toImage();
      const int top = view.plot().axisRect()->rect().top() - 6;
      std::size_t patterned = 0;
      for (std::uint32_t document = 1; document <= test::kTwentyDocuments; ++document) {
        const AttentionSegment& segment = view.model().segments[document];
        const QRect area = view.plot().cellRect({0, 1, segment.firstColumn, segment.columns}).toRect();
        const auto seen = coloursIn(map, QRect(area.left() + 3, top, area.width() - 7, 2));
        QVERIFY(seen.contains(theme.segmentInk(segment.hue).rgb()));
        QCOMPARE(seen.size() > 1, segment.hue >= kSegmentHues);
        patterned += seen.size() > 1 ? 1U : 0U;
      }
      QVERIFY(patterned >= test::kTwentyDocuments - kSegmentHues);
    }
  }

  void headsThatFoundADocumentComeFirst() {
    ViewInput input = test::twentyDocuments();
    const HeadGrid plain = headGrid(input);
    QCOMPARE(plain.maps.size(), std::size_t{12});
    QCOMPARE(plain.sources.size(), test::kTwentyDocuments);
    QVERIFY(!plain.selected);
    QCOMPARE(std::pair(plain.maps[5].layer, plain.maps[5].head), std::pair(1, 2));
    input.selection.nodes = {input.nodeOf(1, "/g/input/cross/1/plus/6")};
    const HeadGrid grid = headGrid(input);
    QCOMPARE(grid.names[*grid.selected], QStringLiteral("document 7"));
    QCOMPARE(std::pair(grid.maps[0].layer, grid.maps[0].head),
             std::pair(test::kFindingLayer, test::kFindingHead));
    QVERIFY(grid.maps[0].share > 2 * grid.maps[1].share);
    QVERIFY2(headText(grid, 0).contains(QStringLiteral("document 7")), qPrintable(headText(grid, 0)));
    QVERIFY(headGrid(test::twentyDocuments({.bySegment = false})).isEmpty());

    AttentionView view;
    give(view, input, {520, 420});
    view.setDisplay(AttentionDisplay::Heads);
    QVERIFY(view.heads().isVisible());
    QVERIFY(!view.plot().isVisible());
    QTest::keyClick(&view.heads(), Qt::Key_Return);
    QCOMPARE(view.display(), AttentionDisplay::Map);
    QCOMPARE(view.options().layer, std::optional(test::kFindingLayer));
    QCOMPARE(view.options().head, std::optional(test::kFindingHead));
  }

  void firstTokensStandApart() {
    AttentionOptions options = answerOptions();
    const ViewInput input = test::twentyDocuments();
    const AttentionModel with = attentionModel(input, options);
    QCOMPARE(with.sinkColumn, 0);
    options.withFirst = false;
    const AttentionModel without = attentionModel(input, options);
    QCOMPARE(without.sinkColumn, -1);
    QVERIFY(without.withoutFirst);
    QVERIFY(without.mass[without.at(0, 0)] < with.mass[with.at(0, 0)] / 5);
    // Blocks hold their first tokens: there the column is marked.
    options.grain = AttentionGrain::Blocks;
    QCOMPARE(attentionModel(input, options).sinkColumn, 0);
  }

  void aSegmentIsOpenedInItsPlace() {
    AttentionOptions options = answerOptions();
    const ViewInput input = test::twentyDocuments();
    const AttentionModel closed = attentionModel(input, options);
    QCOMPARE(finerGrain(closed, 7), std::optional(AttentionGrain::Blocks));
    options.opened[7] = AttentionGrain::Blocks;
    const AttentionModel open = attentionModel(input, options);
    QCOMPARE(open.segments[7].columns, open.segments[7].blocks);
    QCOMPARE(open.segments[8].columns, 1);
    QCOMPARE(open.segments[8].firstColumn, 7 + open.segments[7].blocks);
    QCOMPARE(open.mass[open.at(5, open.segments[8].firstColumn)], closed.mass[closed.at(5, 8)]);
    double sum = 0;
    for (std::int32_t block = 0; block < open.segments[7].columns; ++block)
      sum += static_cast<double>(open.mass[open.at(5, open.segments[7].firstColumn + block)]);
    QVERIFY(std::abs(sum - static_cast<double>(closed.mass[closed.at(5, 7)])) < 1e-4);
    QVERIFY(!finerGrain(open, 7));  // single keys were not recorded
    const QString text = attentionReadout(open, options, 5, open.segments[7].firstColumn + 2);
    QVERIFY2(text.startsWith(QStringLiteral("for “word6” → document 7 block 2: 0.")), qPrintable(text));
  }

  void tracesOfMeansAloneShowThem() {
    const ViewInput input = test::twentyDocuments({.bySegment = false, .byBlock = false});
    const AttentionModel model = attentionModel(input, answerOptions());
    QVERIFY(model.recorded);
    QVERIFY(std::abs(rowSum(model, 4) - 1) < 1e-4);
    AttentionOptions blocks = answerOptions();
    blocks.grain = AttentionGrain::Blocks;
    QVERIFY(!attentionModel(input, blocks).recorded);
  }

  void rowsOfThePromptAreMissingUnlessAskedFor() {
    AttentionOptions options = answerOptions();
    options.rowSet = AttentionRowSet::All;
    const AttentionModel model = attentionModel(test::twentyDocuments(), options);
    QVERIFY(!model.promptRows);
    QCOMPARE(model.rows.size(), test::kTwentyDocuments + 2);
    QCOMPARE(model.states[model.at(3, 3)], CellState::Missing);
    QCOMPARE(model.states[model.at(3, 2)], CellState::Forbidden);
  }

  void scalesSpreadWhatThereIs() {
    const AttentionModel model = attentionModel(test::twentyDocuments(), answerOptions());
    const AttentionShades linear = attentionShades(model, AttentionScale::Linear);
    QVERIFY(linear.top >= static_cast<double>(model.highest));
    QVERIFY(linear.top < 2 * static_cast<double>(model.highest));
    QCOMPARE(linear.shades[model.at(0, 21)], 1.0F);  // question and answer are above the scale
    const AttentionShades log = attentionShades(model, AttentionScale::Logarithmic);
    QVERIFY(log.bottom > 0 && log.bottom <= static_cast<double>(model.lowest));
    QVERIFY(log.shades[model.at(0, 1)] > linear.shades[model.at(0, 1)]);
    const AttentionShades rows = attentionShades(model, AttentionScale::ByRow);
    QCOMPARE(rows.shades[model.at(0, static_cast<std::int32_t>(test::kFirstNeeded))], 1.0F);
    QCOMPARE(rows.shades[model.at(20, static_cast<std::int32_t>(test::kSecondNeeded))], 1.0F);
    for (const AttentionShades* shades : {&linear, &log, &rows}) {
      QVERIFY(std::all_of(shades->shades.begin(), shades->shades.end(),
                          [](float shade) { return shade >= 0 && shade <= 1; }));
    }
  }

  void cellsAreAsFineAsThereIsRoom() {
    const ViewInput input = test::twentyDocuments();
    QCOMPARE(grainFor(input, 400), AttentionGrain::Segments);
    QCOMPARE(grainFor(input, 4000), AttentionGrain::Blocks);
    AttentionView view;
    give(view, input, {520, 420});
    QCOMPARE(view.model().columns, static_cast<std::int32_t>(test::kTwentyDocuments) + 2);
    view.resize(2400, 700);
    QTRY_VERIFY(view.model().columns > 200);
  }

  void openingAndGoingBackAreSteps() {
    AttentionView view;
    give(view, test::twentyDocuments(), {520, 420});
    AttentionPlot& plot = view.plot();
    plot.setFocus();
    QVERIFY2(view.readout().contains(QStringLiteral("open a column")), qPrintable(view.readout()));
    plot.setCursorCell(AttentionCell{2, 7});
    QTest::keyClick(&plot, Qt::Key_Return);
    QCOMPARE(view.options().opened.size(), std::size_t{1});
    QVERIFY2(view.readout().contains(QStringLiteral("Escape")), qPrintable(view.readout()));
    const std::int32_t column = view.model().segments[3].firstColumn;
    plot.setCursorCell(AttentionCell{2, column});
    QTest::keyClick(&plot, Qt::Key_Return);
    QCOMPARE(view.options().opened.size(), std::size_t{2});
    QTest::keyClick(&plot, Qt::Key_Escape);
    QCOMPARE(view.options().opened.size(), std::size_t{1});
    QTest::keyClick(&plot, Qt::Key_Escape);
    QVERIFY(view.options().opened.empty());
    // What no longer holds is not said any more.
    QVERIFY2(!view.readout().contains(QStringLiteral("Escape")), qPrintable(view.readout()));
  }

  /// In a low dock, which scrolls a view that needs more, nothing overlaps: legend and readout have the
  /// height of their texts, and are below the last row.
  void nothingLiesOverTheLastRow_data() {
    QTest::addColumn<QSize>("dock");
    for (const int width : {260, 380, 520}) {
      for (const int height : {120, 170, 220, 260, 300, 420})
        QTest::addRow("%d x %d", width, height) << QSize(width, height);
    }
  }
  void nothingLiesOverTheLastRow() {
    QFETCH(QSize, dock);
    AttentionView view;
    view.setScale(AttentionScale::ByRow);
    give(view, test::twentyDocuments(), dock);
    QCoreApplication::processEvents();
    view.resize(dock.expandedTo(view.minimumSizeHint()));
    QCoreApplication::processEvents();
    const auto* legend = view.findChild<AttentionLegend*>();
    QVERIFY(legend->isVisible() && legend->heightForWidth(legend->width()) > 0);
    int cut = 0;
    for (const QWidget* part : std::initializer_list<const QWidget*>{legend, &view.bar()})
      cut += std::max(0, part->heightForWidth(part->width()) - part->height());
    int overlap = 0;
    const QList<QWidget*> parts = view.findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
    for (const QWidget* a : parts) {
      if (!a->isVisible()) continue;
      cut += std::max(0, a->geometry().bottom() - view.rect().bottom());
      for (const QWidget* b : parts) {
        if (a < b && b->isVisible()) overlap += a->geometry().intersected(b->geometry()).height();
      }
    }
    const QByteArray pixels =
        QByteArray::number(overlap) + " px overlap, " + QByteArray::number(cut) + " cut";
    QVERIFY2(overlap == 0 && cut == 0, pixels.constData());
  }

  /// While there is nothing to show, there is a sentence and nothing over it.
  void anEmptyViewHasNothingOverItsSentence() {
    ViewInput input = test::twentyDocuments();
    int empty = 0;
    for (input.position = 0; input.position < input.trace->size(); ++input.position) {
      AttentionView view;
      give(view, input, {380, 300});
      QCoreApplication::processEvents();
      if (view.model().recorded) break;
      ++empty;
      for (const QWidget* part : view.findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
        QVERIFY2(!part->isVisible(), part->metaObject()->className());
    }
    QVERIFY(empty > 1);
  }

  /// A name is whole, or a document has a short form or only its number, or there is no text. In a window of
  /// 1440 × 900, the map of twenty documents is about 540 pixels wide.
  void namesOfColumnsCanBeRead_data() {
    QTest::addColumn<QSize>("size");
    for (const QSize size : {QSize(540, 292), QSize(420, 292), QSize(300, 420), QSize(760, 300)})
      QTest::addRow("%d x %d", size.width(), size.height()) << size;
  }
  void namesOfColumnsCanBeRead() {
    QFETCH(QSize, size);
    AttentionView view;
    give(view, test::twentyDocuments(), size);
    QCoreApplication::processEvents();
    const std::vector<ColumnName> names = view.plot().columnNames();
    QVERIFY(names.size() >= test::kTwentyDocuments + 2);
    QStringList shown;
    for (const ColumnName& name : names) {
      shown << name.text;
      const bool isForm = name.text.isEmpty() || shortForms(name.whole).contains(name.text);
      const QString said = QStringLiteral("“%1” of “%2”").arg(name.text, name.whole);
      QVERIFY2(isForm, qPrintable(said));
      if (name.text.isEmpty()) continue;
      // And it ends inside of the plot, without touching the next one.
      if (view.plot().hasUprightNames()) continue;
      QVERIFY2(view.plot().rect().contains(name.place.toRect()), qPrintable(said));
      for (const ColumnName& other : names)
        QVERIFY2(&other == &name || other.place.intersected(name.place).width() < 1, qPrintable(said));
    }
    const QStringList forms = shortForms(QStringLiteral("document 7"));
    QVERIFY2(std::ranges::any_of(forms, [&](const QString& form) { return shown.contains(form); }),
             qPrintable(shown.join(QLatin1Char(' '))));
    if (size.width() == 540) {
      QVERIFY2(!view.plot().hasUprightNames(), "there is room side by side");
      QCOMPARE(shown.front(), QStringLiteral("system"));
      QVERIFY2(shown.contains(QStringLiteral("question")), qPrintable(shown.join(QLatin1Char(' '))));
    }
  }

  /// Documents have the full colours of the scale, and the question beside them has pale ones.
  void theQuestionIsAPaleMargin() {
    AttentionView view;
    give(view, test::twentyDocuments(), {900, 500});
    const AttentionModel& model = view.model();
    QVERIFY(model.segments[1].isSource && !model.segments[0].isSource && !model.segments.back().isSource);
    const AttentionShades shades = attentionShades(model, AttentionScale::Linear);
    for (const AttentionSegment& segment : model.segments) {
      const std::size_t cell = model.at(0, segment.firstColumn);
      const QColor full = Theme::heat(static_cast<double>(shades.shades[cell]));
      const QColor shown = view.plot().image().pixelColor(segment.firstColumn, 0);
      QCOMPARE(std::abs(shown.lightness() - full.lightness()) < 3, segment.isSource);
    }
  }

  void namesOfColumnsFindRoom() {
    AttentionView view;
    give(view, test::twentyDocuments(), {300, 420});
    QVERIFY(view.plot().hasUprightNames());
    view.resize(1000, 420);
    QTRY_VERIFY(!view.plot().hasUprightNames());
    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view,
            [&](const Selection& selection) { wanted.push_back(selection); });
    const QRectF area = view.plot().cellRect({0, 1, 7, 1});
    QTest::mouseClick(&view.plot(), Qt::LeftButton, {},
                      QPoint(static_cast<int>(area.center().x()), static_cast<int>(area.top()) - 12));
    QCOMPARE(wanted.size(), std::size_t{1});
    QCOMPARE(wanted[0].block->segment, 7U);
  }
};

SPANSCOPE_TEST(tst_attention_map, TestAttentionMap, QApplication)

#include "tst_attention_map.moc"
