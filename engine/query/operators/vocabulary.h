// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the language, and corrections of misspelled names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// The keys of all operators, separated by commas.
std::string operatorKeys();

/// Advice on an unknown operator: `did you mean "user"?`. Empty if no operator has a similar name.
std::string hintForOperator(std::string_view key);

/// The name in `names` with the spelling nearest to `name`; nothing if none is near enough.
std::optional<std::string> nearestName(std::string_view name, const std::vector<std::string>& names);

}  // namespace spanscope::query
