// SPDX-License-Identifier: GPL-3.0-or-later
// A table widget for views. The user selects whole rows, sorts and copies.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/table_painting.h"

#include <QAbstractTableModel>
#include <QKeySequence>
#include <QString>
#include <QTableView>

#include <functional>
#include <vector>

class QSortFilterProxyModel;

namespace spanscope::ui {

/// The roles of a cell in a TableView, besides the roles of Qt. Only the view knows the theme, not the model.
enum CellRole : int {
  RawRole = Qt::UserRole + 1,  ///< value to sort by; invalid: the text
  InkRole,                     ///< int of a Role, the colour of the text; invalid: Role::Text
  MonoRole,                    ///< true: the font for numbers
  BoldRole,                    ///< true: bold
  GroupRole,                   ///< int; sorting keeps rows of lower groups above
};

/// Shows the content of a PaintedTable as an item model.
class PaintedTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// Replaces the content. A selected row number stays selected.
  void setTable(PaintedTable table);
  const PaintedTable& table() const { return m_table; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  PaintedTable m_table;
};

/// The content of a model with the roles above, from `firstRow` on, for a picture.
PaintedTable paintedTable(const QAbstractItemModel& model, std::vector<int> shares, int firstRow = 0);
/// The rows of a model as lines, with tabs between the cells. `hasHeader`: the first line has the titles.
QString tabbedText(const QAbstractItemModel& model, const std::vector<int>& rows, bool hasHeader);

/// Adds an action to the context menu of a widget. The keys of the action work while the widget has the
/// focus.
void addKeys(QWidget& widget, const QString& text, const QList<QKeySequence>& keys,
             std::function<void()> act);

enum class RowOrder {
  Fixed,     ///< as in the model
  Sortable,  ///< a click on a header sorts, a third click restores the order of the model
};

/// A table with these features. Ctrl+C copies the selected rows, or the whole table with titles if no row is
/// selected. The context menu has both commands. Row numbers are those of the model of setModel(), also if
/// the rows are sorted.
class TableView : public QTableView {
  Q_OBJECT
 public:
  TableView(const QString& name, RowOrder order, QWidget* parent = nullptr);

  void setModel(QAbstractItemModel* model) override;
  void setTheme(const Theme& theme);
  void setRowHeight(int pixels);
  /// Columns get the width of their contents. `wide` gets the rest, but at least `least` pixels.
  void fitColumns(int wide, int least);

  int rowOf(const QModelIndex& index) const;  ///< −1: none
  QModelIndex shownIndex(int row) const;      ///< first cell of a row, in the model that the widget shows
  int selectedRow() const;                    ///< the first selected row; −1: none
  /// Selects only this row and scrolls to it, without rowSelected(). −1: no row.
  void showRow(int row);
  void copySelected() const;
  void copyTable() const;

 Q_SIGNALS:
  void rowSelected(int row);   ///< by the user, with the pointer or a key
  void rowActivated(int row);  ///< with Return or a double click

 protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void updateGeometries() override;

 private:
  QSortFilterProxyModel* m_sorter = nullptr;  ///< null: the order is fixed
  Theme m_theme;
  bool m_isStyled = false;
  bool m_isShowing = false;  ///< in showRow()
  int m_wide = -1;
  int m_leastWide = 0;
};

}  // namespace spanscope::ui
