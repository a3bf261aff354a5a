// SPDX-License-Identifier: GPL-3.0-or-later
// The replies of a run that freezing a node keeps.
#pragma once

#include "ui/editor/node_status.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

struct FreezableReplies {
  std::vector<std::string> replies;  ///< in the order of their copies
  QString problem;                   ///< why there are none, for a person
};

/// Of a generate the answer that is shown; of a repeat or a map all answers of its newest run, and where it
/// ran several times over (below a repeat), those of the time that is shown. Replies are only of use where
/// every one of them has been given.
FreezableReplies freezableReplies(const ViewInput& input, document::NodeId node, const NodeStatus& shown);

}  // namespace spanscope::ui
