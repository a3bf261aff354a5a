// SPDX-License-Identifier: GPL-3.0-or-later
// What moves in the block table between two events: found blocks travel from the row that has them to the
// place where they are used.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/block_table/block_table_model.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

struct TableTravel {
  CellPlace from;
  CellPlace to;
  BlockRole role = BlockRole::Hit;  ///< Hit or Relocated
  bool operator==(const TableTravel&) const = default;
};

struct TableMotion {
  BlockTable before;                 ///< the table when what is underway began
  std::vector<TableTravel> travels;  ///< ascending by `to`
  QString note;                      ///< what travels, in a few words; empty without travels
  std::vector<CellPlace> computing;  ///< cells that a pass is filling, ascending
  /// For each row of the present table: its row in `before`; −1: it has none.
  std::vector<int> rowBefore;

  /// The cell as it was; nullptr: it was not there.
  const TableCell* cellBefore(const CellPlace& place) const;
  bool travelsTo(const CellPlace& place) const;
  bool isComputing(const CellPlace& place) const;
};

/// What is underway at this moment, which is one of the input's position. `table` is the table there;
/// `history` must have followed the input's trace.
TableMotion tableMotion(const ViewInput& input, const Moment& moment, const BlockTable& table,
                        const BlockHistory& history);

}  // namespace spanscope::ui
