// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as the language writes and reads them, independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Whether all of `text` is one number of the JSON grammar.
bool isJsonNumber(std::string_view text);

/// Whether a JSON number is a whole number as the language understands it: no fraction, no exponent, not
/// "-0".
bool isWholeNumber(std::string_view number);

/// The value of a whole number, if it fits into 64 bits.
std::optional<std::int64_t> wholeNumberValue(std::string_view number);

/// Whether a JSON number is within the range of a double.
bool isInDoubleRange(std::string_view number);

/// The value of a JSON number as the reference reads it: rounded to a double (whole numbers of 64 bits are
/// taken as they are) and then to a float; infinite beyond the range of a float. `number` is in the range of
/// a double.
float floatValue(std::string_view number);

/// The shortest decimal form that reads as the same float, always with a point or an exponent: "0.3", "1.0",
/// "1e-7", "1.5e+30". Infinities are written "1e+39" and "-1e+39", which read as infinities; not a number is
/// "null".
std::string floatText(float value);

}  // namespace spanscope::query
