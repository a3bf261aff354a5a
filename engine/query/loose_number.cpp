// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/loose_number.h"

#include "engine/query/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

namespace spanscope::query {
namespace {

constexpr std::string_view kDigits = "0123456789";

constexpr std::array<std::string_view, 9> kInfinities = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

bool isInfinity(std::string_view text) {
  return std::find(kInfinities.begin(), kInfinities.end(), text) != kInfinities.end();
}

std::string_view takeDigits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(digits.size());
  return digits;
}

/// The parts of a decimal number. It has at least one digit before or after the point.
struct Decimal {
  bool isNegative = false;
  bool hasPoint = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< includes its letter; empty if there is no exponent
};

std::optional<Decimal> readDecimal(std::string_view text) {
  Decimal decimal;
  if (text.starts_with('+') || text.starts_with('-')) {
    decimal.isNegative = text.front() == '-';
    text.remove_prefix(1);
  }
  decimal.whole = takeDigits(text);
  if (text.starts_with('.')) {
    decimal.hasPoint = true;
    text.remove_prefix(1);
    decimal.fraction = takeDigits(text);
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    decimal.exponent = text;
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (takeDigits(text).empty()) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return decimal;
}

/// Reads "0x1f" and "0o17", if they fit into 64 bits.
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
