// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs side by side.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

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

struct CompareModel {
  std::vector<RunId> runs;      ///< to choose from, ascending
  std::vector<QString> labels;  ///< of them: "run 1 · prefix"
  RunId left = 0;               ///< 0: there are fewer than two runs
  RunId right = 0;
  std::vector<CompareRow> rows;
  bool operator==(const CompareModel&) const = default;
};

/// Runs that are 0 or gone become the last two.
CompareModel compareModel(const ViewInput& input, RunId left = 0, RunId right = 0);
QString compareCsv(const CompareModel& model);

}  // namespace spanscope::ui
