// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiment_plot.h"

#include "engine/experiment/experiment_chart.h"
#include "ui/views/common/plot_painting.h"

#include <QHelpEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kReach = 14;  // pixels from a place at which the pointer still means it
constexpr double kMark = 7;
constexpr double kWhisker = 7;
constexpr double kAir = 1.08;  ///< of a logarithmic axis, beyond its outermost places
constexpr double kThin = 0.001;

constexpr std::array kInks = {Role::RelocatedInk, Role::ComputedInk, Role::HitInk, Role::Text,
                              Role::Error,        Role::TextSecond,  Role::Accent, Role::TextThird};
constexpr std::array kMarks = {QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare,
                               QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond};

QVector<qreal> dashOf(int index) {
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
  // Above the lines, which leave no room among them.
  QCPLegend& legend = *m_plot->legend;
  m_plot->axisRect()->insetLayout()->take(&legend);
  m_plot->plotLayout()->insertRow(0);
  m_plot->plotLayout()->addElement(0, 0, &legend);
  m_plot->plotLayout()->setRowStretchFactor(0, kThin);
  legend.setFillOrder(QCPLegend::foColumnsFirst);
  legend.setWrap(2);
}

void ExperimentPlot::setContent(const ExperimentsModel& model, const Theme& theme) {
  if (m_theme == theme && model.lines == m_model.lines && model.measure == m_model.measure) return;
  m_model = model;
  m_theme = theme;
  stylePlot(*m_plot, theme);
  m_plot->xAxis->setLabel(model.xName);
  m_plot->yAxis->setLabel(model.yName);
  QCPLegend& legend = *m_plot->legend;
  legend.setVisible(true);
  legend.setFont(theme.smallFont());
  legend.setTextColor(theme.color(Role::TextSecond));
  legend.setBrush(Qt::NoBrush);
  legend.setBorderPen(Qt::NoPen);
  QStringList said;
  for (const ExperimentLine& line : m_model.lines) {
    for (const ExperimentPlace& place : line.places) said += place.text;
  }
  setAccessibleName(model.title);
  setAccessibleDescription(said.join(QLatin1Char('\n')));
  rebuild();
}

void ExperimentPlot::rebuild() {
  m_plot->clearPlottables();
  int index = 0;
  for (const ExperimentLine& line : m_model.lines) addLine(line, index++);
  setAxes();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ExperimentPlot::addLine(const ExperimentLine& line, int index) {
  const auto look = static_cast<std::size_t>(index);
  const QColor ink = m_theme->color(kInks[look % kInks.size()]);
  QCPGraph* graph = m_plot->addGraph();
  graph->setName(line.name);
  QPen pen(ink, 1.5);
  if (const QVector<qreal> dash = dashOf(index); !dash.isEmpty()) pen.setDashPattern(dash);
  graph->setPen(pen);
  graph->setScatterStyle(
      {kMarks[look % kMarks.size()], QPen(ink, 1.5), QBrush(m_theme->color(Role::Surface)), kMark});
  auto* whiskers = new QCPErrorBars(m_plot->xAxis, m_plot->yAxis);
  whiskers->removeFromLegend();
  whiskers->setDataPlottable(graph);
  whiskers->setPen(QPen(ink, 1));
  whiskers->setWhiskerWidth(kWhisker);
  whiskers->setSymbolGap(kMark + 2);
  for (const ExperimentPlace& place : line.places) {
    graph->addData(place.x, place.value);
    whiskers->addData(std::max(0.0, place.value - place.low), std::max(0.0, place.high - place.value));
  }
}

void ExperimentPlot::setAxes() {
  double xLow = 0;
  double xHigh = 0;
  double yLow = 0;
  double yHigh = 0;
  bool isFirst = true;
  QMap<double, QString> places;
  for (const ExperimentLine& line : m_model.lines) {
    for (const ExperimentPlace& place : line.places) {
      xLow = isFirst ? place.x : std::min(xLow, place.x);
      yLow = isFirst ? place.low : std::min(yLow, place.low);
      xHigh = std::max(xHigh, place.x);
      yHigh = std::max(yHigh, place.high);
      places[place.x] = QString::number(place.x);
      isFirst = false;
    }
  }
  if (isFirst) return;
  const bool isXLogarithmic = m_model.isXLogarithmic && xLow > 0;
  const bool isYLogarithmic = m_model.isYLogarithmic && yLow > 0;
  m_plot->xAxis->setScaleType(isXLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  m_plot->yAxis->setScaleType(isYLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  auto xTicks = QSharedPointer<QCPAxisTickerText>::create();
  xTicks->setTicks(places);
  m_plot->xAxis->setTicker(xTicks);
  const double beside = isXLogarithmic ? 0 : std::max(1.0, (xHigh - xLow) * 0.04);
  m_plot->xAxis->setRange(isXLogarithmic ? xLow / kAir : std::max(0.0, xLow - beside),
                          isXLogarithmic ? xHigh * kAir : xHigh + beside);
  auto yTicks = QSharedPointer<QCPAxisTickerText>::create();
  const std::vector<double> ticks = isYLogarithmic ? experiment::axisTicks(yLow, yHigh, true)
                                                   : experiment::axisTicks(0, yHigh > 0 ? yHigh : 1, false);
  for (const double tick : ticks) yTicks->addTick(tick, QString::number(tick, 'g', 4));
  m_plot->yAxis->setTicker(yTicks);
  const double top = std::max(ticks.back(), yHigh);
  const double bottom = isYLogarithmic ? std::min(ticks.front(), yLow) : 0;
  m_plot->yAxis->setRange(bottom, isYLogarithmic ? top * kAir : top * 1.02);
}

void ExperimentPlot::paint(QPainter& painter, const QRect& area) {
  paintPlot(*m_plot, painter, area);
}

bool ExperimentPlot::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_plot || event->type() != QEvent::ToolTip) return QWidget::eventFilter(watched, event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const ExperimentPlace* nearest = nullptr;
  double least = kReach;
  for (const ExperimentLine& line : m_model.lines) {
    for (const ExperimentPlace& place : line.places) {
      const QPointF at(m_plot->xAxis->coordToPixel(place.x), m_plot->yAxis->coordToPixel(place.value));
      const double distance = std::hypot(at.x() - help->pos().x(), at.y() - help->pos().y());
      if (distance >= least) continue;
      least = distance;
      nearest = &place;
    }
  }
  if (nearest == nullptr)
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), nearest->text, m_plot);
  return true;
}

}  // namespace spanscope::ui
