// SPDX-License-Identifier: GPL-3.0-or-later
// Wraps nodes: puts a new node between them and their parent.
#pragma once

#include "engine/workbench/document/document.h"

#include <string>
#include <vector>

namespace spanscope::ui {

/// The operators that can take all of these nodes as inputs. Nodes below others of them do not count. Empty
/// if the remaining nodes have different parents.
std::vector<std::string> wrappingOperators(const document::Document& document,
                                           const std::vector<document::NodeId>& nodes);

/// Adds a new node in the place of the first of the nodes, with all of them as its inputs in prompt order.
/// Returns kNoNode if the operator cannot take them; then nothing has changed.
document::NodeId wrapNodes(document::Document& document, const std::vector<document::NodeId>& nodes,
                           const std::string& op);

}  // namespace spanscope::ui
