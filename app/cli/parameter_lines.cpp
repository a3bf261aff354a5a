// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/parameter_lines.h"

#include "app/cli/terminal_output.h"
#include "engine/query/shown_text.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>

namespace spanscope::cli {
namespace {

constexpr std::size_t kShownCharacters = 60;

struct Taken {
  std::optional<std::string> value;
  const char* origin;  ///< "given", "default", "none"
};

Taken takenBy(const query::ParameterInfo& parameter, const std::map<std::string, std::string>& values) {
  const auto given = values.find(parameter.name);
  if (given != values.end()) return {.value = given->second, .origin = "given"};
  if (parameter.defaultValue) return {.value = parameter.defaultValue, .origin = "default"};
  return {.value = {}, .origin = "none"};
}

}  // namespace

std::string parameterLines(const std::vector<query::ParameterInfo>& parameters) {
  std::string text;
  for (const query::ParameterInfo& parameter : parameters) {
    text += "  {" + parameter.name + "}: " + query::parameterKindName(parameter.kind);
    if (parameter.defaultValue) {
      text += ", by default " + query::cutText(*parameter.defaultValue, kShownCharacters);
    } else if (parameter.needsValue()) {
      text += ", needs a value";
    }
    text += parameter.uses.empty() ? ", nowhere" : ", at";
    for (const query::ParameterUse& use : parameter.uses) text += " " + use.pointer;
    if (!parameter.description.empty())
      text += " (" + query::cutText(parameter.description, kShownCharacters) + ")";
    text += "\n";
  }
  return text;
}

std::string parameterTable(const std::vector<query::ParameterInfo>& parameters,
                           const std::map<std::string, std::string>& values) {
  if (parameters.empty()) return {};
  constexpr auto kLeft = TextTable::Align::Left;
  TextTable table({{"", kLeft}, {"", kLeft}, {"", kLeft}, {"", kLeft}});
  for (const query::ParameterInfo& parameter : parameters) {
    const Taken taken = takenBy(parameter, values);
    std::string value = "–";
    if (taken.value) value = query::cutText(*taken.value, kShownCharacters) + " (" + taken.origin + ")";
    table.addRow({"{" + parameter.name + "}", query::parameterKindName(parameter.kind), value,
                  query::cutText(parameter.description, kShownCharacters)});
  }
  return "Parameters\n" + table.text();
}

nlohmann::ordered_json parametersJson(const std::vector<query::ParameterInfo>& parameters,
                                      const std::map<std::string, std::string>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const query::ParameterInfo& parameter : parameters) {
    const Taken taken = takenBy(parameter, values);
    nlohmann::ordered_json json;
    json["name"] = parameter.name;
    json["type"] = query::parameterKindName(parameter.kind);
    json["value"] = taken.value ? nlohmann::ordered_json(*taken.value) : nlohmann::ordered_json();
    json["from"] = taken.origin;
    json["description"] = parameter.description;
    json["places"] = nlohmann::ordered_json::array();
    for (const query::ParameterUse& use : parameter.uses) json["places"].push_back(use.pointer);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace spanscope::cli
