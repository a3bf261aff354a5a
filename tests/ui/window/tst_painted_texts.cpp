// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that views and cards paint themselves: none is smaller than the smallest font of the theme, and none
// hides another text.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "tests/ui/window/text_recorder.h"
#include "ui/editor/canvas_style.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_paint.h"
#include "ui/editor/tidy_layout.h"
#include "ui/views/block_table/block_table_area.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/mask/mask_area.h"
#include "ui/views/mask/mask_view.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_view.h"
#include "ui/window/dock.h"
#include "ui/words/metric_words.h"

#include <QApplication>
#include <QChar>
#include <QFontInfo>
#include <QFontMetrics>
#include <QLabel>
#include <QObject>
#include <QPainter>
#include <QRect>
#include <QRectF>
#include <QRegion>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>
#include <QVBoxLayout>
#include <QWidget>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr double kHinting = 1;  // pixels by which the letters of a text can differ from its measured width

double smallestSize() {
  return QFontInfo(Theme().smallFont()).pixelSize();
}

/// The texts of the visible part of an area, in coordinates of its content.
std::vector<test::PaintedText> textsIn(PaintedScroll& area) {
  test::TextRecorder recorder(area.contentSize(), 1);
  QPainter painter(&recorder);
  area.paintContent(painter, area.visibleContent());
  painter.end();
  return recorder.texts();
}

/// A request whose blocks are hits, except `miss`.
ViewInput requestWithMiss(std::int32_t blocks, std::int32_t miss) {
  test::TraceMaker maker(4, blocks + 1);
  maker.startRun(1, 1, {test::TraceMaker::segment(4 * blocks, 0, "/g/input")});
  for (std::int32_t i = 0; i < blocks; ++i) {
    trace::BlockLookedUp lookup = test::lookupOf(4, 0, i);
    if (i != miss) {
      lookup.outcome = trace::LookupOutcome::Hit;
      lookup.reason = trace::MissReason::None;
      lookup.tokens = 4;
    }
    maker.send(1, 1, lookup);
  }
  return maker.input();
}

}  // namespace

class TestPaintedTexts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The legend of the pool has all its names in a dock of 320 pixels, each in its place.
  void theLegendOfThePoolIsWhole_data() {
    QTest::addColumn<int>("width");
    QTest::newRow("least width") << 0;
    QTest::newRow("narrow dock") << 320;
    QTest::newRow("wide dock") << 1000;
  }
  void theLegendOfThePoolIsWhole() {
    QFETCH(const int, width);
    PoolControls controls;
    controls.showShade(PoolShade::State, {}, Theme());
    const std::unique_ptr<BlockLegend> legend(controls.findChild<BlockLegend*>());
    legend->setParent(nullptr);
    legend->resize(std::max(width, legend->minimumSizeHint().width()), legend->sizeHint().height());
    legend->show();
    QVERIFY2(legend->minimumSizeHint().width() <= 320,
             qPrintable(QString::number(legend->minimumSizeHint().width())));
    test::TextRecorder recorder(legend->size(), 1);
    QPainter painter(&recorder);
    legend->render(&painter, QPoint(), QRegion(), {});
    painter.end();
    const std::vector<test::PaintedText>& texts = recorder.texts();
    const auto has = [&texts](const QString& name) {
      return std::any_of(texts.begin(), texts.end(),
                         [&name](const test::PaintedText& text) { return text.text == name; });
    };
    QCOMPARE(texts.size(), std::size_t{6});
    for (const QString& name :
         {Theme::name(BlockRole::Hit), Theme::name(BlockRole::Computed), metricShortName("blocks-in-use"),
          metricShortName("cached-blocks"), Theme::name(BlockRole::Free)})
      QVERIFY2(has(name), qPrintable(name));
    QVERIFY(has(Theme::name(BlockRole::Relocated)) || has(briefName(BlockRole::Relocated)));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      QVERIFY2(texts[i].place.right() <= legend->width() + kHinting, qPrintable(texts[i].text));
      for (std::size_t j = 0; j < i; ++j) {
        const QRectF both = texts[i].place.intersected(texts[j].place);
        QVERIFY2(both.width() <= kHinting || both.height() <= kHinting, qPrintable(texts[i].text));
      }
    }
  }

  /// The names above the columns of the mask do not touch, and the last section has a name.
  void namesOfMaskColumnsAreApart() {
    const ViewInput input = test::twentyDocuments();
    for (const int width : {460, 700, 1000}) {
      MaskView view;
      view.resize(width, 420);
      view.setInput(input);
      view.show();
      QVERIFY(QTest::qWaitForWindowExposed(&view));
      auto* area = view.findChild<MaskArea*>();
      std::vector<test::PaintedText> head;
      for (const test::PaintedText& text : textsIn(*area)) {
        if (!text.text.isEmpty() && text.place.bottom() <= area->maskLayout().top) head.push_back(text);
      }
      QVERIFY2(head.size() >= 2, qPrintable(QString::number(width)));
      std::ranges::sort(head, {}, [](const test::PaintedText& text) { return text.place.left(); });
      for (std::size_t i = 1; i < head.size(); ++i)
        QVERIFY2(head[i].place.left() - head[i - 1].place.right() >= 6 - 2 * kHinting,
                 qPrintable(head[i].text));
    }
  }

  /// A sentence in a low room has only whole lines.
  void aSentenceHasWholeLines() {
    const QFontMetrics metrics(Theme().interfaceFont());
    const QString text = QStringLiteral("Seven words in a row make several lines. ").repeated(3).trimmed();
    const auto needed = [&metrics](const QString& part, int width) {
      return metrics.boundingRect(QRect(0, 0, width, 10000), Qt::AlignCenter | Qt::TextWordWrap, part);
    };
    for (const int width : {120, 300, 900}) {
      const int whole = needed(text, width).height();
      QCOMPARE(textThatFits(text, {width, whole}, metrics), text);
      QCOMPARE(textThatFits(text, {width, metrics.height() - 1}, metrics), QString());
      for (int height = metrics.height(); height < whole; ++height) {
        const QString shown = textThatFits(text, {width, height}, metrics);
        QVERIFY(!shown.isEmpty() && shown != text);
        QVERIFY(needed(shown, width).height() <= height);
      }
    }
  }

  /// A sentence in place of a view has the whole height of the dock.
  void aSentenceReplacesTheView() {
    QWidget window;
    auto* column = new QVBoxLayout(&window);
    auto* dock = new Dock(
        QStringLiteral("tokens"), QStringLiteral("Tokens"), [] { return new BlockTableView; }, true, &window);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(dock);
    dock->openView();
    dock->setUnreported(QStringLiteral("one sentence"), true);
    window.resize(300, 200);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    const auto* label = dock->findChild<QLabel*>(QStringLiteral("dockUnreported"));
    QVERIFY(label != nullptr);
    // A legend in two lines makes the title bar higher.
    QTRY_VERIFY2(label->height() >= window.height() - dock->titleBarWidget()->height() - 4,
                 qPrintable(QString::number(label->height())));
    QVERIFY(!dock->view()->isVisible());
    dock->setUnreported({}, false);
    QTRY_VERIFY(dock->view()->isVisible());
  }

  /// Two lines of a legend have space above, below and between, and the title bar of the dock is as high.
  void twoLinesOfALegendFitTheTitleBar() {
    QWidget window;
    auto* column = new QVBoxLayout(&window);
    auto* dock = new Dock(
        QStringLiteral("block-table"), QStringLiteral("Block table"), [] { return new BlockTableView; }, true,
        &window);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(dock);
    window.resize(900, 300);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    dock->openView();
    auto* legend = dock->findChild<BlockLegend*>();
    QVERIFY(legend != nullptr);
    legend->setEntries(stateLegend());
    const QWidget* bar = dock->titleBarWidget();
    QTRY_COMPARE(bar->height(), kDockTitleHeight);
    const auto needed = [legend] { return legend->heightForWidth(legend->width()); };
    bool hadTwoLines = false;
    for (int width = 800; width >= 300; width -= 20) {
      window.resize(width, 300);
      QTRY_COMPARE(bar->width(), window.width());
      if (legend->parentWidget() != bar || needed() <= legend->sizeHint().height()) continue;
      hadTwoLines = true;
      QTRY_VERIFY2(bar->height() >= needed() + 2, qPrintable(QString::number(width)));
      QTRY_VERIFY(legend->height() >= needed());
      test::TextRecorder recorder(legend->size(), 1);
      QPainter painter(&recorder);
      legend->render(&painter, QPoint(), QRegion(), {});
      painter.end();
      for (const test::PaintedText& text : recorder.texts()) {
        QVERIFY2(text.place.top() >= 2 - kHinting && text.place.bottom() <= legend->height() - 2 + kHinting,
                 qPrintable(text.text));
      }
    }
    QVERIFY(hadTwoLines);
  }

  /// With space to the right of the last block, the label of the first miss hides no number of a block.
  void theFirstMissHidesNoNumber() {
    constexpr int kBlocks = 5;
    BlockTableView view;
    view.resize(700, 200);
    view.setInput(requestWithMiss(kBlocks, kBlocks - 1));
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<BlockTableArea*>();
    QVERIFY(area->tableLayout().size() == CellSize::Large);
    const int end = area->tableLayout().cell({0, 0}).bottom();
    QStringList numbers;
    for (const test::PaintedText& text : textsIn(*area)) {
      if (text.place.top() > end && text.place.left() >= kTableLabel) numbers << text.text;
    }
    for (int block = 0; block + 1 < kBlocks; ++block)
      QVERIFY2(numbers.contains(QString::number(block)), qPrintable(numbers.join(QLatin1Char(' '))));
    const QString miss = metricPhrase("first-missing-block", QString::number(kBlocks - 1));
    QVERIFY2(numbers.contains(miss), qPrintable(numbers.join(QLatin1Char(' '))));
  }

  /// Before other blocks, the label of the first miss is its number. Every block keeps its number.
  void theFirstMissCoversNoOtherBlock() {
    constexpr int kBlocks = 5;
    for (int miss = 1; miss < kBlocks; ++miss) {
      BlockTableView view;
      // The last block has no room for the words either.
      view.resize(kTableLabel + kBlocks * 50 + 40, 200);
      view.setInput(requestWithMiss(kBlocks, miss));
      view.show();
      QVERIFY(QTest::qWaitForWindowExposed(&view));
      auto* area = view.findChild<BlockTableArea*>();
      QVERIFY(area->tableLayout().size() == CellSize::Large);
      QStringList numbers;
      for (const test::PaintedText& text : textsIn(*area)) {
        if (text.place.top() > area->tableLayout().cell({0, 0}).bottom() && text.place.left() >= kTableLabel)
          numbers << text.text;
      }
      for (int block = 0; block < kBlocks; ++block)
        QVERIFY2(numbers.contains(QString::number(block)), qPrintable(numbers.join(QLatin1Char(' '))));
    }
  }

  /// Without space for the words, the label of the first miss is its number. No label is cut.
  void theFirstMissIsNotCut() {
    constexpr int kBlocks = 5;
    constexpr int kMiss = 2;
    const QString number = QString::number(kMiss);
    const QString words = metricPhrase("first-missing-block", number);
    BlockTableView view;
    view.setInput(requestWithMiss(kBlocks, kMiss));
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<BlockTableArea*>();
    for (int width = 270; width <= 700; width += 10) {
      view.resize(width, 200);
      QTRY_COMPARE(area->width(), view.width());
      QStringList labels;
      for (const test::PaintedText& text : textsIn(*area)) {
        if (text.place.top() > area->tableLayout().cell({0, kMiss}).bottom() &&
            text.place.left() >= kTableLabel)
          labels << text.text;
      }
      const QString shown = QStringLiteral("%1: %2").arg(width).arg(labels.join(u", "));
      QVERIFY2(labels.contains(number) || labels.contains(words), qPrintable(shown));
      for (const QString& label : labels) QVERIFY2(!label.contains(QChar(0x2026)), qPrintable(shown));
    }
  }

  /// The texts of a shared block with few tokens are as large as other texts, and fit into the block.
  void textsOfBlocksAreLargeEnough() {
    test::TraceMaker maker(16, 16);
    maker.computedRequest(1, 1, 10, 1);
    for (const RequestId id : {RequestId{2}, RequestId{3}}) {
      maker.startRun(id, id, {test::TraceMaker::segment(10, 0, "/g/input")});
      trace::BlockLookedUp lookup = test::lookupOf(10);
      lookup.block = 1;
      lookup.outcome = trace::LookupOutcome::Hit;
      lookup.reason = trace::MissReason::None;
      lookup.tokens = 10;
      maker.send(id, id, lookup);
      maker.send(id, id, trace::BlockShared{1, 0, 0, static_cast<std::int32_t>(id) - 1});
    }
    BlockTableView view;
    view.resize(800, 500);
    view.setInput(maker.input());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<BlockTableArea*>();
    QVERIFY(area->tableLayout().size() == CellSize::Large);
    const QRect cell = area->tableLayout().cell({2, 0});
    int inCell = 0;
    for (const test::PaintedText& text : textsIn(*area)) {
      QVERIFY2(text.size >= smallestSize() - 0.01, qPrintable(text.text));
      if (!cell.contains(text.place.center().toPoint())) continue;
      ++inCell;
      QVERIFY2(text.place.width() <= cell.width() + kHinting, qPrintable(text.text));
    }
    QVERIFY2(inCell >= 2, qPrintable(QString::number(inCell)));
  }

  /// The numbers of blocks in a large pool are as large as other texts, and fit into their cells.
  void textsOfThePoolAreLargeEnough() {
    constexpr int kTextPitch = 44;
    constexpr BlockId kLast = 10'200;
    PoolTable table;
    table.blocks.resize(kLast + 1);
    table.blocks.front().state = PoolBlockState::Null;
    table.blocks.back() = {.state = PoolBlockState::Held, .references = 2};
    PoolArea area;
    area.resize(600, 400);
    area.showPool(&table, PoolShade::State, kNullBlock, Theme());
    area.show();
    for (int i = 0; i < 5 && area.cellPitch() < kTextPitch; ++i) QTest::keyClick(&area, Qt::Key_Plus);
    QCOMPARE(area.cellPitch(), kTextPitch);
    area.reveal(kLast);
    const std::vector<test::PaintedText> texts = textsIn(area);
    QVERIFY(texts.size() > 10);
    for (const test::PaintedText& text : texts) {
      QVERIFY2(text.size >= smallestSize() - 0.01, qPrintable(text.text));
      QVERIFY2(text.place.width() <= area.cell(kLast).width() + kHinting, qPrintable(text.text));
      if (text.text.startsWith(QChar(0x00D7))) continue;
      QVERIFY2(text.text.endsWith(QString::number(area.blockAt(text.place.center().toPoint()))),
               qPrintable(text.text));
    }
  }

  /// The sign of a small card has a text in a font of the theme.
  void signsOfCardsAreLargeEnough() {
    constexpr double kZoom = 0.3;
    NodeLook look;
    look.op = std::string("user");
    look.title = QStringLiteral("documents of the user");
    look.stacked = 20;
    look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = kStackHeight};
    const CanvasStyle style{Theme()};
    const NodeStatus status;
    test::TextRecorder recorder(QSize(80, 30), 1);
    QPainter painter(&recorder);
    painter.scale(kZoom, kZoom);
    paintNode(painter, look, status, makeNodeTexts(look, status, nullptr, style, textScale(kZoom)), {}, style,
              kZoom);
    painter.end();
    QCOMPARE(recorder.texts().size(), std::size_t{1});
    QCOMPARE(recorder.texts().front().text, QStringLiteral("×20"));
    QVERIFY(recorder.texts().front().size >= smallestSize() - 0.01);
  }
};

SPANSCOPE_TEST(tst_painted_texts, TestPaintedTexts, QApplication)
#include "tst_painted_texts.moc"
