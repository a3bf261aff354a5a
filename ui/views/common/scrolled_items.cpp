// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/scrolled_items.h"

#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>

#include <algorithm>
#include <cstddef>

namespace spanscope::ui {

ScrolledItems::ScrolledItems(QWidget* parent) : ItemCanvas(parent) {
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
}

void ScrolledItems::showItems(const QStringList& texts, const Theme& theme, int current) {
  const QScopedValueRollback<bool> filling(m_isFilling, true);
  m_theme = theme;
  m_places = layOut(viewport()->width());
  setItems(texts);
  updateGeometries();
  if (current >= 0) setCurrentItem(current);
  viewport()->update();
}

int ScrolledItems::heightFor(int width) const {
  const std::vector<QRect> places = layOut(width);
  return places.empty() ? 0 : places.back().bottom() + 1;
}

QRect ScrolledItems::itemRect(int item) const {
  const auto at = static_cast<std::size_t>(item);
  return at < m_places.size() ? m_places[at].translated(0, -verticalOffset()) : QRect();
}

int ScrolledItems::verticalOffset() const {
  return verticalScrollBar()->value();
}

void ScrolledItems::updateGeometries() {
  constexpr int kStep = 22;  // pixels
  const int height = m_places.empty() ? 0 : m_places.back().bottom() + 1;
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(kStep);
  verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
  ItemCanvas::updateGeometries();
}

void ScrolledItems::scrollTo(const QModelIndex& index, ScrollHint /*hint*/) {
  const QRect place = visualRect(index);
  QScrollBar& bar = *verticalScrollBar();
  if (place.bottom() >= viewport()->height())
    bar.setValue(bar.value() + place.bottom() + 1 - viewport()->height());
  if (const int top = visualRect(index).top(); top < 0) bar.setValue(bar.value() + top);
}

void ScrolledItems::resizeEvent(QResizeEvent* event) {
  m_places = layOut(viewport()->width());
  ItemCanvas::resizeEvent(event);
  updateGeometries();
}

void ScrolledItems::paint(QPainter& painter, const QRect& area) const {
  const std::vector<QRect> places = layOut(area.width());
  if (places.empty()) return;
  const auto current = static_cast<std::size_t>(std::max(0, currentItem()));
  const int bottom = places[std::min(current, places.size() - 1)].bottom() + 1;
  const int offset = std::max(0, bottom - area.height());
  painter.save();
  painter.setClipRect(area);
  painter.translate(area.left(), area.top() - offset);
  paintItems(painter, places, QRect(0, offset, area.width(), area.height()));
  painter.restore();
}

void ScrolledItems::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  if (!m_places.empty()) {
    painter.save();
    painter.translate(0, -verticalOffset());
    paintItems(painter, m_places, viewport()->rect().translated(0, verticalOffset()));
    painter.restore();
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
}

}  // namespace spanscope::ui
