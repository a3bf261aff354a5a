// SPDX-License-Identifier: GPL-3.0-or-later
// The block table: the physical block of each virtual (logical) block of each request, and the blocks that
// several requests used.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/request_blocks.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct TableCell {
  VirtualBlockFacts facts;
  /// How the block was served. Evicted: a lookup could find the block's content, but the pool no longer has
  /// this content. Free: the request released the block and did not compute it.
  BlockRole role = BlockRole::Free;
  bool isFreed = false;               ///< the block was never stored, and its request has released the block
  std::int32_t references = 0;        ///< references to the physical block now; 0 if the content is lost
  std::optional<std::size_t> lostAt;  ///< index of the event with which the content was lost
  std::int32_t pads = 0;              ///< padding tokens that the layout put into the block
  std::int32_t markers = 0;           ///< delimiter tokens that the layout put into the block.
  /// Number of layers whose window at the end of the prompt contains no token of the block.
  std::int32_t outsideLayers = 0;
  std::int32_t again = 0;    ///< cached tokens that the policy recomputed
  std::int32_t cropped = 0;  ///< tokens that the layout removed after the block
  bool operator==(const TableCell&) const = default;

  /// Whether the first tokens of the block were a hit, and the rest was computed.
  bool isPartialHit() const {
    return facts.outcome == trace::LookupOutcome::Partial && facts.found > 0 && role == BlockRole::Computed;
  }
  /// Whether the pool still has the request's content of the block.
  bool isThere() const { return role != BlockRole::Evicted && !isFreed; }
};

struct TableSegment {
  std::uint32_t segment = 0;
  QString name;
  std::size_t hue = 0;
  bool hidden = false;
  bool generated = false;  ///< the blocks of the segment hold only generated tokens
  std::size_t first = 0;   ///< index of the first cell
  std::size_t count = 0;   ///< number of cells
  bool operator==(const TableSegment&) const = default;
};

/// A bracket above the cells of a row. The bracket marks a section of the prompt, a stored segment that no
/// token attends to, or generated tokens.
struct TablePart {
  QString name;
  std::size_t hue = 0;
  bool hidden = false;
  bool stored = false;  ///< the segment is hidden, and the view has a copy of the segment
  bool generated = false;
  std::size_t first = 0;  ///< index of the cell in which the bracket begins
  std::size_t last = 0;   ///< index of the cell in which the bracket ends
  double begin = 0;       ///< begin of the bracket in the first cell, 0 … 1
  double end = 1;         ///< end of the bracket in the last cell, 0 … 1
  bool operator==(const TablePart&) const = default;
};

struct TableRow {
  RequestId request = 0;
  RunId run = 0;
  QString title;       ///< "Run 2", or "Run 2 · padded" if its layout is not the exact one
  QString subtitle;    ///< step and copy (if the run has several requests), node, policy
  QString note;        ///< "cold", "70 of 83 cached"
  QStringList extras;  ///< other token counts of the prompt, see accountWords()
  std::vector<TableSegment> segments;
  std::vector<TablePart> parts;  ///< ascending by cell
  std::vector<TableCell> cells;
  bool operator==(const TableRow&) const = default;
};

/// Adjacent cells of one row whose content comes from adjacent cells in the row above.
struct TableLink {
  std::size_t row = 0;   ///< index of the upper row
  std::size_t from = 0;  ///< first cell of the upper row
  std::size_t to = 0;    ///< first cell of the lower row
  std::size_t count = 0;
  BlockRole role = BlockRole::Hit;  ///< Hit or Relocated
  bool copied = false;  ///< true: the lower row copied the first slots; false: both rows share the blocks
  bool operator==(const TableLink&) const = default;
};

struct BlockTable {
  std::int32_t blockSize = 16;
  std::vector<TableRow> rows;    ///< oldest first
  std::vector<TableLink> links;  ///< by row
  bool operator==(const BlockTable&) const = default;

  std::size_t widest() const;  ///< the largest number of cells in a row
};

struct CellPlace {
  std::size_t row = 0;
  std::size_t cell = 0;
  bool operator==(const CellPlace&) const = default;
};

/// Max numbers of runs and of requests in the table. The table has the newest ones. The document's newest run
/// is always in the table.
inline constexpr std::size_t kTableRuns = 16;
inline constexpr std::size_t kTableRows = 96;

/// The table at the input's position. `history` must have followed the input's trace.
BlockTable blockTable(const ViewInput& input, const BlockHistory& history);

/// The first cell of the row that was not a full hit. Nothing if no cell of the row was a hit, or all cells
/// were hits.
std::optional<std::size_t> firstMiss(const TableRow& row);

/// The cell to show in this row while no block is selected. For a selected node, this is the cell of
/// blocksOfNode(). Otherwise, this is firstMiss().
std::optional<CellPlace> cellToShow(const ViewInput& input, const BlockTable& table, std::size_t row);

/// The cell of the selected block, else the newest row's cell with the selected physical block.
std::optional<CellPlace> selectedCell(const BlockTable& table, const Selection& selection);

/// The tool tip of a cell: the short form of the facts in the why panel.
QString cellTip(const ViewInput& input, const BlockTable& table, const CellPlace& place);

QString blockTableCsv(const BlockTable& table);

}  // namespace spanscope::ui
