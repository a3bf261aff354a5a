// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"
#include "engine/query/query_walk.h"

namespace spanscope::query {

/// Reads the document of an augment, a list of its name and its content, and reports its errors.
void readDocument(QueryWalk& walk, SourceDocument& document);

}  // namespace spanscope::query
