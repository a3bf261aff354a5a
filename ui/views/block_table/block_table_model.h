// SPDX-License-Identifier: GPL-3.0-or-later
// Which physical block serves each virtual block of each request, and which of them several requests used.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/block_history.h"
#include "ui/views/common/request_blocks.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct TableCell {
  VirtualBlockFacts facts;
  /// As served; Evicted where the pool does not hold it any more, Free where it does not because it was its
  /// request's alone.
  BlockRole role = BlockRole::Free;
  bool isFreed = false;               ///< it was never stored, and its request has let it go
  std::int32_t references = 0;        ///< on the physical block at present; 0 where it is lost
  std::optional<std::size_t> lostAt;  ///< index of the event that took it away
  std::int32_t pads = 0;              ///< tokens that only the layout put there
  std::int32_t markers = 0;
  std::int32_t cropped = 0;  ///< tokens that the layout took away behind its last one
  bool operator==(const TableCell&) const = default;

  /// Whether the pool holds what the request had in it.
  bool isThere() const { return role != BlockRole::Evicted && !isFreed; }
};

struct TableSegment {
  std::uint32_t segment = 0;
  QString name;
  std::size_t hue = 0;
  bool hidden = false;
  bool generated = false;  ///< blocks that hold generated tokens only
  std::size_t first = 0;   ///< cell
  std::size_t count = 0;   ///< cells
  bool operator==(const TableSegment&) const = default;
};

struct TableRow {
  RequestId request = 0;
  RunId run = 0;
  QString title;     ///< "Run 2", "Run 2 · padded" where its layout is not the exact one
  QString subtitle;  ///< step and copy where the run has several requests, node, policy
  QString note;      ///< "cold", "70 of 83 cached"
  std::vector<TableSegment> segments;
  std::vector<TableCell> cells;
  bool operator==(const TableRow&) const = default;
};

/// Neighbouring cells of one row that are served by the blocks of neighbouring cells of the row above it.
struct TableLink {
  std::size_t row = 0;   ///< the upper one
  std::size_t from = 0;  ///< first cell of the upper row
  std::size_t to = 0;    ///< first cell of the lower row
  std::size_t count = 0;
  BlockRole role = BlockRole::Hit;  ///< Hit or Relocated
  bool copied = false;              ///< the lower one copied the first slots
  bool operator==(const TableLink&) const = default;
};

struct BlockTable {
  std::int32_t blockSize = 16;
  std::vector<TableRow> rows;    ///< oldest first
  std::vector<TableLink> links;  ///< by row
  bool operator==(const BlockTable&) const = default;

  std::size_t widest() const;  ///< most cells of a row
};

struct CellPlace {
  std::size_t row = 0;
  std::size_t cell = 0;
  bool operator==(const CellPlace&) const = default;
};

/// Rows of at most this many runs, and of at most this many requests: the newest ones.
inline constexpr std::size_t kTableRuns = 16;
inline constexpr std::size_t kTableRows = 96;

/// `history` has followed the input's trace.
BlockTable blockTable(const ViewInput& input, const BlockHistory& history);

/// The selected block, else the newest row's cell of the selected physical block.
std::optional<CellPlace> selectedCell(const BlockTable& table, const Selection& selection);

/// What a tool tip says of a cell: the facts of why in short.
QString cellTip(const ViewInput& input, const BlockTable& table, const CellPlace& place);

QString blockTableCsv(const BlockTable& table);

}  // namespace spanscope::ui
