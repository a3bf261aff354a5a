// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_plot.h"

#include "ui/views/common/plot_painting.h"

#include <QHelpEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

using experiment::RunCase;

constexpr double kReach = 14;  // pixels from a point within which the pointer means the point
constexpr double kMark = 8;
constexpr double kSampleMark = 3;
constexpr double kWhisker = 9;
/// How far samples stand beside the median of their case, in units of the distance between cases.
constexpr double kBeside = 0.16;
constexpr double kThin = 0.001;   ///< stretch of a row that gets no more height than it needs
constexpr double kMostLines = 6;  ///< most octaves of the scale of which each has a line
constexpr double kAir = 0.5;      ///< least octaves between the outermost points and the ends of the scale

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

/// Places the legend above the lines, which leave no room between them.
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
  // Lines stand at whole powers of two, four or sixteen: as many as can be read, but at least two.
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
