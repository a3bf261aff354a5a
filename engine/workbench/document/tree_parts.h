// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a query into nodes of a document.
#pragma once

#include "engine/workbench/document/document.h"

namespace spanscope::document {

/// Makes nodes for a whole query and returns their top.
NodeId addSubtree(Document& document, const query::Node& tree);

/// Copies a subtree with its looks, but without the positions of the nodes below its top.
NodeId copySubtree(Document& document, NodeId id);

}  // namespace spanscope::document
