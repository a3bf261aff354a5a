// SPDX-License-Identifier: GPL-3.0-or-later
// The result of reading a query from a text, in any form.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/source_map.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::query {

/// Most containers (objects and lists) that may be nested. The reference has the same limit.
inline constexpr std::size_t kMaxDepth = 127;

struct ParseLimits {
  std::size_t maxBytes = std::size_t{64} << 20U;  ///< of the text
  std::size_t maxDepth = kMaxDepth;               ///< nesting of containers; larger values mean kMaxDepth
  std::size_t maxNodes = 1'000'000;               ///< nodes of the query, including inputs of maps
  std::size_t maxDiagnostics = 100;  ///< most errors, and most warnings; reading ends after so many errors
};

struct ParseResult {
  std::optional<Node> query;            ///< the whole query; nothing if there was an error
  std::vector<Diagnostic> diagnostics;  ///< all errors and warnings, in the order of the text
  SourceMap sources;                    ///< where each node of `query` stands; empty if there is no query
};

}  // namespace spanscope::query
