// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <vector>

namespace spanscope::query {

/// Warnings of messages without text, which no prompt will hold. Pointers into the canonical form, no
/// positions.
std::vector<Diagnostic> adviceOn(const Node& node);

}  // namespace spanscope::query
