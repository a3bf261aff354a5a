// SPDX-License-Identifier: GPL-3.0-or-later
// The motion in the block table between two events. Blocks with a cache hit travel from the row that has them
// to the row that uses them.
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

}  // namespace spanscope::ui
