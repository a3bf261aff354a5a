// SPDX-License-Identifier: GPL-3.0-or-later
// Options that take a number of a range or a name of a list. One range or list serves both for the check and
// for the help of an option.
#pragma once

#include "app/cli/command.h"
#include "engine/base/ids.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::trace {
struct TraceHeader;
}

namespace spanscope::cli {

/// Reads a number of decimal digits and nothing else: no sign, no space, no zero before other digits. Returns
/// nothing for another text or a number of more than 64 bits.
std::optional<std::uint64_t> parseWhole(std::string_view text);
/// Reads a number that may have a point and an exponent: "0.75", ".5", "1e-3". The result is never infinite.
std::optional<double> parseDecimal(std::string_view text);

/// The range of numbers that an option takes, both ends included. The numbers are never negative.
template <class T>
struct Range {
  T least{};
  T most{};
  bool orZero = false;  ///< also allows 0 if `least` is more than 0
};

inline constexpr Range<std::uint64_t> kAnySeed{.least = 0, .most = std::numeric_limits<std::uint64_t>::max()};

/// Adds an option that takes a number of this range. The help of the option ends with the range and the
/// current `value` as default. T is int, std::int32_t, std::uint32_t, std::uint64_t, float or double.
template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, T& value, const std::string& help,
                       Range<T> range);

/// Adds such an option without a default.
template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, std::optional<T>& value,
                       const std::string& help, Range<T> range);

/// Adds an option that takes several such numbers, separated by commas. The user may repeat the option. Given
/// numbers replace the current `values`. With `all`, the option also takes the word "all", alone. `values`
/// then has only the value `all`, which is outside of the range.
template <class T>
CLI::Option* addNumbers(CLI::App& command, const std::string& names, std::vector<T>& values,
                        const std::string& help, Range<T> range, std::optional<T> all = std::nullopt);

/// Adds --seed, which takes any number of 64 bits.
CLI::Option* addSeedOption(CLI::App& command, std::uint64_t& seed, const std::string& help);

/// Returns the check of an option that takes one of these names. The help shows the names. A refusal says,
/// e.g.
/// "--order: Spanscope found "cash", but needs cache or written. Did you mean cache?". With `ignoresCase`,
/// the option also takes names in capital letters, and its value becomes the name of the list.
CLI::Validator oneOf(std::vector<std::string> names, bool ignoresCase = false);

/// Returns the check of an option that takes a number of this range. The help of such an option has no
/// default. T is double or std::uint64_t.
template <class T>
CLI::Validator within(Range<T> range);

/// Ends the command with exit code 2 because an option is wrong. Throws CLI::ValidationError with a message
/// such as "--observe: Spanscope found 9, but needs a layer from 0 to 5". Call this function while options
/// are read, or later if only the model or a file shows the mistake.
[[noreturn]] void refuseOption(const std::string& option, const std::string& found,
                               const std::string& expected);

/// Returns the header of a trace file that spanq begins now.
trace::TraceHeader traceHeader();

/// Refuses an id that a vocabulary of this size does not have.
void checkId(const std::string& option, TokenId id, std::int32_t vocabularySize);

}  // namespace spanscope::cli
