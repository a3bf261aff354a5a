// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/partial_parameters.h"

#include "engine/query/diagnostic.h"
#include "engine/query/node_parts.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace spanscope::workbench {
namespace {

/// The field where the parameter stands as a number takes this value.
void setNumber(query::Node& root, const query::ParameterUse& use, bool asParameter) {
  query::Node* node = query::nodeAt(root, use.node);
  if (node == nullptr) return;
  const query::Parameter parameter{use.name};
  if (use.kind == query::ParameterKind::Count) {
    query::Times* times = query::countOf(*node);
    if (times == nullptr) return;
    *times = std::uint8_t{1};
    if (asParameter) *times = parameter;
    return;
  }
  query::GenerateSettings* settings = query::settingsOf(*node);
  if (settings == nullptr) return;
  const auto set = [&](auto& field) {
    field = query::Absent{};
    if (asParameter) field = parameter;
  };
  if (use.kind == query::ParameterKind::MaxTokens) set(settings->maxTokens);
  if (use.kind == query::ParameterKind::Temperature) set(settings->temperature);
}

}  // namespace

query::Node resolveWhatFits(const query::Node& query,
                            const std::vector<query::ParameterDeclaration>& declarations,
                            const std::map<std::string, std::string>& values) {
  auto result = query::resolveParameters(query, declarations, values);
  if (auto* node = std::get_if<query::Node>(&result)) return std::move(*node);

  std::vector<query::ParameterUse> unresolved;
  for (const query::ParameterUse& use : query::findParameters(query)) {
    for (const query::Diagnostic& problem : std::get<std::vector<query::Diagnostic>>(result)) {
      if (problem.pointer == use.pointer && use.kind != query::ParameterKind::Text) {
        unresolved.push_back(use);
        break;
      }
    }
  }
  query::Node rest = query;
  for (const query::ParameterUse& use : unresolved) setNumber(rest, use, false);
  auto again = query::resolveParameters(rest, declarations, values);
  auto* node = std::get_if<query::Node>(&again);
  if (node == nullptr) return query;
  for (const query::ParameterUse& use : unresolved) setNumber(*node, use, true);
  return std::move(*node);
}

}  // namespace spanscope::workbench
