// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/histogram_chart.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr double kLeft = 46;  ///< of the share
constexpr double kRight = 12;
constexpr double kTitle = 20;  ///< above each part
constexpr double kLow = 46;    ///< of bars
constexpr double kHigh = 110;
constexpr double kGap = 8;
constexpr double kAxis = 42;  ///< below all parts
constexpr double kZero = 22;  ///< of the bar of zeros, and as much again beside it

QString numberOf(double value) {
  return QString::fromStdString(experiment::shortNumber(value));
}

}  // namespace

int HistogramChart::heightFor(int) const {
  return static_cast<int>((kTitle + kLow + kGap) * static_cast<double>(m_chart.parts.size()) + kAxis);
}

QRectF HistogramChart::partAt(const QRectF& area, std::size_t part) const {
  const auto parts = static_cast<double>(m_chart.parts.size());
  const double height = std::clamp((area.height() - kAxis) / parts - kTitle - kGap, kLow / 6, kHigh);
  return {area.left() + kLeft, area.top() + (kTitle + height + kGap) * static_cast<double>(part) + kTitle,
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
    const QRectF title(place.left(), place.top() - kTitle, place.width(), kTitle);
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
    painter.drawText(QRectF(left, last.bottom() + 2, 2 * half, kAxis / 2 - 2), Qt::AlignCenter, text);
  };
  for (const experiment::ChartTick& tick : m_chart.ticks)
    mark(xOf(last, tick.at), QString::fromStdString(tick.text));
  if (m_chart.hasZeros) mark(barAt(last, 0).center().x(), QStringLiteral("0"));
  painter.drawText(QRectF(last.left(), last.bottom() + kAxis / 2, last.width(), kAxis / 2), Qt::AlignCenter,
                   QString::fromStdString(m_chart.texts.xLabel));
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
