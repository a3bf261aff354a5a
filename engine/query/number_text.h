// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes numbers as the query language does, independent of the locale. Open this file when a
// number changes between reading and writing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Whether the whole text is one number of the JSON grammar.
bool isJsonNumber(std::string_view text);

/// Whether the language accepts a JSON number as a whole number. Such a number has no fraction and no
/// exponent, and is not "-0".
bool isWholeNumber(std::string_view number);

/// Returns the value of a whole number, or nothing if it does not fit into 64 bits.
std::optional<std::int64_t> wholeNumberValue(std::string_view number);

/// Whether a JSON number is within the range of a double.
bool isInDoubleRange(std::string_view number);

/// Returns the value of a JSON number as IBM/spnl reads it. The number is rounded to a double and then to a
/// float. Whole numbers of 64 bits skip the double. The result is infinite beyond the range of a float.
/// `number` must be in the range of a double.
float floatValue(std::string_view number);

/// Returns the shortest decimal form that reads as the same float. The form always has a point or an
/// exponent: "0.3", "1.0", "1e-7", "1.5e+30". Infinities become "1e+39" and "-1e+39", and these texts read as
/// infinities. A NaN becomes "null".
std::string floatText(float value);

// Numbers as users write them outside of JSON: "0x10", ".5", "+1", "-.inf".

/// Whether the text is a number by the rules of YAML 1.2's core schema.
bool isLooseNumber(std::string_view text);

/// Returns the same number as a JSON number: "16" for "0x10", "0.5" for ".5". A number outside the range of a
/// double becomes 1e39 or -1e39, which is infinite as a float. Any other text gives "0".
std::string looseNumberAsJson(std::string_view text);

}  // namespace spanscope::query
