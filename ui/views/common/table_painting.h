// SPDX-License-Identifier: GPL-3.0-or-later
// The content of a table, and functions that paint it. TableView shows the same content in a window.
#pragma once

#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QPainter>
#include <QString>
#include <QVariant>

#include <vector>

class QTableView;

namespace spanscope::ui {

struct PaintedCell {
  QString text;
  Role ink = Role::Text;
  bool mono = false;
  bool bold = false;
  bool isRight = false;  ///< aligned at the right, as numbers are
  QString help = {};     ///< tool tip
  QVariant raw = {};     ///< value to sort by; invalid: the text
  bool operator==(const PaintedCell&) const = default;
};

struct PaintedTable {
  std::vector<QString> headers;
  std::vector<int> shares;  ///< share of the width for each column
  std::vector<std::vector<PaintedCell>> rows;
  std::vector<QString> headerHelps = {};  ///< tool tips of the headers; may be fewer
  std::vector<int> groups = {};           ///< one for each row, or none; sorting keeps lower groups above
  bool operator==(const PaintedTable&) const = default;
};

/// The titles and the rows as lines, with tabs between the cells.
QString tabbedText(const PaintedTable& table);
/// The number at the beginning of a text, as a value to sort by. Invalid if the text begins with no number.
QVariant leadingNumber(const QString& text);
/// The height of the table at this width.
int paintedTableHeight(const PaintedTable& table, const Theme& theme, int width);
/// Paints as many whole rows as fit. Texts are wrapped.
void paintTable(QPainter& painter, const QRect& area, const PaintedTable& table, const Theme& theme);
/// Paints the whole table, scaled down if it does not fit into `size`.
void paintTableInto(QPainter& painter, const QSize& size, const PaintedTable& table, const Theme& theme);

/// The style sheet for tables in views, with space beside texts and hairlines between rows.
QString tableStyle(const Theme& theme);
/// Sets up a table for selecting one whole row at a time. Rows are `rowHeight` pixels high. The last column
/// gets the rest of the width.
void showWholeRows(QTableView& table, int rowHeight);

/// The header of a table. Titles that do not fit end in an ellipsis. QHeaderView subtracts only the style's
/// margin from the width. The style sheet's padding takes more, so QHeaderView would cut titles without an
/// ellipsis.
class TableHead : public QHeaderView {
  Q_OBJECT
 public:
  explicit TableHead(QWidget* parent = nullptr);

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

}  // namespace spanscope::ui
