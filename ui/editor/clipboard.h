// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes as text and back: the clipboard holds the JSON of queries, so that it can be pasted anywhere.
#pragma once

#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

/// The subtrees of the topmost of the nodes: one query, or a list of them.
std::string nodesToText(const document::Document& document, const std::vector<document::NodeId>& ids);

struct PastedNodes {
  std::vector<query::Node> trees;
  QString error;  ///< why there are none
};
PastedNodes nodesFromText(const std::string& text);

/// Puts trees beside a node: into it where it takes inputs, else as its next siblings, else as drafts, at a
/// place or below it where they cover nothing of what is drawn. The tops of what was added.
std::vector<document::NodeId> pasteTrees(document::Document& document, const std::vector<query::Node>& trees,
                                         document::NodeId selected, document::Point at,
                                         const Stacks& stacks = {});

}  // namespace spanscope::ui
