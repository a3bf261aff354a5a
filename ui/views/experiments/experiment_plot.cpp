// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiment_plot.h"

#include "ui/views/common/plot_painting.h"

#include <QHelpEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kReach = 14;  // max pixels from the pointer to its place
constexpr double kMark = 7;
constexpr double kWhisker = 7;
constexpr double kAir = 1.08;  ///< of a logarithmic axis, beyond its outermost places
constexpr double kThin = 0.001;
constexpr int kLeastPlot = 190;     ///< height without the legend
constexpr int kLegendIcon = 44;     ///< width of a sample of a line, with the spaces around it
constexpr int kLegendBetween = 16;  ///< two columns

constexpr std::array kInks = {Role::RelocatedInk, Role::ComputedInk, Role::HitInk, Role::Text,
                              Role::Error,        Role::TextSecond,  Role::Accent, Role::TextThird};
constexpr std::array kMarks = {QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare,
                               QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond};

/// Each line of a plot has its own style. After the last ink, the inks repeat with other marks and dashes.
struct LineLook {
  Role ink;
  QCPScatterStyle::ScatterShape mark;
  std::size_t dash;
};
LineLook lookOf(std::size_t index) {
  const std::size_t round = index / kInks.size();
  return {kInks[index % kInks.size()], kMarks[(index + round) % kMarks.size()], index + 2 * round};
}

QVector<qreal> dashOf(std::size_t index) {
  switch (index % 4) {
    case 1:
      return {6, 3};
    case 2:
      return {1.5, 2};
    case 3:
      return {8, 2, 1.5, 2};
    default:
      return {};
  }
}

}  // namespace

ExperimentPlot::ExperimentPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setMinimumSize(220, 230);
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
  // The legend is above the lines, because there is no space between them.
  QCPLegend& legend = *m_plot->legend;
  m_plot->axisRect()->insetLayout()->take(&legend);
  m_plot->plotLayout()->insertRow(0);
  m_plot->plotLayout()->addElement(0, 0, &legend);
  m_plot->plotLayout()->setRowStretchFactor(0, kThin);
  legend.setFillOrder(QCPLegend::foColumnsFirst);
  legend.setWrap(2);
}

void ExperimentPlot::setContent(const experiment::LineChart& chart, const QString& name, const Theme& theme) {
  if (m_theme == theme && chart == m_chart) return;
  m_chart = chart;
  m_theme = theme;
  stylePlot(*m_plot, theme);
  m_plot->xAxis->setLabel(QString::fromStdString(chart.texts.xLabel));
  m_plot->yAxis->setLabel(QString::fromStdString(chart.texts.yLabel));
  QCPLegend& legend = *m_plot->legend;
  legend.setVisible(true);
  legend.setFont(theme.smallFont());
  legend.setTextColor(theme.color(Role::TextSecond));
  legend.setBrush(Qt::NoBrush);
  legend.setBorderPen(Qt::NoPen);
  QStringList said;
  for (const experiment::ChartSeries& line : m_chart.series) {
    for (const experiment::ChartPoint& place : line.points) said += textOf(line, place);
  }
  setAccessibleName(name);
  setAccessibleDescription(said.join(QLatin1Char('\n')));
  rebuild();
}

QString ExperimentPlot::textOf(const experiment::ChartSeries& line,
                               const experiment::ChartPoint& place) const {
  const auto number = [](double value) { return QString::number(value, 'g', 4); };
  return tr("%1, %2 %3: %4 (%5 … %6, %7 samples)")
      .arg(QString::fromStdString(line.name), number(place.x), QString::fromStdString(m_chart.texts.xLabel),
           number(place.number.value), number(place.number.low), number(place.number.high))
      .arg(place.number.samples);
}

void ExperimentPlot::rebuild() {
  m_plot->clearPlottables();
  int index = 0;
  for (const experiment::ChartSeries& line : m_chart.series) addLine(line, index++);
  setMinimumHeight(kLeastPlot + fitLegend(width()));
  setAxes();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

int ExperimentPlot::fitLegend(int width) {
  QCPLegend& legend = *m_plot->legend;
  const QFontMetrics metrics(legend.font());
  int widest = 1;
  for (const experiment::ChartSeries& line : m_chart.series)
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(line.name)));
  const int series = std::max(1, static_cast<int>(m_chart.series.size()));
  const int columns = std::clamp(width / (widest + kLegendIcon + kLegendBetween), 1, series);
  if (columns != legend.wrap()) {
    legend.setWrap(columns);
    legend.setFillOrder(QCPLegend::foColumnsFirst);  // arranges the present lines again
  }
  return legend.minimumOuterSizeHint().height() + 2 * kSpace;
}

void ExperimentPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setMinimumHeight(kLeastPlot + fitLegend(width()));
}

void ExperimentPlot::addLine(const experiment::ChartSeries& line, int index) {
  const LineLook look = lookOf(static_cast<std::size_t>(index));
  const QColor ink = m_theme->color(look.ink);
  QCPGraph* graph = m_plot->addGraph();
  graph->setName(QString::fromStdString(line.name));
  QPen pen(ink, 1.5);
  if (const QVector<qreal> dash = dashOf(look.dash); !dash.isEmpty()) pen.setDashPattern(dash);
  graph->setPen(pen);
  graph->setScatterStyle({look.mark, QPen(ink, 1.5), QBrush(m_theme->color(Role::Surface)), kMark});
  auto* whiskers = new QCPErrorBars(m_plot->xAxis, m_plot->yAxis);
  whiskers->removeFromLegend();
  whiskers->setDataPlottable(graph);
  whiskers->setPen(QPen(ink, 1));
  whiskers->setWhiskerWidth(kWhisker);
  whiskers->setSymbolGap(kMark + 2);
  for (const auto& [x, metric] : line.points) {
    graph->addData(x, metric.value);
    whiskers->addData(std::max(0.0, metric.value - metric.low), std::max(0.0, metric.high - metric.value));
  }
}

void ExperimentPlot::setAxes() {
  if (m_chart.series.empty()) return;
  const auto style = [](QCPAxis& axis, const experiment::ChartAxis& chart) {
    axis.setScaleType(chart.isLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    auto ticks = QSharedPointer<QCPAxisTickerText>::create();
    for (const experiment::ChartTick& tick : chart.ticks)
      ticks->addTick(tick.at, QString::fromStdString(tick.text));
    axis.setTicker(ticks);
  };
  style(*m_plot->xAxis, m_chart.x);
  style(*m_plot->yAxis, m_chart.y);
  // The axis goes from the first place to the last. A file has space for the whole axis.
  const double left = m_chart.x.ticks.front().at;
  const double right = m_chart.x.ticks.back().at;
  const double beside = std::max(1.0, (right - left) * 0.04);
  if (m_chart.x.isLogarithmic)
    m_plot->xAxis->setRange(left / kAir, right * kAir);
  else
    m_plot->xAxis->setRange(std::max(0.0, left - beside), right + beside);
  m_plot->yAxis->setRange(m_chart.y.low, m_chart.y.high * (m_chart.y.isLogarithmic ? kAir : 1.02));
}

void ExperimentPlot::paint(QPainter& painter, const QRect& area) {
  fitLegend(area.width());
  paintPlot(*m_plot, painter, area);
  fitLegend(width());
}

bool ExperimentPlot::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_plot || event->type() != QEvent::ToolTip) return QWidget::eventFilter(watched, event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString nearest;
  double least = kReach;
  for (const experiment::ChartSeries& line : m_chart.series) {
    for (const experiment::ChartPoint& place : line.points) {
      const QPointF at(m_plot->xAxis->coordToPixel(place.x), m_plot->yAxis->coordToPixel(place.number.value));
      const double distance = std::hypot(at.x() - help->pos().x(), at.y() - help->pos().y());
      if (distance >= least) continue;
      least = distance;
      nearest = textOf(line, place);
    }
  }
  if (nearest.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), nearest, m_plot);
  return true;
}

}  // namespace spanscope::ui
