// SPDX-License-Identifier: GPL-3.0-or-later
// The attention mask of one request, token by token: which keys each row sees under the run's policy and
// under a full prefill, and which rows were computed in this run. Row and column i are the i-th token of the
// view: prompt, then reply.
#pragma once

#include "engine/trace/prompt_parts.h"
#include "ui/session/selection.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class MaskShown {
  ThisRun,      ///< what rows see under the run's policy
  FullPrefill,  ///< what they would see in a full prefill; what the run lacks of it is marked
};

/// Columns or rows [begin, end).
struct MaskRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool operator==(const MaskRange&) const = default;
  std::int32_t count() const { return end - begin; }
  bool holds(std::int32_t at) const { return at >= begin && at < end; }
};

/// A part of the prompt, or the reply. A part of several stretches has an entry for each.
struct MaskPart {
  QString name;
  std::size_t hue = 0;
  MaskRange range;
  bool operator==(const MaskPart&) const = default;
};

/// The visible tokens of one segment.
struct MaskSegment {
  std::uint32_t segment = 0;
  std::int32_t firstLocal = 0;  ///< local token of its first row
  std::int64_t base = 0;        ///< position of local token 0
  NodePath node;
  MaskRange range;
  bool operator==(const MaskSegment&) const = default;
};

/// Rows of one segment that see the same columns before their own segment, and came about in the same way.
struct MaskBand {
  MaskRange rows;
  /// Computed: in this run. Hit, Relocated: the row's keys and values were found, so it was not computed.
  /// Free: not yet.
  BlockRole state = BlockRole::Free;
  std::vector<MaskRange> sees;  ///< ascending, with gaps between them; seen by each row
  std::int32_t ownBegin = 0;    ///< each row also sees the columns from here up to itself
  bool operator==(const MaskBand&) const = default;
};

struct MaskModel {
  RequestId request = 0;  ///< 0: there is no request
  RunId run = 0;
  std::int32_t blockSize = 16;
  std::int32_t tokens = 0;            ///< rows, and columns
  std::int32_t prompt = 0;            ///< rows before the reply
  std::vector<MaskPart> parts;        ///< they cover all columns
  std::vector<MaskSegment> segments;  ///< they cover all columns
  std::vector<MaskBand> bands;        ///< they cover all rows
  std::vector<std::int32_t> edges;    ///< first columns of blocks, ascending
  std::vector<QString> texts;         ///< by token, as they are shown
  std::int64_t seen = 0;              ///< pairs of a row and a key that it sees; rows that are there only
  std::int64_t full = 0;              ///< the same of a full prefill of these rows
  std::int32_t computed = 0;          ///< rows
  std::int32_t reused = 0;
  std::int32_t waiting = 0;
  /// What the mask leaves out: windows of layers, a policy that has generated rows read less, replies of
  /// teammates.
  std::vector<QString> notes;
  bool operator==(const MaskModel&) const = default;

  const MaskPart* partAt(std::int32_t token) const;
  const MaskSegment* segmentAt(std::int32_t token) const;
  const MaskBand* bandAt(std::int32_t row) const;
  /// The place of a token in the request. There must be such a token.
  TokenRef placeOf(std::int32_t token) const;
  /// The first and the past-the-end token of the block that holds a token.
  MaskRange blockOf(std::int32_t token) const;
  bool sees(std::int32_t row, std::int32_t column) const;
};

/// The mask at the input's position.
MaskModel maskModel(const ViewInput& input);

/// The rows that are selected: a token, or the visible tokens of a block; nothing: none of this request.
std::optional<MaskRange> selectedRows(const MaskModel& model, const Selection& selection);

/// A row or a stretch of rows in a sentence: what it sees, and what not and why.
QString rowText(const ViewInput& input, const MaskModel& model, const MaskRange& rows);
/// Who attends to whom and why, of a stretch of rows and one of columns: "Token 3 of document 2 does not see
/// token 1 of document 1: both are children of one plus, each computed on its own."
QString cellText(const ViewInput& input, const MaskModel& model, const MaskRange& rows,
                 const MaskRange& columns);

/// A line for each row.
QString maskCsv(const ViewInput& input, const MaskModel& model);

}  // namespace spanscope::ui
