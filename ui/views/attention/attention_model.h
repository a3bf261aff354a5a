// SPDX-License-Identifier: GPL-3.0-or-later
// The attention heat map of one request: the recorded attention mass (a sum of attention weights) by query
// row and key block, and the mask of the span table.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/attention/attention_rows.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The unit of a column or a row.
enum class AttentionGrain : std::uint8_t { Segments, Blocks, Tokens };
enum class AttentionRowSet : std::uint8_t {
  Answer,  ///< one row for each token of the answer
  All,     ///< rows of the whole prompt, if they were recorded
};

enum class AttentionScale : std::uint8_t {
  Linear,
  Logarithmic,
  ByRow,  ///< relative to the largest mass in the row
};

struct AttentionOptions {
  std::optional<std::int32_t> layer;  ///< none: the mean of the observed layers
  std::optional<std::int32_t> head;   ///< none: the mean of the heads
  AttentionRowSet rowSet = AttentionRowSet::All;
  /// The grain of columns and of prompt rows: Segments or Blocks.
  AttentionGrain grain = AttentionGrain::Blocks;
  std::map<std::uint32_t, AttentionGrain> opened;  ///< segments shown in finer grain than `grain`
  /// Used only with AttentionRowSet::All. If set, rows are the tokens of this segment. Columns are tokens too
  /// if attention on single keys was recorded. If not set, rows are all query blocks.
  std::optional<std::uint32_t> tokensOf;
  /// Whether attention on first tokens of segments counts. The flag matters only for columns of whole
  /// segments, and only if first tokens were recorded separately.
  bool withFirst = true;
  std::int32_t answersPerRow = 1;  ///< how many tokens of the answer share a row
  std::size_t mostBlocks = 1000;   ///< max block columns; more blocks share cells
  /// Whether columns are the policy's segments although a segment has several sections. The option matters
  /// only for rows of the answer.
  bool bySegment = false;
  bool operator==(const AttentionOptions&) const = default;
};

enum class CellState : std::uint8_t {
  Blank,      ///< the key is later in the prompt than the row
  Forbidden,  ///< the key is earlier, but the tree masks it for the row
  Outside,    ///< the key is before the window of the shown layers
  Missing,    ///< the row attends to the key, but nothing was recorded
  Measured,
};

enum class RowSource : std::uint8_t {
  None,      ///< nothing was recorded
  Computed,  ///< this request recorded the attention
  Earlier,   ///< another request recorded the attention when that request stored the block
};

struct AttentionSegment {
  std::uint32_t segment = 0;  ///< index of the segment in the prompt
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  NodePath node;
  document::NodeId id = document::kNoNode;
  std::int32_t blocks = 0;
  std::int32_t tokens = 0;  ///< visible or not, with generated tokens
  bool isSource = false;    ///< a document, or another child of a plus; see trace::PartRole
  AttentionGrain grain = AttentionGrain::Blocks;  ///< grain of its columns
  std::vector<QString> texts;  ///< texts of the segment's tokens, if its columns are tokens
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  /// Number of last columns with only tokens of the answer. A column that also has tokens of the prompt
  /// belongs to the prompt.
  std::int32_t answerColumns = 0;
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;  ///< 0: all rows belong to other segments
  bool operator==(const AttentionSegment&) const = default;
};

struct AttentionRow {
  std::uint32_t segment = 0;
  std::int32_t block = 0;    ///< first virtual block of the row, counted within its segment
  std::int32_t blocks = 1;   ///< number of blocks in the row
  std::int32_t token = -1;   ///< position in the segment, if rows are tokens
  std::int32_t answer = -1;  ///< index in the answer of the token sampled from this row; −1: none
  std::int32_t answers = 0;  ///< number of answer tokens in the row, from `answer` on
  QString text;              ///< text of these tokens
  RowSource source = RowSource::None;
  RunId run = 0;          ///< the run that recorded the row
  RequestId request = 0;  ///< the request that recorded the row
  /// Key segments whose cells in this row were recomputed after the run.
  std::vector<std::uint32_t> again{};
  bool operator==(const AttentionRow&) const = default;
};

/// The columns and rows of one section of the prompt. A block may contain tokens of several sections, so a
/// section may begin within a column.
struct AttentionPart {
  std::uint32_t segment = 0;  ///< index of the segment in which the section begins
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  document::NodeId id = document::kNoNode;
  TokenRef place{};  ///< first token of the section in the real prompt
  double firstColumn = 0;
  double columns = 0;  ///< without columns of the answer; 0: none
  double firstRow = 0;
  double rows = 0;  ///< 0: none
  bool operator==(const AttentionPart&) const = default;
};

struct AttentionRegion {
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;
  std::int32_t firstColumn = 0;
  std::int32_t columns = 0;
  bool operator==(const AttentionRegion&) const = default;
};

/// The sliding windows of the shown layers.
struct AttentionWindow {
  std::int32_t tokens = 0;    ///< largest window, in positions; 0: a layer attends to all positions
  std::int32_t widest = 0;    ///< largest window, in positions; 0: no layer has a window
  std::int32_t windowed = 0;  ///< number of shown layers with a window
  std::int32_t layers = 0;    ///< number of shown layers
  bool operator==(const AttentionWindow&) const = default;
};

/// How much attention of the answer is known for the shown layer and head.
struct AnswerKnown {
  std::int32_t tokens = 0;                           ///< tokens of the answer
  std::int32_t withBlocks = 0;                       ///< tokens with attention by key block
  std::int32_t withKeys = 0;                         ///< tokens with attention on single keys
  std::optional<trace::AttentionReplayed> replayed;  ///< the replay, if one computed the attention
  bool operator==(const AnswerKnown&) const = default;
};

struct AttentionModel {
  RequestId request = 0;  ///< 0: there is no request
  RunId run = 0;
  bool recorded = false;  ///< attention of this request or of its reused blocks was recorded
  AttentionRowSet rowSet = AttentionRowSet::All;
  /// If set, `segments` are the sections of the prompt. The member is set for rows of the answer if the
  /// policy's segments differ from the sections.
  std::optional<PartPlaces> byPart;
  std::vector<AttentionSegment> segments;
  /// The sections that give columns and rows their names, in the order of columns. These names do not depend
  /// on the segments of the policy.
  std::vector<AttentionPart> parts;
  std::vector<AttentionRow> rows;
  std::int32_t columns = 0;
  std::int32_t blocksPerCell = 1;
  std::int32_t blockSize = 16;
  bool tokenColumns = false;  ///< every column is a token
  bool withoutFirst = false;  ///< columns of whole segments leave out first tokens.
  /// The column with the first key of the prompt, an attention sink; −1: none.
  std::int32_t sinkColumn = -1;
  std::vector<float> mass;        ///< [rows][columns]: share of attention, 0 … 1; 0 if not measured
  std::vector<CellState> states;  ///< [rows][columns]
  /// The max mass of the scales. Rows with a single measured cell do not count, because this cell has all of
  /// their attention. In rows of the answer, the segment of the rows and the column of the sink do not count.
  float highest = 0;
  float lowest = 0;      ///< the smallest mass above 0; rows with a single measured cell count too
  bool singles = false;  ///< some rows have a single measured cell
  AnswerKnown answer;
  std::vector<std::int32_t> layers;  ///< layers that were observed or can be recomputed, ascending
  std::int32_t heads = 0;
  AttentionWindow window;
  bool promptRows = false;                   ///< attention of prompt rows was recorded
  bool recomputed = false;                   ///< some cells were recomputed after the run
  std::vector<std::uint32_t> tokenSegments;  ///< segments whose single tokens were recorded, ascending
  bool singleKeys = false;         ///< attention on single keys is known for rows of the last segment
  std::vector<RunId> earlierRuns;  ///< runs that recorded pale rows, ascending
  bool earlierHere = false;        ///< another request of the same run recorded the pale rows
  std::optional<trace::AttentionLeftOut> leftOut;  ///< what the run did not record so far
  bool operator==(const AttentionModel&) const = default;

  /// The first token of a segment in the real prompt.
  TokenRef placeOf(std::uint32_t segment) const;
  /// The token of a token row in the real prompt.
  TokenRef placeOf(const AttentionRow& row) const;
  std::size_t at(std::int32_t row, std::int32_t column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }
  /// The segment of a column; nullptr: there is no such column.
  const AttentionSegment* segmentOfColumn(std::int32_t column) const;
  /// The first virtual block of a column, counted within its segment.
  std::int32_t blockOfColumn(std::int32_t column) const;
  /// The position in the segment of a column's token; −1: the column is no token.
  std::int32_t tokenOfColumn(std::int32_t column) const;
  /// The name of a column: "document 1", or "document 1 and document 2" for a block with tokens of both
  /// documents. Empty if there is no such column.
  QString nameOfColumn(std::int32_t column) const;
  QString nameOfRow(std::int32_t row) const;
  /// The number of virtual blocks in a column.
  std::int32_t blocksOfColumn(std::int32_t column) const;
  /// The cells of one state, joined into few rectangles.
  std::vector<AttentionRegion> regions(CellState state) const;
};

AttentionModel attentionModel(const ViewInput& input, const AttentionOptions& options = {});

/// The shades of all cells in one scale, 0 … 1. A cell that was not measured has 0; a cell above `top` has 1.
struct AttentionShades {
  double top = 1;     ///< the mass of shade 1; 1 for ByRow
  double bottom = 0;  ///< the mass of shade 0
  std::vector<float> shades;
};
AttentionShades attentionShades(const AttentionModel& model, AttentionScale scale);

/// Returns the grain of columns for a map that is `pixels` wide. The grain is blocks if each block has a few
/// pixels, else whole segments.
AttentionGrain grainFor(const ViewInput& input, double pixels);
/// Returns the number of answer tokens per row in a map that is `pixels` high. Each row then has room for its
/// name.
std::int32_t answersPerRowFor(const ViewInput& input, double pixels);
/// Returns the next finer grain of a segment: blocks, or tokens if single keys were recorded. Nothing: there
/// is no finer grain.
std::optional<AttentionGrain> finerGrain(const AttentionModel& model, std::uint32_t segment);

/// "question block 1 → document 1 block 0: 0.31, layer 4, mean of heads"
QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column);
/// "12 attention records left out: limit of 64 MiB per run"
QString leftOutText(const trace::AttentionLeftOut& leftOut);
QString attentionCsv(const AttentionModel& model);

}  // namespace spanscope::ui
