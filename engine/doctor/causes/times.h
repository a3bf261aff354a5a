// SPDX-License-Identifier: GPL-3.0-or-later
// Finds times and dates in texts.
#pragma once

#include "engine/doctor/causes/changed_text.h"

#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Returns all runs of times and dates, such as "Monday, 31 August 2026 at 14:03".
std::vector<Range> timesIn(std::string_view text);

/// Returns whether the next characters after these places are equal in both texts. Times and ids may differ.
/// If the function returns false, the value before the places belongs to another text.
bool continueAlike(std::string_view before, std::size_t one, std::string_view now, std::size_t other);

}  // namespace spanscope::doctor
