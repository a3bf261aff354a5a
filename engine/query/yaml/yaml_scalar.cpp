// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml_scalar.h"

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

bool isOneOf(std::string_view text, std::string_view words) {
  if (text.empty() || text.find(' ') != std::string_view::npos) return false;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == text) return true;
    begin = end + 1;
  }
  return false;
}

std::string_view takeDigits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(digits.size());
  return digits;
}

/// The parts of a decimal number: at least one digit before or after the point.
struct Decimal {
  bool isNegative = false;
  bool hasPoint = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< with its letter; empty if there is none
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

/// "0x1f" and "0o17", if they fit into 64 bits.
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

constexpr std::string_view kInfinities = ".inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF";

}  // namespace

JsonKind yamlScalarKind(std::string_view text) {
  if (isOneOf(text, "~ null Null NULL")) return JsonKind::Null;
  if (text == "true") return JsonKind::True;
  if (text == "false") return JsonKind::False;
  if (isOneOf(text, kInfinities) || readDecimal(text) || readBased(text)) return JsonKind::Number;
  return JsonKind::String;
}

std::string yamlNumber(std::string_view text) {
  constexpr const char* kInfinite = "1e39";
  if (isOneOf(text, kInfinities)) return (text.starts_with('-') ? "-" : "") + std::string(kInfinite);
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

bool mayBeMisreadInYaml(std::string_view text) {
  return yamlScalarKind(text) != JsonKind::String || isOneOf(text, "True TRUE False FALSE .nan .NaN .NAN");
}

bool mayMeanOtherInYaml(std::string_view text) {
  return mayBeMisreadInYaml(text) || isOneOf(text, "= << y Y n N yes Yes YES no No NO on On ON off Off OFF");
}

}  // namespace spanscope::query
