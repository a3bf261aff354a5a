// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people write them outside of JSON: "0x10", ".5", "+1", "-.inf".
#pragma once

#include <string>
#include <string_view>

namespace spanscope::query {

/// Whether the text is a number by the rules of YAML 1.2's core schema.
bool isLooseNumber(std::string_view text);

/// The same number as a JSON number: "16" for "0x10", "0.5" for ".5". A number that a double cannot hold
/// becomes 1e39 or -1e39, which is infinite as a float. Any other text gives "0".
std::string looseNumberAsJson(std::string_view text);

}  // namespace spanscope::query
