// SPDX-License-Identifier: GPL-3.0-or-later
// Where one request looked: attention mass per query row and key block, as recorded, with the mask that its
// span table induces.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What a column or a row stands for.
enum class AttentionGrain : std::uint8_t { Segments, Blocks, Tokens };
enum class AttentionRowSet : std::uint8_t {
  Answer,  ///< a row for each token of the answer
  All,     ///< of the whole prompt, where those were recorded
};

enum class AttentionScale : std::uint8_t {
  Linear,
  Logarithmic,
  ByRow,  ///< of the largest of the row
};

struct AttentionOptions {
  std::optional<std::int32_t> layer;  ///< none: mean of the observed layers
  std::optional<std::int32_t> head;   ///< none: mean of heads
  AttentionRowSet rowSet = AttentionRowSet::All;
  AttentionGrain grain = AttentionGrain::Blocks;   ///< of columns, and of rows of the prompt; not tokens
  std::map<std::uint32_t, AttentionGrain> opened;  ///< segments that are shown in more detail than that
  /// Of all rows: rows are the tokens of this segment, and columns too where attention on single keys was
  /// recorded; none: all query blocks.
  std::optional<std::uint32_t> tokensOf;
  /// First tokens of segments count, where whole segments are columns and they were recorded apart.
  bool withFirst = true;
  std::int32_t answersPerRow = 1;  ///< tokens of the answer that share a row
  std::size_t mostBlocks = 1000;   ///< above it several blocks share a cell
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
  AttentionGrain grain = AttentionGrain::Blocks;  ///< of its columns
  std::vector<QString> texts;                     ///< of its tokens, where columns are tokens
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  /// Of them, the last ones that hold tokens of the answer alone; one that holds both is of the prompt.
  std::int32_t replyColumns = 0;
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;  ///< 0 where only another segment's tokens are shown
  bool operator==(const AttentionSegment&) const = default;
};

struct AttentionRow {
  std::uint32_t segment = 0;
  std::int32_t block = 0;    ///< first virtual block of the row, in its segment
  std::int32_t blocks = 1;   ///< for which it stands
  std::int32_t token = -1;   ///< local token, where rows are tokens
  std::int32_t answer = -1;  ///< index in the answer of the token that was drawn from this row; −1: none
  std::int32_t answers = 0;  ///< tokens of the answer for which it stands, from that one on
  QString text;              ///< of that token
  RowSource source = RowSource::None;
  RunId run = 0;                       ///< that recorded it
  RequestId request = 0;               ///< that recorded it
  std::vector<std::uint32_t> again{};  ///< key segments of which its cells were computed again after the run
  bool operator==(const AttentionRow&) const = default;
};

struct AttentionRegion {
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  bool operator==(const AttentionRegion&) const = default;
};

/// What is known of the answer in the layer and head that are shown.
struct AnswerKnown {
  std::int32_t tokens = 0;                           ///< it has
  std::int32_t withBlocks = 0;                       ///< of which attention by key block is known
  std::int32_t withKeys = 0;                         ///< and on single keys
  std::optional<trace::AttentionReplayed> replayed;  ///< by which it is known
  bool operator==(const AnswerKnown&) const = default;
};

struct AttentionModel {
  RequestId request = 0;  ///< 0: there is none
  RunId run = 0;
  bool recorded = false;  ///< anything of this request or of the blocks it reuses
  AttentionRowSet rowSet = AttentionRowSet::All;
  std::vector<AttentionSegment> segments;
  std::vector<AttentionRow> rows;
  std::int32_t columns = 0;
  std::int32_t blocksPerCell = 1;
  std::int32_t blockSize = 16;
  bool tokenColumns = false;  ///< every column is a token, not one block or several
  bool withoutFirst = false;  ///< first tokens of segments are left out of columns of whole segments
  /// The column with the first key of the view, an attention sink, where it counts; −1: in none.
  std::int32_t sinkColumn = -1;
  std::vector<float> mass;        ///< [rows][columns]: share of attention, 0 … 1; 0 where not measured
  std::vector<CellState> states;  ///< [rows][columns]
  /// Of rows that see two cells or more: one that sees a single one has all of its attention there. Of rows
  /// of the answer: what they read outside of their own segment and the sink's column.
  float highest = 0;
  float lowest = 0;      ///< above 0, of the same cells
  bool singles = false;  ///< there are rows that see a single cell
  AnswerKnown answer;
  std::vector<std::int32_t> layers;  ///< observed, or that can be computed again; ascending
  std::int32_t heads = 0;
  bool promptRows = false;                   ///< anything of rows of the prompt was recorded
  bool computedAgain = false;                ///< some cells were computed again after the run
  std::vector<std::uint32_t> tokenSegments;  ///< segments of which single tokens were recorded, ascending
  bool singleKeys = false;                   ///< of rows that are shown
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
  /// Virtual blocks for which a column stands.
  std::int32_t blocksOfColumn(std::int32_t column) const;
  /// Cells of one state as few rectangles.
  std::vector<AttentionRegion> regions(CellState state) const;
};

AttentionModel attentionModel(const ViewInput& input, const AttentionOptions& options = {});

/// What a shade of each scale means: 0 … 1, for every cell, 0 where nothing was measured. Cells above the
/// scale's top are 1.
struct AttentionShades {
  double top = 1;     ///< mass of shade 1; ByRow: 1
  double bottom = 0;  ///< mass of shade 0
  std::vector<float> shades;
};
AttentionShades attentionShades(const AttentionModel& model, AttentionScale scale);

/// What columns are in so many pixels: blocks where each gets a few of them, else whole segments.
AttentionGrain grainFor(const ViewInput& input, double pixels);
/// How many tokens of the answer share a row, so that each row has room for its name in so many pixels.
std::int32_t answersPerRowFor(const ViewInput& input, double pixels);
/// What a finer look at a segment shows, if there is anything finer: blocks, or tokens where single keys were
/// recorded.
std::optional<AttentionGrain> finerGrain(const AttentionModel& model, std::uint32_t segment);

/// "question block 1 → document 1 block 0: 0.31, layer 4, mean of heads"
QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column);
/// "12 records of attention left out: limit of 64 MiB a run"
QString leftOutText(const trace::AttentionLeftOut& leftOut);
QString attentionCsv(const AttentionModel& model);

}  // namespace spanscope::ui
