// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the language, and which one was meant when a name is not among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Keys of all operators, separated by commas.
std::string operatorKeys();

/// What the writer of an unknown operator may have meant, as advice: `did you mean "user"?`; empty if nothing
/// is near.
std::string hintForOperator(std::string_view key);

/// The one of `names` that is spelled most nearly like `name`, if one is near enough to be what was meant.
std::optional<std::string> nearestName(std::string_view name, const std::vector<std::string>& names);

}  // namespace spanscope::query
