// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

#include <string>

namespace spanscope::query {

/// The query on one line, byte for byte as the reference writes a query that it has read. Unlike
/// writeCanonical(), the text may mean another query: a max_tokens or temperature of null is left out, which
/// reads as the default, and an infinite temperature is null.
std::string writeAsReference(const Node& node);

}  // namespace spanscope::query
