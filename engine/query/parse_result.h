// SPDX-License-Identifier: GPL-3.0-or-later
// What reading a query from a text gives, whatever its form.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/source_map.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::query {

/// Most containers (objects and lists) that may stand within each other. The reference has the same limit.
inline constexpr std::size_t kMaxDepth = 127;

struct ParseLimits {
  std::size_t maxBytes = std::size_t{64} << 20U;  ///< of the text
  std::size_t maxDepth = kMaxDepth;               ///< of containers; more than kMaxDepth is kMaxDepth
  std::size_t maxNodes = 1'000'000;               ///< nodes of the query, inputs of a map included
  std::size_t maxDiagnostics = 100;  ///< errors, and as many warnings; after that many errors reading ends
};

struct ParseResult {
  std::optional<Node> query;            ///< the whole query, or nothing if there was any error
  std::vector<Diagnostic> diagnostics;  ///< all errors and warnings, in the order of the text
  SourceMap sources;                    ///< where each node of `query` stands; empty without one
};

}  // namespace spanscope::query
