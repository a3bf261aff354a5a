// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the small maps of a HeadGrid, wrapped to the width.
#pragma once

#include "ui/views/attention/head_grid.h"
#include "ui/views/common/painted_scroll.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace spanscope::ui {

class HeadGridArea : public PaintedScroll {
  Q_OBJECT
 public:
  explicit HeadGridArea(QWidget* parent = nullptr);

  /// `chosen` is the layer and head that the large map shows.
  void showGrid(const HeadGrid& grid, std::optional<std::pair<std::int32_t, std::int32_t>> chosen,
                const Theme& theme);
  const HeadGrid& grid() const { return m_grid; }
  QRect mapRect(std::size_t map) const;  ///< in content coordinates, title included

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;

 Q_SIGNALS:
  void chosen(int layer, int head);
  void closed();  ///< Escape

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int columns() const;
  std::optional<std::size_t> mapAt(const QPoint& place) const;
  void paintMap(QPainter& painter, std::size_t map) const;

  HeadGrid m_grid;
  std::optional<std::pair<std::int32_t, std::int32_t>> m_chosen;
  std::size_t m_current = 0;  ///< the map that the arrow keys move from
};

}  // namespace spanscope::ui
