// SPDX-License-Identifier: GPL-3.0-or-later
// Formats the values of metrics. Window, command line, CSV files and lessons write numbers with it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace spanscope::metrics {

enum class Unit : std::uint8_t {
  Number,  ///< a ratio, or a count without a unit
  Tokens,
  Blocks,
  Seconds,
  TokensPerSecond,
  Share,   ///< 0 … 1
  Change,  ///< a share that is added, negative where it is removed
  Bytes,
  Nats,
  Place,  ///< a block of a prompt, counted from 0 in view order
  Text,
};
/// The unit in which people read a value: "tokens", "ms", "%", …
const char* unitName(Unit unit);

/// A number in the metric's unit, or a text.
using Value = std::variant<double, std::string>;

/// "70", "2.9 ms", "84 %", "0.012", "310 tokens/s". Counts, places and ratios come without a unit.
std::string text(Unit unit, const Value& value);
/// The same for a column whose heading has the unit: "70", "2.93", "84.31".
std::string columnText(Unit unit, const Value& value);
/// A number for a file, in the unit of unitName(): up to nine significant digits, no grouping.
std::string exactText(Unit unit, const Value& value);
/// The same as a number: seconds become milliseconds, shares become per cent.
double displayed(Unit unit, double value);

/// "0.27 ms", "3.1 ms", "120 ms", "1.25 s"
std::string durationText(double seconds);
/// "86 %"; "–" if the whole is 0. Only a whole share is "100 %", and only an empty one "0 %".
std::string shareText(std::int64_t part, std::int64_t whole);
/// "812", "12 k", "3.1 M"
std::string countText(double value);
/// The change from `before` to `now`: "▼ 15×", "▲ +12 %", "= same". Empty if one of them is not above 0.
std::string changeText(double now, double before);
/// A number with up to nine significant digits and a decimal point.
std::string exactNumber(double value);

}  // namespace spanscope::metrics
