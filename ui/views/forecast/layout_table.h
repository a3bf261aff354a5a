// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts side by side, of the document's next run: what each does to its prompts and what that costs.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/table_painting.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::ui {

struct LayoutTableRow {
  QStringList cells;      ///< one a column
  bool isChosen = false;  ///< what the document's settings have
  QString problem;        ///< why it cannot run; then the other cells are empty
  bool operator==(const LayoutTableRow&) const = default;
};

struct LayoutTable {
  QString gap;  ///< why there is nothing to show; empty where there is
  QStringList columns;
  QStringList tips;  ///< one a column
  std::vector<LayoutTableRow> rows;
  QString note;  ///< what the figures are of
  bool operator==(const LayoutTable&) const = default;
};

LayoutTable layoutTable(const ViewInput& input);
QString layoutTableCsv(const LayoutTable& table);
PaintedTable paintedLayouts(const LayoutTable& table);

}  // namespace spanscope::ui
