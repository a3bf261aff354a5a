// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <vector>

namespace spanscope::query {

/// Warns about messages without text: no prompt contains them. The pointers refer to the canonical form;
/// there are no positions.
std::vector<Diagnostic> adviceOn(const Node& node);

}  // namespace spanscope::query
