// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/parameters.h"

#include "engine/query/field_walk.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <cstdint>
#include <utility>

namespace spanscope::query {
namespace {

bool beginsName(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isInName(char c) {
  return beginsName(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The name of the parameter that begins at the front of `text`; nothing if none begins there.
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
  void count(const NodePath& node, const std::string& pointer, const Times& value) {
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

  void count(const NodePath& /*node*/, const std::string& pointer, Times& value) {
    const std::string* given = valueFor(value, pointer, ParameterKind::Count);
    if (given != nullptr) value = static_cast<std::uint8_t>(*wholeNumberValue(*given));
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, Setting<std::int32_t>& value) {
    const std::string* given = valueFor(value, pointer, ParameterKind::MaxTokens);
    if (given != nullptr) value = static_cast<std::int32_t>(*wholeNumberValue(*given));
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, Setting<float>& value) {
    const std::string* given = valueFor(value, pointer, ParameterKind::Temperature);
    if (given != nullptr) value = floatValue(*given);
  }

 private:
  /// The value for a setting that is a parameter. nullptr if the setting is no parameter. Also nullptr, after
  /// a report, if there is no value or the value has another kind.
  const std::string* valueFor(const auto& setting, const std::string& pointer, ParameterKind kind) {
    const auto* parameter = std::get_if<Parameter>(&setting);
    if (parameter == nullptr) return nullptr;
    const auto value = m_values.find(parameter->name);
    if (value == m_values.end()) {
      report(pointer, "the parameter " + inQuotes(parameter->name) + " without a value", kind);
    } else if (!isParameterValue(kind, value->second)) {
      report(pointer,
             "the value " + inQuotes(value->second) + " for the parameter " + inQuotes(parameter->name),
             kind);
    } else {
      return &value->second;
    }
    return nullptr;
  }
  void report(const std::string& pointer, std::string found, ParameterKind kind) {
    diagnostics.push_back({Severity::Error, pointer, {}, 0, std::move(found), parameterValueForm(kind), {}});
  }

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
