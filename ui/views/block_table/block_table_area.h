// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the content of the block table.
#pragma once

#include "ui/views/block_table/block_table_layout.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/block_table/block_table_motion.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/zoomed_scroll.h"

#include <QFontMetrics>
#include <QImage>

#include <functional>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What is written above a bracket.
struct BracketName {
  QRect place;
  Qt::Alignment alignment;
  QString text;  ///< empty: there is no room for anything that can be read
};
/// `visible`: the part of the table that is in sight, beginning with the column of the rows' labels. `name`
/// is for the whole bracket; what of it is out of sight leaves less room.
BracketName bracketName(const QRect& bracket, const QRect& visible, const QString& name,
                        const QFontMetrics& metrics);

class BlockTableArea : public ZoomedScroll {
  Q_OBJECT
 public:
  explicit BlockTableArea(QWidget* parent = nullptr);

  /// Shows a table. `table` must stay valid until the next call or the end of the area. It is laid out again
  /// only if `changed`.
  void showTable(const BlockTable* table, bool changed, std::optional<CellPlace> current, BlockId physical,
                 const Theme& theme);
  /// Shows how the table comes about from what it was, `done` of the way (0 … 1); nullptr: at rest. `motion`
  /// must stay valid until the next call.
  void showMotion(const TableMotion* motion, double done);
  void setTips(std::function<QString(const CellPlace&)> tips) { m_tips = std::move(tips); }
  void reveal(const CellPlace& place);
  /// Scrolls to this row, and has overview and keys start at it while no cell is current. The row of the
  /// newest request at first.
  void showRow(std::size_t row);

  /// Sets the size of cells. Nothing: the largest size that fits.
  void setCellSize(std::optional<CellSize> size);
  const TableLayout& tableLayout() const { return m_layout; }
  /// The names written above the segments of a row.
  const std::vector<QString>& partNames(std::size_t row) const { return m_names[row]; }
  bool hasOverview() const { return m_overviewShown; }

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;

 Q_SIGNALS:
  void chosen(const spanscope::ui::CellPlace& place);

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void paintFixed(QPainter& painter) override;
  void zoom(int steps) override;
  void zoomToFit() override { setCellSize(std::nullopt); }
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void layOut();
  void nameParts();
  QFontMetrics nameMetrics() const;
  /// The widths of the segment names in each row, in pixels.
  int pitchForNames(CellSize size) const;
  std::vector<std::vector<int>> nameWidths() const;
  void paintLabels(QPainter& painter, int x, std::pair<std::size_t, std::size_t> rows) const;
  void paintBrackets(QPainter& painter, std::size_t row, const QRect& visible) const;
  void paintCells(QPainter& painter, std::size_t row, const QRect& visible) const;
  /// Paints a cell of which something is underway. Returns whether it looks now as it will.
  bool paintMoving(QPainter& painter, const CellPlace& place, const BlockLook& look) const;
  void paintTravels(QPainter& painter, const QRect& visible) const;
  void paintMarks(QPainter& painter, const TableCell& cell, const QRect& place) const;
  void paintNumbers(QPainter& painter, const TableCell& cell, const QRect& place) const;
  void paintRings(QPainter& painter, std::pair<std::size_t, std::size_t> rows, const QRect& visible) const;
  void paintLinks(QPainter& painter, std::pair<std::size_t, std::size_t> rows, const QRect& visible) const;
  void paintBand(QPainter& painter, const TableLink& link) const;
  void paintLink(QPainter& painter, const TableLink& link, std::size_t index) const;
  QRect overviewBar() const;
  void scrollByOverview(int x);
  /// The row that the overview shows: the current row, else the row of showRow().
  std::size_t overviewRow() const;
  const QImage& overviewImage();
  std::optional<CellPlace> target(const QKeyEvent& event) const;

  const BlockTable* m_table = nullptr;
  const TableMotion* m_motion = nullptr;
  double m_done = 1;
  TableLayout m_layout;
  int m_namesRight = 0;                       ///< right edge of the rightmost name
  std::vector<std::vector<QString>> m_names;  ///< names of the parts in each row, shortened to their room
  BlockPainter m_painter;
  std::optional<CellSize> m_wanted;
  std::optional<CellPlace> m_current;
  std::optional<std::size_t> m_ownRow;  ///< of showRow()
  bool m_keepsRow = false;              ///< that row is still what is to be seen
  BlockId m_physical = kNullBlock;
  bool m_overviewShown = false;
  bool m_dragging = false;
  QImage m_overview;
  std::function<QString(const CellPlace&)> m_tips;
};

}  // namespace spanscope::ui
