// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/option_values.h"

#include "engine/base/ascii.h"
#include "engine/base/clock.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"
#include "engine/trace/trace_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <type_traits>
#include <utility>

namespace spanscope::cli {

namespace {

/// A zero before another digit marks an octal number in some programs, so the number is ambiguous.
bool hasLeadingZero(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && isDigit(text[1]);
}

template <class T>
std::optional<T> parseAll(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stoppedAt, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stoppedAt != end) return std::nullopt;
  return value;
}

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

template <class T>
std::string rangeWords(const Range<T>& range) {
  return fmt::format("{}{} to {}", range.orZero ? "0 or " : "", range.least, range.most);
}

template <class T>
std::string expectedText(const Range<T>& range, std::string_view given) {
  return fmt::format("{}{} from {} to {}{}", range.orZero ? "0 or " : "",
                     kIsReal<T> ? "a number" : "a whole number", range.least, range.most,
                     hasLeadingZero(given) ? ", without a leading zero" : "");
}

/// Returns nothing if the text is no number of the range.
template <class T>
std::optional<T> numberIn(const Range<T>& range, std::string_view text) {
  const auto number = [text] {
    if constexpr (kIsReal<T>) {
      return parseDecimal(text);
    } else {
      return parseWhole(text);
    }
  }();
  using Wide = typename decltype(number)::value_type;
  const bool isIn =
      number && ((*number >= static_cast<Wide>(range.least) && *number <= static_cast<Wide>(range.most)) ||
                 (range.orZero && *number == 0));
  return isIn ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
}

template <class T>
T valueIn(const Range<T>& range, const std::string& option, std::string_view text) {
  const std::optional<T> number = numberIn(range, text);
  if (!number) refuseOption(option, query::inQuotes(text), expectedText(range, text));
  return *number;
}

/// Returns the number in the form of the command line.
std::string shortestName(const std::string& names) {
  return names.substr(names.rfind(',') + 1);
}

template <class T>
CLI::Option* add(CLI::App& command, const std::string& names, const std::string& help, const Range<T>& range,
                 CLI::callback_t take, const std::string& current) {
  CLI::Option* option = command.add_option(names, std::move(take), help + " (" + rangeWords(range) + ")",
                                           !current.empty(), [current] { return current; });
  return option->type_name("N");
}

}  // namespace

std::optional<std::uint64_t> parseWhole(std::string_view text) {
  if (hasLeadingZero(text)) return std::nullopt;
  return parseAll<std::uint64_t>(text);
}

std::optional<double> parseDecimal(std::string_view text) {
  const bool beginsWell =
      !text.empty() && (isDigit(text[0]) || (text[0] == '.' && text.size() > 1 && isDigit(text[1])));
  if (!beginsWell || hasLeadingZero(text)) return std::nullopt;
  return parseAll<double>(text);
}

template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, T& value, const std::string& help,
                       Range<T> range) {
  const auto take = [&value, range, option = shortestName(names)](const CLI::results_t& given) {
    value = valueIn(range, option, given.at(0));
    return true;
  };
  return add(command, names, help, range, take, fmt::format("{}", value));
}

template <class T>
CLI::Option* addNumber(CLI::App& command, const std::string& names, std::optional<T>& value,
                       const std::string& help, Range<T> range) {
  const auto take = [&value, range, option = shortestName(names)](const CLI::results_t& given) {
    value = valueIn(range, option, given.at(0));
    return true;
  };
  return add(command, names, help, range, take, {});
}

template <class T>
CLI::Option* addNumbers(CLI::App& command, const std::string& names, std::vector<T>& values,
                        const std::string& help, Range<T> range, std::optional<T> all) {
  const auto take = [&values, range, all, option = shortestName(names)](const CLI::results_t& given) {
    values.clear();
    if (all && given.size() == 1 && given.front() == "all") {
      values.push_back(*all);
      return true;
    }
    for (const std::string& list : given) {
      for (const std::string_view part : splitAt(list, ',')) values.push_back(valueIn(range, option, part));
    }
    return true;
  };
  return add(command, names, help, range, take, fmt::format("{}", fmt::join(values, ",")))
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
}

CLI::Option* addSeedOption(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  return addNumber(command, "--seed", seed, help, kAnySeed);
}

template CLI::Option* addNumber(CLI::App&, const std::string&, std::int32_t&, const std::string&,
                                Range<std::int32_t>);
template CLI::Option* addNumber(CLI::App&, const std::string&, std::uint32_t&, const std::string&,
                                Range<std::uint32_t>);
template CLI::Option* addNumber(CLI::App&, const std::string&, std::uint64_t&, const std::string&,
                                Range<std::uint64_t>);
template CLI::Option* addNumber(CLI::App&, const std::string&, float&, const std::string&, Range<float>);
template CLI::Option* addNumber(CLI::App&, const std::string&, double&, const std::string&, Range<double>);
template CLI::Option* addNumber(CLI::App&, const std::string&, std::optional<std::int32_t>&,
                                const std::string&, Range<std::int32_t>);
template CLI::Option* addNumber(CLI::App&, const std::string&, std::optional<std::uint64_t>&,
                                const std::string&, Range<std::uint64_t>);
template CLI::Option* addNumber(CLI::App&, const std::string&, std::optional<double>&, const std::string&,
                                Range<double>);
template CLI::Option* addNumbers(CLI::App&, const std::string&, std::vector<std::int32_t>&,
                                 const std::string&, Range<std::int32_t>, std::optional<std::int32_t>);

CLI::Validator oneOf(std::vector<std::string> names, bool ignoresCase) {
  const CLI::Validator shown = CLI::IsMember(names);
  const CLI::Validator members = ignoresCase ? CLI::IsMember(names, CLI::ignore_case) : shown;
  return CLI::Validator(
      [members, names = std::move(names)](std::string& given) {
        if (members(given).empty()) return std::string();
        const auto meant = query::nearestName(given, names);
        const std::string last = names.back();
        const std::string others = fmt::format("{}", fmt::join(names.begin(), names.end() - 1, ", "));
        const std::string hint = meant ? "Did you mean " + *meant + "?" : std::string();
        return problemSentence('"' + given + '"', others.empty() ? last : others + " or " + last, hint);
      },
      shown.get_description());
}

template <class T>
CLI::Validator within(Range<T> range) {
  return CLI::Validator(
      [range](const std::string& given) {
        return numberIn(range, given) ? std::string()
                                      : problemSentence(query::inQuotes(given), expectedText(range, given));
      },
      rangeWords(range));
}

template CLI::Validator within(Range<double>);
template CLI::Validator within(Range<std::uint64_t>);

void refuseOption(const std::string& option, const std::string& found, const std::string& expected) {
  throw CLI::ValidationError(option, problemSentence(found, expected));
}

trace::TraceHeader traceHeader() {
  return {.program = "spanq " SPANSCOPE_VERSION, .createdAt = unixMilliseconds()};
}

void checkId(const std::string& option, TokenId id, std::int32_t vocabularySize) {
  if (id >= vocabularySize)
    refuseOption(option, std::to_string(id), "an id from 0 to " + std::to_string(vocabularySize - 1));
}

}  // namespace spanscope::cli
