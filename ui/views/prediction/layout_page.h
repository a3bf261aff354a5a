// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/table_view.h"

#include <QString>
#include <QStringList>
#include <QWidget>

#include <optional>
#include <vector>

class QLabel;

namespace spanscope::ui {

// Compares the layouts for the document's next run: the changes of the prompts by each layout, and their
// cost.

struct LayoutTableRow {
  QStringList cells;      ///< one for each column
  bool isChosen = false;  ///< the document's settings have this layout and block size
  QString problem;        ///< why this layout cannot run; then the other cells are empty
  bool operator==(const LayoutTableRow&) const = default;
};

struct LayoutTable {
  QString gap;  ///< why there is nothing to show; empty: there is something
  QStringList columns;
  QStringList tips;  ///< tool tips of the columns
  std::vector<LayoutTableRow> rows;
  QString note;  ///< the conditions of the numbers
  bool operator==(const LayoutTable&) const = default;
};

LayoutTable layoutTable(const ViewInput& input);
QString layoutTableCsv(const LayoutTable& table);
PaintedTable paintedLayouts(const LayoutTable& table);

/// Shows the layouts side by side in a table. A note above the table has the conditions of the numbers.
class LayoutPage : public QWidget {
  Q_OBJECT
 public:
  explicit LayoutPage(QWidget* parent = nullptr);

  void showTable(LayoutTable table, const Theme& theme);
  const LayoutTable& table() const { return m_table; }

 private:
  void spanProblems();

  LayoutTable m_table;
  std::optional<Theme> m_shown;
  QLabel* m_note;
  TableView* m_view;
  PaintedTableModel* m_rows;
};

}  // namespace spanscope::ui
