// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/rust_format.h"

#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace spanscope::query {
namespace {

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// The characters in Unicode's categories Cc, Cf, Co, Zs, Zl and Zp, except the space. The noncharacters of
/// the first plane are included.
constexpr std::array kUnprinted = {
    CodeRange{0x00, 0x1F},       CodeRange{0x7F, 0xA0},       CodeRange{0xAD, 0xAD},
    CodeRange{0x600, 0x605},     CodeRange{0x61C, 0x61C},     CodeRange{0x6DD, 0x6DD},
    CodeRange{0x70F, 0x70F},     CodeRange{0x890, 0x891},     CodeRange{0x8E2, 0x8E2},
    CodeRange{0x1680, 0x1680},   CodeRange{0x180E, 0x180E},   CodeRange{0x2000, 0x200F},
    CodeRange{0x2028, 0x202F},   CodeRange{0x205F, 0x206F},   CodeRange{0x3000, 0x3000},
    CodeRange{0xE000, 0xF8FF},   CodeRange{0xFEFF, 0xFEFF},   CodeRange{0xFFF0, 0xFFFB},
    CodeRange{0xFFFE, 0xFFFF},   CodeRange{0x110BD, 0x110BD}, CodeRange{0x1BCA0, 0x1BCA3},
    CodeRange{0x1D173, 0x1D17A}, CodeRange{0xE0000, 0xE007F}, CodeRange{0xF0000, 0x10FFFF},
};

bool isUnprinted(std::uint32_t code) {
  return std::any_of(kUnprinted.begin(), kUnprinted.end(),
                     [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

/// Returns the first character of well-formed UTF-8, and its length.
std::uint32_t decode(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1) return lead;
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

std::string hexOf(std::uint32_t code) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return {digits.data(), end};
}

/// Reads the inside of a placeholder: "", "0" or "name", optionally followed by ":?".
std::optional<RustPlaceholder> readPlaceholder(std::string_view inside, std::size_t& next) {
  RustPlaceholder placeholder;
  if (inside.ends_with(":?")) {
    placeholder.debug = true;
    inside.remove_suffix(2);
  }
  if (inside.empty()) {
    placeholder.argument = next++;
    return placeholder;
  }
  if (inside.find_first_not_of("0123456789") == std::string_view::npos) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
    if (error != std::errc()) return std::nullopt;
    placeholder.argument = index;
    return placeholder;
  }
  const auto isInName = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!std::all_of(inside.begin(), inside.end(), isInName)) return std::nullopt;
  placeholder.argument = std::string(inside);
  return placeholder;
}

}  // namespace

std::string rustDebugText(std::string_view text) {
  std::string shown = "\"";
  while (!text.empty()) {
    std::size_t length = 0;
    const std::uint32_t code = decode(text, length);
    switch (code) {
      case '"':
      case '\\':
        shown += '\\';
        shown += static_cast<char>(code);
        break;
      case '\n':
        shown += "\\n";
        break;
      case '\r':
        shown += "\\r";
        break;
      case '\t':
        shown += "\\t";
        break;
      case 0:
        shown += "\\0";
        break;
      default:
        shown += isUnprinted(code) ? "\\u{" + hexOf(code) + "}" : std::string(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return shown + "\"";
}

std::string rustNumber(std::string_view number, bool debug) {
  if (isWholeNumber(number)) return std::string(number);
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  // Sufficient for the largest and the smallest double without an exponent.
  std::array<char, 1100> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string shown(buffer.data(), end);
  if (debug && shown.find('.') == std::string::npos) shown += ".0";
  return shown;
}

std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong) {
  std::string result;
  std::size_t next = 0;
  while (true) {
    const std::size_t brace = std::min(format.find_first_of("{}"), format.size());
    result += format.substr(0, brace);
    format.remove_prefix(brace);
    if (format.empty()) return result;
    if (format.starts_with("{{") || format.starts_with("}}")) {
      result += format.front();
      format.remove_prefix(2);
      continue;
    }
    const std::size_t close = format.find('}');
    const bool isOpen = format.front() == '{' && close != std::string_view::npos;
    const auto placeholder = isOpen ? readPlaceholder(format.substr(1, close - 1), next) : std::nullopt;
    if (!placeholder) {
      wrong = isOpen ? "the placeholder " + inQuotes(format.substr(0, close + 1)) : "a lone brace";
      return std::nullopt;
    }
    const auto shown = show(*placeholder);
    if (!shown) return std::nullopt;
    result += *shown;
    format.remove_prefix(close + 1);
  }
}

}  // namespace spanscope::query
