// SPDX-License-Identifier: GPL-3.0-or-later
// Options that are numbers. Each states its range once, for its check and for its help.
#pragma once

#include "app/cli/cli11_forward.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// A number in decimal digits and nothing else: no sign, no blank, no zero before other digits; nothing where
/// it is too large for its type.
std::optional<std::uint64_t> parseWhole(std::string_view text);
/// The same with a point and an exponent where they are wanted: "0.75", ".5", "1e-3". Never infinite.
std::optional<double> parseDecimal(std::string_view text);

/// The numbers that an option takes, both ends included; none is negative.
template <class T>
struct Range {
  T least{};
  T most{};
  bool orZero = false;  ///< 0 as well, where `least` is more
};

inline constexpr Range<std::uint64_t> kAnySeed{.least = 0, .most = std::numeric_limits<std::uint64_t>::max()};

/// The parts of a text between its commas; an empty text is one empty part.
std::vector<std::string_view> splitAtCommas(std::string_view text);

/// An option that is a number of that range. Its help ends with the range, and names the value that `value`
/// has now as its default. T: int, std::int32_t, std::uint32_t, std::uint64_t, float or double.
template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, T& value, const std::string& help,
                       Range<T> range);

/// The same without a default.
template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, std::optional<T>& value,
                       const std::string& help, Range<T> range);

/// Several of them, separated by commas; the option may be repeated. What is given takes the place of what
/// `values` has now.
template <class T>
CLI::Option* addNumbers(CLI::App& command, const std::string& names, std::vector<T>& values,
                        const std::string& help, Range<T> range);

/// --seed: any number of 64 bits.
CLI::Option* addSeedOption(CLI::App& command, std::uint64_t& seed, const std::string& help);

}  // namespace spanscope::cli
