// SPDX-License-Identifier: GPL-3.0-or-later
// Putting another node around some: between them and what they were the inputs of.
#pragma once

#include "engine/workbench/document/document.h"

#include <string>
#include <vector>

namespace spanscope::ui {

/// Operators that hold all of these as their inputs; none where the nodes have different parents.
std::vector<std::string> wrappingOperators(const document::Document& document,
                                           const std::vector<document::NodeId>& nodes);

/// A new node of that operator in the place of the first of the nodes, with all of them as its inputs, in
/// prompt order. kNoNode: it does not take them, and nothing has changed.
document::NodeId wrapNodes(document::Document& document, const std::vector<document::NodeId>& nodes,
                           const std::string& op);

}  // namespace spanscope::ui
