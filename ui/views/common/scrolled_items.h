// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of painted lists of items that scroll vertically. A list can also paint itself into a picture.
// Open this file to change how such lists scroll.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/item_canvas.h"

#include <QRect>

#include <vector>

namespace spanscope::ui {

class ScrolledItems : public ItemCanvas {
  Q_OBJECT
 public:
  explicit ScrolledItems(QWidget* parent);

  /// The height of all items at this width, in pixels.
  int heightFor(int width) const;
  /// Paints the items into the area. If the area is too low, paints the items around the current one.
  void paint(QPainter& painter, const QRect& area) const;
  void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;

 protected:
  /// The places of all items in a content of this width, from top to bottom.
  virtual std::vector<QRect> layOut(int width) const = 0;
  /// Paints the items that `visible` touches, in coordinates of the content.
  virtual void paintItems(QPainter& painter, const std::vector<QRect>& places,
                          const QRect& visible) const = 0;

  const Theme& theme() const { return m_theme; }
  /// Shows other content. Call this function after layOut() has changed. `current`: the current item; −1:
  /// unchanged.
  void showItems(const QStringList& texts, const Theme& theme, int current = -1);
  /// Whether showItems() changes the current item, and not the user.
  bool isFilling() const { return m_isFilling; }
  QRect itemRect(int item) const override;
  int verticalOffset() const override;
  void updateGeometries() override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  std::vector<QRect> m_places;  ///< at the width of the viewport
  Theme m_theme;
  bool m_isFilling = false;
};

}  // namespace spanscope::ui
