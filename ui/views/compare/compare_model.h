// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs side by side.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/compare/text_diff.h"
#include "ui/views/compare/tree_diff.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class Verdict : std::uint8_t { None, Same, Better, Worse, Differs };

struct CompareRow {
  QString name;
  QString help;  ///< tool tip
  QString left;
  QString right;
  QString change;  ///< of the right against the left; may be empty
  Verdict verdict = Verdict::None;
  bool text = false;  ///< words and not numbers: may need several lines
  bool operator==(const CompareRow&) const = default;
};

/// How the blocks of one prompt were served, in view order.
struct StepBlocks {
  RequestId request = 0;
  NodePath node{};
  std::uint32_t copy = 0;
  QString name{};
  std::vector<BlockRole> roles{};
  bool operator==(const StepBlocks&) const = default;
};
/// The same step of both runs; one of them may lack it.
struct BlockPair {
  std::optional<StepBlocks> left;
  std::optional<StepBlocks> right;
  bool operator==(const BlockPair&) const = default;
};

struct CompareModel {
  std::vector<RunId> runs;      ///< to choose from, ascending
  std::vector<QString> labels;  ///< of them: "run 1 · rag20 · prefix · 12:41:07"
  RunId left = 0;               ///< 0: there are fewer than two runs
  RunId right = 0;
  QString leftTitle;  ///< with what tells it from the other
  QString rightTitle;
  bool isLike = false;      ///< the same document on the same model: times can be held against each other
  QStringList differences;  ///< what of the right is another than of the left
  std::vector<CompareRow> rows;
  std::vector<DiffPiece> answers;  ///< of the whole runs
  std::vector<TreeDiffRow> trees;  ///< of the queries
  std::vector<BlockPair> blocks;
  bool hasBlocks = false;  ///< false: the trace of one has been let go
  bool operator==(const CompareModel&) const = default;
};

/// Runs that are 0 or gone become the newest of the document and the one before it on the same model.
CompareModel compareModel(const ViewInput& input, RunId left = 0, RunId right = 0);
/// Whether like is compared with like, or what differs.
QString likenessText(const CompareModel& model);
QString compareCsv(const CompareModel& model);

}  // namespace spanscope::ui
