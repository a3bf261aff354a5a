// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::spnl {

/// Most nodes of a query after its repeats and maps are written out.
inline constexpr std::size_t kMaxNodes = 1'000'000;
/// Most bytes of text in it.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20U;

/// A query after rewriting. If the query would have become too large, there is a problem instead.
struct Rewritten {
  std::optional<query::Node> query;
  std::optional<Error> problem;  ///< set if and only if there is no query
};

}  // namespace spanscope::spnl
