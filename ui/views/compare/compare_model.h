// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two runs, side by side.
#pragma once

#include "engine/base/difference.h"
#include "ui/session/run_list.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::ui {

// Compares two texts by words, and two queries by nodes.

enum class DiffKind : std::uint8_t {
  Same,   ///< on both sides
  Left,   ///< only on the left
  Right,  ///< only on the right
  Moved,  ///< on both sides at different places, once at each place
};
/// Returns the kind of a difference step; never Moved.
DiffKind kindOf(StandsOn on);

/// A range of text that is on both sides, or only on one side.
struct DiffPiece {
  DiffKind kind = DiffKind::Same;
  QString text;
  bool operator==(const DiffPiece&) const = default;
};
/// Compares two texts word by word. Spaces belong to the previous word.
std::vector<DiffPiece> textDiff(const QString& left, const QString& right);

// Compares two queries side by side, one node per line.

/// A row of the two trees. A side without a node in this row is empty.
struct TreeDiffRow {
  DiffKind kind = DiffKind::Same;
  int leftDepth = 0;
  int rightDepth = 0;
  QString left;
  QString right;
  bool operator==(const TreeDiffRow&) const = default;
};

/// Compares two queries in canonical JSON. Rows are in prompt order, parents first. A node on both sides
/// at different places is Moved at both. Empty if one of the queries cannot be read.
std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right);

enum class Verdict : std::uint8_t { None, Same, Better, Worse, Differs };

struct CompareRow {
  std::string_view id;  ///< id of a metric, or "document" or "outcome"
  QString name;
  QString help;  ///< tool tip of the name
  QString left{};
  QString right{};
  QString change{};                   ///< change from left to right; may be empty
  std::optional<double> leftValue{};  ///< none: the cell has words, or there is no value
  std::optional<double> rightValue{};
  Verdict verdict = Verdict::None;
  bool text = false;  ///< the cells have words, not numbers, and may need several lines
  bool operator==(const CompareRow&) const = default;
};

/// How the blocks of one step's prompt were served, in prompt order.
struct StepBlocks {
  RequestId request = 0;
  NodePath node{};
  std::uint32_t copy = 0;
  QString name{};
  std::vector<BlockRole> roles{};  ///< of cached and computed blocks
  QString ending{};                ///< "stopped" or "failed"; else empty
  std::int64_t left = 0;           ///< blocks of the prompt that the step did not reach
  bool operator==(const StepBlocks&) const = default;
};
/// The same step of both runs. One of the runs may lack this step.
struct BlockPair {
  std::optional<StepBlocks> left;
  std::optional<StepBlocks> right;
  bool operator==(const BlockPair&) const = default;
};

struct CompareModel {
  std::vector<RunId> runs;      ///< runs to choose from, ascending
  std::vector<QString> labels;  ///< labels of these runs: "run 1 · rag20 · prefix · 12:41"
  RunId left = 0;               ///< 0: there are fewer than two runs
  RunId right = 0;
  QString leftName;  ///< number of the left run: "run 1 (cold)"
  QString rightName;
  QString leftTitle;  ///< label of the left run, with its differences from the right run
  QString rightTitle;
  bool isLike = false;      ///< both runs have the same document and model, so their times can be compared
  QStringList differences;  ///< how the right run differs from the left one
  std::vector<CompareRow> rows;
  std::vector<DiffPiece> answers;  ///< answers of the whole runs, as a difference
  std::vector<TreeDiffRow> trees;  ///< queries of the runs, as a difference
  std::vector<BlockPair> blocks;
  bool hasBlocks = false;  ///< false: the events of one run are no longer in memory
  bool operator==(const CompareModel&) const = default;
};

/// Compares two runs. If there is no run `right`, the newest run of the document is used. If there is no run
/// `left`, the last earlier run of the same document and model is used.
CompareModel compareModel(const ViewInput& input, RunId left = 0, RunId right = 0);
/// The same. If `meters` is kept, a longer trace takes time only for its new events.
CompareModel compareModel(const ViewInput& input, RunMeters& meters, RunId left = 0, RunId right = 0);
/// Returns the rows whose two sides differ. The answer comes first, then tokens, then all others.
std::vector<CompareRow> differingRows(const CompareModel& model);
/// Returns a sentence that explains whether the runs can be compared, and how the runs differ.
QString likenessText(const CompareModel& model);
QString compareCsv(const CompareModel& model);

}  // namespace spanscope::ui
