// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/format.h"

#include "engine/trace/fidelity_metrics.h"
#include "engine/trace/line_pieces.h"

#include <array>
#include <charconv>
#include <cmath>

namespace spanscope::metrics {
namespace {

using trace::fixedPoint;

/// The text between a number and its unit "%".
constexpr const char* kPercent = "\u00A0%";
constexpr double kMebibyte = 1 << 20;

/// Formats a number with two to three significant digits.
std::string shortNumber(double value) {
  const double size = std::abs(value);
  return fixedPoint(value, size < 1 ? 2 : size < 10 ? 1 : 0);
}

std::string wholeText(double value) {
  if (std::abs(value) < 1e15 && value == std::round(value)) return std::to_string(std::llround(value));
  return shortNumber(value);
}

/// Formats a number with two significant digits. Only a number with more than twelve digits has an exponent.
std::string plainNumber(double value) {
  const double size = std::abs(value);
  if (size == 0 || size >= 1 || size < 1e-11) return trace::divergenceText(value);
  return fixedPoint(value, 1 - static_cast<int>(std::floor(std::log10(size))));
}

/// Returns "+4.1 %", "−12.0 %", "±0.0 %".
std::string signedShare(double share) {
  return (share > 0 ? "+" : share < 0 ? "−" : "±") + fixedPoint(std::abs(share) * 100, 1) + " %";
}

/// Formats bytes in MiB, with about three significant digits.
std::string memoryNumber(double bytes) {
  const double size = bytes / kMebibyte;
  return fixedPoint(size, size < 10 ? 2 : size < 100 ? 1 : 0);
}

bool isCount(Unit unit) {
  return unit == Unit::Number || unit == Unit::Tokens || unit == Unit::Blocks || unit == Unit::Place;
}

}  // namespace

const char* unitName(Unit unit) {
  switch (unit) {
    case Unit::Number:
      return "number";
    case Unit::Tokens:
      return "tokens";
    case Unit::Blocks:
      return "blocks";
    case Unit::Seconds:
      return "ms";
    case Unit::TokensPerSecond:
      return "tokens/s";
    case Unit::Share:
    case Unit::Change:
      return "%";
    case Unit::Bytes:
      return "MiB";
    case Unit::Nats:
      return "nats";
    case Unit::Place:
      return "block";
    case Unit::Text:
      return "text";
  }
  return "";
}

std::string text(Unit unit, const Value& value) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  const double number = std::get<double>(value);
  if (unit == Unit::Seconds) return durationText(number);
  if (unit == Unit::TokensPerSecond) return countText(number) + " tokens/s";
  if (unit == Unit::Share) return trace::shareNumber(number) + kPercent;
  if (unit == Unit::Change) return signedShare(number);
  if (unit == Unit::Bytes) return memoryNumber(number) + "\u00A0MiB";
  return unit == Unit::Nats ? plainNumber(number) : wholeText(number);
}

std::string columnText(Unit unit, const Value& value) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  if (isCount(unit) || unit == Unit::Nats || unit == Unit::Change) return text(unit, value);
  if (unit == Unit::Bytes) return memoryNumber(std::get<double>(value));
  return fixedPoint(displayed(unit, std::get<double>(value)), 2);
}

std::string exactText(Unit unit, const Value& value) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  const double number = displayed(unit, std::get<double>(value));
  const bool isWhole = isCount(unit) && std::abs(number) < 1e15 && number == std::round(number);
  return isWhole ? std::to_string(std::llround(number)) : exactNumber(number);
}

double displayed(Unit unit, double value) {
  if (unit == Unit::Seconds) return value * 1000;
  if (unit == Unit::Share || unit == Unit::Change) return value * 100;
  return unit == Unit::Bytes ? value / kMebibyte : value;
}

std::string durationText(double seconds) {
  if (std::abs(seconds) < 1) return shortNumber(seconds * 1000) + " ms";
  return fixedPoint(seconds, std::abs(seconds) < 100 ? 2 : 0) + " s";
}

std::string shareText(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "–";
  return trace::shareNumber(static_cast<double>(part) / static_cast<double>(whole)) + kPercent;
}

std::string countText(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return shortNumber(value / 1e6) + " M";
  if (size >= 1e4) return shortNumber(value / 1e3) + " k";
  return fixedPoint(value, size < 10 && value != std::round(value) ? 1 : 0);
}

std::string changeText(double now, double before) {
  constexpr const char* kSame = "= same";
  if (now == before) return kSame;
  if (before <= 0 || now <= 0) return {};
  const std::string arrow = now < before ? "▼ " : "▲ ";
  const double ratio = now < before ? before / now : now / before;
  if (ratio >= 1.995) return arrow + shortNumber(ratio) + "×";
  const double percent = std::round(100 * (now - before) / before);
  if (percent == 0) return kSame;
  return arrow + (percent > 0 ? "+" : "−") + fixedPoint(std::abs(percent), 0) + " %";
}

std::string exactNumber(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 9);
  return {text.data(), end.ptr};
}

}  // namespace spanscope::metrics
