// SPDX-License-Identifier: GPL-3.0-or-later
// Formats the values of metrics for the window, the command line, CSV files and lessons. Open this file to
// change how a number looks.
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
  Change,  ///< a difference as a share; negative: less
  Bytes,
  Nats,
  Place,  ///< index of a visible block of a prompt, from 0
  Text,
};
/// Returns the unit of a displayed value: "tokens", "ms", "%", …
const char* unitName(Unit unit);

/// A number in the metric's unit, or a text.
using Value = std::variant<double, std::string>;

/// Returns the value with its unit: "70", "2.9 ms", "84 %", "0.012", "310 tokens/s". Counts, places and
/// ratios have no unit.
std::string text(Unit unit, const Value& value);
/// Returns the value for a column whose heading has the unit: "70", "2.93", "84.31".
std::string columnText(Unit unit, const Value& value);
/// Returns the number for a file, in the unit of unitName(). The number has up to nine significant digits and
/// no digit grouping.
std::string exactText(Unit unit, const Value& value);
/// Returns the value in the unit of unitName(). Seconds become milliseconds, and shares become percent.
double displayed(Unit unit, double value);

/// Returns a time: "0.27 ms", "3.1 ms", "120 ms", "1.25 s".
std::string durationText(double seconds);
/// Returns a share: "86 %"; "–" if the whole is 0. "100 %" means exactly 1, and "0 %" means exactly 0.
std::string shareText(std::int64_t part, std::int64_t whole);
/// Returns a count: "812", "12 k", "3.1 M".
std::string countText(double value);
/// Returns the change from `before` to `now`: "▼ 15×", "▲ +12 %", "= same". The text is empty if a value is
/// not above 0.
std::string changeText(double now, double before);
/// Returns a number with up to nine significant digits and a decimal point.
std::string exactNumber(double value);

}  // namespace spanscope::metrics
