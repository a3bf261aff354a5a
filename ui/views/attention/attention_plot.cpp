// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_plot.h"

#include "ui/views/attention/attention_layers.h"

#include <QApplication>
#include <QFontMetrics>
#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kWheelStep = 1.2;
constexpr double kFewestCells = 2;
/// How much of the surface shines through rows that another request recorded.
constexpr double kPale = 0.55;

QColor blend(const QColor& ink, const QColor& ground, double share) {
  const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return {mix(ink.red(), ground.red()), mix(ink.green(), ground.green()), mix(ink.blue(), ground.blue())};
}

/// The next of 1, 1.5, 2, 3, 4, 5, 6, 8 × a power of ten.
double roundUp(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * 1.0000001) return step * power;
  }
  return 10 * power;
}

QCPRange within(QCPRange range, double most) {
  const double size = std::clamp(range.size(), std::min(kFewestCells, most), most);
  const double middle = std::clamp(range.center(), size / 2, most - size / 2);
  return {middle - size / 2, middle + size / 2};
}

}  // namespace

AttentionPlot::AttentionPlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setNoAntialiasingOnDrag(false);
  setPlottingHints(QCP::phCacheLabels);
  for (QCPAxis* axis : {xAxis, yAxis, xAxis2, yAxis2}) {
    axis->setVisible(false);
    axis->grid()->setVisible(false);
  }
  yAxis->setRangeReversed(true);
  axisRect()->setAutoMargins(QCP::msNone);
  axisRect()->setupFullAxesBox(false);
  for (QCPAxis* axis : {xAxis, yAxis, xAxis2, yAxis2}) axis->setVisible(false);

  // Both belong to the plot, which deletes them.
  new AttentionCells(*this, xAxis, yAxis);
  new AttentionBrackets(*this);
  m_scale = new QCPColorScale(this);
  m_scale->setType(QCPAxis::atRight);
  m_scale->setBarWidth(10);
  m_scale->setRangeDrag(false);
  m_scale->setRangeZoom(false);
  plotLayout()->addElement(0, 1, m_scale);
  plotLayout()->setColumnSpacing(kSpace);
}

void AttentionPlot::setContent(const AttentionModel& model, const Theme& theme, const AttentionMarks& marks) {
  const bool newShape = model.request != m_model.request || model.columns != m_model.columns ||
                        model.rows.size() != m_model.rows.size();
  m_model = model;
  m_forbidden = model.regions(CellState::Forbidden);
  m_missing = model.regions(CellState::Missing);
  m_theme = theme;
  m_marks = marks;
  m_scaleTop = roundUp(static_cast<double>(model.highest));
  if (m_cursor &&
      (static_cast<std::size_t>(m_cursor->row) >= model.rows.size() || m_cursor->column >= model.columns)) {
    m_cursor.reset();
  }
  buildImage();
  layOut();
  if (newShape) fit();
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::setCursorCell(std::optional<AttentionCell> cell) {
  if (m_cursor == cell) return;
  m_cursor = cell;
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::buildImage() {
  const auto rows = static_cast<int>(m_model.rows.size());
  m_image = QImage(std::max(1, m_model.columns), std::max(1, rows), QImage::Format_ARGB32_Premultiplied);
  m_image.fill(Qt::transparent);
  // A table of colours, since asking the theme for each of a million cells would take longer than drawing
  // them.
  constexpr int kShades = 256;
  std::vector<QRgb> full(kShades);
  std::vector<QRgb> pale(kShades);
  for (int i = 0; i < kShades; ++i) {
    const QColor color = Theme::heat(static_cast<double>(i) / (kShades - 1));
    full[static_cast<std::size_t>(i)] = color.rgb();
    pale[static_cast<std::size_t>(i)] = blend(color, m_theme.color(Role::Surface), kPale).rgb();
  }
  for (int row = 0; row < rows; ++row) {
    const auto& shades =
        m_model.rows[static_cast<std::size_t>(row)].source == RowSource::Earlier ? pale : full;
    auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
    for (int column = 0; column < m_model.columns; ++column) {
      const std::size_t cell = m_model.at(row, column);
      if (m_model.states[cell] != CellState::Measured) continue;
      const double share = std::clamp(static_cast<double>(m_model.mass[cell]) / m_scaleTop, 0.0, 1.0);
      line[column] = shades[static_cast<std::size_t>(std::lround(share * (kShades - 1)))];
    }
  }
}

void AttentionPlot::layOut() {
  setBackground(QBrush(m_theme.color(Role::Surface)));
  QFont font = m_theme.smallFont();
  font.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  int widest = 24;
  for (const AttentionSegment& segment : m_model.segments) {
    if (segment.rows > 0) widest = std::max(widest, metrics.horizontalAdvance(segment.name));
  }
  const QFontMetrics mono(m_theme.monoFont());
  for (const AttentionRow& row : m_model.rows) {
    if (row.token >= 0) widest = std::max(widest, mono.horizontalAdvance(row.text.trimmed()));
  }
  axisRect()->setMargins(QMargins(std::min(widest, 120) + 16, 28, 4, 4));

  QCPColorGradient gradient;
  gradient.clearColorStops();
  constexpr int kStops = 16;
  for (int i = 0; i <= kStops; ++i) {
    gradient.setColorStopAt(static_cast<double>(i) / kStops, Theme::heat(static_cast<double>(i) / kStops));
  }
  m_scale->setGradient(gradient);
  m_scale->setDataRange({0, m_scaleTop});
  m_scale->setMinimumMargins(QMargins(0, 28, 0, 4));
  QCPAxis* axis = m_scale->axis();
  for (QCPAxis* edge : axis->axisRect()->axes()) {
    edge->setBasePen(Qt::NoPen);
    edge->setTickPen(Qt::NoPen);
    edge->setSubTickPen(Qt::NoPen);
  }
  axis->setTickLabelFont(m_theme.monoFont());
  axis->setTickLabelColor(m_theme.color(Role::TextSecond));
  axis->setTickPen(QPen(m_theme.color(Role::Outline)));
  axis->setBasePen(Qt::NoPen);
  axis->setSubTicks(false);
  axis->setTickLengthIn(0);
  axis->setTickLengthOut(3);
  axis->ticker()->setTickCount(4);
}

void AttentionPlot::setRanges(QCPRange columns, QCPRange rows) {
  xAxis->setRange(within(columns, std::max(1, m_model.columns)));
  yAxis->setRange(within(rows, std::max(1.0, static_cast<double>(m_model.rows.size()))));
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::fit() {
  setRanges({0, static_cast<double>(std::max(1, m_model.columns))},
            {0, std::max(1.0, static_cast<double>(m_model.rows.size()))});
}

void AttentionPlot::zoom(double factor, const QPointF& place) {
  QCPRange columns = xAxis->range();
  QCPRange rows = yAxis->range();
  const double x = xAxis->pixelToCoord(place.x());
  const double y = yAxis->pixelToCoord(place.y());
  columns = {x - (x - columns.lower) / factor, x + (columns.upper - x) / factor};
  rows = {y - (y - rows.lower) / factor, y + (rows.upper - y) / factor};
  setRanges(columns, rows);
}

std::optional<AttentionCell> AttentionPlot::cellAt(const QPointF& place) const {
  if (!axisRect()->rect().contains(place.toPoint())) return std::nullopt;
  const AttentionCell cell{.row = static_cast<std::int32_t>(std::floor(yAxis->pixelToCoord(place.y()))),
                           .column = static_cast<std::int32_t>(std::floor(xAxis->pixelToCoord(place.x())))};
  if (cell.row < 0 || static_cast<std::size_t>(cell.row) >= m_model.rows.size()) return std::nullopt;
  if (cell.column < 0 || cell.column >= m_model.columns) return std::nullopt;
  return cell;
}

QRectF AttentionPlot::cellRect(const AttentionRegion& region) const {
  const QPointF topLeft(xAxis->coordToPixel(region.firstColumn), yAxis->coordToPixel(region.firstRow));
  const QPointF bottomRight(xAxis->coordToPixel(region.firstColumn + region.columns),
                            yAxis->coordToPixel(region.firstRow + region.rows));
  return {topLeft, bottomRight};
}

void AttentionPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_pressed = event->position();
  m_dragged = false;
  m_columnsAtPress = xAxis->range();
  m_rowsAtPress = yAxis->range();
}

void AttentionPlot::mouseMoveEvent(QMouseEvent* event) {
  if (m_pressed && (event->buttons() & Qt::LeftButton) != 0) {
    const QPointF way = event->position() - *m_pressed;
    if (!m_dragged && way.manhattanLength() < QApplication::startDragDistance()) return;
    m_dragged = true;
    const double columns = way.x() * m_columnsAtPress.size() / std::max(1, axisRect()->width());
    const double rows = way.y() * m_rowsAtPress.size() / std::max(1, axisRect()->height());
    setRanges(m_columnsAtPress - columns, m_rowsAtPress - rows);
    return;
  }
  const std::optional<AttentionCell> cell = cellAt(event->position());
  Q_EMIT cellHovered(cell ? cell->row : -1, cell ? cell->column : -1);
}

void AttentionPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !m_pressed) return;
  m_pressed.reset();
  if (m_dragged) return;
  const std::optional<AttentionCell> cell = cellAt(event->position());
  if (!cell) return;
  m_cursor = cell;
  Q_EMIT cellClicked(cell->row, cell->column);
}

void AttentionPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  m_pressed.reset();
  if (const std::optional<AttentionCell> cell = cellAt(event->position()))
    Q_EMIT cellOpened(cell->row, cell->column);
}

void AttentionPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  Q_EMIT cellHovered(-1, -1);
}

void AttentionPlot::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  const std::optional<AttentionCell> cell = cellAt(event->position());
  if (steps > 0 && cell && xAxis->range().size() <= kFewestCells && yAxis->range().size() <= kFewestCells) {
    Q_EMIT cellOpened(cell->row, cell->column);
  } else {
    zoom(std::pow(kWheelStep, steps), event->position());
  }
  event->accept();
}

void AttentionPlot::keyPressEvent(QKeyEvent* event) {
  if (m_model.rows.empty() || m_model.columns == 0) {
    QCustomPlot::keyPressEvent(event);
    return;
  }
  AttentionCell cell =
      m_cursor.value_or(AttentionCell{static_cast<std::int32_t>(m_model.rows.size()) - 1, 0});
  const QPointF middle = axisRect()->rect().center();
  switch (event->key()) {
    case Qt::Key_Left:
      cell.column -= m_cursor ? 1 : 0;
      break;
    case Qt::Key_Right:
      cell.column += m_cursor ? 1 : 0;
      break;
    case Qt::Key_Up:
      cell.row -= m_cursor ? 1 : 0;
      break;
    case Qt::Key_Down:
      cell.row += m_cursor ? 1 : 0;
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom(kWheelStep, middle);
      return;
    case Qt::Key_Minus:
      zoom(1 / kWheelStep, middle);
      return;
    case Qt::Key_F:
    case Qt::Key_Home:
      fit();
      return;
    case Qt::Key_Space:
      if (m_cursor) Q_EMIT cellClicked(m_cursor->row, m_cursor->column);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_cursor) Q_EMIT cellOpened(m_cursor->row, m_cursor->column);
      return;
    case Qt::Key_Escape:
      Q_EMIT closed();
      return;
    default:
      QCustomPlot::keyPressEvent(event);
      return;
  }
  cell.row = std::clamp(cell.row, 0, static_cast<std::int32_t>(m_model.rows.size()) - 1);
  cell.column = std::clamp(cell.column, 0, m_model.columns - 1);
  setCursorCell(cell);
  Q_EMIT cellHovered(cell.row, cell.column);
}

void AttentionPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace spanscope::ui
