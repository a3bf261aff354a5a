// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two runs, side by side.
#pragma once

#include "ui/session/run_totals.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/compare/text_diff.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace spanscope::ui {

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
/// Returns a sentence that explains whether the runs can be compared, and how the runs differ.
QString likenessText(const CompareModel& model);
QString compareCsv(const CompareModel& model);

}  // namespace spanscope::ui
