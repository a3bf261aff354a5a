// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_walk.h"

#include "engine/base/utf8.h"
#include "engine/query/number_text.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace spanscope::query {

namespace {

/// Cuts a very long key, because each diagnostic has its own copy. The keys of the language are short.
std::string stepTo(std::string_view key) {
  constexpr std::size_t kLongestKey = 200;
  if (key.size() <= kLongestKey) return pointerStep(key);
  return pointerStep(cutText(key.substr(0, 4 * kLongestKey), kLongestKey));
}

}  // namespace

const char* kindText(JsonKind kind) {
  switch (kind) {
    case JsonKind::Null:
      return "null";
    case JsonKind::False:
      return "false";
    case JsonKind::True:
      return "true";
    case JsonKind::Number:
      return "a number";
    case JsonKind::String:
      return "a text";
    case JsonKind::Array:
      return "a list";
    case JsonKind::Object:
      return "an object";
    case JsonKind::End:
    case JsonKind::Invalid:
      break;
  }
  return "";
}

QueryWalk::QueryWalk(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor)
    : m_text(text), m_limits(limits) {
  m_cursor = makeCursor(*this);
}

void QueryWalk::refuseExtraElement(const std::string& form) {
  m_cursor->peek();
  error(m_cursor->offset(), "one more element", form);
}

void QueryWalk::refuseValue(std::string expected, std::string hint) {
  const JsonKind kind = m_cursor->peek();
  if (kind != JsonKind::End && kind != JsonKind::Invalid) {
    error(m_cursor->offset(), m_cursor->describeNext(kind), std::move(expected), std::move(hint));
  }
  m_cursor->skipValue();
}

void QueryWalk::jsonIssue(JsonIssue issue) {
  report(Severity::Error, std::move(issue));
}

void QueryWalk::error(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Error, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryWalk::warning(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Warning, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryWalk::report(Severity severity, JsonIssue issue) {
  std::size_t& count = severity == Severity::Error ? m_errors : m_warnings;
  ++count;
  if (count > m_limits.maxDiagnostics) {
    if (severity == Severity::Warning || count > m_limits.maxDiagnostics + 1) return;
    issue = {issue.offset, "more than " + std::to_string(m_limits.maxDiagnostics) + " errors", "no errors",
             /*id:follows-not-read*/ "Spanscope did not read the rest"};
    // The cursor may report issues while it is being made.
    if (m_cursor) m_cursor->stop();
  }
  m_diagnostics.push_back({severity,
                           pointer(),
                           {},
                           issue.offset,
                           std::move(issue.found),
                           std::move(issue.expected),
                           std::move(issue.hint)});
}

std::string QueryWalk::pointer() const {
  std::string pointer;
  for (const std::string& step : m_path) pointer += stepTo(step);
  return pointer;
}

std::vector<Diagnostic> QueryWalk::takeDiagnostics() {
  const auto isEarlier = [](const Diagnostic& a, const Diagnostic& b) { return a.offset < b.offset; };
  std::ranges::stable_sort(m_diagnostics, isEarlier);
  // Skips the older form of a repeat once before reading it. Issues within its strings and numbers are
  // therefore found twice. The second report has the more exact place.
  std::vector<Diagnostic> kept;
  for (Diagnostic& diagnostic : m_diagnostics) {
    std::size_t same = kept.size();
    for (std::size_t i = kept.size(); i > 0 && kept[i - 1].offset == diagnostic.offset; --i) {
      if (kept[i - 1].found == diagnostic.found && kept[i - 1].expected == diagnostic.expected) same = i - 1;
    }
    if (same < kept.size()) {
      kept[same] = std::move(diagnostic);
    } else {
      kept.push_back(std::move(diagnostic));
    }
  }
  locate(kept, m_text);
  return kept;
}

bool QueryWalk::countNode(std::size_t offset) {
  if (m_cursor->stopped()) return false;
  if (++m_nodes <= m_limits.maxNodes) return true;
  error(offset, "too many nodes", "at most " + std::to_string(m_limits.maxNodes) + " nodes",
        "Spanscope did not read the rest");
  m_cursor->stop();
  return false;
}

namespace {

std::string namesOf(std::span<const FieldReader> fields) {
  std::string names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) names += i + 1 == fields.size() ? " and " : ", ";
    names += fields[i].name;
  }
  return names;
}

void warnOfUnknownField(QueryWalk& walk, const std::string& key, std::size_t offset,
                        std::span<const FieldReader> fields) {
  std::vector<std::string> names;
  for (const FieldReader& field : fields) names.emplace_back(field.name);
  const auto meant = nearestName(key, names);
  std::string hint = /*id:field-ignored*/ "Spanscope ignores this field";
  if (meant) hint += ". Did you mean \"" + *meant + "\"?";
  // Within a repeat, "g" is the key of the generate node itself. Elsewhere, "g" is the key of the operator.
  // Users thus easily write "g" twice.
  if (key == "g")
    hint += /*id:fields-generate-stand*/ ". The fields of the generate node belong here directly";
  walk.warning(offset, "the unknown field " + inQuotes(key), "one of " + namesOf(fields), std::move(hint));
}

void readMembers(QueryWalk& walk, std::span<const FieldReader> fields, const OtherField& readOther,
                 FieldsRead& read) {
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterObject();
  std::string key;
  for (ValueCursor::Container object; walk.cursor().nextMember(object, key);) {
    const auto field = std::ranges::find(fields, key, &FieldReader::name);
    if (field == fields.end()) {
      if (readOther && readOther(key, object.keyOffset)) continue;
      walk.within(key, [&] {
        warnOfUnknownField(walk, key, object.keyOffset, fields);
        walk.cursor().skipValue();
      });
      continue;
    }
    const auto index = static_cast<std::size_t>(field - fields.begin());
    walk.within(key, [&] {
      if (!read.seen[index]) {
        read.seen[index] = true;
        field->read();
      } else {
        walk.error(object.keyOffset, "the field " + inQuotes(key) + " twice", "this field once");
        walk.cursor().skipValue();
      }
    });
  }
  if (walk.cursor().stopped()) return;
  read.isComplete = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (read.seen[i] || fields[i].need != Need::Required) continue;
    const std::string name = inQuotes(fields[i].name);
    walk.error(begin, "no field " + name, name + ": " + fields[i].meaning);
  }
}

void readElements(QueryWalk& walk, std::span<const FieldReader> fields, FieldsRead& read) {
  const std::size_t begin = walk.cursor().offset();
  const std::string form = "a list of " + namesOf(fields);
  walk.cursor().enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; walk.cursor().nextElement(array); ++count) {
    walk.within(std::to_string(count), [&] {
      if (count < fields.size()) {
        read.seen[count] = true;
        fields[count].read();
      } else {
        if (count == fields.size()) walk.refuseExtraElement(form);
        walk.cursor().skipValue();
      }
    });
  }
  if (walk.cursor().stopped()) return;
  const bool isShort = count < fields.size() && fields[count].need != Need::Optional;
  if (isShort)
    walk.error(begin, std::string(/*id:list-without*/ "a list without its ") + fields[count].name, form);
  read.isComplete = !isShort;
}

}  // namespace

FieldsRead readFields(QueryWalk& walk, ListForm listForm, std::span<const FieldReader> fields,
                      const OtherField& readOther) {
  FieldsRead read{std::vector<bool>(fields.size(), false), false};
  const JsonKind kind = walk.cursor().peek();
  if (kind == JsonKind::Object) {
    readMembers(walk, fields, readOther, read);
  } else if (kind == JsonKind::Array && listForm == ListForm::Allowed) {
    readElements(walk, fields, read);
  } else {
    walk.refuseValue(/*id:object-fields*/ "an object with the fields " + namesOf(fields));
  }
  return read;
}

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
               isWhole ? ""
               : number == "-0"
                   ? "write 0"
                   : /*id:write-without-fraction*/ "Write the number without a fraction and an exponent");
    return std::nullopt;
  }
  return value;
}

/// Returns the parameter in a text where a number is expected. Otherwise reports an error and returns
/// nothing.
std::optional<Parameter> readNumberParameter(QueryWalk& walk, const std::string& expected) {
  const std::size_t begin = walk.cursor().offset();
  const std::size_t errorsBefore = walk.errors();
  const std::string text = walk.cursor().readString();
  if (walk.errors() > errorsBefore) return std::nullopt;
  if (auto name = parameterName(text)) return Parameter{std::move(*name)};
  walk.error(begin, "the text " + inQuotes(text), expected,
             isJsonNumber(text) ? /*id:write-without-quotes*/ "Write the number without quotes"
                                : /*id:parameter-written-name*/ "Write a parameter as \"{name}\"");
  return std::nullopt;
}

/// Reads null, or a text that names a parameter. Returns false for any other value, and does not read that
/// value.
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
      walk.warning(begin, "the number " + std::to_string(*value),
                   /*id:servers-own-limit*/ "0, the server's own limit, or more");
  }
}

void readTemperature(QueryWalk& walk, Setting<float>& setting) {
  constexpr const char* kExpected = /*id:number-null*/ "a number or null";
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
    walk.warning(begin, found, /*id:temperature-bit-float*/ "a temperature that a 32-bit float can hold",
                 /*id:read-infinite*/ "Spanscope reads the number as infinite");
  } else if (value < 0) {
    walk.warning(begin, found, "a temperature of 0 or more");
  }
}

void readCount(QueryWalk& walk, Times& count) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint8_t>::max();
  const std::string expected = /*id:whole-number-query-walk*/ "a whole number from 0 to 255";
  const JsonKind kind = walk.cursor().peekNumber();
  const std::size_t begin = walk.cursor().offset();
  if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(walk, expected)) count = std::move(*parameter);
  } else if (const auto value = readWholeNumber(walk, 0, kMost, expected)) {
    count = static_cast<std::uint8_t>(*value);
    if (*value == 0)
      walk.warning(begin, "a repeat of 0 times", "at least 1", "the node adds nothing to the prompt");
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
      const auto byte =
          readWholeNumber(walk, 0, 255, /*id:byte-whole-number*/ "a byte: a whole number from 0 to 255");
      if (byte) bytes.push_back(static_cast<std::uint8_t>(*byte));
    });
  }
}

}  // namespace spanscope::query
