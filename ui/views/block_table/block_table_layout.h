// SPDX-License-Identifier: GPL-3.0-or-later
// Computes where the cells of a block table stand. All values are in pixels of the content.
#pragma once

#include "ui/views/block_table/block_table_model.h"

#include <QPoint>
#include <QRect>
#include <QSize>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class CellSize {
  Large,  ///< 50 px a block, with numbers
  Small,  ///< 24 px, without text
  Strip,  ///< 6 px
};

inline constexpr int kTableLabel = 136;    ///< width of the labels of rows
inline constexpr int kTableOverview = 32;  ///< height of the overview at the top, if there is one

class TableLayout {
 public:
  TableLayout() = default;
  /// `names` holds the widths of names above the segments of each row, in pixels, and makes room for them. If
  /// it is empty, a name has as much room as its cells. `pitch` is the distance from cell to cell in pixels;
  /// 0: the least for cells of this size.
  TableLayout(const BlockTable& table, CellSize size, bool overview,
              const std::vector<std::vector<int>>& names = {}, int pitch = 0);

  /// The largest size at which every row fits into the width, else Strip.
  static CellSize fitting(const BlockTable& table, int width);

  /// The least pitch of cells of this size.
  static int least(CellSize size);
  /// The pitch at which cells of this size fill the width. It stays below the next size. 0: the cells do not
  /// fit.
  static int filling(const BlockTable& table, CellSize size, int width);

  /// Makes cells without text higher, as far as all rows still fit into this height and a row stays one to
  /// the eye.
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
  /// The bracket above a part of the prompt, from where it begins in its first cell to where it ends in its
  /// last.
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
    std::size_t first = 0;  ///< its first cell
    std::size_t count = 0;
    int x = 0;
  };
  struct Row {
    std::vector<Group> groups;  ///< one for each segment
    std::vector<TablePart> brackets;
    std::size_t cells = 0;
  };
  const Group* groupOf(const Row& row, std::size_t cell) const;
  int bottom() const;  ///< where the content ends, of at least one row

  CellSize m_size = CellSize::Large;
  int m_pitch = 0;
  int m_extraHeight = 0;  ///< of cells, beyond the least of their size
  std::vector<Row> m_rows;
  int m_top = 0;
  int m_width = 0;
  int m_height = 0;
};

}  // namespace spanscope::ui
