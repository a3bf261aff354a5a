// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/item_canvas.h"

#include <QHelpEvent>
#include <QStringListModel>

#include <cstdlib>
#include <optional>

namespace spanscope::ui {
namespace {

/// Shows the text of an item as its tool tip too.
class PartModel : public QStringListModel {
 public:
  using QStringListModel::QStringListModel;

  QVariant data(const QModelIndex& index, int role) const override {
    return QStringListModel::data(index, role == Qt::ToolTipRole ? int(Qt::DisplayRole) : role);
  }
};

}  // namespace

ItemCanvas::ItemCanvas(QWidget* parent) : QAbstractItemView(parent), m_items(new PartModel(this)) {
  setModel(m_items);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setTabKeyNavigation(false);
  viewport()->setAutoFillBackground(false);
}

int ItemCanvas::count() const {
  return m_items->rowCount();
}

void ItemCanvas::setCurrentItem(int item) {
  if (item != currentItem()) setCurrentIndex(m_items->index(item));
}

QString ItemCanvas::itemText(int item) const {
  return m_items->index(item).data().toString();
}

void ItemCanvas::setItems(const QStringList& texts) {
  if (texts == m_items->stringList()) return;
  const int current = currentItem();
  m_items->setStringList(texts);
  if (current >= 0 && current < count()) setCurrentItem(current);
}

QRect ItemCanvas::visualRect(const QModelIndex& index) const {
  return index.isValid() ? itemRect(index.row()) : QRect();
}

QModelIndex ItemCanvas::indexAt(const QPoint& point) const {
  for (int item = 0; item < count(); ++item) {
    if (itemRect(item).contains(point)) return m_items->index(item);
  }
  return {};
}

QModelIndex ItemCanvas::moveCursor(CursorAction action, Qt::KeyboardModifiers /*modifiers*/) {
  constexpr int kAside = 4;  // weight of the distance across the direction
  if (count() == 0) return {};
  const int current = currentItem();
  if (current < 0 || action == MoveHome) return m_items->index(0);
  if (action == MoveEnd) return m_items->index(count() - 1);
  const int right = action == MoveRight ? 1 : action == MoveLeft ? -1 : 0;
  const int down = action == MoveDown ? 1 : action == MoveUp ? -1 : 0;
  const QPoint from = itemRect(current).center();
  std::optional<int> nearest;
  int least = 0;
  for (int item = 0; item < count(); ++item) {
    const QPoint way = itemRect(item).center() - from;
    const int along = way.x() * right + way.y() * down;
    if (along < 1) continue;
    const int distance = along + kAside * std::abs(right != 0 ? way.y() : way.x());
    if (nearest && distance >= least) continue;
    nearest = item;
    least = distance;
  }
  return m_items->index(nearest.value_or(current));
}

void ItemCanvas::setSelection(const QRect& rect, QItemSelectionModel::SelectionFlags command) {
  const QModelIndex index = indexAt(rect.center());
  selectionModel()->select(QItemSelection(index, index), command);
}

QRegion ItemCanvas::visualRegionForSelection(const QItemSelection& selection) const {
  QRegion region;
  for (const QModelIndex& index : selection.indexes()) region += visualRect(index);
  return region;
}

void ItemCanvas::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QAbstractItemView::currentChanged(current, previous);
  viewport()->update();
}

bool ItemCanvas::viewportEvent(QEvent* event) {
  // Outside of all parts, the viewport has its own tool tip.
  if (event->type() == QEvent::ToolTip && !indexAt(static_cast<QHelpEvent*>(event)->pos()).isValid())
    return false;
  return QAbstractItemView::viewportEvent(event);
}

}  // namespace spanscope::ui
