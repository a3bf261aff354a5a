// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of plots in windows of any size: none is smaller than the window's smallest type, none lies over
// another, and none leaves its plot.
#include "engine/jobs/experiment.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "tests/ui/window/text_recorder.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/common/item_canvas.h"
#include "ui/views/common/plot_library.h"
#include "ui/views/experiments/experiment_charts.h"
#include "ui/views/metrics/metric_card.h"
#include "ui/views/pool/pool_plot.h"
#include "ui/views/pool/pool_view.h"
#include "ui/views/timeline/timeline_view.h"

#include <QApplication>
#include <QFontInfo>
#include <QObject>
#include <QPainter>
#include <QSignalSpy>
#include <QSize>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kLongest = 60'000;  // milliseconds

/// What is wrong with the labels of a plot that is `size` large; empty: nothing.
QStringList faultsOf(const std::vector<test::PaintedText>& texts, QSize size, double smallest) {
  constexpr double kSlack = 1;  // pixels; letters are hinted differently at every scale
  QStringList faults;
  const QRectF whole = QRectF(QPointF(), QSizeF(size)).adjusted(-kSlack, -kSlack, kSlack, kSlack);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const test::PaintedText& text = texts[i];
    if (text.size < smallest - 0.01)
      faults += QStringLiteral("“%1” is %2 pixels high").arg(text.text).arg(text.size);
    if (!whole.contains(text.place)) {
      faults += QStringLiteral("“%1” leaves the plot: %2, %3 … %4, %5 of %6×%7")
                    .arg(text.text)
                    .arg(text.place.left())
                    .arg(text.place.top())
                    .arg(text.place.right())
                    .arg(text.place.bottom())
                    .arg(size.width())
                    .arg(size.height());
    }
    for (std::size_t j = 0; j < i; ++j) {
      const QRectF both = text.place.intersected(texts[j].place);
      if (both.width() > kSlack && both.height() > kSlack)
        faults += QStringLiteral("“%1” lies over “%2”").arg(text.text, texts[j].text);
    }
  }
  return faults;
}

/// The texts that a widget paints itself. The texts that QCustomPlot keeps in pictures are painted again.
std::vector<test::PaintedText> textsOf(QWidget& widget, double scale) {
  test::TextRecorder recorder(widget.size(), scale);
  if (auto* plot = qobject_cast<QCustomPlot*>(&widget)) {
    QCPPainter painter(&recorder);
    painter.setMode(QCPPainter::pmNoCaching);
    plot->toPainter(&painter, widget.width(), widget.height());
    // The plot is laid out for its own widget again.
    plot->replot();
  } else {
    QPainter painter(&recorder);
    widget.render(&painter, QPoint(), QRegion(), {});
  }
  return recorder.texts();
}

/// The plots that are shown, or that one can scroll to: those of QCustomPlot and those with a painter of
/// their own.
std::vector<QWidget*> plotsIn(QWidget& window) {
  std::vector<QWidget*> plots;
  const auto add = [&](const auto& found) {
    for (QWidget* plot : found) {
      if (plot->isVisible()) plots.push_back(plot);
    }
  };
  add(window.findChildren<QCustomPlot*>());
  add(window.findChildren<PoolPlot*>());
  add(window.findChildren<MetricCard*>());
  for (ItemCanvas* canvas : window.findChildren<ItemCanvas*>()) {
    if (canvas->isVisible()) plots.push_back(canvas->viewport());
  }
  for (TimelineTable* table : window.findChildren<TimelineTable*>()) {
    if (!table->isVisible()) continue;
    plots.push_back(table->viewport());
    plots.push_back(table->horizontalHeader()->viewport());
  }
  return plots;
}

}  // namespace

class TestPlotLabels : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  void waitForTheEngine() const {
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kLongest);
    QTest::qWait(60);
  }
  void runOf(const char* command) const {
    m_window->perform(QLatin1String(command));
    waitForTheEngine();
  }

  void plotsOfDockAreRead(Dock& shown, double scale) {
    const double smallest = QFontInfo(m_window->workspace().input().theme.smallFont()).pixelSize();
    QTRY_VERIFY2(!plotsIn(shown).empty(), "no plot is shown");
    const std::vector<QWidget*> plots = plotsIn(shown);
    std::size_t count = 0;
    for (QWidget* plot : plots) {
      const std::vector<test::PaintedText> texts = textsOf(*plot, scale);
      count += texts.size();
      const QStringList faults = faultsOf(texts, plot->size(), smallest);
      QVERIFY2(faults.isEmpty(), qPrintable(QString::fromLatin1(plot->metaObject()->className()) +
                                            QStringLiteral(": ") + faults.join(QStringLiteral("; "))));
    }
    QVERIFY2(count > 2, "no plot has labels");
  }

 private Q_SLOTS:
  /// Two runs of documents in two orders, a benchmark and an experiment, so that every plot has something.
  void initTestCase() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show({1440, 900}));
    QVERIFY(m_window->openExample(QStringLiteral("judge-4.json")));
    runOf("run.run");
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    runOf("run.run");
    runOf("run.run");
    runOf("run.benchmark:query:2");
    runOf("run.experiment:rag;documents=1,2;words=12;policies=spans,prefix;repeats=2");
    QVERIFY(measured<jobs::ExperimentJob>(m_window->workspace().input().measured) != nullptr);
  }

  /// Nine policies with and without an empty cache are eighteen lines.
  void noTwoLinesOfAnExperimentLookAlike() {
    experiment::LineChart chart;
    chart.x.ticks = {{.at = 1, .text = "1"}};
    for (int i = 0; i < 18; ++i)
      chart.series.push_back({"line " + std::to_string(i), {{.x = 1, .number = {.value = 1.0 + i}}}});
    ExperimentPlot plot;
    plot.setContent(chart, QStringLiteral("lines"), m_window->workspace().input().theme);
    auto* inner = plot.findChild<QCustomPlot*>();
    QVERIFY(inner != nullptr);
    QCOMPARE(inner->graphCount(), 18);
    for (int i = 0; i < inner->graphCount(); ++i) {
      const QCPGraph& one = *inner->graph(i);
      for (int j = 0; j < i; ++j) {
        const QCPGraph& other = *inner->graph(j);
        const bool sameColor = one.pen().color() == other.pen().color();
        const bool sameShape = one.scatterStyle().shape() == other.scatterStyle().shape();
        QVERIFY2(!(sameColor && sameShape), qPrintable(one.name() + " and " + other.name()));
      }
    }
  }

  void cleanupTestCase() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void plotsAreRead_data() {
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("dock");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<double>("scale");
    const std::vector<std::pair<const char*, const char*>> docks{
        {"explain", "attention"}, {"explain", "pool"},      {"measure", "metrics"},
        {"measure", "timeline"},  {"measure", "benchmark"}, {"measure", "experiments"}};
    for (const auto& [layout, dock] : docks) {
      for (const QSize size : {QSize(960, 600), QSize(1024, 700), QSize(1440, 900), QSize(2560, 1440)}) {
        for (const double scale : {1.0, 1.5}) {
          QTest::addRow("%s at %d×%d, scale %.1f", dock, size.width(), size.height(), scale)
              << QString(QLatin1String(layout)) << QString(QLatin1String(dock)) << size << scale;
        }
      }
    }
  }
  void plotsAreRead() {
    QFETCH(const QString, layout);
    QFETCH(const QString, dock);
    QFETCH(const QSize, size);
    QFETCH(const double, scale);
    m_window->perform(QStringLiteral("view.") + layout);
    if (m_window->size() != size) {
      QSignalSpy settled(&m_window->docks(), &DockHost::settled);
      m_window->resize(size);
      settled.wait(1000);
    }
    m_window->docks().reveal(dock);
    Dock* shown = m_window->docks().dock(dock);
    QTest::qWait(120);
    if (auto* pool = shown->findChild<PoolView*>()) pool->showOverTime();
    QTest::qWait(60);
    plotsOfDockAreRead(*shown, scale);
    if (auto* attention = shown->findChild<AttentionView*>()) {
      attention->setDisplay(AttentionDisplay::Map);
      QTest::qWait(120);
      plotsOfDockAreRead(*shown, scale);
      attention->setDisplay(AttentionDisplay::Words);
    }
  }

  /// What the test looks for is found where it is.
  /// However many lines an experiment has, the legend leaves the plot its height.
  void aLegendLeavesThePlotItsHeight() {
    experiment::LineChart chart;
    chart.x.ticks = {{.at = 1, .text = "1"}};
    chart.texts = {.title = {}, .subtitle = {}, .xLabel = "documents", .yLabel = "ms"};
    for (const double at : {1.0, 16.0}) chart.x.ticks.push_back({.at = at, .text = "tick"});
    chart.x.high = 16;
    chart.y.ticks = {{.at = 1, .text = "1"}};
    for (int line = 0; line < 18; ++line) {
      experiment::ChartSeries series{.name = "policy " + std::to_string(line) + ", documents seen",
                                     .points = {}};
      for (const double at : {1.0, 16.0})
        series.points.push_back({.x = at, .number = {.value = 0.5, .low = 0.4, .high = 0.6, .samples = 3}});
      chart.series.push_back(series);
    }
    for (const int width : {260, 520, 900}) {
      ExperimentPlot plot;
      plot.resize(width, 100);
      plot.setContent(chart, QStringLiteral("lines"), Theme());
      plot.show();
      QTest::qWait(20);
      plot.resize(width, plot.minimumHeight());
      QTest::qWait(20);
      auto* drawn = plot.findChild<QCustomPlot*>();
      drawn->replot();
      QVERIFY2(drawn->axisRect()->height() >= 100, qPrintable(QString::number(drawn->axisRect()->height())));
    }
  }

  void faultsAreFound() {
    const auto facts = [](QRectF place, double size) {
      return test::PaintedText{.text = QStringLiteral("x"), .place = place, .size = size};
    };
    const QSize size(100, 100);
    QVERIFY(faultsOf({facts({0, 0, 10, 10}, 11), facts({20, 0, 10, 10}, 11)}, size, 11).isEmpty());
    QCOMPARE(faultsOf({facts({0, 0, 10, 10}, 10)}, size, 11).size(), 1);
    QCOMPARE(faultsOf({facts({95, 0, 10, 10}, 11)}, size, 11).size(), 1);
    QCOMPARE(faultsOf({facts({0, 0, 10, 10}, 11), facts({5, 5, 10, 10}, 11)}, size, 11).size(), 1);
    // A painter's scale counts, and so does the way in which a plot turns its text.
    QFont font;
    font.setPixelSize(20);
    test::TextRecorder recorder(size, 1.5);
    QPainter painter(&recorder);
    painter.setFont(font);
    painter.drawText(QPointF(10, 50), QStringLiteral("a label"));
    painter.scale(0.5, 0.5);
    painter.rotate(90);
    painter.drawText(QPointF(0, -20), QStringLiteral("upright"));
    painter.end();
    QCOMPARE(recorder.texts().size(), std::size_t{2});
    const test::PaintedText& plain = recorder.texts()[0];
    QVERIFY(plain.text == QStringLiteral("a label") && plain.size == 20.0);
    QVERIFY(plain.place.left() == 10 && plain.place.bottom() == 50 && plain.place.height() < 20);
    const test::PaintedText& upright = recorder.texts()[1];
    QCOMPARE(upright.size, 10.0);
    QVERIFY(upright.place.height() > upright.place.width());
  }
};

SPANSCOPE_TEST(tst_plot_labels, TestPlotLabels, QApplication)
#include "tst_plot_labels.moc"
