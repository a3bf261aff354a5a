// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/number_text.h"

#include "engine/base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace spanscope::query {

namespace {

/// Removes the digits at the front of `text`; false if there are none.
bool takeDigits(std::string_view& text) {
  const auto* end = std::ranges::find_if_not(text, isDigit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

/// The double nearest to a JSON number. Beyond the range: infinite or zero.
double doubleValue(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc()) return value;

  // An out-of-range error does not report the direction. The power of ten of the first significant digit
  // shows the direction.
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const std::size_t exponentAt = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, exponentAt);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return negative ? -0.0 : 0.0;
  bool isLarge = first < point;
  if (exponentAt != std::string_view::npos) {
    std::string_view exponent = number.substr(exponentAt + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t power = 0;
    const auto [stop, tooLong] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    if (tooLong != std::errc()) {
      isLarge = !exponent.starts_with('-');
    } else {
      const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
      isLarge = power > -magnitude;
    }
  }
  const double beyond = isLarge ? HUGE_VAL : 0.0;
  return negative ? -beyond : beyond;
}

}  // namespace

bool isJsonNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('0')) {
    text.remove_prefix(1);
  } else if (!takeDigits(text)) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!takeDigits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!takeDigits(text)) return false;
  }
  return text.empty();
}

bool isWholeNumber(std::string_view number) {
  return number != "-0" && number.find_first_of(".eE") == std::string_view::npos;
}

std::optional<std::int64_t> wholeNumberValue(std::string_view number) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

bool isInDoubleRange(std::string_view number) {
  // A shorter number without an exponent cannot reach 1e308.
  constexpr std::size_t kAlwaysInRange = 300;
  if (number.size() < kAlwaysInRange && number.find_first_of("eE") == std::string_view::npos) return true;
  return std::isfinite(doubleValue(number));
}

float floatValue(std::string_view number) {
  if (isWholeNumber(number)) {
    if (number.starts_with('-')) {
      if (const auto value = wholeNumberValue(number)) return static_cast<float>(*value);
    } else {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
      if (error == std::errc()) return static_cast<float>(value);
    }
  }
  // From half a step above the largest float on, the nearest float is infinity. A cast does not guarantee
  // infinity.
  constexpr double kBeyondFloat = 0x1.ffffffp127;
  const double value = doubleValue(number);
  if (std::fabs(value) >= kBeyondFloat) return value > 0 ? HUGE_VALF : -HUGE_VALF;
  return static_cast<float>(value);
}

std::string floatText(float value) {
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value > 0 ? "1e+39" : "-1e+39";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";

  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                          std::chars_format::scientific);
  std::string_view scientific(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t exponentAt = scientific.find('e');
  int exponent = 0;
  std::from_chars(scientific.data() + exponentAt + 2, end, exponent);
  if (scientific[exponentAt + 1] == '-') exponent = -exponent;
  std::string digits(1, scientific.front());
  if (exponentAt > 2) digits += scientific.substr(2, exponentAt - 2);

  // Plain from 1e-6 up to, but not including, 1e13, where the reference changes its form.
  const int length = static_cast<int>(digits.size());
  std::string text = value < 0 ? "-" : "";
  if (exponent < -6 || exponent > 12) {
    text += digits.substr(0, 1);
    if (length > 1) text += "." + digits.substr(1);
    text += exponent < 0 ? "e-" : "e+";
    return text + std::to_string(std::abs(exponent));
  }
  if (exponent < 0) return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const int zeros = exponent + 1 - length;
  if (zeros >= 0) return text + digits + std::string(static_cast<std::size_t>(zeros), '0') + ".0";
  const std::size_t point = static_cast<std::size_t>(exponent) + 1;
  return text + digits.substr(0, point) + "." + digits.substr(point);
}

namespace {

constexpr std::string_view kDecimalDigits = "0123456789";

constexpr std::array<std::string_view, 9> kInfinities = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

bool isInfinity(std::string_view text) {
  return std::ranges::find(kInfinities, text) != kInfinities.end();
}

std::string_view takeLooseDigits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDecimalDigits));
  text.remove_prefix(digits.size());
  return digits;
}

/// The parts of a decimal number. The number has at least one digit before or after the point.
struct Decimal {
  bool isNegative = false;
  bool hasPoint = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< includes the letter e or E; empty if there is no exponent
};

std::optional<Decimal> readDecimal(std::string_view text) {
  Decimal decimal;
  if (text.starts_with('+') || text.starts_with('-')) {
    decimal.isNegative = text.front() == '-';
    text.remove_prefix(1);
  }
  decimal.whole = takeLooseDigits(text);
  if (text.starts_with('.')) {
    decimal.hasPoint = true;
    text.remove_prefix(1);
    decimal.fraction = takeLooseDigits(text);
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    decimal.exponent = text;
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (takeLooseDigits(text).empty()) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return decimal;
}

/// Reads numbers such as "0x1f" and "0o17" that fit into 64 bits.
std::optional<std::int64_t> readBased(std::string_view text) {
  int base = 0;
  if (text.starts_with("0x")) base = 16;
  if (text.starts_with("0o")) base = 8;
  if (base == 0) return std::nullopt;
  text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool isLooseNumber(std::string_view text) {
  return isInfinity(text) || readDecimal(text) || readBased(text);
}

std::string looseNumberAsJson(std::string_view text) {
  constexpr const char* kInfinite = "1e39";
  if (isInfinity(text)) return (text.starts_with('-') ? "-" : "") + std::string(kInfinite);
  if (const auto value = readBased(text)) return std::to_string(*value);
  const auto decimal = readDecimal(text);
  if (!decimal) return "0";
  std::string number(
      decimal->whole.substr(std::min(decimal->whole.find_first_not_of('0'), decimal->whole.size())));
  if (number.empty()) number = "0";
  const bool isWhole = !decimal->hasPoint && decimal->exponent.empty();
  if (decimal->isNegative && !(isWhole && number == "0")) number.insert(number.begin(), '-');
  if (decimal->hasPoint) number += "." + (decimal->fraction.empty() ? "0" : std::string(decimal->fraction));
  number += decimal->exponent;
  if (!isInDoubleRange(number)) number = (decimal->isNegative ? "-" : "") + std::string(kInfinite);
  return number;
}

}  // namespace spanscope::query
