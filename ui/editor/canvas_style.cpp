// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_style.h"

#include <QPainter>
#include <QPixmap>

#include <algorithm>

namespace spanscope::ui {
namespace {

QBrush overlay(const QColor& color, BlockRole role) {
  QPixmap tile(6, 6);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  if (role == BlockRole::Relocated) {
    painter.setPen(QPen(color, 1.4));
    painter.drawLine(QPointF(-1, 7), QPointF(7, -1));
    painter.drawLine(QPointF(-4, 4), QPointF(4, -4));
    painter.drawLine(QPointF(2, 10), QPointF(10, 2));
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QPointF(3, 3), 1.3, 1.3);
  }
  painter.end();
  return QBrush(tile);
}

}  // namespace

CanvasStyle::CanvasStyle(const Theme& of)
    : theme(of),
      surface(of.color(Role::Surface)),
      canvas(of.color(Role::Canvas)),
      grid(of.color(Role::Grid)),
      outline(of.color(Role::Outline)),
      wire(of.color(Role::Wire)),
      text(of.color(Role::Text)),
      textSecond(of.color(Role::TextSecond)),
      textThird(of.color(Role::TextThird)),
      accent(of.color(Role::Accent)),
      accentFill(of.color(Role::AccentFill)),
      error(of.color(Role::Error)),
      errorFill(of.color(Role::ErrorFill)),
      hit(of.color(Role::HitInk)),
      computed(of.color(Role::ComputedInk)),
      line(of.color(Role::Line)),
      titleFont(of.titleFont()),
      bodyFont(of.interfaceFont()),
      smallFont(of.smallFont()),
      monoFont(of.monoFont()) {
  bodyFont.setPixelSize(12);
  for (QFont* font : {&titleFont, &bodyFont, &smallFont, &monoFont}) {
    // Widths must not jump with the zoom.
    font->setHintingPreference(QFont::PreferNoHinting);
  }
  m_relocatedPattern = overlay(surface, BlockRole::Relocated);
  m_computedPattern = overlay(surface, BlockRole::Computed);
  for (std::size_t i = 0; i < m_segmentPatterns.size(); ++i)
    m_segmentPatterns[i] = theme.segmentPattern(i * kSegmentHues);
}

const QBrush& CanvasStyle::segmentPattern(std::size_t segment) const {
  return m_segmentPatterns[std::min(segment / kSegmentHues, m_segmentPatterns.size() - 1)];
}

QBrush CanvasStyle::servedInk(BlockRole role) const {
  return QBrush(theme.ink(role));
}

QBrush CanvasStyle::servedPattern(BlockRole role) const {
  if (role == BlockRole::Relocated) return m_relocatedPattern;
  if (role == BlockRole::Computed) return m_computedPattern;
  return {};
}

}  // namespace spanscope::ui
