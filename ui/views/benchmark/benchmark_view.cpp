// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_view.h"

#include "ui/session/job_estimate.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/plot_painting.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHelpEvent>
#include <QPainter>
#include <QSpinBox>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kGap = 2 * kSpace;
/// The plot is beside the table if the page is at least kWide wide and lower than kTall.
constexpr int kWide = 1100;
constexpr int kTall = 620;
constexpr int kPlotHeight = 150;
constexpr int kLinesHeight = 200;

}  // namespace

QString BenchmarkView::introduction() const {
  if (request().kind == BenchmarkKind::Lengths)
    return tr(
        "Measure two generated documents, from short to long, with the model of this query. Each length "
        "has three cases: empty cache, same order, swapped order. Every run has a new question.");
  return tr(
      "Run this query several times: with an empty cache, in the same order, and with the children of plus "
      "swapped. A further run without these children shows the shortest possible time. The table shows how "
      "much time the cache saves.");
}

BenchmarkView::BenchmarkView(QWidget* parent)
    : MeasurePage(InputPart::Document | InputPart::Measured | InputPart::Prediction, tr("Benchmark"),
                  parent) {
  setCopyHelp(tr("Copy the table as text"));
  makeChoices();
  layOut({m_kind, m_repeats, runButton()}, makeResults())->addStretch();
}

void BenchmarkView::makeChoices() {
  m_kind = new QComboBox(this);
  m_kind->setAccessibleName(tr("What is measured"));
  m_kind->addItem(tr("This query"), static_cast<int>(BenchmarkKind::Query));
  m_kind->addItem(tr("Document lengths"), static_cast<int>(BenchmarkKind::Lengths));
  m_repeats = new QSpinBox(this);
  m_repeats->setAccessibleName(tr("Repeats"));
  m_repeats->setToolTip(tr("Set the number of measurements per case, after one warm-up"));
  m_repeats->setRange(1, kMostBenchmarkRepeats);
  m_repeats->setValue(BenchmarkChoice().repeats);
  m_repeats->setSuffix(tr(" repeats"));
  ignoreWheelWithoutFocus(m_kind);
  ignoreWheelWithoutFocus(m_repeats);
  const auto changed = [this] {
    if (input() != nullptr) refresh();
  };
  connect(m_kind, &QComboBox::currentIndexChanged, this, changed);
  // The estimated time depends on the number of repeats.
  connect(m_repeats, &QSpinBox::valueChanged, this, changed);
}

QWidget* BenchmarkView::makeResults() {
  auto* results = new QWidget;
  QVBoxLayout* texts = makeTexts(tr("Results of the benchmark"), results);
  texts->addStretch(1);
  m_plot = new BenchmarkPlot(results);
  m_results = new QBoxLayout(QBoxLayout::TopToBottom, results);
  m_results->setContentsMargins(0, 0, 0, kGap);
  m_results->setSpacing(kGap);
  m_results->addLayout(texts, 3);
  m_results->addWidget(m_plot, 2);
  return results;
}

BenchmarkChoice BenchmarkView::request() const {
  return {.kind = static_cast<BenchmarkKind>(m_kind->currentData().toInt()), .repeats = m_repeats->value()};
}

void BenchmarkView::setRequest(const BenchmarkChoice& request) {
  m_kind->setCurrentIndex(m_kind->findData(static_cast<int>(request.kind)));
  m_repeats->setValue(request.repeats);
}

QString BenchmarkView::command() const {
  return QStringLiteral("run.benchmark:") + benchmarkRequest(request());
}

void BenchmarkView::refresh() {
  m_model = benchmarkModel(*input());
  Shown shown{
      .isKnown = m_model.isKnown,
      .isRunning = m_model.isRunning,
      .progress = m_model.progress,
      .doing = m_model.isRunning ? m_model.doing
                                 : estimateText(*input(), jobs::callOf<jobs::BenchmarkJob>(request())),
      .setup = m_model.setup,
      .warnings = {},
      .remarks = {},
      .table = m_model.table,
      .run = tr("Run benchmark"),
      .runHelp = m_model.isRunning ? tr("Stop, and keep the finished repeats")
                                   : tr("Measure in several steps. Other runs can start between two steps")};
  for (const BenchmarkRemark& remark : m_model.remarks)
    (remark.kind == RemarkKind::Warning ? shown.warnings : shown.remarks) += remark.text;
  m_kind->setEnabled(!m_model.isRunning);
  m_repeats->setEnabled(!m_model.isRunning);
  m_plot->setVisible(!m_model.table.rows.empty());
  if (!m_model.table.rows.empty()) m_plot->setContent(m_model, theme());
  showMeasured(shown);
  arrange();
}

void BenchmarkView::arrange() {
  const bool isWide = width() >= kWide && height() < kTall;
  m_results->setDirection(isWide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_results->setStretch(0, isWide ? 3 : 0);
  m_results->setStretch(1, isWide ? 2 : 1);
  m_plot->setMinimumHeight(m_model.kind == BenchmarkKind::Query ? kPlotHeight : kLinesHeight);
}

QString BenchmarkView::text() const {
  return benchmarkText(m_model);
}

QString BenchmarkView::csv() const {
  if (input() == nullptr) return {};
  const auto benchmark = measured<jobs::BenchmarkJob>(input()->measured);
  return !benchmark || benchmarkModel(*input()).table.rows.empty() ? QString() : benchmarkCsv(*benchmark);
}

void BenchmarkView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  if (!m_model.isKnown) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  write(painter, m_model.setup, width, size.height(), y);
  if (m_model.table.rows.empty()) {
    for (const BenchmarkRemark& remark : m_model.remarks)
      write(painter, remark.text, width, size.height(), y);
    return;
  }
  const int tableHeight = paintedTableHeight(m_model.table, theme(), width);
  paintTable(painter, QRect(kGap, y, width, tableHeight + 1), m_model.table, theme());
  y += tableHeight + kGap;
  for (const BenchmarkRemark& remark : m_model.remarks) write(painter, remark.text, width, size.height(), y);
  const int left = size.height() - y - kGap;
  if (left < kPlotHeight / 2) return;
  m_plot->setContent(m_model, theme());
  m_plot->paint(painter, QRect(kGap, y, width, left));
}

void BenchmarkView::resizeEvent(QResizeEvent* event) {
  MeasurePage::resizeEvent(event);
  arrange();
}

ViewInfo benchmarkRow() {
  return {.id = QStringLiteral("benchmark"),
          .title = tr("Benchmark"),
          .help = tr("The query, run repeatedly: cold, in the same order and swapped"),
          .make = makeViewOf<BenchmarkView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 1, 0}}};
}

namespace {

using experiment::RunCase;

constexpr double kReach = 14;  // max distance from the pointer to its point, in pixels
constexpr double kMark = 8;
constexpr double kSampleMark = 3;
constexpr double kWhisker = 9;
/// Distance of samples from the median of their case, in units of the distance between cases.
constexpr double kBeside = 0.16;
constexpr double kThin = 0.001;   ///< stretch factor of a row that gets only its min height
constexpr double kMostLines = 6;  ///< max octaves of a scale with a line for each octave
constexpr double kAir = 0.5;      ///< min octaves between the outermost points and the ends of the scale

Role inkOf(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return Role::ComputedInk;
    case RunCase::SameOrder:
      return Role::HitInk;
    case RunCase::Swapped:
      return Role::RelocatedInk;
    case RunCase::Floor:
      break;
  }
  return Role::TextThird;
}

QCPScatterStyle::ScatterShape markOf(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return QCPScatterStyle::ssCircle;
    case RunCase::SameOrder:
      return QCPScatterStyle::ssTriangle;
    case RunCase::Swapped:
      return QCPScatterStyle::ssSquare;
    case RunCase::Floor:
      break;
  }
  return QCPScatterStyle::ssDiamond;
}

}  // namespace

BenchmarkPlot::BenchmarkPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setMinimumSize(220, 170);
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
}

void BenchmarkPlot::setContent(const BenchmarkModel& model, const Theme& theme) {
  if (m_theme == theme && model.series == m_series && model.kind == m_kind) return;
  m_series = model.series;
  m_kind = model.kind;
  m_theme = theme;
  stylePlot(*m_plot, theme);
  m_plot->xAxis->setLabel(model.xName);
  m_plot->yAxis->setLabel(model.yName);
  QStringList said;
  for (const MeasuredSeries& series : m_series) {
    for (const MeasuredPoint& point : series.points) said += point.text;
  }
  setAccessibleName(model.yName);
  setAccessibleDescription(said.join(QLatin1Char('\n')));
  rebuild();
}

void BenchmarkPlot::rebuild() {
  m_plot->clearPlottables();
  for (const MeasuredSeries& series : m_series) {
    if (m_kind == BenchmarkKind::Query) addSamples(series);
    addSeries(series);
  }
  setAxes();
  placeLegend(m_kind == BenchmarkKind::Lengths);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

/// Places the legend above the lines, because there is no room between them.
void BenchmarkPlot::placeLegend(bool isWanted) {
  QCPLegend& legend = *m_plot->legend;
  QCPLayoutGrid& rows = *m_plot->plotLayout();
  legend.setVisible(isWanted);
  legend.setFont(m_theme->smallFont());
  legend.setTextColor(m_theme->color(Role::TextSecond));
  legend.setBrush(Qt::NoBrush);
  legend.setBorderPen(Qt::NoPen);
  legend.setFillOrder(QCPLegend::foColumnsFirst);
  const bool isAbove = rows.rowCount() > 1;
  if (isWanted == isAbove) return;
  if (isWanted) {
    m_plot->axisRect()->insetLayout()->take(&legend);
    rows.insertRow(0);
    rows.addElement(0, 0, &legend);
    rows.setRowStretchFactor(0, kThin);
  } else {
    rows.take(&legend);
    rows.simplify();
    m_plot->axisRect()->insetLayout()->addElement(&legend, Qt::AlignTop | Qt::AlignLeft);
  }
}

void BenchmarkPlot::addSamples(const MeasuredSeries& series) {
  QCPGraph* graph = m_plot->addGraph();
  graph->setLineStyle(QCPGraph::lsNone);
  const QColor ink = m_theme->color(inkOf(series.runCase));
  graph->setScatterStyle({QCPScatterStyle::ssDisc, QPen(ink, 1), QBrush(ink), kSampleMark});
  graph->removeFromLegend();
  for (const MeasuredPoint& point : series.points) {
    for (const double sample : point.samples) graph->addData(point.x + kBeside, sample);
  }
}

void BenchmarkPlot::addSeries(const MeasuredSeries& series) {
  const QColor ink = m_theme->color(inkOf(series.runCase));
  QCPGraph* graph = m_plot->addGraph();
  graph->setName(series.name);
  QPen pen(ink, 1.5);
  if (series.runCase == RunCase::Swapped) pen.setDashPattern({4, 3});
  graph->setPen(pen);
  graph->setLineStyle(m_kind == BenchmarkKind::Lengths ? QCPGraph::lsLine : QCPGraph::lsNone);
  graph->setScatterStyle(
      {markOf(series.runCase), QPen(ink, 1.5), QBrush(m_theme->color(Role::Surface)), kMark});
  auto* whiskers = new QCPErrorBars(m_plot->xAxis, m_plot->yAxis);
  whiskers->removeFromLegend();
  whiskers->setDataPlottable(graph);
  whiskers->setPen(QPen(ink, 1));
  whiskers->setWhiskerWidth(kWhisker);
  whiskers->setSymbolGap(kMark + 2);
  for (const MeasuredPoint& point : series.points) {
    graph->addData(point.x, point.median);
    whiskers->addData(point.median - point.least, point.most - point.median);
  }
}

void BenchmarkPlot::setAxes() {
  double low = 0;
  double high = 0;
  double right = 0;
  for (const MeasuredSeries& series : m_series) {
    for (const MeasuredPoint& point : series.points) {
      if (point.least > 0 && (low == 0 || point.least < low)) low = point.least;
      high = std::max(high, point.most);
      right = std::max(right, point.x);
    }
  }
  if (low <= 0 || high <= 0) return;
  // Grid lines are at whole powers of 2, 4 or 16: as many as are readable, but at least two.
  const double octaves = std::log2(high / low);
  const double base = octaves <= kMostLines ? 2 : octaves <= 2 * kMostLines ? 4 : 16;
  m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
  auto powers = QSharedPointer<QCPAxisTickerLog>::create();
  powers->setLogBase(base);
  powers->setSubTickCount(0);
  m_plot->yAxis->setTicker(powers);
  m_plot->yAxis->setNumberFormat(QStringLiteral("g"));
  m_plot->yAxis->setNumberPrecision(6);
  const double air = std::exp2(kAir);
  const bool isFine = base == 2;
  m_plot->yAxis->setRange(isFine ? std::exp2(std::floor(std::log2(low / air))) : low / air,
                          isFine ? std::exp2(std::ceil(std::log2(high * air))) : high * air);
  if (m_kind == BenchmarkKind::Query) {
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (const MeasuredSeries& series : m_series) names->addTick(series.points.front().x, series.name);
    m_plot->xAxis->setScaleType(QCPAxis::stLinear);
    m_plot->xAxis->setTicker(names);
    m_plot->xAxis->setTickLabelFont(m_theme->smallFont());
    m_plot->xAxis->setRange(-0.5, right + 0.5);
    return;
  }
  auto names = QSharedPointer<QCPAxisTickerText>::create();
  for (const MeasuredPoint& point : m_series.front().points)
    names->addTick(point.x, QString::number(point.x, 'f', 0));
  m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
  m_plot->xAxis->setTicker(names);
  m_plot->xAxis->setRange(m_series.front().points.front().x / 1.4, right * 1.4);
}

void BenchmarkPlot::paint(QPainter& painter, const QRect& area) {
  paintPlot(*m_plot, painter, area);
}

const MeasuredPoint* BenchmarkPlot::pointAt(const QPointF& place) const {
  const MeasuredPoint* nearest = nullptr;
  double best = kReach;
  for (const MeasuredSeries& series : m_series) {
    for (const MeasuredPoint& point : series.points) {
      const double x = m_plot->xAxis->coordToPixel(point.x);
      const double y = m_plot->yAxis->coordToPixel(point.median);
      const double distance = std::hypot(x - place.x(), y - place.y());
      if (distance >= best) continue;
      best = distance;
      nearest = &point;
    }
  }
  return nearest;
}

bool BenchmarkPlot::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_plot || event->type() != QEvent::ToolTip) return QWidget::eventFilter(watched, event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const MeasuredPoint* point = pointAt(help->pos());
  QToolTip::showText(help->globalPos(), point == nullptr ? QString() : point->text, m_plot);
  return true;
}

}  // namespace spanscope::ui
