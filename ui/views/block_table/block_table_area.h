// SPDX-License-Identifier: GPL-3.0-or-later
// The scroll area that paints the block table, and the layout of its cells.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"

#include <QFontMetrics>
#include <QImage>
#include <QPoint>
#include <QRect>
#include <QSize>
#include <QString>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace spanscope::ui {

// The motion in the block table between two events. Blocks with a cache hit travel from the row that has them
// to the row that uses them.

struct TableTravel {
  CellPlace from;
  CellPlace to;
  BlockRole role = BlockRole::Hit;  ///< Hit or Relocated
  bool operator==(const TableTravel&) const = default;
};

struct TableMotion {
  BlockTable before;                 ///< the table when the motion began
  std::vector<TableTravel> travels;  ///< ascending by `to`
  QString note;                      ///< what travels, in a few words; empty without travels
  std::vector<CellPlace> computing;  ///< cells that a forward pass is filling, ascending.
  /// For each row of the current table: the index of this row in `before`; −1: none.
  std::vector<int> rowBefore;

  /// The cell in `before`; nullptr: there was none.
  const TableCell* cellBefore(const CellPlace& place) const;
  bool travelsTo(const CellPlace& place) const;
  bool isComputing(const CellPlace& place) const;
};

/// Returns the motion at this moment, which must belong to the input's position. `table` is the table at that
/// position. `history` must have followed the input's trace.
TableMotion tableMotion(const ViewInput& input, const Moment& moment, const BlockTable& table,
                        const BlockHistory& history);

// Computes the places of the cells in a block table. All values are in pixels of the content.

enum class CellSize {
  Large,  ///< 50 px a block, with numbers
  Small,  ///< 24 px, without text
  Strip,  ///< 6 px
};

inline constexpr int kTableLabel = 136;    ///< width of the labels of rows
inline constexpr int kTableOverview = 32;  ///< height of the overview at the top, if there is one

/// Returns the left edge and the width of a text beside a mark at `x`, in pixels.
///
/// `end` is the right end of the rows. The text is to the right of the mark. If there is not enough room, the
/// text is to the left, or shortened on the side with more room. The text never covers the labels of rows.
std::pair<int, int> roomBeside(int x, int gap, int width, int end);

class TableLayout {
 public:
  TableLayout() = default;
  /// `names` contains the widths of the names above the segments of each row, in pixels. The layout makes
  /// room for these names. If `names` is empty, a name has as much room as its cells. `pitch` is the distance
  /// from cell to cell in pixels; 0: the min for this size.
  TableLayout(const BlockTable& table, CellSize size, bool overview,
              const std::vector<std::vector<int>>& names = {}, int pitch = 0);

  /// The largest size at which every row fits into the width, else Strip.
  static CellSize fitting(const BlockTable& table, int width);

  /// The min pitch of cells of this size.
  static int least(CellSize size);
  /// The pitch at which cells of this size fill the width. The pitch stays below the min pitch of
  /// the next larger size. 0: the cells do not fit.
  static int filling(const BlockTable& table, CellSize size, int width);

  /// Makes cells without text higher, up to 48 pixels, as long as all rows fit into this height.
  void fillHeight(int height);

  CellSize size() const { return m_size; }
  QSize contentSize() const { return {m_width, m_height}; }
  int pitch() const { return m_pitch; }
  int top() const { return m_top; }
  int rowHeight() const;
  int rowTop(std::size_t row) const { return m_top + static_cast<int>(row) * rowHeight(); }
  /// The y of the cells in a row.
  int cellTop(std::size_t row) const;
  int cellHeight() const;
  QRect cell(const CellPlace& place) const;
  /// The bracket above a section of the prompt. The bracket may begin and end within a cell.
  QRect bracket(std::size_t row, std::size_t part) const;

  std::optional<CellPlace> at(const QPoint& place) const;
  /// The cell in a row nearest to x; nothing if the row has no cells.
  std::optional<CellPlace> nearest(std::size_t row, int x) const;
  /// The cells of a row between two x: the first, and one past the last.
  std::pair<std::size_t, std::size_t> between(std::size_t row, int left, int right) const;
  std::size_t rowCount() const { return m_rows.size(); }
  /// The rows that touch a range of y: the first, and one past the last.
  std::pair<std::size_t, std::size_t> rowsBetween(int top, int bottom) const;

 private:
  struct Group {
    std::size_t first = 0;  ///< index of the first cell
    std::size_t count = 0;
    int x = 0;
  };
  struct Row {
    std::vector<Group> groups;  ///< one for each segment
    std::vector<TablePart> brackets;
    std::size_t cells = 0;
  };
  const Group* groupOf(const Row& row, std::size_t cell) const;
  int bottom() const;  ///< y of the end of the content, which has at least one row

  CellSize m_size = CellSize::Large;
  int m_pitch = 0;
  int m_extraHeight = 0;  ///< additional height of cells, beyond the min for their size
  std::vector<Row> m_rows;
  int m_top = 0;
  int m_width = 0;
  int m_height = 0;
};

class BlockTableArea : public ZoomedScroll {
  Q_OBJECT
 public:
  explicit BlockTableArea(QWidget* parent = nullptr);

  /// Shows a table. `table` must stay valid until the next call or until this object is destroyed.
  /// The layout is recomputed only if `changed`.
  void showTable(const BlockTable* table, bool changed, std::optional<CellPlace> current, BlockId physical,
                 const Theme& theme);
  /// Shows a step of the animation from the previous table to this table. `done` is the completed fraction,
  /// 0 … 1. nullptr: no animation. `motion` must stay valid until the next call.
  void showMotion(const TableMotion* motion, double done);
  void setTips(std::function<QString(const CellPlace&)> tips) { m_tips = std::move(tips); }
  void reveal(const CellPlace& place);
  /// Scrolls to this row. While no cell is current, the overview shows this row, and the arrow keys start in
  /// this row. Default: the row of the newest request.
  void showRow(std::size_t row);

  /// Sets the size of cells. Nothing: the largest size that fits.
  void setCellSize(std::optional<CellSize> size);
  /// Sets whether cells and numbers are up to twice as large, for a projector.
  void setLarger(bool isLarger);
  const TableLayout& tableLayout() const { return m_layout; }
  /// The names above the sections of a row if the whole row is visible.
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
  double wantedScale() const;
  bool isShort() const;  ///< each row has few enough cells for large cells
  void nameParts();
  QFontMetrics nameMetrics() const;
  int pitchForNames(CellSize size) const;
  /// The widths of the segment names in each row, in pixels.
  std::vector<std::vector<int>> nameWidths() const;
  void paintLabels(QPainter& painter, int x, std::pair<std::size_t, std::size_t> rows) const;
  void paintBrackets(QPainter& painter, std::size_t row, const QRect& visible) const;
  void paintCells(QPainter& painter, std::size_t row, const QRect& visible) const;
  /// Paints a cell during a motion. Returns false if its block is still on the way from another cell.
  bool paintMoving(QPainter& painter, const CellPlace& place, const BlockLook& look) const;
  void paintTravels(QPainter& painter, const QRect& visible) const;
  void paintMarks(QPainter& painter, const TableCell& cell, const QRect& place) const;
  void paintNumbers(QPainter& painter, const TableCell& cell, const QRect& place) const;
  /// Whether the number of a cell is below the cell. Among smaller cells, only some have their number.
  bool hasNumber(const TableCell& cell) const;
  /// The left edge of the next cell with a number in the row; the max int: there is none.
  int nextNumber(std::size_t row, std::size_t index) const;
  /// Paints a mark below the first miss of a row. Returns the place of the mark; null: the mark is not
  /// visible.
  QRect paintFirstMiss(QPainter& painter, std::size_t row, const QRect& visible) const;
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
  std::vector<std::vector<QString>> m_names;  ///< partNames() of each row
  BlockPainter m_painter;
  std::optional<CellSize> m_wanted;
  bool m_isLarger = false;
  std::optional<CellPlace> m_current;
  std::optional<std::size_t> m_ownRow;  ///< the row of showRow()
  bool m_keepsRow = false;              ///< the row of showRow() must stay visible
  std::optional<CellPlace> m_revealed;  ///< the cell of the last reveal(); nothing once the user has scrolled
  std::vector<std::optional<std::size_t>> m_misses;  ///< firstMiss() of each row
  BlockId m_physical = kNullBlock;
  bool m_overviewShown = false;
  bool m_dragging = false;
  QImage m_overview;
  std::function<QString(const CellPlace&)> m_tips;
};

}  // namespace spanscope::ui
