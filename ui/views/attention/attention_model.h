// SPDX-License-Identifier: GPL-3.0-or-later
// Where one request looked: attention mass per query row and key block, as recorded, with the mask that its
// span table induces.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct AttentionOptions {
  std::optional<std::int32_t> layer;  ///< none: mean of the observed layers
  std::optional<std::int32_t> head;   ///< none: mean of heads
  /// Rows are the tokens of this segment, and columns too where attention on single keys was recorded; none:
  /// all query blocks.
  std::optional<std::uint32_t> tokensOf;
  std::size_t mostBlocks = 1000;  ///< above it several blocks share a cell
  bool operator==(const AttentionOptions&) const = default;
};

enum class CellState : std::uint8_t {
  Blank,      ///< it comes later in the view: there is nothing to see yet
  Forbidden,  ///< it comes earlier, and the tree says that the row does not see it
  Missing,    ///< seen, but nothing was recorded
  Measured,
};

enum class RowSource : std::uint8_t {
  None,      ///< nothing was recorded
  Computed,  ///< by this request
  Earlier,   ///< when the block was stored, by another request
};

struct AttentionSegment {
  std::uint32_t segment = 0;  ///< its place in the prompt
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  NodePath node;
  document::NodeId id = document::kNoNode;
  std::int32_t blocks = 0;
  std::vector<QString> texts;  ///< of its tokens, where columns are tokens
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;  ///< 0 where only another segment's tokens are shown
  bool operator==(const AttentionSegment&) const = default;
};

struct AttentionRow {
  std::uint32_t segment = 0;
  std::int32_t block = 0;   ///< first virtual block of the row, in its segment
  std::int32_t token = -1;  ///< local token, where rows are tokens
  QString text;             ///< of that token
  RowSource source = RowSource::None;
  RunId run = 0;          ///< that recorded it
  RequestId request = 0;  ///< that recorded it
  bool operator==(const AttentionRow&) const = default;
};

struct AttentionRegion {
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  bool operator==(const AttentionRegion&) const = default;
};

struct AttentionModel {
  RequestId request = 0;  ///< 0: there is none
  RunId run = 0;
  bool recorded = false;  ///< anything of this request or of the blocks it reuses
  std::vector<AttentionSegment> segments;
  std::vector<AttentionRow> rows;
  std::int32_t columns = 0;
  std::int32_t blocksPerCell = 1;
  std::int32_t blockSize = 16;
  bool tokenColumns = false;      ///< a column is a token, not one block or several
  std::vector<float> mass;        ///< [rows][columns]: share of attention, 0 … 1; 0 where not measured
  std::vector<CellState> states;  ///< [rows][columns]
  /// Of rows that see two cells or more: one that sees a single one has all of its attention there.
  float highest = 0;
  bool singles = false;              ///< there are rows that see a single cell
  std::vector<std::int32_t> layers;  ///< observed, ascending
  std::int32_t heads = 0;
  std::vector<std::uint32_t> tokenSegments;  ///< segments of which single tokens were recorded, ascending
  std::vector<RunId> earlierRuns;            ///< that recorded pale rows, ascending
  bool earlierHere = false;                  ///< pale rows by another request of the same run
  std::optional<trace::AttentionLeftOut> leftOut;  ///< of the run, so far
  bool operator==(const AttentionModel&) const = default;

  std::size_t at(std::int32_t row, std::int32_t column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }
  /// Index in `segments` of a column; nullptr outside.
  const AttentionSegment* segmentOfColumn(std::int32_t column) const;
  /// First virtual block of a column, in its segment.
  std::int32_t blockOfColumn(std::int32_t column) const;
  /// Local token of a column; −1 where columns are blocks.
  std::int32_t tokenOfColumn(std::int32_t column) const;
  /// Tokens for which a column stands.
  std::int32_t columnSpan() const { return tokenColumns ? 1 : blocksPerCell * blockSize; }
  /// Cells of one state as few rectangles.
  std::vector<AttentionRegion> regions(CellState state) const;
};

AttentionModel attentionModel(const ViewInput& input, const AttentionOptions& options = {});

/// "question block 1 → document 1 block 0: 0.31, layer 4, mean of heads"
QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column);
/// "12 records of attention left out: limit of 64 MiB a run"
QString leftOutText(const trace::AttentionLeftOut& leftOut);
QString attentionCsv(const AttentionModel& model);

}  // namespace spanscope::ui
