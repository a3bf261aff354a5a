// SPDX-License-Identifier: GPL-3.0-or-later
// Memory with one buffer per request and with blocks: how many requests run, and what stays empty.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/paging/paging_view.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QSlider>
#include <QSpinBox>
#include <QTest>

#include <map>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A request of 50 tokens, with an answer of up to 100 tokens, in a pool of 20 blocks.
PagingModel sample(std::int64_t requests) {
  return {.blockSize = 16,
          .slots = 320,
          .prompt = 41,
          .used = 50,
          .maxTokens = 100,
          .requests = requests,
          .mostChosen = 10};
}

}  // namespace

class TestPaging : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QApplication::setStyle(QStringLiteral("Fusion")); }

  void numbersByHand() {
    const PagingModel model = sample(4);
    QCOMPARE(model.buffer(), std::int64_t{141});
    QCOMPARE(model.blocks(), std::int64_t{64});
    QCOMPARE(model.fitting(model.buffer()), std::int64_t{2});
    QCOMPARE(model.fitting(model.blocks()), std::int64_t{5});
    QCOMPARE(model.running(model.buffer()), std::int64_t{2});
    QCOMPARE(model.running(model.blocks()), std::int64_t{4});
    QCOMPARE(model.empty(model.blocks()), 1 - 50.0 / 64);
    QCOMPARE(PagingModel().running(0), std::int64_t{0});
  }

  /// Ranges do not overlap, stay in the pool, and have the tokens of each running request once.
  void rangesHaveEveryToken_data() {
    QTest::addColumn<int>("requests");
    for (const int requests : {1, 2, 3, 5, 9}) QTest::addRow("%d", requests) << requests;
  }
  void rangesHaveEveryToken() {
    QFETCH(const int, requests);
    const PagingModel model = sample(requests);
    for (const bool hasBlocks : {false, true}) {
      const std::vector<SlotRange> ranges = hasBlocks ? blockRanges(model) : bufferRanges(model);
      std::map<std::size_t, std::int64_t> tokens;
      std::int64_t end = 0;
      for (const SlotRange& range : ranges) {
        QCOMPARE(range.begin, end);
        QVERIFY(range.used >= 0 && range.used <= range.end - range.begin);
        end = range.end;
        tokens[range.request] += range.used;
      }
      QVERIFY(end <= model.slots);
      const std::int64_t each = hasBlocks ? model.blocks() : model.buffer();
      QCOMPARE(static_cast<std::int64_t>(tokens.size()), model.running(each));
      for (const auto& [request, count] : tokens) QCOMPARE(count, model.used);
    }
  }

  /// Blocks of less than a pixel are drawn, too.
  void narrowBlocksAreVisible() {
    PagingModel model = sample(4);
    model.slots = 320000;
    model.requests = 4000;
    PagingDrawing drawing;
    const Theme theme;
    drawing.setContent(model, theme);
    QImage image(300, 160, QImage::Format_RGB32);
    image.fill(theme.color(Role::Surface));
    QPainter painter(&image);
    drawing.paint(painter, image.rect());
    painter.end();
    int inked = 0;
    for (int y = 80; y < 130; ++y) {
      for (int x = 0; x < image.width(); ++x) inked += image.pixelColor(x, y).saturation() > 60 ? 1 : 0;
    }
    QVERIFY2(inked > 3000, qPrintable(QString::number(inked)));
  }

  void theViewChoosesRequests() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    const ViewInput input = recorder.recorded().input();
    PagingView view;
    view.resize(640, 400);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto& request = input.state().progress().requests.at(input.shownRequest());
    QCOMPARE(view.model().prompt, request.promptTokens);
    QCOMPARE(view.model().used, request.promptTokens + request.generatedTokens - 1);
    auto* slider = view.findChild<QSlider*>();
    slider->setValue(7);
    QCOMPARE(view.model().requests, std::int64_t{7});
    auto* most = view.findChild<QSpinBox*>();
    most->setValue(1000);
    QCOMPARE(view.model().buffer(), request.promptTokens + 1000);
    QCOMPARE(view.csv().count(QLatin1Char('\n')), qsizetype{3});
    view.setInput(recorder.recorded().input(0));
    QCOMPARE(view.model().blockSize, 0);
    QVERIFY(!slider->isVisible());
  }
};

SPANSCOPE_TEST(tst_paging, TestPaging, QApplication)
#include "tst_paging.moc"
