// SPDX-License-Identifier: GPL-3.0-or-later
// The attention mask of one request, token by token. The model has the keys that each query row attends to
// under the run's policy and under a full prefill. The model also has the rows that this run computed. Row
// and column i are the i-th token of the view: prompt, then answer.
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
  ThisRun,      ///< the keys that rows attend to under the run's policy
  FullPrefill,  ///< the keys in a full prefill; keys that this run masks are marked
};

/// Columns or rows [begin, end).
struct MaskRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool operator==(const MaskRange&) const = default;
  std::int32_t count() const { return end - begin; }
  bool holds(std::int32_t at) const { return at >= begin && at < end; }
};

/// A section of the prompt, or the answer. A section of several ranges has an entry for each range.
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

/// Rows of one segment with the same state that attend to the same columns before their segment.
struct MaskBand {
  MaskRange rows;
  /// Computed: in this run. Hit, Relocated: the row's keys and values were cached, so the row was not
  /// computed. Free: not computed yet.
  BlockRole state = BlockRole::Free;
  std::vector<MaskRange> sees;  ///< columns that each row attends to; ascending, with gaps between the ranges
  std::int32_t ownBegin = 0;    ///< each row also attends to the columns from here up to itself
  bool operator==(const MaskBand&) const = default;
};

struct MaskModel {
  RequestId request = 0;  ///< 0: there is no request
  RunId run = 0;
  std::int32_t blockSize = 16;
  std::int32_t tokens = 0;            ///< rows, and columns
  std::int32_t prompt = 0;            ///< rows before the answer
  std::vector<MaskPart> parts;        ///< cover all columns
  std::vector<MaskSegment> segments;  ///< cover all columns
  std::vector<MaskBand> bands;        ///< cover all rows
  std::vector<std::int32_t> edges;    ///< first columns of blocks, ascending
  std::vector<QString> texts;         ///< by token, as shown
  std::int64_t seen = 0;              ///< pairs of an existing row and a key that the row attends to
  std::int64_t full = 0;              ///< such pairs in a full prefill of these rows
  std::int32_t computed = 0;          ///< rows
  std::int32_t reused = 0;
  std::int32_t waiting = 0;
  /// Limits that the mask does not show:
  /// - windows of layers
  /// - a policy whose generated rows attend to fewer keys
  /// - other answers of the same group (answers that are generated at the same time and read each other).
  std::vector<QString> notes;
  bool operator==(const MaskModel&) const = default;

  const MaskPart* partAt(std::int32_t token) const;
  const MaskSegment* segmentAt(std::int32_t token) const;
  const MaskBand* bandAt(std::int32_t row) const;
  /// The place of a token in the request. There must be such a token.
  TokenRef placeOf(std::int32_t token) const;
  /// The tokens of the block that has this token.
  MaskRange blockOf(std::int32_t token) const;
  bool sees(std::int32_t row, std::int32_t column) const;
};

/// The mask at the input's position.
MaskModel maskModel(const ViewInput& input);

/// The selected rows: a token, or the visible tokens of a block. Nothing if no row of this request is
/// selected.
std::optional<MaskRange> selectedRows(const MaskModel& model, const Selection& selection);

/// Describes one or more rows: the sections that they attend to, and the masked sections with the reasons.
QString rowText(const ViewInput& input, const MaskModel& model, const MaskRange& rows);
/// Explains whether rows attend to columns, and why. Example: "Token 3 of document 2 does not attend to token
/// 1 of document 1: both are children of one plus, …".
QString cellText(const ViewInput& input, const MaskModel& model, const MaskRange& rows,
                 const MaskRange& columns);

/// A line for each row.
QString maskCsv(const ViewInput& input, const MaskModel& model);

}  // namespace spanscope::ui
