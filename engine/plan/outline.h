// SPDX-License-Identifier: GPL-3.0-or-later
// Short texts for people: one line for a draft, quoted and cut texts.
#pragma once

#include "engine/plan/draft.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::plan {

/// One line, e.g. `g(cross(system, plus(user ×3), user))`. A closure is written `(its prompt, reply)`. Cut to
/// a length that stays readable.
std::string outline(const Draft& draft);

/// The text in quotes, with line ends and control characters escaped, cut to about `limit` bytes.
std::string quoted(std::string_view text, std::size_t limit);

}  // namespace spanscope::plan
