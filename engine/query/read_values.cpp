// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/read_values.h"

#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace spanscope::query {
namespace {

constexpr std::size_t kShownCharacters = 40;

/// A whole number from `least` to `most`; for anything else, reports an error and returns nothing.
std::optional<std::int64_t> readWholeNumber(QueryWalk& walk, std::int64_t least, std::int64_t most,
                                            const std::string& expected) {
  if (walk.cursor().peekNumber() != JsonKind::Number) {
    walk.refuseValue(expected);
    return std::nullopt;
  }
  const std::size_t begin = walk.cursor().offset();
  const std::size_t errorsBefore = walk.errors();
  const std::string_view number = walk.cursor().readNumber();
  if (walk.errors() > errorsBefore) return std::nullopt;
  const bool isWhole = isWholeNumber(number);
  const auto value = isWhole ? wholeNumberValue(number) : std::nullopt;
  if (!value || *value < least || *value > most) {
    walk.error(begin, "the number " + cutText(number, kShownCharacters), expected,
               isWhole          ? ""
               : number == "-0" ? "write 0"
                                : "write it without a fraction and an exponent");
    return std::nullopt;
  }
  return value;
}

/// The parameter in a text that stands in the place of a number; otherwise reports an error and returns
/// nothing.
std::optional<Parameter> readNumberParameter(QueryWalk& walk, const std::string& expected) {
  const std::size_t begin = walk.cursor().offset();
  const std::size_t errorsBefore = walk.errors();
  const std::string text = walk.cursor().readString();
  if (walk.errors() > errorsBefore) return std::nullopt;
  if (auto name = parameterName(text)) return Parameter{std::move(*name)};
  walk.error(begin, "the text " + inQuotes(text), expected,
             isJsonNumber(text) ? "write it without quotes" : "a parameter is written \"{name}\"");
  return std::nullopt;
}

/// Reads null, or a text that names a parameter. False if the next value is something else; it is then not
/// read.
template <typename Number>
bool readNullOrParameter(QueryWalk& walk, const std::string& expected, Setting<Number>& setting) {
  const JsonKind kind = walk.cursor().peekNumber();
  if (kind == JsonKind::Null) {
    walk.cursor().readLiteral();
    setting = Null{};
  } else if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(walk, expected)) setting = std::move(*parameter);
  }
  return kind == JsonKind::Null || kind == JsonKind::String;
}

}  // namespace

void readText(QueryWalk& walk, std::string& text, const char* expected) {
  if (walk.cursor().peek() == JsonKind::String) {
    text = walk.cursor().readString();
  } else {
    walk.refuseValue(expected, walk.cursor().textHint(walk.cursor().peek()));
  }
}

void readMaxTokens(QueryWalk& walk, Setting<std::int32_t>& setting) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::string expected = "a whole number from " + std::to_string(Limits::min()) + " to " +
                               std::to_string(Limits::max()) + ", or null";
  if (readNullOrParameter(walk, expected, setting)) return;
  const std::size_t begin = walk.cursor().offset();
  if (const auto value = readWholeNumber(walk, Limits::min(), Limits::max(), expected)) {
    setting = static_cast<std::int32_t>(*value);
    if (*value < 0)
      walk.warning(begin, "the number " + std::to_string(*value), "0, the server's own limit, or more");
  }
}

void readTemperature(QueryWalk& walk, Setting<float>& setting) {
  constexpr const char* kExpected = "a number or null";
  if (readNullOrParameter(walk, kExpected, setting)) return;
  if (walk.cursor().peekNumber() != JsonKind::Number) {
    walk.refuseValue(kExpected);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  const std::size_t errorsBefore = walk.errors();
  const std::string_view number = walk.cursor().readNumber();
  if (walk.errors() > errorsBefore) return;
  const float value = floatValue(number);
  setting = value;
  const std::string found = "the number " + cutText(number, kShownCharacters);
  if (std::isinf(value)) {
    walk.warning(begin, found, "a temperature that a 32-bit float can hold", "it is read as infinite");
  } else if (value < 0) {
    walk.warning(begin, found, "a temperature of 0 or more");
  }
}

void readCount(QueryWalk& walk, Times& count) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint8_t>::max();
  const std::string expected = "a whole number from 0 to 255";
  const JsonKind kind = walk.cursor().peekNumber();
  const std::size_t begin = walk.cursor().offset();
  if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(walk, expected)) count = std::move(*parameter);
  } else if (const auto value = readWholeNumber(walk, 0, kMost, expected)) {
    count = static_cast<std::uint8_t>(*value);
    if (*value == 0) walk.warning(begin, "a repeat of 0 times", "at least 1", "it adds nothing");
  }
}

void readBytes(QueryWalk& walk, std::vector<std::uint8_t>& bytes) {
  if (walk.cursor().peek() != JsonKind::Array) {
    walk.refuseValue("a list of bytes");
    return;
  }
  walk.cursor().enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; walk.cursor().nextElement(array); ++count) {
    walk.within(std::to_string(count), [&] {
      const auto byte = readWholeNumber(walk, 0, 255, "a byte: a whole number from 0 to 255");
      if (byte) bytes.push_back(static_cast<std::uint8_t>(*byte));
    });
  }
}

}  // namespace spanscope::query
