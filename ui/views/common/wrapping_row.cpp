// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/wrapping_row.h"

#include <QMargins>
#include <QWidget>

#include <algorithm>

namespace spanscope::ui {

WrappingRow::WrappingRow(QWidget* parent) : QLayout(parent) {
  setContentsMargins(0, 0, 0, 0);
}

WrappingRow::~WrappingRow() {
  qDeleteAll(m_items);
}

void WrappingRow::addItem(QLayoutItem* item) {
  m_items.append(item);
}

QLayoutItem* WrappingRow::takeAt(int index) {
  return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

int WrappingRow::heightForWidth(int width) const {
  const QMargins margins = contentsMargins();
  return layOut(QRect(0, 0, width - margins.left() - margins.right(), 0), false) + margins.top() +
         margins.bottom();
}

QSize WrappingRow::minimumSize() const {
  QSize least;
  for (const QLayoutItem* item : m_items) {
    if (!item->isEmpty()) least = least.expandedTo(item->minimumSize());
  }
  return least.grownBy(contentsMargins());
}

QSize WrappingRow::sizeHint() const {
  int width = 0;
  int height = 0;
  for (const QLayoutItem* item : m_items) {
    if (item->isEmpty()) continue;
    width += (width > 0 ? spacing() : 0) + item->sizeHint().width();
    height = std::max(height, item->sizeHint().height());
  }
  return QSize(width, height).grownBy(contentsMargins());
}

void WrappingRow::setGeometry(const QRect& area) {
  QLayout::setGeometry(area);
  layOut(area.marginsRemoved(contentsMargins()), true);
}

int WrappingRow::layOut(const QRect& area, bool isApplied) const {
  const int gap = std::max(0, spacing());
  QList<QLayoutItem*> line;
  int used = 0;
  int y = area.top();
  const auto endLine = [&] {
    if (line.isEmpty()) return;
    int height = 0;
    int growing = 0;
    for (const QLayoutItem* item : line) {
      height = std::max(height, item->sizeHint().height());
      if (item->expandingDirections().testFlag(Qt::Horizontal)) ++growing;
    }
    int rest = std::max(0, area.width() - used);
    int x = area.left();
    for (QLayoutItem* item : line) {
      int width = std::min(item->sizeHint().width(), area.width());
      if (growing > 0 && item->expandingDirections().testFlag(Qt::Horizontal)) {
        const int more = std::min(rest / growing--, item->maximumSize().width() - width);
        rest -= std::max(0, more);
        width += std::max(0, more);
      }
      const int itemHeight = std::min(item->sizeHint().height(), height);
      if (isApplied) item->setGeometry(QRect(x, y + (height - itemHeight) / 2, width, itemHeight));
      x += width + gap;
    }
    y += height + gap;
    line.clear();
    used = 0;
  };
  for (QLayoutItem* item : m_items) {
    if (item->isEmpty()) continue;
    const int width = item->sizeHint().width();
    if (!line.isEmpty() && used + gap + width > area.width()) endLine();
    used += (line.isEmpty() ? 0 : gap) + width;
    line.append(item);
  }
  endLine();
  return std::max(0, y - gap - area.top());
}

}  // namespace spanscope::ui
