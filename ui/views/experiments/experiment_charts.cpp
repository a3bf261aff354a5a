// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiment_charts.h"

#include "ui/views/common/plot_painting.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QPainter>
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

namespace {

constexpr int kReadout = 22;  // pixels of the line below

}  // namespace

CellChart::CellChart(QWidget* parent) : ItemCanvas(parent) {
  setMouseTracking(true);
  connect(this, &QAbstractItemView::entered, this, [this](const QModelIndex& cell) { point(cell.row()); });
  connect(this, &QAbstractItemView::viewportEntered, this, [this] { point(-1); });
}

QRectF CellChart::chartArea() const {
  return QRectF(viewport()->rect()).adjusted(0, 0, 0, -kReadout);
}

void CellChart::contentChanged(const Theme& theme) {
  m_theme = theme;
  setMinimumHeight(heightFor(width()) + kReadout);
  m_cells = layOut(chartArea());
  QStringList texts;
  for (const Cell& cell : m_cells) texts += cell.text;
  setItems(texts);
  point(-1);
}

void CellChart::point(int cell) {
  m_pointed = cell;
  viewport()->update();
}

void CellChart::paint(QPainter& painter, const QRect& area) {
  draw(painter, area);
}

QString CellChart::readout() const {
  return itemText(m_pointed >= 0 ? m_pointed : currentItem());
}

QRect CellChart::itemRect(int item) const {
  return m_cells[static_cast<std::size_t>(item)].place.toAlignedRect();
}

void CellChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  draw(painter, chartArea());
  if (currentItem() >= 0) {
    const QRectF place = m_cells[static_cast<std::size_t>(currentItem())].place;
    painter.setBrush(Qt::NoBrush);
    // Two rings, so that one of them has a contrast to any colour of a cell.
    painter.setPen(QPen(m_theme.color(Role::Surface), 4));
    painter.drawRect(place);
    painter.setPen(QPen(m_theme.color(Role::Accent), 2));
    painter.drawRect(place);
  }
  const QString said = readout();
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(said.isEmpty() ? Role::TextThird : Role::Text));
  const QRect line(0, height() - kReadout, width(), kReadout);
  const QString text =
      said.isEmpty() ? tr("Point at a cell, or use the arrow keys, to read the value of the cell.") : said;
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(text, Qt::ElideRight, line.width()));
}

void CellChart::resizeEvent(QResizeEvent* event) {
  ItemCanvas::resizeEvent(event);
  setMinimumHeight(heightFor(width()) + kReadout);
  m_cells = layOut(chartArea());
  m_pointed = -1;
}

void CellChart::leaveEvent(QEvent* event) {
  ItemCanvas::leaveEvent(event);
  point(-1);
}

namespace {

constexpr double kTitle = 20;    ///< height of the title above each map
constexpr double kColumns = 20;  ///< height of the column names below each map
constexpr double kAxis = 20;     ///< height of the axis below all maps
constexpr double kBetween = 16;  ///< distance of maps beside each other
constexpr double kScale = 12;    ///< width of the scale
constexpr double kBesideScale = 64;
constexpr double kNarrowCell = 30;
constexpr double kWideCell = 110;
constexpr double kLowCell = 22;
constexpr double kHighCell = 36;

QString numberOf(double value) {
  return QString::fromStdString(experiment::shortNumber(value));
}

/// An ink that is readable on a colour of the scale.
QColor inkOn(const QColor& fill) {
  return Theme(fill.lightnessF() > 0.45F ? Scheme::Light : Scheme::Dark).color(Role::Text);
}

}  // namespace

/// The arrangement of the maps at a width. As many maps are side by side as have space for numbers.
struct HeatMapChart::Grid {
  double left = 0;
  double cell = kNarrowCell;
  std::size_t beside = 1;  ///< maps in a row
  std::size_t below = 1;   ///< rows of maps
};

HeatMapChart::Grid HeatMapChart::gridOf(double width) const {
  Grid grid;
  const QFontMetricsF metrics(theme().smallFont());
  for (const std::string& row : m_map.rows)
    grid.left = std::max(grid.left, metrics.horizontalAdvance(QString::fromStdString(row)));
  grid.left = std::min(std::max(grid.left, metrics.horizontalAdvance(yName())) + 3 * kSpace, width * 0.4);
  const auto columns = static_cast<double>(std::max<std::size_t>(1, m_map.columns.size()));
  const double room = width - grid.left - kBesideScale;
  for (grid.beside = std::max<std::size_t>(1, m_map.panels.size()); grid.beside > 1; --grid.beside) {
    const auto beside = static_cast<double>(grid.beside);
    if ((room - kBetween * (beside - 1)) / beside / columns >= kNarrowCell) break;
  }
  const auto beside = static_cast<double>(grid.beside);
  grid.cell = std::clamp((room - kBetween * (beside - 1)) / beside / columns, kNarrowCell / 2, kWideCell);
  grid.below = (m_map.panels.size() + grid.beside - 1) / grid.beside;
  return grid;
}

int HeatMapChart::heightFor(int width) const {
  const Grid grid = gridOf(width);
  const double each = kTitle + kLowCell * static_cast<double>(m_map.rows.size()) + kColumns;
  return static_cast<int>(std::ceil(each * static_cast<double>(grid.below) + kAxis));
}

QRectF HeatMapChart::cellAt(const Grid& grid, const QRectF& area, std::size_t panel, std::size_t row,
                            std::size_t column) const {
  const double each = (area.height() - kAxis) / static_cast<double>(grid.below);
  const double height = std::clamp((each - kTitle - kColumns) / static_cast<double>(m_map.rows.size()),
                                   kLowCell / 2, kHighCell);
  const double used = kTitle + kColumns + height * static_cast<double>(m_map.rows.size());
  const double map = grid.cell * static_cast<double>(m_map.columns.size()) + kBetween;
  return {area.left() + grid.left + map * static_cast<double>(panel % grid.beside) +
              grid.cell * static_cast<double>(column),
          area.top() + used * static_cast<double>(panel / grid.beside) + kTitle +
              height * static_cast<double>(row),
          grid.cell - 1, height - 1};
}

std::vector<CellChart::Cell> HeatMapChart::layOut(const QRectF& area) const {
  std::vector<Cell> cells;
  const Grid grid = gridOf(area.width());
  for (std::size_t panel = 0; panel < m_map.panels.size(); ++panel) {
    const experiment::HeatMapPanel& map = m_map.panels[panel];
    for (std::size_t row = 0; row < m_map.rows.size(); ++row) {
      for (std::size_t column = 0; column < m_map.columns.size(); ++column) {
        const QString rowName = QString::fromStdString(m_map.rows[row]);
        QString place = tr("%1 %2").arg(QString::fromStdString(m_map.columns[column]), xName());
        place = map.title.empty()
                    ? tr("%1, %2").arg(rowName, place)
                    : tr("%1, %2, %3 %4").arg(QString::fromStdString(map.title), place, rowName, yName());
        const std::optional<experiment::HeatMapCell>& cell = map.cells[row][column];
        const QString text = cell ? tr("%1: %2 (%3 … %4, %5 samples)")
                                        .arg(place, numberOf(cell->number.value), numberOf(cell->number.low),
                                             numberOf(cell->number.high))
                                        .arg(cell->number.samples)
                                  : tr("%1: not measured").arg(place);
        cells.push_back({cellAt(grid, area, panel, row, column), text});
      }
    }
  }
  return cells;
}

void HeatMapChart::drawPanel(QPainter& painter, const Grid& grid, const QRectF& area,
                             std::size_t panel) const {
  const experiment::HeatMapPanel& map = m_map.panels[panel];
  const QFontMetricsF metrics(painter.font());
  const QRectF first = cellAt(grid, area, panel, 0, 0);
  painter.setPen(theme().color(Role::Text));
  if (!map.title.empty()) {
    painter.drawText(QRectF(first.left(), first.top() - kTitle,
                            grid.cell * static_cast<double>(m_map.columns.size()), kTitle),
                     Qt::AlignVCenter | Qt::AlignLeft, QString::fromStdString(map.title));
  }
  for (std::size_t row = 0; row < m_map.rows.size(); ++row) {
    const QRectF start = cellAt(grid, area, panel, row, 0);
    if (panel % grid.beside == 0) {
      const double room = grid.left - 2 * kSpace;
      painter.setPen(theme().color(Role::TextSecond));
      painter.drawText(QRectF(area.left(), start.top(), room, start.height()),
                       Qt::AlignVCenter | Qt::AlignRight,
                       metrics.elidedText(QString::fromStdString(m_map.rows[row]), Qt::ElideMiddle, room));
    }
    for (std::size_t column = 0; column < m_map.columns.size(); ++column) {
      const QRectF place = cellAt(grid, area, panel, row, column);
      const std::optional<experiment::HeatMapCell>& cell = map.cells[row][column];
      const QColor fill = cell ? Theme::heat(cell->shade) : theme().color(Role::Canvas);
      painter.fillRect(place, fill);
      const QString text = cell ? QString::fromStdString(cell->text) : QStringLiteral("–");
      if (metrics.horizontalAdvance(text) > place.width() - 2) continue;
      painter.setPen(cell ? inkOn(fill) : theme().color(Role::TextThird));
      painter.drawText(place, Qt::AlignCenter, text);
    }
  }
  painter.setPen(theme().color(Role::TextSecond));
  double last = -1e9;
  for (std::size_t column = 0; column < m_map.columns.size(); ++column) {
    const QRectF above = cellAt(grid, area, panel, m_map.rows.size() - 1, column);
    const QString text = QString::fromStdString(m_map.columns[column]);
    const double half = metrics.horizontalAdvance(text) / 2 + 2;
    if (above.center().x() - half < last) continue;  // it would touch the one before
    last = above.center().x() + half;
    painter.drawText(QRectF(above.center().x() - half, above.bottom() + 1, 2 * half, kColumns),
                     Qt::AlignCenter, text);
  }
}

void HeatMapChart::drawScale(QPainter& painter, const QRectF& place) const {
  for (int y = 0; y < static_cast<int>(place.height()); ++y) {
    painter.fillRect(QRectF(place.left(), place.bottom() - y - 1, place.width(), 1.5),
                     Theme::heat(y / place.height()));
  }
  painter.setPen(theme().color(Role::TextSecond));
  const double line = QFontMetricsF(painter.font()).height();
  const bool hasRoom = place.height() > 3 * line;
  for (const experiment::ChartTick& tick : m_map.scale) {
    if (!hasRoom && tick.at > 0 && tick.at < 1) continue;
    const double y =
        std::clamp(place.bottom() - place.height() * tick.at - line / 2, place.top(), place.bottom() - line);
    painter.drawText(QRectF(place.right() + kSpace, y, kBesideScale - kScale - 2 * kSpace, line),
                     Qt::AlignVCenter | Qt::AlignLeft, QString::fromStdString(tick.text));
  }
}

void HeatMapChart::draw(QPainter& painter, const QRectF& area) const {
  if (m_map.panels.empty() || m_map.rows.empty()) return;
  painter.setFont(theme().smallFont());
  const Grid grid = gridOf(area.width());
  for (std::size_t panel = 0; panel < m_map.panels.size(); ++panel) drawPanel(painter, grid, area, panel);
  const QRectF first = cellAt(grid, area, 0, 0, 0);
  const QRectF last = cellAt(grid, area, m_map.panels.size() - 1, m_map.rows.size() - 1, 0);
  const QRectF right =
      cellAt(grid, area, std::min(grid.beside, m_map.panels.size()) - 1, 0, m_map.columns.size() - 1);
  painter.setPen(theme().color(Role::TextSecond));
  painter.drawText(QRectF(area.left(), first.top() - kTitle, grid.left - 2 * kSpace, kTitle),
                   Qt::AlignVCenter | Qt::AlignRight, yName());
  painter.drawText(QRectF(first.left(), last.bottom() + kColumns, right.right() - first.left(), kAxis),
                   Qt::AlignCenter, xName());
  const double bottom = cellAt(grid, area, 0, m_map.rows.size() - 1, 0).bottom();
  drawScale(painter, {right.right() + 3 * kSpace, first.top(), kScale, bottom - first.top()});
}

void HeatMapChart::setContent(const experiment::HeatChart& chart, const QString& name, const Theme& theme) {
  if (m_drawn == theme && chart == m_map) return;
  m_map = chart;
  m_drawn = theme;
  setAccessibleName(name);
  contentChanged(theme);
}

namespace {

constexpr double kLeft = 46;  ///< for the numbers of the share axis
constexpr double kRight = 12;
constexpr double kPartTitle = 20;  ///< height of the title above each histogram
constexpr double kLow = 46;        ///< min height of bars
constexpr double kHigh = 110;
constexpr double kGap = 8;
constexpr double kPartsAxis = 42;  ///< height of the axis below all histograms
constexpr double kZero = 22;       ///< width of the bar of zeros, and of the space beside it

}  // namespace

int HistogramChart::heightFor(int) const {
  return static_cast<int>((kPartTitle + kLow + kGap) * static_cast<double>(m_chart.parts.size()) +
                          kPartsAxis);
}

QRectF HistogramChart::partAt(const QRectF& area, std::size_t part) const {
  const auto parts = static_cast<double>(m_chart.parts.size());
  const double height = std::clamp((area.height() - kPartsAxis) / parts - kPartTitle - kGap, kLow / 6, kHigh);
  return {area.left() + kLeft,
          area.top() + (kPartTitle + height + kGap) * static_cast<double>(part) + kPartTitle,
          std::max(1.0, area.width() - kLeft - kRight), height};
}

QRectF HistogramChart::barAt(const QRectF& part, std::size_t bar) const {
  if (m_chart.isZeroBar(bar)) return {part.left(), part.top(), kZero, part.height()};
  const double before = m_chart.hasZeros ? 2 * kZero : 0;
  const double width = (part.width() - before) / static_cast<double>(m_chart.edges.size() - 1);
  const auto index = static_cast<double>(m_chart.binOf(bar));
  return {part.left() + before + width * index, part.top(), width, part.height()};
}

std::vector<CellChart::Cell> HistogramChart::layOut(const QRectF& area) const {
  std::vector<Cell> cells;
  if (m_chart.edges.empty()) return cells;
  const QString valueName = QString::fromStdString(m_chart.texts.xLabel);
  for (std::size_t i = 0; i < m_chart.parts.size(); ++i) {
    const experiment::Histogram& part = m_chart.parts[i];
    for (std::size_t bar = 0; bar < m_chart.bars(); ++bar) {
      const std::size_t edge = m_chart.binOf(bar);
      const QString range = m_chart.isZeroBar(bar) ? tr("0")
                                                   : tr("%1 … %2").arg(numberOf(m_chart.edges[edge]),
                                                                       numberOf(m_chart.edges[edge + 1]));
      cells.push_back(
          {barAt(partAt(area, i), bar), tr("%1, %2 %3: %4 of %5 samples")
                                            .arg(QString::fromStdString(part.series), valueName, range)
                                            .arg(m_chart.countOf(part, bar))
                                            .arg(part.total)});
    }
  }
  return cells;
}

void HistogramChart::draw(QPainter& painter, const QRectF& area) const {
  if (m_chart.edges.empty()) return;
  painter.setFont(theme().smallFont());
  const QFontMetricsF metrics(painter.font());
  const double most = m_chart.highestShare();
  const double before = m_chart.hasZeros ? 2 * kZero : 0;
  const auto xOf = [&](const QRectF& place, double share) {
    return place.left() + before + (place.width() - before) * share;
  };
  for (std::size_t i = 0; i < m_chart.parts.size(); ++i) {
    const experiment::Histogram& part = m_chart.parts[i];
    const QRectF place = partAt(area, i);
    const QRectF title(place.left(), place.top() - kPartTitle, place.width(), kPartTitle);
    painter.setPen(theme().color(Role::TextThird));
    const QString said = tr("%1 samples, median %2").arg(part.total).arg(numberOf(part.median));
    painter.drawText(title, Qt::AlignVCenter | Qt::AlignRight, said);
    painter.setPen(theme().color(Role::Text));
    painter.drawText(title, Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(QString::fromStdString(part.series), Qt::ElideMiddle,
                                        title.width() - metrics.horizontalAdvance(said) - 2 * kSpace));
    painter.setPen(theme().color(Role::Grid));
    for (const experiment::ChartTick& tick : m_chart.ticks)
      painter.drawLine(QPointF(xOf(place, tick.at), place.top()),
                       QPointF(xOf(place, tick.at), place.bottom()));
    painter.drawLine(place.topLeft(), place.topRight());
    for (std::size_t bar = 0; bar < m_chart.bars(); ++bar) {
      const double share = m_chart.shareOf(part, bar);
      if (share <= 0) continue;
      QRectF column = barAt(place, bar);
      column.setTop(column.bottom() - place.height() * share / most);
      painter.fillRect(column.adjusted(0, 0, column.width() > 3 ? -1 : 0, 0),
                       theme().color(Role::RelocatedInk));
    }
    painter.setPen(theme().color(Role::Outline));
    painter.drawLine(place.bottomLeft(), place.bottomRight());
    painter.setPen(theme().color(Role::TextSecond));
    const double line = metrics.height();
    const double room = kLeft - 2 * kSpace;
    painter.drawText(QRectF(area.left(), place.top() - line / 2, room, line),
                     Qt::AlignVCenter | Qt::AlignRight, tr("%1 %").arg(100 * most, 0, 'f', 0));
    painter.drawText(QRectF(area.left(), place.bottom() - line / 2, room, line),
                     Qt::AlignVCenter | Qt::AlignRight, QStringLiteral("0"));
  }
  const QRectF last = partAt(area, m_chart.parts.size() - 1);
  painter.setPen(theme().color(Role::TextSecond));
  const auto mark = [&](double x, const QString& text) {
    const double half = metrics.horizontalAdvance(text) / 2 + 2;
    const double left = std::min(x - half, area.right() - 2 * half);
    painter.drawText(QRectF(left, last.bottom() + 2, 2 * half, kPartsAxis / 2 - 2), Qt::AlignCenter, text);
  };
  for (const experiment::ChartTick& tick : m_chart.ticks)
    mark(xOf(last, tick.at), QString::fromStdString(tick.text));
  if (m_chart.hasZeros) mark(barAt(last, 0).center().x(), QStringLiteral("0"));
  painter.drawText(QRectF(last.left(), last.bottom() + kPartsAxis / 2, last.width(), kPartsAxis / 2),
                   Qt::AlignCenter, QString::fromStdString(m_chart.texts.xLabel));
}

void HistogramChart::setContent(const experiment::HistogramChart& chart, const QString& name,
                                const Theme& theme) {
  if (m_drawn == theme && chart == m_chart) return;
  m_chart = chart;
  m_drawn = theme;
  setAccessibleName(name);
  contentChanged(theme);
}

}  // namespace spanscope::ui
