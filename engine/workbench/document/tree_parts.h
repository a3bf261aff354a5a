// SPDX-License-Identifier: GPL-3.0-or-later
// A query taken apart into nodes with names, and back.
#pragma once

#include "engine/workbench/document/document.h"

namespace spanscope::document {

/// Makes nodes of a whole query; returns its top.
NodeId addSubtree(Document& document, const query::Node& tree);

/// The same with the looks of the originals, but without their positions under the top.
NodeId copySubtree(Document& document, NodeId id);

}  // namespace spanscope::document
