// SPDX-License-Identifier: GPL-3.0-or-later
// Short texts for people: a draft on one line, and texts in quotes.
#pragma once

#include "engine/plan/draft.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::plan {

/// The draft on one line, e.g. `g(cross(system, plus(user ×3), user))`. A closure is written `(its prompt,
/// reply)`. The line is cut to a readable length.
std::string outline(const Draft& draft);

/// The text in quotes, cut to about `limit` bytes. Line ends and control characters are escaped.
std::string quoted(std::string_view text, std::size_t limit);

}  // namespace spanscope::plan
