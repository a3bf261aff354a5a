// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the names of the language, and corrects misspelled names. Open this file to change these suggestions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// The keys of all operators, separated by commas.
std::string operatorKeys();

/// Returns advice on an unknown operator: `did you mean "user"?`. Empty if no operator has a similar name.
std::string hintForOperator(std::string_view key);

/// Returns the name in `names` with the spelling nearest to `name`. Returns nothing if no name is near
/// enough.
std::optional<std::string> nearestName(std::string_view name, const std::vector<std::string>& names);

}  // namespace spanscope::query
