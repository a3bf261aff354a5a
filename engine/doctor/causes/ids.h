// SPDX-License-Identifier: GPL-3.0-or-later
// Finds ids and random characters in texts.
#pragma once

#include "engine/doctor/causes/changed_text.h"

#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Returns all words that are ids by their form, or by the words before them.
std::vector<Range> idsIn(std::string_view text);

}  // namespace spanscope::doctor
