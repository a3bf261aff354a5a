// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/heat_map_chart.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kTitle = 20;    ///< above each map
constexpr double kColumns = 20;  ///< below each map
constexpr double kAxis = 20;     ///< below all of them
constexpr double kBetween = 16;  ///< two maps beside each other
constexpr double kScale = 12;    ///< wide
constexpr double kBesideScale = 64;
constexpr double kNarrowCell = 30;
constexpr double kWideCell = 110;
constexpr double kLowCell = 22;
constexpr double kHighCell = 36;

QString numberOf(double value) {
  return QString::fromStdString(experiment::shortNumber(value));
}

/// What can be read on a colour of the scale.
QColor inkOn(const QColor& fill) {
  return Theme(fill.lightnessF() > 0.45F ? Scheme::Light : Scheme::Dark).color(Role::Text);
}

}  // namespace

/// How the maps stand at a width: as many beside each other as leave room for numbers.
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
                                        .arg(place, numberOf(cell->figure.value), numberOf(cell->figure.low),
                                             numberOf(cell->figure.high))
                                        .arg(cell->figure.samples)
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

}  // namespace spanscope::ui
