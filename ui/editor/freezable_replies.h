// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the replies of a run that are kept when a person freezes a node.
#pragma once

#include "ui/editor/node_status.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

struct FreezableReplies {
  std::vector<std::string> replies;  ///< ordered by copy
  QString problem;                   ///< why there are no replies, for a person
};

/// For a generate, the shown answer. For a repeat or a map, all answers in the run of the shown answer. If
/// the node ran several times in that run (below a repeat), only the answers of the shown time. If an answer
/// of these is missing, there are no replies and `problem` says so.
FreezableReplies freezableReplies(const ViewInput& input, document::NodeId node, const NodeStatus& shown);

}  // namespace spanscope::ui
