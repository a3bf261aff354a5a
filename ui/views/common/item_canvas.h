// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of painted charts whose cells or bars are items of a Qt item view.
#pragma once

#include <QAbstractItemView>
#include <QStringList>

class QStringListModel;

namespace spanscope::ui {

/// Base of charts in which the user can select single cells or bars. Qt's item view gives each part the
/// keyboard, clicks, copying, a tool tip and an accessible cell. A subclass paints the picture into
/// viewport() and knows the place of each part.
class ItemCanvas : public QAbstractItemView {
  Q_OBJECT
 public:
  explicit ItemCanvas(QWidget* parent = nullptr);

  int count() const;
  int currentItem() const { return currentIndex().row(); }  ///< -1: none
  /// Makes a part current, e.g. the selected one.
  void setCurrentItem(int item);
  QString itemText(int item) const;

  QRect visualRect(const QModelIndex& index) const override;
  QModelIndex indexAt(const QPoint& point) const override;
  void scrollTo(const QModelIndex& /*index*/, ScrollHint /*hint*/) override {}

 protected:
  /// Sets the texts of the parts. The current part keeps its number.
  void setItems(const QStringList& texts);
  /// The place of a part in the viewport.
  virtual QRect itemRect(int item) const = 0;

  /// Moves to the nearest part in the direction of the key.
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
  int horizontalOffset() const override { return 0; }
  int verticalOffset() const override { return 0; }
  bool isIndexHidden(const QModelIndex& /*index*/) const override { return false; }
  void setSelection(const QRect& rect, QItemSelectionModel::SelectionFlags command) override;
  QRegion visualRegionForSelection(const QItemSelection& selection) const override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  bool viewportEvent(QEvent* event) override;

 private:
  QStringListModel* m_items;
};

}  // namespace spanscope::ui
