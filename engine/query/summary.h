// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

#include <cstddef>
#include <string>

namespace spanscope::query {

struct ShortFormOptions {
  std::size_t textCharacters = 0;   ///< how much of each text is shown; 0: texts are left out
  std::size_t maxCharacters = 200;  ///< the whole line is cut to this length, ellipsis included; 0: never
};

/// A query in one line of operator names, for plans, tooltips and logs: "g(cross(system, plus(user ×3),
/// user))". Equal neighbours are counted instead of repeated. Meant to be read, not parsed.
std::string shortForm(const Node& node, const ShortFormOptions& options = {});

}  // namespace spanscope::query
