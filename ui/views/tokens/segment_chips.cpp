// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/segment_chips.h"

#include <QFontMetrics>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kHeight = 18;
constexpr int kWidest = 560;  // pixels, so that the counts beside the chips stay in sight

}  // namespace

SegmentChips::SegmentChips(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(tr("Segments"));
}

void SegmentChips::showNames(std::vector<SegmentName> names, const Theme& theme) {
  if (m_names == names && m_theme == theme) return;
  m_names = std::move(names);
  m_theme = theme;
  QStringList all;
  for (const SegmentName& name : m_names) all << name.name;
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  setToolTip(all.join(QStringLiteral(" · ")));
  updateGeometry();
  update();
}

std::vector<QRect> SegmentChips::places(int width) const {
  const QFontMetrics metrics(m_theme.smallFont());
  const int more = metrics.horizontalAdvance(QStringLiteral("+999")) + kSpace;
  std::vector<QRect> result;
  int x = 0;
  for (std::size_t i = 0; i < m_names.size(); ++i) {
    const int own = std::min(metrics.horizontalAdvance(m_names[i].name), 140) + 4 * kSpace;
    const int needed = i + 1 < m_names.size() ? own + kSpace + more : own;
    if (x + needed > width) break;
    result.emplace_back(x, 1, own, kHeight);
    x += own + 2 * kSpace;
  }
  return result;
}

QSize SegmentChips::sizeHint() const {
  const std::vector<QRect> all = places(kWidest);
  if (all.empty()) return {0, kHeight + 2};
  const int more = all.size() < m_names.size() ? 40 : 0;
  return {all.back().right() + 1 + more, kHeight + 2};
}

QSize SegmentChips::minimumSizeHint() const {
  return {0, kHeight + 2};
}

void SegmentChips::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  const std::vector<QRect> all = places(width());
  for (std::size_t i = 0; i < all.size(); ++i) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.segmentTint(m_names[i].hue));
    painter.drawRoundedRect(all[i], kHeight / 2.0, kHeight / 2.0);
    if (const QBrush pattern = m_theme.segmentPattern(m_names[i].hue); pattern.style() != Qt::NoBrush) {
      painter.setBrush(pattern);
      painter.drawRoundedRect(all[i], kHeight / 2.0, kHeight / 2.0);
    }
    painter.setPen(m_theme.segmentInk(m_names[i].hue));
    painter.drawText(all[i], Qt::AlignCenter,
                     metrics.elidedText(m_names[i].name, Qt::ElideRight, all[i].width() - 3 * kSpace));
  }
  if (all.size() == m_names.size()) return;
  const int x = all.empty() ? 0 : all.back().right() + kSpace;
  painter.setPen(m_theme.color(Role::TextThird));
  painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft,
                   QStringLiteral("+%1").arg(m_names.size() - all.size()));
}

void SegmentChips::mousePressEvent(QMouseEvent* event) {
  const std::vector<QRect> all = places(width());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].contains(event->position().toPoint())) Q_EMIT chosen(i);
  }
}

}  // namespace spanscope::ui
