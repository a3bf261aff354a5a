// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_layers.h"

#include "ui/views/attention/attention_plot.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

/// Below this many pixels cells are drawn as one picture, without gaps.
constexpr double kSmallCell = 6;
constexpr double kBracketWidth = 2;

}  // namespace

QBrush forbiddenBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::BDiagPattern);
}

QBrush missingBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::Dense7Pattern);
}

AttentionCells::AttentionCells(AttentionPlot& plot, QCPAxis* columns, QCPAxis* rows)
    : QCPAbstractPlottable(columns, rows), m_plot(plot) {
  setSelectable(QCP::stNone);
}

double AttentionCells::selectTest(const QPointF& /*place*/, bool /*onlySelectable*/,
                                  QVariant* /*details*/) const {
  return -1;
}

QCPRange AttentionCells::getKeyRange(bool& found, QCP::SignDomain /*domain*/) const {
  found = m_plot.model().columns > 0;
  return {0.0, static_cast<double>(std::max(1, m_plot.model().columns))};
}

QCPRange AttentionCells::getValueRange(bool& found, QCP::SignDomain /*domain*/,
                                       const QCPRange& /*keys*/) const {
  found = !m_plot.model().rows.empty();
  return {0.0, std::max(1.0, static_cast<double>(m_plot.model().rows.size()))};
}

void AttentionCells::draw(QCPPainter* painter) {
  if (m_plot.model().rows.empty() || m_plot.model().columns == 0) return;
  painter->setRenderHint(QPainter::Antialiasing, false);
  drawCells(painter);
  drawMask(painter);
  drawRules(painter);
  drawMarks(painter);
}

void AttentionCells::drawCells(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const QRectF whole = m_plot.cellRect({.firstRow = 0,
                                        .rows = static_cast<std::int32_t>(model.rows.size()),
                                        .firstColumn = 0,
                                        .columns = model.columns});
  const double width = whole.width() / model.columns;
  const double height = whole.height() / static_cast<double>(model.rows.size());
  if (width < kSmallCell || height < kSmallCell) {
    painter->setRenderHint(QPainter::SmoothPixmapTransform, width < 1 || height < 1);
    painter->drawImage(whole, m_plot.image());
    return;
  }
  const QRectF seen = clipRect();
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    for (std::int32_t column = 0; column < model.columns; ++column) {
      if (model.states[model.at(row, column)] != CellState::Measured) continue;
      const QRect cell = m_plot.cellRect({row, 1, column, 1}).toRect();
      if (!seen.intersects(cell)) continue;
      painter->fillRect(cell.adjusted(0, 0, width > 12 ? -1 : 0, height > 12 ? -1 : 0),
                        m_plot.image().pixelColor(column, row));
    }
  }
}

void AttentionCells::drawMask(QCPPainter* painter) const {
  for (const AttentionRegion& region : m_plot.forbidden()) {
    painter->fillRect(m_plot.cellRect(region).toRect(), forbiddenBrush(m_plot.theme()));
  }
  for (const AttentionRegion& region : m_plot.missing()) {
    painter->fillRect(m_plot.cellRect(region).toRect(), missingBrush(m_plot.theme()));
  }
}

void AttentionCells::drawRules(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const auto rows = static_cast<std::int32_t>(model.rows.size());
  painter->setPen(QPen(m_plot.theme().color(Role::Surface), 3));
  for (const AttentionSegment& segment : model.segments) {
    if (segment.columns > 0 && segment.firstColumn > 0) {
      const QRectF column = m_plot.cellRect({0, rows, segment.firstColumn, segment.columns});
      painter->drawLine(column.topLeft(), column.bottomLeft());
    }
    if (segment.rows > 0 && segment.firstRow > 0) {
      const QRectF row = m_plot.cellRect({segment.firstRow, segment.rows, 0, model.columns});
      painter->drawLine(row.topLeft(), row.topRight());
    }
  }
}

void AttentionCells::drawMarks(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const AttentionMarks& marks = m_plot.marks();
  painter->setBrush(Qt::NoBrush);
  painter->setPen(QPen(m_plot.theme().color(Role::Accent), 2));
  if (marks.row) painter->drawRect(m_plot.cellRect({*marks.row, 1, 0, model.columns}));
  if (marks.column) {
    painter->drawRect(m_plot.cellRect({0, static_cast<std::int32_t>(model.rows.size()), *marks.column, 1}));
  }
  if (m_plot.cursor() && m_plot.hasFocus()) {
    const QRectF cell = m_plot.cellRect({m_plot.cursor()->row, 1, m_plot.cursor()->column, 1});
    painter->setPen(QPen(m_plot.theme().color(Role::Surface), 4));
    painter->drawRect(cell);
    painter->setPen(QPen(m_plot.theme().color(Role::Accent), 2));
    painter->drawRect(cell);
  }
}

void AttentionCells::drawLegendIcon(QCPPainter* /*painter*/, const QRectF& /*rect*/) const {}

AttentionBrackets::AttentionBrackets(AttentionPlot& plot)
    : QCPLayerable(&plot, QStringLiteral("axes")), m_plot(plot) {}

void AttentionBrackets::applyDefaultAntialiasingHint(QCPPainter* painter) const {
  painter->setAntialiasing(false);
}

void AttentionBrackets::draw(QCPPainter* painter) {
  const AttentionModel& model = m_plot.model();
  const Theme& theme = m_plot.theme();
  const QRectF inner = m_plot.axisRect()->rect();
  const bool tokens = std::any_of(model.rows.begin(), model.rows.end(),
                                  [](const AttentionRow& row) { return row.token >= 0; });
  QFont plain = theme.smallFont();
  plain.setWeight(QFont::DemiBold);

  for (const AttentionSegment& segment : model.segments) {
    const QColor ink = theme.segmentInk(segment.hue);
    const bool marked = std::find(m_plot.marks().segments.begin(), m_plot.marks().segments.end(),
                                  segment.segment) != m_plot.marks().segments.end();
    QFont font = plain;
    font.setUnderline(marked);
    painter->setFont(font);
    const QFontMetrics metrics(font);
    const auto name = [&](double room) {
      if (metrics.horizontalAdvance(segment.name) <= room) return segment.name;
      const QString cut = metrics.elidedText(segment.name, Qt::ElideRight, static_cast<int>(room));
      if (cut.size() > 2) return cut;
      const QString number = QString::number(segment.segment + 1);
      return metrics.horizontalAdvance(number) <= room ? number : QString();
    };
    if (segment.columns > 0) {
      QRectF area = m_plot.cellRect({0, 1, segment.firstColumn, segment.columns});
      area.setLeft(std::max(area.left(), inner.left()));
      area.setRight(std::min(area.right(), inner.right()));
      if (area.width() > 2) {
        painter->fillRect(QRectF(area.left() + 1, inner.top() - 6, area.width() - 3, kBracketWidth), ink);
        painter->setPen(ink);
        painter->drawText(QRectF(area.left(), inner.top() - 24, area.width(), 16), Qt::AlignCenter,
                          name(area.width() - 2));
      }
    }
    if (segment.rows > 0) {
      QRectF area = m_plot.cellRect({segment.firstRow, segment.rows, 0, 1});
      area.setTop(std::max(area.top(), inner.top()));
      area.setBottom(std::min(area.bottom(), inner.bottom()));
      if (area.height() > 2) {
        painter->fillRect(QRectF(inner.left() - 6, area.top() + 1, kBracketWidth, area.height() - 3), ink);
        if (!tokens && area.height() >= metrics.ascent()) {
          painter->setPen(ink);
          painter->drawText(QRectF(0, area.top(), inner.left() - 10, area.height()),
                            Qt::AlignRight | Qt::AlignVCenter, name(inner.left() - 12));
        }
      }
    }
  }
  if (!tokens) return;
  painter->setFont(theme.monoFont());
  const QFontMetrics metrics(theme.monoFont());
  double last = inner.top() - metrics.height();
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    const QRectF area = m_plot.cellRect({row, 1, 0, 1});
    const double middle = area.center().y();
    if (middle < inner.top() || middle > inner.bottom() || middle - last < metrics.height() - 2) continue;
    last = middle;
    const AttentionRow& shown = model.rows[static_cast<std::size_t>(row)];
    painter->setPen(theme.color(shown.source == RowSource::None ? Role::TextThird : Role::Text));
    painter->drawText(
        QRectF(0, middle - 8, inner.left() - 10, 16), Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(shown.text.trimmed(), Qt::ElideRight, static_cast<int>(inner.left() - 12)));
  }
}

}  // namespace spanscope::ui
