// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/ui/views/common/traced_requests.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/timeline/timeline_model.h"
#include "ui/views/timeline/timeline_view.h"
#include "ui/words/metric_words.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestTimeline : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loadingIsNoWaiting();
  void loadsApartAreTwo();
  void rowsShareTheHeight();
  void legendsAreWholeInNarrowTitles();
};

namespace {

/// A load that has just ended and took three quarters of the time since the event before it.
trace::BlockLoaded load(BlockId block, trace::StoreTier tier) {
  trace::BlockLoaded loaded;
  loaded.block = block;
  loaded.tier = tier;
  loaded.virtualIndex = block - 1;
  loaded.tokens = 4;
  loaded.nanoseconds = 750'000;
  return loaded;
}

trace::BlockLookedUp hit(BlockId block) {
  trace::BlockLookedUp found;
  found.block = block;
  found.virtualIndex = block - 1;
  found.outcome = trace::LookupOutcome::Hit;
  found.tokens = found.wanted = 4;
  return found;
}

/// The last column of pixels that is not background.
int lastInk(QWidget& widget) {
  const QImage image = widget.grab().toImage();
  const QRgb background = image.pixel(0, 0);
  for (int x = image.width() - 1; x >= 0; --x) {
    for (int y = 0; y < image.height(); ++y) {
      if (image.pixel(x, y) != background) return x;
    }
  }
  return -1;
}

}  // namespace

/// Of the time until a request is admitted, loading is called what it is.
void TestTimeline::loadingIsNoWaiting() {
  test::TraceMaker maker(4, 6);
  maker.startRun(1, 1, {test::TraceMaker::segment(9, 0, "/g/input")});
  for (const BlockId block : {1, 2}) maker.send(1, 1, hit(block));
  for (const BlockId block : {1, 2}) {
    maker.send(1, 1, trace::BlockAllocated{block, 0, block - 1});
    maker.send(1, 1, load(block, trace::StoreTier::Disk));
  }
  maker.send(1, 1, trace::BlockAllocated{3, 0, 2});
  maker.send(1, 1, trace::RequestAdmitted{9, 8, 0});
  const TimelineModel model = timelineModel(maker.input());
  const TimelineRow& row = model.rows.at(0);
  QCOMPARE(row.bars.size(), std::size_t{3});
  QVERIFY(row.bars[0].kind == BarKind::Waiting);
  QVERIFY(row.bars[1].kind == BarKind::Loading);
  QVERIFY(row.bars[2].kind == BarKind::Waiting);
  QCOMPARE(row.bars[0].end, row.bars[1].begin);
  QCOMPARE(row.bars[1].end, row.bars[2].begin);
  QCOMPARE(row.bars[2].end, row.admittedAt);
  QCOMPARE(row.bars[1].end - row.bars[1].begin, std::int64_t{2'750'000});
  QCOMPARE(row.bars[1].tokens, std::int64_t{8});
  const QString facts = timelineFacts(model, row, row.bars[1]);
  QVERIFY2(facts.contains(QStringLiteral("loading 8 tokens from disk")), qPrintable(facts));
  QVERIFY(!facts.contains(QStringLiteral("waiting")));
  QVERIFY(timelineCsv(model).contains(QStringLiteral(",loading,")));
  QVERIFY2(timelineFacts(model, row).contains(metricShare("cached-tokens", 8, "prompt-tokens", 9)),
           qPrintable(timelineFacts(model, row)));
  // Without loads it only waits.
  ViewInput early = maker.input();
  early.position = 5;
  const TimelineModel before = timelineModel(early);
  QCOMPARE(before.rows.at(0).bars.size(), std::size_t{1});
  QVERIFY(before.rows.at(0).bars[0].kind == BarKind::Waiting);
}

void TestTimeline::loadsApartAreTwo() {
  test::TraceMaker maker(4, 6);
  maker.startRun(1, 1, {test::TraceMaker::segment(9, 0, "/g/input")});
  for (const BlockId block : {1, 2}) maker.send(1, 1, hit(block));
  maker.send(1, 1, trace::BlockAllocated{1, 0, 0});
  maker.send(1, 1, load(1, trace::StoreTier::Disk));
  maker.send(0, 0, trace::BatchComputed{{}, 100});
  maker.send(1, 1, trace::BlockAllocated{2, 0, 1});
  maker.send(1, 1, load(2, trace::StoreTier::Host));
  const TimelineModel model = timelineModel(maker.input());
  const std::vector<TimelineBar>& bars = model.rows.at(0).bars;
  QCOMPARE(bars.size(), std::size_t{4});
  QVERIFY(bars[1].kind == BarKind::Loading && bars[1].fromDisk && !bars[1].fromHost);
  QVERIFY(bars[3].kind == BarKind::Loading && bars[3].fromHost && !bars[3].fromDisk);
  QVERIFY(timelineFacts(model, model.rows.at(0), bars[3]).contains(QStringLiteral("from host memory")));
}

/// Few rows in a high dock are higher. Many rows keep their height.
void TestTimeline::rowsShareTheHeight() {
  const auto barHeight = [](std::size_t requests, int height) {
    TimelineModel model;
    model.runs = {1};
    model.end = 1'000'000;
    for (std::size_t i = 0; i < requests; ++i) {
      TimelineRow row;
      row.run = 1;
      row.request = static_cast<RequestId>(i + 1);
      row.name = QStringLiteral("generate");
      row.bars.push_back({.kind = BarKind::Prefill, .begin = 0, .end = 900'000, .tokens = 10});
      model.rows.push_back(row);
    }
    TimelineTable table;
    table.resize(800, height);
    table.setContent(model, Theme(), {});
    table.show();
    QCoreApplication::processEvents();
    return table.barRect(0, model.rows.front().bars.front()).height();
  };
  QCOMPARE(barHeight(1, 60), 20.0);
  QVERIFY(barHeight(1, 480) > 40);
  QVERIFY(barHeight(8, 480) > 30);
  QCOMPARE(barHeight(40, 480), 20.0);
}

/// A narrow dock shortens words, and breaks the line. It leaves no state without its sample and its name.
void TestTimeline::legendsAreWholeInNarrowTitles() {
  TimelineView view;
  QWidget* controls = view.takeTitleControls();
  QVERIFY(controls != nullptr);
  auto* states = controls->findChild<BlockLegend*>();
  QVERIFY(2 * states->minimumSizeHint().width() < states->sizeHint().width() + 8 * kSpace);
  states->resize(states->minimumSizeHint());
  QVERIFY(lastInk(*states) >= states->width() - 4);
  delete controls;
  BlockLegend blocks(stateLegend());
  blocks.setTheme(Theme(Scheme::Light));
  const int least = blocks.minimumSizeHint().width();
  const QFontMetrics metrics(Theme(Scheme::Light).smallFont());
  int names = 0;
  for (const BlockLegend::Meaning& entry : stateLegend())
    names += metrics.horizontalAdvance(entry.brief.isEmpty() ? entry.name : entry.brief);
  QVERIFY(2 * least >= names && least < blocks.sizeHint().width());
  QVERIFY(blocks.sizeHint().height() <= kDockTitleHeight - 2);
  for (const int width : {least, (least + blocks.sizeHint().width()) / 2, blocks.sizeHint().width()}) {
    blocks.resize(width, blocks.sizeHint().height());
    // The last sample is there at any width, and its name where all names are.
    const int needed = width < blocks.sizeHint().width() ? least : width;
    QVERIFY2(lastInk(blocks) >= needed - 4 * kSpace, qPrintable(QString::number(lastInk(blocks))));
    QVERIFY(lastInk(blocks) < width);
  }
}

SPANSCOPE_TEST(tst_timeline, TestTimeline, QApplication)
#include "tst_timeline.moc"
