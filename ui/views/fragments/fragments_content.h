// SPDX-License-Identifier: GPL-3.0-or-later
// What an augment found in a run, and what was decided of it since.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct FragmentRow {
  QString hash;
  std::uint32_t rank = 0;  ///< from 1; 0: not ranked, but pinned
  double score = 0;
  QString found;   ///< what ranked it, e.g. "words 1 (8.12) · vectors 3 (0.71)"
  QString source;  ///< document and place
  QString text;
  bool isSummary = false;
  bool inPrompt = false;  ///< of the run
  /// As it is in the document now, for the next run.
  std::optional<document::FragmentMark> mark;
  bool isChanged = false;  ///< the mark is another than the run's
  bool operator==(const FragmentRow&) const = default;
};

struct FragmentsContent {
  document::NodeId node = document::kNoNode;  ///< the augment; kNoNode: nothing was retrieved for it
  RunId run = 0;
  QString question;
  QString ranking;  ///< "lexical", "embedding", "hybrid"
  std::uint64_t documents = 0;
  std::vector<FragmentRow> rows;  ///< first those in the prompt, in their order there
  bool canMark = false;           ///< the node is an augment of the document
  bool isAsked = false;           ///< an augment is selected, but no run has retrieved for it
  bool operator==(const FragmentsContent&) const = default;
};

/// Of the selected node, in its last run that retrieved for it up to the input's position; where the
/// selected node is none that retrieves, of the first augment of the last run that has one.
FragmentsContent fragmentsContent(const ViewInput& input);

/// "5 of 18 fragments in the prompt"; empty where there is nothing.
QString fragmentsSummary(const FragmentsContent& content);

}  // namespace spanscope::ui
