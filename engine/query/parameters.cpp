// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/parameters.h"

#include "engine/base/ascii.h"
#include "engine/query/number_text.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace spanscope::query {

namespace {

bool beginsName(char c) {
  return c == '_' || isLetter(c);
}

bool isInName(char c) {
  return beginsName(c) || isDigit(c) || c == '.' || c == '-';
}

/// The name of the parameter that begins at the front of `text`; nothing if no parameter begins there.
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

namespace {

struct KindName {
  ParameterKind kind;
  const char* name;
};

/// From the widest to the narrowest: the values of a kind are also values of all kinds before it.
constexpr std::array kKinds = {
    KindName{ParameterKind::Text, "text"},
    KindName{ParameterKind::Temperature, "temperature"},
    KindName{ParameterKind::MaxTokens, "max_tokens"},
    KindName{ParameterKind::Count, "count"},
};

bool isWhole(const std::string& value, std::int64_t least, std::int64_t most) {
  if (!isJsonNumber(value) || !isWholeNumber(value)) return false;
  const auto number = wholeNumberValue(value);
  return number && *number >= least && *number <= most;
}

template <class T>
std::string rangeText() {
  return /*id:whole-number*/ "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
         std::to_string(std::numeric_limits<T>::max());
}

ParameterInfo& entryFor(std::vector<ParameterInfo>& parameters, const std::string& name) {
  const auto found = std::ranges::find_if(
      parameters, [&name](const ParameterInfo& parameter) { return parameter.name == name; });
  if (found != parameters.end()) return *found;
  parameters.push_back({name, ParameterKind::Text, {}, {}});
  return parameters.back();
}

bool standsInTextsOnly(const ParameterInfo& parameter) {
  return std::ranges::all_of(parameter.uses,
                             [](const ParameterUse& use) { return use.kind == ParameterKind::Text; });
}

Diagnostic wrongValue(const ParameterInfo& parameter, const std::string& value, const char* what) {
  Diagnostic diagnostic;
  if (!parameter.uses.empty()) diagnostic.pointer = parameter.uses.front().pointer;
  diagnostic.found =
      std::string("the ") + what + " " + inQuotes(value) + " for the parameter " + inQuotes(parameter.name);
  diagnostic.expected = parameterValueForm(parameter.kind);
  return diagnostic;
}

}  // namespace

const std::vector<ParameterKind>& parameterKinds() {
  static const std::vector<ParameterKind> kinds = [] {
    std::vector<ParameterKind> all;
    for (const KindName& known : kKinds) all.push_back(known.kind);
    return all;
  }();
  return kinds;
}

ParameterKind narrowerKind(ParameterKind a, ParameterKind b) {
  const auto rank = [](ParameterKind kind) { return std::ranges::find(kKinds, kind, &KindName::kind); };
  return rank(a) < rank(b) ? b : a;
}

const char* parameterKindName(ParameterKind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "";
}

std::optional<ParameterKind> parameterKindOf(std::string_view name) {
  for (const KindName& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return std::nullopt;
}

std::string parameterValueForm(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Text:
      return "text";
    case ParameterKind::Count:
      return rangeText<std::uint8_t>();
    case ParameterKind::MaxTokens:
      return rangeText<std::int32_t>();
    case ParameterKind::Temperature:
      return /*id:number-bit-float-can*/ "a number that a 32-bit float can hold";
  }
  return {};
}

bool isParameterValue(ParameterKind kind, const std::string& value) {
  switch (kind) {
    case ParameterKind::Text:
      return true;
    case ParameterKind::Count:
      return isWhole(value, std::numeric_limits<std::uint8_t>::min(),
                     std::numeric_limits<std::uint8_t>::max());
    case ParameterKind::MaxTokens:
      return isWhole(value, std::numeric_limits<std::int32_t>::min(),
                     std::numeric_limits<std::int32_t>::max());
    case ParameterKind::Temperature:
      return isJsonNumber(value) && isInDoubleRange(value) && std::isfinite(floatValue(value));
  }
  return false;
}

bool ParameterInfo::needsValue() const {
  return !defaultValue &&
         std::ranges::any_of(uses, [](const ParameterUse& use) { return use.kind != ParameterKind::Text; });
}

std::vector<ParameterInfo> listParameters(const Node& node,
                                          const std::vector<ParameterDeclaration>& declarations) {
  std::vector<ParameterInfo> parameters;
  std::map<std::string, std::size_t> places;
  for (ParameterUse& use : findParameters(node)) {
    const auto [place, isNew] = places.emplace(use.name, parameters.size());
    if (isNew) parameters.push_back({use.name, ParameterKind::Text, {}, {}});
    ParameterInfo& parameter = parameters[place->second];
    parameter.kind = narrowerKind(parameter.kind, use.kind);
    parameter.uses.push_back(std::move(use));
  }
  for (const ParameterDeclaration& declaration : declarations) {
    ParameterInfo& parameter = entryFor(parameters, declaration.name);
    if (declaration.kind) parameter.kind = narrowerKind(parameter.kind, *declaration.kind);
    if (declaration.defaultValue) parameter.defaultValue = declaration.defaultValue;
    if (!declaration.description.empty()) parameter.description = declaration.description;
  }
  return parameters;
}

std::vector<Diagnostic> checkValues(const std::vector<ParameterInfo>& parameters,
                                    const std::map<std::string, std::string>& values) {
  std::vector<Diagnostic> problems;
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : parameters) {
    names.push_back(parameter.name);
    if (parameter.defaultValue && !isParameterValue(parameter.kind, *parameter.defaultValue)) {
      problems.push_back(wrongValue(parameter, *parameter.defaultValue, "default"));
    }
    const auto value = values.find(parameter.name);
    if (value != values.end() && !isParameterValue(parameter.kind, value->second)) {
      problems.push_back(wrongValue(parameter, value->second, "value"));
    }
  }
  for (const auto& [name, value] : values) {
    if (std::ranges::find(names, name) != names.end()) continue;
    Diagnostic unknown;
    unknown.severity = Severity::Warning;
    unknown.found =
        "a value for " + inQuotes(name) + /*id:no-parameter-query*/ ", which is not a parameter of the query";
    unknown.expected = names.empty() ? "no value: the query has no parameters" : "one of";
    for (const std::string& known : names) unknown.expected += (known == names.front() ? " " : ", ") + known;
    if (const auto meant = nearestName(name, names)) unknown.hint = "did you mean " + inQuotes(*meant) + "?";
    problems.push_back(std::move(unknown));
  }
  return problems;
}

std::map<std::string, std::string> withDefaults(const std::vector<ParameterInfo>& parameters,
                                                std::map<std::string, std::string> values) {
  for (const ParameterInfo& parameter : parameters) {
    if (parameter.defaultValue) values.try_emplace(parameter.name, *parameter.defaultValue);
  }
  return values;
}

std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::vector<ParameterDeclaration>& declarations,
    const std::map<std::string, std::string>& values) {
  if (declarations.empty()) return resolveParameters(node, values);
  const std::vector<ParameterInfo> parameters = listParameters(node, declarations);
  const std::map<std::string, std::string> effective = withDefaults(parameters, values);
  auto resolved = resolveParameters(node, effective);
  std::vector<Diagnostic> problems;
  if (auto* found = std::get_if<std::vector<Diagnostic>>(&resolved)) problems = std::move(*found);
  for (const ParameterInfo& parameter : parameters) {
    // The wrong value of a number was already reported at its place.
    if (parameter.uses.empty() || !standsInTextsOnly(parameter)) continue;
    const auto value = effective.find(parameter.name);
    if (value == effective.end() || isParameterValue(parameter.kind, value->second)) continue;
    problems.push_back(
        wrongValue(parameter, value->second, values.contains(parameter.name) ? "value" : "default"));
  }
  if (!problems.empty()) return problems;
  return resolved;
}

}  // namespace spanscope::query
