// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people write them where JSON's rules do not hold: "0x10", ".5", "+1", "-.inf".
#pragma once

#include <string>
#include <string_view>

namespace spanscope::query {

/// Whether the text is a number by the rules of YAML 1.2's core schema.
bool isLooseNumber(std::string_view text);

/// Such a number as a JSON number: "16" for "0x10", "0.5" for ".5". What a double cannot hold becomes 1e39 or
/// -1e39, which is infinite as a float. "0" for any other text.
std::string looseNumberAsJson(std::string_view text);

}  // namespace spanscope::query
