// SPDX-License-Identifier: GPL-3.0-or-later
// A table on a painter, for pictures of views that show tables or lists in widgets.
#pragma once

#include "ui/theme/theme.h"

#include <QPainter>
#include <QString>

#include <vector>

class QTableView;

namespace spanscope::ui {

struct PaintedCell {
  QString text;
  Role ink = Role::Text;
  bool mono = false;
};

struct PaintedTable {
  std::vector<QString> headers;
  std::vector<int> shares;  ///< of the width, a column
  std::vector<std::vector<PaintedCell>> rows;
};

/// Height that the table takes at a width.
int paintedTableHeight(const PaintedTable& table, const Theme& theme, int width);
/// As many whole rows as fit; texts are wrapped.
void paintTable(QPainter& painter, const QRect& area, const PaintedTable& table, const Theme& theme);
/// The whole table, scaled down where it would not fit into `size`.
void paintTableInto(QPainter& painter, const QSize& size, const PaintedTable& table, const Theme& theme);

/// Style sheet of a table in a view: air beside the text, hairlines between rows.
QString tableStyle(const Theme& theme);
/// One whole row is selected at a time, rows have a height in pixels, the last column takes what is left.
void showWholeRows(QTableView& table, int rowHeight);

}  // namespace spanscope::ui
