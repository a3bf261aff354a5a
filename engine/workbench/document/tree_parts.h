// SPDX-License-Identifier: GPL-3.0-or-later
// A query taken apart into nodes with names, and back.
#pragma once

#include "engine/workbench/document/document.h"

#include <vector>

namespace spanscope::document {

/// The node without its children: boxes hold default nodes, joins nothing.
query::Node withoutChildren(query::Node node);

/// Makes nodes of a whole query; returns its top.
NodeId addSubtree(Document& document, const query::Node& tree);

/// The same with the looks of the originals, but without their positions under the top.
NodeId copySubtree(Document& document, NodeId id);

/// Puts children (as many as the operator takes) into a node of which there is only itself.
query::Node withChildren(query::Node own, std::vector<query::Node> children);

}  // namespace spanscope::document
