// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

#include <cstddef>
#include <string>

namespace spanscope::query {

struct ShortFormOptions {
  std::size_t textCharacters = 0;   ///< most characters of each text; 0: no texts
  std::size_t maxCharacters = 200;  ///< most characters of the line, including the ellipsis; 0: no limit
};

/// A query as one line of operator names, for plans, tooltips and logs: "g(cross(system, plus(user ×3),
/// user))". Equal neighbours are counted instead of repeated. The line is for reading, not for parsing.
std::string shortForm(const Node& node, const ShortFormOptions& options = {});

}  // namespace spanscope::query
