// SPDX-License-Identifier: GPL-3.0-or-later
// The content of a table, and its picture. TableView shows the same content in a window.
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
/// The number with which a text begins, as a value to sort by; invalid: it begins with none.
QVariant leadingNumber(const QString& text);
/// The height of the table at this width.
int paintedTableHeight(const PaintedTable& table, const Theme& theme, int width);
/// Paints as many whole rows as fit. Texts are wrapped.
void paintTable(QPainter& painter, const QRect& area, const PaintedTable& table, const Theme& theme);
/// Paints the whole table, scaled down if it does not fit into `size`.
void paintTableInto(QPainter& painter, const QSize& size, const PaintedTable& table, const Theme& theme);

/// The style sheet for tables in views: space beside texts, hairlines between rows.
QString tableStyle(const Theme& theme);
/// Lets a person select one whole row at a time, makes rows `rowHeight` pixels high, and gives the last
/// column the rest of the width.
void showWholeRows(QTableView& table, int rowHeight);

/// The head of a table whose titles may have less room than they need. QHeaderView leaves a title the width
/// of its section less the margin of the style, and the style sheet's padding takes more: the rest would be
/// cut without an ellipsis.
class TableHead : public QHeaderView {
  Q_OBJECT
 public:
  explicit TableHead(QWidget* parent = nullptr);

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

}  // namespace spanscope::ui
