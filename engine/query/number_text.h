// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes numbers as the language does, independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Whether the whole text is one number of the JSON grammar.
bool isJsonNumber(std::string_view text);

/// Whether the language takes a JSON number as a whole number: it has no fraction and no exponent, and is not
/// "-0".
bool isWholeNumber(std::string_view number);

/// The value of a whole number, if it fits into 64 bits.
std::optional<std::int64_t> wholeNumberValue(std::string_view number);

/// Whether a JSON number is within the range of a double.
bool isInDoubleRange(std::string_view number);

/// The value of a JSON number as the reference reads it. The number is rounded to a double (except whole
/// numbers of 64 bits) and then to a float; it is infinite beyond the range of a float. `number` must be in
/// the range of a double.
float floatValue(std::string_view number);

/// The shortest decimal form that reads as the same float. It always has a point or an exponent: "0.3",
/// "1.0", "1e-7", "1.5e+30". Infinities are written as "1e+39" and "-1e+39", which read as infinities. A NaN
/// is written as "null".
std::string floatText(float value);

// Numbers as people write them outside of JSON: "0x10", ".5", "+1", "-.inf".

/// Whether the text is a number by the rules of YAML 1.2's core schema.
bool isLooseNumber(std::string_view text);

/// The same number as a JSON number: "16" for "0x10", "0.5" for ".5". A number that a double cannot hold
/// becomes 1e39 or -1e39, which is infinite as a float. Any other text gives "0".
std::string looseNumberAsJson(std::string_view text);

}  // namespace spanscope::query
