// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/traced_requests.h"
#include "ui/session/load_comparison.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_plot.h"
#include "ui/views/pool/pool_view.h"
#include "ui/words/metric_words.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>
#include <memory>
#include <set>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestPoolView : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void states();
  void othersHoldBlocks();
  void evictionOrder();
  void ages();
  void aUseBeforeStoringIsHidden();
  void clickSelectsTheOwnersBlock();
  void aBlockHasItsCell();
  void eachBlockOfThePoolIsDrawn();
  void theLegendHasTheDrawnStates();
  void keysWalk();
  void cellsAreZoomed();
  void largePoolScrolls();
  void aRevealedBlockStaysVisible();
  void csv();
  void tiersAreListed();
  void loadingStandsBesideComputing();
  void comparisonsAreRemembered();
  void whatCameFromATierIsMarked();
  void levelsAreThoseOfThePool();
  void overTimeLeadsToTheRequest();
  void overTimeIsQuick();
};

namespace {

trace::StoreReported someStore() {
  return {
      .tiers = {{trace::StoreTier::Host, 2, 20, 25'600, 1U << 20U},
                {trace::StoreTier::Disk, 12, 150, 3U << 20U, 4U << 20U}},
      .packs = {{trace::StoreTier::Host, "host-1", "spanlet", true, 2, 20, 25'600, 3'000, 1'000},
                {trace::StoreTier::Disk, "0a.pack", "spanlet", true, 10, 130, 2U << 20U, 7'300'000, 5'000},
                {trace::StoreTier::Disk, "0b.pack", "other", false, 2, 20, 1U << 20U, 90'000, 90'000}}};
}

QString summaryOf(int inUse, int cached, int free) {
  return QStringList{QStringLiteral("7 blocks"), ui::metricPhrase("blocks-in-use", inUse),
                     ui::metricPhrase("cached-blocks", cached), ui::metricPhrase("free-blocks", free)}
      .join(QStringLiteral(" · "));
}

}  // namespace

void TestPoolView::states() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 8, 1);
  maker.startRun(2, 2, {test::TraceMaker::segment(8, 0, "/g/input")});
  maker.send(2, 2, trace::BlockShared{1, 0, 0, 1});
  maker.send(2, 2, trace::BlockAllocated{3, 0, 1});
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::PoolTable table = ui::poolTable(input, history, ui::PoolShade::State);
  QCOMPARE(table.blocks.size(), std::size_t{8});
  QCOMPARE(table.blocks[0].state, ui::PoolBlockState::Null);
  QCOMPARE(table.blocks[1].state, ui::PoolBlockState::Held);
  QCOMPARE(table.blocks[2].state, ui::PoolBlockState::Cached);
  QCOMPARE(table.blocks[3].state, ui::PoolBlockState::Computing);
  QCOMPARE(table.blocks[4].state, ui::PoolBlockState::Free);
  QCOMPARE(table.summary, summaryOf(2, 1, 4));
}

/// Blocks that only runs of other documents hold are theirs, and are not nameless.
void TestPoolView::othersHoldBlocks() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 8, 1);
  maker.startRun(2, 2, {test::TraceMaker::segment(8, 0, "/g/input")});
  maker.send(2, 2, trace::BlockShared{1, 0, 0, 1});
  maker.send(2, 2, trace::BlockAllocated{3, 0, 1});
  maker.startRun(3, 3, {test::TraceMaker::segment(8, 0, "/g/input")});
  maker.send(3, 3, trace::BlockShared{1, 0, 0, 2});
  maker.send(3, 3, trace::BlockAllocated{4, 0, 1});
  ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  QVERIFY(!ui::poolTable(input, history, ui::PoolShade::State).blocks[3].isOthers);
  input.records = std::make_shared<const ui::RunRecords>();
  input.paths[3] = {};
  const ui::PoolTable table = ui::poolTable(input, history, ui::PoolShade::State);
  QVERIFY(!table.blocks[1].isOthers);
  QVERIFY(table.blocks[3].isOthers);
  QVERIFY(!table.blocks[4].isOthers);
  QVERIFY(ui::poolLook(table.blocks[3]).core == ui::BlockCore::Frame);
  QCOMPARE(
      table.summary,
      summaryOf(3, 1, 3) + QStringLiteral(" · %1 by another run").arg(ui::metricPhrase("blocks-in-use", 1)));
  QVERIFY(ui::poolDetail(input, history, 3).text.contains(QStringLiteral("in use by another run (run 2)")));
  QVERIFY(ui::poolTip(input, 4).contains(QStringLiteral("in use by run 3")));

  // The kept events of a run include changes by others to the pool, but not which of their requests made
  // them.
  test::TraceMaker kept(4, 8);
  kept.send(5, 0, trace::BlockAllocated{1, 0, 0});
  kept.send(5, 0, trace::BlockAllocated{2, 0, 0});
  kept.send(5, 0, trace::BlockStored{.block = 2, .key = {1, 1}, .parent = {}, .tokens = {1, 2}});
  auto part = std::make_shared<ui::TraceStore>();
  part->append(kept.trace()->beginningAt(2));
  for (std::size_t i = 2; i < kept.trace()->size(); ++i) part->append(kept.trace()->event(i));
  ui::ViewInput own = kept.input();
  own.trace = part;
  own.position = part->size();
  ui::BlockHistory keptHistory;
  keptHistory.follow(part);
  QVERIFY(ui::poolTable(own, keptHistory, ui::PoolShade::State).blocks[1].isOthers);
  const QString text = ui::poolDetail(own, keptHistory, 2).text;
  QVERIFY2(text.contains(QStringLiteral("in use by another run")), qPrintable(text));
  QVERIFY2(text.contains(worded("<stored-by-another-run|0>")), qPrintable(text));
}

void TestPoolView::evictionOrder() {
  test::TraceMaker maker(4, 6);
  maker.computedRequest(1, 1, 8, 1);
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  // Free ones first (3, 4, 5), then the end of the chain, then its head.
  QVERIFY(ui::poolDetail(input, history, 2).text.contains(QStringLiteral("would be evicted 4th")));
  QVERIFY(ui::poolDetail(input, history, 1).text.contains(QStringLiteral("would be evicted 5th")));
  QVERIFY(ui::poolDetail(input, history, 3).text.contains(QStringLiteral("would be allocated 1st")));
  QVERIFY(ui::poolDetail(input, history, 1).text.contains(QStringLiteral("stored by run 1")));
  QVERIFY(ui::poolDetail(input, history, 1).text.contains(QStringLiteral("4 of 4 slots filled")));
  QVERIFY(ui::poolDetail(input, history, 0).text.contains(QStringLiteral("null block")));
  QVERIFY(ui::poolDetail(input, history, 77).text.isEmpty());
}

void TestPoolView::ages() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 4, 1);
  maker.computedRequest(2, 2, 4, 2);
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::PoolTable table = ui::poolTable(input, history, ui::PoolShade::Age);
  QCOMPARE(table.blocks[1].age, 1.F);
  QVERIFY(table.blocks[2].age > 0 && table.blocks[2].age < 1);
  QCOMPARE(table.blocks[3].age, -1.F);
  QVERIFY(table.oldest > 0);
}

/// A block is allocated before it is stored. This use concerns other contents.
void TestPoolView::aUseBeforeStoringIsHidden() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 4, 1);
  const auto text = [&maker] {
    const ui::ViewInput input = maker.input();
    ui::BlockHistory history;
    history.follow(input.trace);
    return ui::poolDetail(input, history, 1).text;
  };
  QVERIFY(text().contains(QStringLiteral("stored by run 1")));
  QVERIFY(!text().contains(QStringLiteral("last used")));
  maker.send(1, 1, trace::BlockShared{.block = 1, .references = 1});
  QVERIFY(text().contains(QStringLiteral("last used")));
}

void TestPoolView::clickSelectsTheOwnersBlock() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 8, 1);
  maker.computedRequest(2, 2, 4, 3);
  ui::PoolView view;
  view.resize(600, 300);
  view.setInput(maker.input());
  view.show();
  auto* area = view.findChild<ui::PoolArea*>();
  QSignalSpy wanted(&view, &ui::View::selectionWanted);
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, area->cell(2).center());
  QCOMPARE(wanted.size(), 1);
  auto selection = wanted.takeFirst().first().value<ui::Selection>();
  QCOMPARE(selection.physical, 2);
  QCOMPARE(selection.block, std::optional(ui::BlockRef{1, 0, 1}));
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, area->cell(6).center());
  selection = wanted.takeFirst().first().value<ui::Selection>();
  QCOMPARE(selection.physical, 6);
  QVERIFY(!selection.block);
}

/// A lesson that speaks of a block of a prompt frames the physical one that holds it.
void TestPoolView::aBlockHasItsCell() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 8, 1);
  maker.computedRequest(2, 2, 4, 3);
  ui::PoolView view;
  view.resize(600, 300);
  view.setInput(maker.input());
  view.show();
  const auto* area = view.findChild<ui::PoolArea*>();
  ui::Selection part;
  part.request = 1;
  part.block = ui::BlockRef{.request = 1, .segment = 0, .virtualIndex = 1};
  QCOMPARE(view.placesOf(part), std::vector<QRect>{area->cell(2).translated(-area->offset())});
  QVERIFY(view.placesOf({}).empty());
  view.showOverTime();
  QVERIFY(view.placesOf(part).empty());
  view.bringIntoSight(part);
  QVERIFY(!view.isOverTime() && !view.placesOf(part).empty());
}

namespace {

/// A pool whose newest request has no blocks yet. Of the blocks, 2 are in use, 2 are cached, 1 is being
/// computed, and the others are free.
test::TraceMaker poolOfAllStates(std::int32_t blocks) {
  test::TraceMaker maker(4, blocks);
  maker.computedRequest(1, 1, 16, 1);
  maker.startRun(2, 2, {test::TraceMaker::segment(16, 0, "/g/input")});
  maker.send(2, 2, trace::BlockShared{1, 0, 0, 1});
  maker.send(2, 2, trace::BlockShared{2, 0, 1, 1});
  maker.send(2, 2, trace::BlockAllocated{5, 0, 2});
  maker.startRun(3, 3, {test::TraceMaker::segment(4, 0, "/g/input")});
  return maker;
}

}  // namespace

/// Each block has one cell. Cells look alike if and only if their blocks have the same state.
void TestPoolView::eachBlockOfThePoolIsDrawn() {
  constexpr int kBlocks = 64;  // so many that the cells have no texts
  const test::TraceMaker maker = poolOfAllStates(kBlocks);
  ui::PoolView view;
  view.resize(320, 240);
  view.setInput(maker.input());
  view.show();
  const auto* area = view.findChild<ui::PoolArea*>();
  std::set<BlockId> blocks;
  for (int y = 0; y < area->contentSize().height(); ++y) {
    for (int x = 0; x < area->contentSize().width(); ++x) blocks.insert(area->blockAt({x, y}));
  }
  blocks.erase(-1);
  QCOMPARE(blocks.size(), std::size_t{kBlocks});
  QVERIFY(area->visibleContent().contains(area->cell(kBlocks - 1)));

  const QImage image = area->viewport()->grab().toImage();
  const auto picture = [&](BlockId block) {
    return image.copy(area->cell(block).translated(-area->offset()));
  };
  const auto countLike = [&](BlockId block) {
    const QImage own = picture(block);
    return static_cast<int>(
        std::count_if(blocks.begin(), blocks.end(), [&](BlockId other) { return picture(other) == own; }));
  };
  QCOMPARE(countLike(kNullBlock), 1);
  QCOMPARE(countLike(1), 2);  // in use
  QCOMPARE(countLike(3), 2);  // cached
  QCOMPARE(countLike(5), 1);  // being computed
  QCOMPARE(countLike(6), kBlocks - 6);
}

/// The legend explains the states of the drawn blocks, and no others.
void TestPoolView::theLegendHasTheDrawnStates() {
  ui::PoolView view;
  view.resize(320, 240);
  const std::unique_ptr<QWidget> controls(view.takeTitleControls());
  const auto* legend = controls->findChild<ui::BlockLegend*>();
  const int all = legend->sizeHint().width();
  view.setInput(poolOfAllStates(16).input());
  view.show();
  QTRY_VERIFY(legend->sizeHint().width() < all);
  for (const QString& name : {ui::Theme::name(ui::BlockRole::Computed), ui::metricShortName("blocks-in-use"),
                              ui::metricShortName("cached-blocks"), ui::Theme::name(ui::BlockRole::Free)})
    QVERIFY2(legend->accessibleName().contains(name), qPrintable(name));
  QVERIFY(!legend->accessibleName().contains(ui::Theme::name(ui::BlockRole::Relocated)));
}

void TestPoolView::keysWalk() {
  test::TraceMaker maker(4, 64);
  maker.computedRequest(1, 1, 8, 1);
  ui::PoolView view;
  view.resize(500, 400);
  ui::ViewInput input = maker.input();
  view.setInput(input);
  view.show();
  QObject::connect(&view, &ui::View::selectionWanted, &view, [&](const ui::Selection& selection) {
    input.selection = selection;
    view.setInput(input);
  });
  auto* area = view.findChild<ui::PoolArea*>();
  QTest::keyClick(area, Qt::Key_Right);
  QCOMPARE(input.selection.physical, 1);
  QTest::keyClick(area, Qt::Key_Down);
  QCOMPARE(input.selection.physical, 1 + area->columns());
  QTest::keyClick(area, Qt::Key_End);
  QCOMPARE(input.selection.physical, 63);
  QTest::keyClick(area, Qt::Key_Home);
  QCOMPARE(input.selection.physical, 1);
  QVERIFY(view.detail().text.startsWith(QStringLiteral("#1 · cached")));
}

void TestPoolView::cellsAreZoomed() {
  test::TraceMaker maker(4, 64);
  ui::PoolView view;
  view.resize(500, 400);
  view.setInput(maker.input());
  view.show();
  auto* area = view.findChild<ui::PoolArea*>();
  const int fitting = area->cellPitch();
  QTest::keyClick(area, Qt::Key_Minus);
  const int smaller = area->cellPitch();
  QVERIFY(smaller < fitting);
  const auto wheel = [area](int turn, Qt::KeyboardModifiers modifiers) {
    const QPointF place(20, 20);
    QWheelEvent event(place, area->viewport()->mapToGlobal(place), {}, {0, turn}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(area->viewport(), &event);
  };
  wheel(120, Qt::ControlModifier);
  QCOMPARE(area->cellPitch(), fitting);
  wheel(-120, Qt::NoModifier);
  QCOMPARE(area->cellPitch(), fitting);
  QTest::keyClick(area, Qt::Key_Minus);
  QTest::keyClick(area, Qt::Key_0);
  QCOMPARE(area->cellPitch(), fitting);
}

void TestPoolView::largePoolScrolls() {
  test::TraceMaker maker(2, 100'000);
  ui::PoolView view;
  view.resize(1280, 800);
  ui::ViewInput input = maker.input();
  input.selection.physical = 99'999;
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::PoolArea*>();
  QVERIFY(area->verticalScrollBar()->maximum() > 0);
  QVERIFY(area->visibleContent().contains(area->cell(99'999)));
  QCOMPARE(area->blockAt(area->cell(54'321).center()), 54'321);
  view.setShade(ui::PoolShade::Age);
  QVERIFY(!view.grab().isNull());
}

/// A block that was revealed stays visible when the size changes, until the user scrolls.
void TestPoolView::aRevealedBlockStaysVisible() {
  constexpr BlockId kLast = 99'999;
  test::TraceMaker maker(2, kLast + 1);
  ui::PoolView view;
  view.resize(1280, 800);
  ui::ViewInput input = maker.input();
  input.selection.physical = kLast;
  view.setInput(input);
  view.show();
  const auto* area = view.findChild<ui::PoolArea*>();
  QTRY_VERIFY(area->visibleContent().contains(area->cell(kLast)));
  view.resize(500, 300);
  QTRY_VERIFY(area->visibleContent().contains(area->cell(kLast)));
  area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
  view.resize(600, 400);
  QTRY_COMPARE(view.size(), QSize(600, 400));
  QCOMPARE(area->verticalScrollBar()->value(), 0);
}

void TestPoolView::csv() {
  test::TraceMaker maker(4, 8);
  maker.computedRequest(1, 1, 8, 1);
  ui::PoolView view;
  view.setInput(maker.input());
  QCOMPARE(view.csv().count(QLatin1Char('\n')), 9);
  QVERIFY(view.csv().contains(QStringLiteral("cached")));
}

void TestPoolView::tiersAreListed() {
  test::TraceMaker maker(4, 6);
  maker.computedRequest(1, 1, 8, 1);
  using Cell = ui::StoreTable;
  QVERIFY(ui::storeTable(maker.input()).cells.rows.empty());
  maker.send(1, 0, someStore());
  const ui::StoreTable table = ui::storeTable(maker.input());
  const auto& rows = table.cells.rows;
  QCOMPARE(rows.size(), std::size_t{5});
  QVERIFY(rows[0][Cell::Name].bold && rows[2][Cell::Name].bold && !rows[3][Cell::Name].bold);
  QCOMPARE(rows[2][Cell::Name].text, ui::tierName(trace::StoreTier::Disk));
  QCOMPARE(rows[2][Cell::Size].text, QStringLiteral("3.0 MiB of 4.0 MiB"));
  QCOMPARE(rows[3][Cell::Stored].text, QStringLiteral("2 h ago"));
  // Another session's model has a paler colour.
  QVERIFY(rows[3][Cell::Name].ink != rows[4][Cell::Name].ink);
  // A row of host memory without a reported text says what it is instead.
  QVERIFY(!rows[1][Cell::Text].text.isEmpty());
  QCOMPARE(rows[3][Cell::Text].text, QString());
  QCOMPARE(table.summary, QStringLiteral("host memory 2 blocks, 25 KiB · disk 12 blocks, 3.0 MiB"));
  const QString csv = ui::poolCsv(maker.input());
  QVERIFY(csv.contains(QStringLiteral("0b.pack,disk,,20,,,,,,,,other,2,1048576,")));

  // Parts of one model differ by their contents.
  const QString whole = QStringLiteral("Mira lives in Lisbon. · Tarek is a baker.");
  const QString ofHost = QStringLiteral("Nadia was born in May. · Otto plays the drums.");
  maker.send(1, 0,
             trace::StoreTextsReported{{{"host-1", ofHost.toStdString()}, {"0a.pack", whole.toStdString()}}});
  const ui::StoreTable named = ui::storeTable(maker.input());
  QCOMPARE(named.cells.rows[1][Cell::Text].text, ofHost);
  QCOMPARE(named.cells.rows[3][Cell::Text].text, whole);
  QCOMPARE(named.cells.rows[4][Cell::Text].text, QString());
  QVERIFY(ui::poolCsv(maker.input()).contains(whole));

  ui::PoolView view;
  view.resize(600, 400);
  view.setInput(maker.input());
  view.show();
  auto* list = view.findChild<ui::StoreList*>();
  QVERIFY(list->isVisible());
  QCOMPARE(list->model()->rowCount(), 5);
  const auto shown = [list](int row, int role = Qt::DisplayRole) {
    return list->model()->index(row, Cell::Text).data(role).toString();
  };
  QCOMPARE(shown(1), ofHost);
  QCOMPARE(shown(3), whole);
  QCOMPARE(shown(3, Qt::ToolTipRole), QString(whole).replace(QStringLiteral(" · "), QStringLiteral("\n")));
  QVERIFY(list->columnWidth(Cell::Text) > 100);
  // Parts stay below their tier in any order.
  const auto order = [list] {
    QString numbers;
    for (int row = 0; row < 5; ++row) numbers += QString::number(list->rowOf(list->model()->index(row, 0)));
    return numbers;
  };
  list->sortByColumn(Cell::Stored, Qt::DescendingOrder);
  QCOMPARE(order(), QStringLiteral("01234"));
  list->sortByColumn(Cell::Stored, Qt::AscendingOrder);
  QCOMPARE(order(), QStringLiteral("01243"));
  // Before the report there was nothing to show.
  ui::ViewInput before = maker.input();
  before.position -= 2;
  view.setInput(before);
  QVERIFY(!list->isVisible());
}

void TestPoolView::whatCameFromATierIsMarked() {
  test::TraceMaker maker(4, 6);
  maker.startRun(1, 1, {test::TraceMaker::segment(8, 0, "/g/input")});
  trace::BlockLookedUp found;
  found.block = 1;
  found.outcome = trace::LookupOutcome::Hit;
  found.tokens = found.wanted = 4;
  maker.send(1, 1, found);
  maker.send(1, 1, trace::BlockAllocated{1, 0, 0});
  trace::BlockLoaded loaded;
  loaded.block = 1;
  loaded.tier = trace::StoreTier::Disk;
  loaded.tokens = 4;
  maker.send(1, 1, loaded);
  maker.send(1, 1, trace::BlockAllocated{2, 0, 1});
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::PoolTable table = ui::poolTable(input, history, ui::PoolShade::State);
  QVERIFY(table.anyLoaded);
  QVERIFY(table.blocks[1].loaded && table.blocks[1].shown == ui::BlockRole::Hit);
  QVERIFY(!table.blocks[2].loaded);
  QVERIFY(ui::poolLook(table.blocks[1]).loaded);
}

namespace {

/// Two documents that do not both fit into the pool, so that the second evicts.
test::Recorded crowded() {
  run::SessionConfig config;
  config.blockCount = 20;
  test::RunRecorder recorder(config);
  const document::Document rag = test::exampleDocument("rag.json");
  recorder.run(rag);
  recorder.run(test::swapped(rag));
  recorder.run(test::exampleDocument("judge-2.json"));
  recorder.run(rag);
  return recorder.recorded();
}

}  // namespace

void TestPoolView::levelsAreThoseOfThePool() {
  const test::Recorded recorded = crowded();
  const ui::ViewInput input = recorded.input();
  ui::PoolLevels levels;
  levels.follow(input.trace);
  QVERIFY(!levels.evictions().empty());
  QVERIFY(std::any_of(levels.levels().begin(), levels.levels().end(),
                      [](const ui::PoolLevel& level) { return level.shared > 0; }));
  for (const ui::PoolLevel& level : levels.levels()) {
    const trace::PoolReplay& pool = input.trace->stateAt(level.event + 1).pool();
    std::array<std::int32_t, 4> counts{};
    for (std::size_t i = 1; i < pool.blockCount(); ++i) {
      const trace::BlockState& block = pool.blocks()[i];
      ++counts[block.references > 1 ? 0 : block.references == 1 ? 1 : block.cached ? 2 : 3];
    }
    QCOMPARE(level.shared, counts[0]);
    QCOMPARE(level.unshared, counts[1]);
    QCOMPARE(level.cached, counts[2]);
    QCOMPARE(level.free, counts[3]);
    QCOMPARE(levels.blocks(), static_cast<std::int32_t>(pool.blockCount()) - 1);
  }
  QCOMPARE(std::ssize(levels.evictions()), static_cast<std::ptrdiff_t>(input.state().progress().evicted));
  // Step by step they are the same.
  auto growing = std::make_shared<ui::TraceStore>();
  ui::PoolLevels steps;
  for (const trace::Event& event : recorded.events) {
    growing->append(event);
    steps.follow(growing);
  }
  QVERIFY(steps.levels() == levels.levels() && steps.evictions() == levels.evictions());
  const QString csv = ui::poolLevelsCsv(input.trace);
  QCOMPARE(csv.count(QLatin1Char('\n')), std::ssize(levels.levels()) + 1);
}

void TestPoolView::overTimeLeadsToTheRequest() {
  const test::Recorded recorded = crowded();
  ui::ViewInput input = recorded.input();
  ui::PoolView view;
  view.resize(700, 300);
  view.setInput(input);
  view.show();
  const std::unique_ptr<QWidget> controls(view.takeTitleControls());
  auto* choice = controls->findChild<QComboBox*>();
  Q_EMIT choice->activated(2);
  QVERIFY(view.isOverTime() && view.plot().isVisible());
  QCOMPARE(choice->currentIndex(), 2);
  ui::PoolLevels levels;
  levels.follow(input.trace);

  std::vector<std::size_t> positions;
  std::vector<ui::Selection> selections;
  connect(&view, &ui::View::positionWanted, this,
          [&](std::size_t position) { positions.push_back(position); });
  connect(&view, &ui::View::selectionWanted, this,
          [&](const ui::Selection& selection) { selections.push_back(selection); });
  // A click on an eviction leads to its moment, and to the request that evicted.
  ui::PoolPlot& plot = view.plot();
  const std::size_t eviction = levels.evictions()[levels.evictions().size() / 2];
  const auto change = static_cast<std::size_t>(
      std::find_if(levels.levels().begin(), levels.levels().end(),
                   [&](const ui::PoolLevel& level) { return level.event == eviction; }) -
      levels.levels().begin());
  const QPoint place(static_cast<int>(std::lround(plot.xOf(change))), plot.height() / 2);
  QTest::mouseClick(&plot, Qt::LeftButton, {}, place);
  QCOMPARE(positions.size(), std::size_t{1});
  const trace::Event& event = input.trace->event(positions[0] - 1);
  const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload);
  QVERIFY(removed != nullptr && removed->reason == trace::RemovalReason::Evicted);
  QVERIFY(event.request != 0);
  QCOMPARE(selections.size(), std::size_t{1});
  QCOMPARE(selections[0].request, std::optional<RequestId>(event.request));
  const QString facts = plot.factsOf(*plot.current());
  QVERIFY2(facts.contains(QStringLiteral("Block evicted")) && facts.contains(QStringLiteral("cached")),
           qPrintable(facts));

  // The plot follows the position.
  input.position = positions[0];
  view.setInput(input);
  QCOMPARE(levels.levels()[*plot.current()].event, input.position - 1);
  // Keys go from change to change and from eviction to eviction.
  plot.setFocus();
  const std::size_t at = *plot.current();
  QTest::keyClick(&plot, Qt::Key_Left);
  QCOMPARE(*plot.current(), at - 1);
  QCOMPARE(plot.accessibleDescription(), plot.factsOf(at - 1));
  QTest::keyClick(&plot, Qt::Key_Home);
  QTest::keyClick(&plot, Qt::Key_Down);
  QCOMPARE(levels.levels()[*plot.current()].event, levels.evictions().front());
  QTest::keyClick(&plot, Qt::Key_Return);
  QCOMPARE(positions.back(), levels.evictions().front() + 1);
  QVERIFY(view.csv().startsWith(QStringLiteral("event,")));

  view.setShade(ui::PoolShade::Age);
  QVERIFY(!view.isOverTime() && !plot.isVisible());
}

void TestPoolView::overTimeIsQuick() {
  auto trace = std::make_shared<ui::TraceStore>();
  trace::SessionStarted session;
  session.pool.blocks.resize(4097);
  for (BlockId block = 1; block <= 4096; ++block) session.pool.freeOrder.push_back(block);
  trace::Event event;
  event.session = 1;
  event.sequence = 1;
  event.payload = session;
  trace->append(event);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto block = static_cast<BlockId>(1 + i / 2 % 4096);
    event.sequence = i + 2;
    event.time = static_cast<std::int64_t>(i) * 1000;
    event.payload = i % 2 == 0 ? trace::Payload(trace::BlockAllocated{block, 0, 0})
                               : trace::Payload(trace::BlockReleased{block, 0});
    trace->append(event);
  }
  QVERIFY(trace->contradictions().empty());
  QElapsedTimer timer;
  timer.start();
  ui::PoolLevels levels;
  levels.follow(trace);
  const std::int64_t followed = timer.restart();
  ui::PoolPlot plot;
  plot.resize(1400, 300);
  plot.showLevels(&levels, trace->size(), trace->size() / 2, ui::Theme());
  QPixmap picture(plot.size());
  QPainter painter(&picture);
  for (int i = 0; i < 10; ++i) plot.paint(painter, plot.rect());
  const std::int64_t painted = timer.elapsed();
  QVERIFY2(followed < 500 && painted < 1000, qPrintable(QStringLiteral("%1, %2").arg(followed).arg(painted)));
}

/// What the experiment found, of a model of that name.
experiment::ExperimentResult loadResult(const std::string& model, double coldDisk) {
  experiment::ExperimentResult result;
  result.request = {.experiment = "load", .values = {}};
  result.model = model;
  result.machine = "a machine, 2 threads";
  for (const double tokens : {512.0, 2048.0}) {
    const auto add = [&](const char* line, double ms) {
      result.points.push_back({.series = line, .x = tokens, .samples = {{ms * 2, ms, ms / 2}}});
    };
    add("computed", 308);
    add("host", 15);
    add("disk", 16);
    add("cold disk", coldDisk);
  }
  return result;
}

/// The honest comparison, beside the tiers and only there.
void TestPoolView::loadingStandsBesideComputing() {
  test::TraceMaker maker(4, 6);
  maker.computedRequest(1, 1, 8, 1);
  ui::ViewInput input = maker.input();
  ui::PoolView view;
  view.resize(700, 400);
  view.setInput(input);
  view.show();
  QVERIFY(!view.storeCostStrip().isVisible());
  maker.send(1, 0, someStore());
  input = maker.input();
  view.setInput(input);
  QVERIFY(view.storeCostStrip().isVisible());
  QVERIFY(!view.storeCostStrip().cost().isMeasured);
  QVERIFY2(view.storeCostStrip().cost().text.contains(worded("<loading-not-compared|spanlet>")),
           qPrintable(view.storeCostStrip().cost().text));
  QSignalSpy wanted(&view, &ui::View::commandWanted);
  view.storeCostStrip().button().click();
  QCOMPARE(wanted.front().front().toString(), QStringLiteral("run.experiment:load"));

  const QDateTime now = QDateTime::currentDateTimeUtc();
  ui::LoadComparisons loads;
  loads.byModel["spanlet"] = *ui::loadComparisonOf(loadResult("spanlet", 31), now);
  test::setMeasured<ui::LoadComparisonKind>(input, loads);
  view.setInput(input);
  const ui::StoreCost cost = view.storeCostStrip().cost();
  QVERIFY(cost.isMeasured);
  for (const char* said :
       {"<store-cost|512|15|16|31|308>", "<store-faster|9.94|20.5>", "a machine, 2 threads"})
    QVERIFY2(says(cost.text, said), qPrintable(cost.text));
  QVERIFY(cost.details.contains(QStringLiteral("2048 tokens")));
  // Where it is not worth it, that is what is said.
  loads.byModel["spanlet"] = *ui::loadComparisonOf(loadResult("spanlet", 400), now);
  test::setMeasured<ui::LoadComparisonKind>(input, loads);
  const QString text = ui::storeCost(input).text;
  QVERIFY2(says(text, "<store-faster-computed>"), qPrintable(text));
}

void TestPoolView::comparisonsAreRemembered() {
  const QDateTime now = QDateTime::fromString(QStringLiteral("2026-11-23T05:00:00Z"), Qt::ISODate);
  ui::LoadComparisons loads;
  loads.byModel["one"] = *ui::loadComparisonOf(loadResult("one", 31), now);
  loads.byModel["two"] = *ui::loadComparisonOf(loadResult("two", 40), now);
  QStringList texts = ui::loadTexts(loads);
  texts +=
      {QStringLiteral("{}"), QStringLiteral("no json"),
       QStringLiteral(R"({"model": "x", "measured": "2026-11-23T05:00:00Z", "timings": [{"tokens": 1}]})")};
  QVERIFY(ui::readLoads(texts).byModel == loads.byModel);
  // Of what was stopped before its end the lengths that are whole.
  experiment::ExperimentResult cut = loadResult("one", 31);
  cut.points.pop_back();
  QCOMPARE(ui::loadComparisonOf(cut, now)->timings.size(), std::size_t{1});
  cut.points.resize(2);
  QVERIFY(!ui::loadComparisonOf(cut, now));
  cut = loadResult("one", 31);
  cut.request.experiment = "rag";
  QVERIFY(!ui::loadComparisonOf(cut, now));
}

SPANSCOPE_TEST(tst_pool_view, TestPoolView, QApplication)
#include "tst_pool_view.moc"
