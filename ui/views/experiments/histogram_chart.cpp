// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/histogram_chart.h"

#include "engine/experiment/experiment_chart.h"
#include "ui/views/experiments/experiments_model.h"

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

std::size_t HistogramChart::bins() const {
  return m_histograms.edges.size() - 1 + (m_histograms.hasZeros ? 1 : 0);
}

std::size_t HistogramChart::countOf(const experiment::Histogram& part, std::size_t bin) const {
  if (!m_histograms.hasZeros) return part.counts[bin];
  return bin == 0 ? part.zeros : part.counts[bin - 1];
}

int HistogramChart::heightFor(int) const {
  return static_cast<int>((kTitle + kLow + kGap) * static_cast<double>(m_histograms.parts.size()) + kAxis);
}

QRectF HistogramChart::partAt(const QRectF& area, std::size_t part) const {
  const auto parts = static_cast<double>(m_histograms.parts.size());
  const double height = std::clamp((area.height() - kAxis) / parts - kTitle - kGap, kLow / 6, kHigh);
  return {area.left() + kLeft, area.top() + (kTitle + height + kGap) * static_cast<double>(part) + kTitle,
          std::max(1.0, area.width() - kLeft - kRight), height};
}

QRectF HistogramChart::binAt(const QRectF& part, std::size_t bin) const {
  if (m_histograms.hasZeros && bin == 0) return {part.left(), part.top(), kZero, part.height()};
  const double before = m_histograms.hasZeros ? 2 * kZero : 0;
  const double width = (part.width() - before) / static_cast<double>(m_histograms.edges.size() - 1);
  const auto index = static_cast<double>(bin - (m_histograms.hasZeros ? 1 : 0));
  return {part.left() + before + width * index, part.top(), width, part.height()};
}

/// The largest share of any part in one bin.
double HistogramChart::highest() const {
  double most = 0;
  for (const experiment::Histogram& part : m_histograms.parts) {
    for (std::size_t bin = 0; bin < bins() && part.total > 0; ++bin)
      most = std::max(most, static_cast<double>(countOf(part, bin)) / static_cast<double>(part.total));
  }
  return most;
}

std::vector<CellChart::Cell> HistogramChart::layOut(const QRectF& area) const {
  std::vector<Cell> cells;
  if (m_histograms.edges.empty()) return cells;
  for (std::size_t i = 0; i < m_histograms.parts.size(); ++i) {
    const experiment::Histogram& part = m_histograms.parts[i];
    for (std::size_t bin = 0; bin < bins(); ++bin) {
      const bool isZero = m_histograms.hasZeros && bin == 0;
      const std::size_t edge = bin - (m_histograms.hasZeros ? 1 : 0);
      const QString range = isZero ? tr("0")
                                   : tr("%1 … %2").arg(numberOf(m_histograms.edges[edge]),
                                                       numberOf(m_histograms.edges[edge + 1]));
      cells.push_back(
          {binAt(partAt(area, i), bin), tr("%1, %2 %3: %4 of %5 samples")
                                            .arg(QString::fromStdString(part.series), m_valueName, range)
                                            .arg(countOf(part, bin))
                                            .arg(part.total)});
    }
  }
  return cells;
}

void HistogramChart::draw(QPainter& painter, const QRectF& area) const {
  if (m_histograms.edges.empty()) return;
  painter.setFont(theme().smallFont());
  const QFontMetricsF metrics(painter.font());
  const double most = highest();
  const std::vector<experiment::AxisTick> ticks = experiment::histogramTicks(m_histograms);
  const double before = m_histograms.hasZeros ? 2 * kZero : 0;
  const auto xOf = [&](const QRectF& place, double share) {
    return place.left() + before + (place.width() - before) * share;
  };
  for (std::size_t i = 0; i < m_histograms.parts.size(); ++i) {
    const experiment::Histogram& part = m_histograms.parts[i];
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
    for (const experiment::AxisTick& tick : ticks)
      painter.drawLine(QPointF(xOf(place, tick.place), place.top()),
                       QPointF(xOf(place, tick.place), place.bottom()));
    painter.drawLine(place.topLeft(), place.topRight());
    for (std::size_t bin = 0; bin < bins() && part.total > 0; ++bin) {
      const double share = static_cast<double>(countOf(part, bin)) / static_cast<double>(part.total);
      if (share <= 0) continue;
      QRectF bar = binAt(place, bin);
      bar.setTop(bar.bottom() - place.height() * share / most);
      painter.fillRect(bar.adjusted(0, 0, bar.width() > 3 ? -1 : 0, 0), theme().color(Role::RelocatedInk));
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
  const QRectF last = partAt(area, m_histograms.parts.size() - 1);
  painter.setPen(theme().color(Role::TextSecond));
  const auto mark = [&](double x, const QString& text) {
    const double half = metrics.horizontalAdvance(text) / 2 + 2;
    const double left = std::min(x - half, area.right() - 2 * half);
    painter.drawText(QRectF(left, last.bottom() + 2, 2 * half, kAxis / 2 - 2), Qt::AlignCenter, text);
  };
  for (const experiment::AxisTick& tick : ticks) mark(xOf(last, tick.place), numberOf(tick.value));
  if (m_histograms.hasZeros) mark(binAt(last, 0).center().x(), QStringLiteral("0"));
  painter.drawText(QRectF(last.left(), last.bottom() + kAxis / 2, last.width(), kAxis / 2), Qt::AlignCenter,
                   m_valueName);
}

void HistogramChart::setContent(const ExperimentsModel& model, const Theme& theme) {
  if (m_drawn == theme && model.histograms == m_histograms && model.yName == m_valueName) return;
  m_histograms = model.histograms;
  m_valueName = model.yName;
  m_drawn = theme;
  setAccessibleName(tr("%1: %2").arg(model.title, model.yName));
  contentChanged(theme);
}

}  // namespace spanscope::ui
