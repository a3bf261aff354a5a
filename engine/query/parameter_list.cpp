// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/number_text.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

namespace spanscope::query {
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
  return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
         std::to_string(std::numeric_limits<T>::max());
}

ParameterInfo& entryFor(std::vector<ParameterInfo>& parameters, const std::string& name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&name](const ParameterInfo& parameter) { return parameter.name == name; });
  if (found != parameters.end()) return *found;
  parameters.push_back({name, ParameterKind::Text, {}, {}});
  return parameters.back();
}

bool standsInTextsOnly(const ParameterInfo& parameter) {
  return std::all_of(parameter.uses.begin(), parameter.uses.end(),
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
  const auto rank = [](ParameterKind kind) {
    return std::find_if(kKinds.begin(), kKinds.end(),
                        [kind](const KindName& name) { return name.kind == kind; });
  };
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
      return "a number that a 32-bit float can hold";
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
  return !defaultValue && std::any_of(uses.begin(), uses.end(), [](const ParameterUse& use) {
    return use.kind != ParameterKind::Text;
  });
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
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Diagnostic unknown;
    unknown.severity = Severity::Warning;
    unknown.found = "a value for " + inQuotes(name) + ", which is no parameter of the query";
    unknown.expected = names.empty() ? "none: it has no parameters" : "one of";
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
