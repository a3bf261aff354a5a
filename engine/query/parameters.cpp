// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/parameters.h"

#include "engine/query/field_walk.h"
#include "engine/query/number_text.h"
#include "engine/query/utf8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace spanscope::query {
namespace {

bool beginsName(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isInName(char c) {
  return beginsName(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The name of the parameter whose opening brace stands at the front of `text`, or nothing.
std::optional<std::string_view> nameAtFront(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || !beginsName(text[1])) return std::nullopt;
  std::size_t end = 2;
  while (end < text.size() && isInName(text[end])) ++end;
  if (end == text.size() || text[end] != '}') return std::nullopt;
  return text.substr(1, end - 1);
}

class Finder {
 public:
  std::vector<ParameterUse> uses;

  void text(const NodePath& node, const std::string& pointer, const std::string& text) {
    for (std::size_t i = text.find('{'); i != std::string::npos; i = text.find('{', i + 1)) {
      const auto name = nameAtFront(std::string_view(text).substr(i));
      if (name) uses.push_back({std::string(*name), ParameterKind::Text, node, pointer});
    }
  }
  void count(const NodePath& node, const std::string& pointer,
             const std::variant<std::uint8_t, Parameter>& value) {
    number(ParameterKind::Count, node, pointer, value);
  }
  void maxTokens(const NodePath& node, const std::string& pointer, const Setting<std::int32_t>& value) {
    number(ParameterKind::MaxTokens, node, pointer, value);
  }
  void temperature(const NodePath& node, const std::string& pointer, const Setting<float>& value) {
    number(ParameterKind::Temperature, node, pointer, value);
  }

 private:
  void number(ParameterKind kind, const NodePath& node, const std::string& pointer, const auto& value) {
    const auto* parameter = std::get_if<Parameter>(&value);
    if (parameter != nullptr) uses.push_back({parameter->name, kind, node, pointer});
  }
};

class Resolver {
 public:
  explicit Resolver(const std::map<std::string, std::string>& values) : m_values(values) {}

  std::vector<Diagnostic> diagnostics;

  void text(const NodePath& /*node*/, const std::string& /*pointer*/, std::string& text) const {
    if (m_values.empty() || text.find('{') == std::string::npos) return;
    std::string resolved;
    const std::string_view source = text;
    std::size_t done = 0;
    for (std::size_t i = source.find('{'); i != std::string_view::npos; i = source.find('{', i)) {
      const auto name = nameAtFront(source.substr(i));
      const auto value = name ? m_values.find(std::string(*name)) : m_values.end();
      if (value == m_values.end()) {
        ++i;
        continue;
      }
      resolved += source.substr(done, i - done);
      resolved += value->second;
      i += name->size() + 2;
      done = i;
    }
    resolved += source.substr(done);
    text = std::move(resolved);
  }

  void count(const NodePath& /*node*/, const std::string& pointer,
             std::variant<std::uint8_t, Parameter>& value) {
    using Limits = std::numeric_limits<std::uint8_t>;
    const auto number = wholeNumber(value, pointer, Limits::min(), Limits::max());
    if (number) value = static_cast<std::uint8_t>(*number);
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, Setting<std::int32_t>& value) {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto number = wholeNumber(value, pointer, Limits::min(), Limits::max());
    if (number) value = static_cast<std::int32_t>(*number);
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, Setting<float>& value) {
    constexpr const char* kExpected = "a number that a 32-bit float can hold";
    const std::string* given = valueFor(value, pointer, kExpected);
    if (given == nullptr) return;
    const bool isNumber = isJsonNumber(*given) && isInDoubleRange(*given);
    if (isNumber && std::isfinite(floatValue(*given))) {
      value = floatValue(*given);
    } else {
      refuse(value, pointer, *given, kExpected);
    }
  }

 private:
  std::optional<std::int64_t> wholeNumber(const auto& setting, const std::string& pointer, std::int64_t least,
                                          std::int64_t most) {
    const std::string expected =
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    const std::string* given = valueFor(setting, pointer, expected);
    if (given == nullptr) return std::nullopt;
    const bool isWhole = isJsonNumber(*given) && isWholeNumber(*given);
    const auto number = isWhole ? wholeNumberValue(*given) : std::nullopt;
    if (!number || *number < least || *number > most) {
      refuse(setting, pointer, *given, expected);
      return std::nullopt;
    }
    return number;
  }

  /// The value for a setting that is a parameter; nullptr if it is none, or after a report if there is no
  /// value.
  const std::string* valueFor(const auto& setting, const std::string& pointer, const std::string& expected) {
    const auto* parameter = std::get_if<Parameter>(&setting);
    if (parameter == nullptr) return nullptr;
    const auto value = m_values.find(parameter->name);
    if (value != m_values.end()) return &value->second;
    report(pointer, "the parameter " + shown(parameter->name) + " without a value", expected);
    return nullptr;
  }
  void refuse(const auto& setting, const std::string& pointer, const std::string& given,
              const std::string& expected) {
    const std::string& name = std::get<Parameter>(setting).name;
    report(pointer, "the value " + shown(given) + " for the parameter " + shown(name), expected);
  }
  void report(const std::string& pointer, std::string found, const std::string& expected) {
    diagnostics.push_back({Severity::Error, pointer, {}, 0, std::move(found), expected, {}});
  }
  static std::string shown(std::string_view text) { return "\"" + cutText(text, 40) + "\""; }

  const std::map<std::string, std::string>& m_values;
};

}  // namespace

std::optional<std::string> parameterName(std::string_view text) {
  const auto name = nameAtFront(text);
  if (!name || name->size() + 2 != text.size()) return std::nullopt;
  return std::string(*name);
}

std::vector<ParameterUse> findParameters(const Node& node) {
  Finder finder;
  FieldWalk<const Node, Finder>(finder).walk(node, {});
  return std::move(finder.uses);
}

std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::map<std::string, std::string>& values) {
  Resolver resolver(values);
  Node resolved = node;
  FieldWalk<Node, Resolver>(resolver).walk(resolved, {});
  if (!resolver.diagnostics.empty()) return std::move(resolver.diagnostics);
  return resolved;
}

}  // namespace spanscope::query
