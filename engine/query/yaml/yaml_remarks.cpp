// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/field_walk.h"
#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/query/yaml/yaml.h"
#include "engine/query/yaml/yaml_scalar.h"

#include <utility>
#include <variant>

namespace spanscope::query {
namespace {

class Remarks {
 public:
  std::vector<Diagnostic> found;

  void node(const NodePath& path, const Node& node) {
    if (!isSugar(node)) return;
    add(path, std::string("the operator \"") + operatorName(node) + "\"", "an operator that IBM/spnl knows",
        "it is resolved before a query is sent");
  }
  void text(const NodePath& /*node*/, const std::string& pointer, const std::string& text) {
    if (!mayBeMisreadInYaml(text)) return;
    add(pointer, "the text \"" + cutText(text, kShownCharacters) + "\"",
        "text that cannot mean anything else",
        "IBM/spnl may read it as a number, true, false or null, in quotes as well, and refuse the query");
  }
  void content(const NodePath& node, const std::string& pointer,
               const std::variant<std::string, std::vector<std::uint8_t>>& content) {
    if (const auto* string = std::get_if<std::string>(&content)) text(node, pointer + "/Text", *string);
  }
  void count(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }

 private:
  static constexpr std::size_t kShownCharacters = 40;

  void number(const std::string& pointer, const auto& value) {
    const auto* parameter = std::get_if<Parameter>(&value);
    if (parameter == nullptr) return;
    add(pointer, "the parameter \"{" + cutText(parameter->name, kShownCharacters) + "}\"", "a number",
        "IBM/spnl knows no parameters");
  }
  void add(const std::string& pointer, std::string what, std::string expected, std::string hint) {
    found.push_back(
        {Severity::Warning, pointer, {}, 0, std::move(what), std::move(expected), std::move(hint)});
  }
};

}  // namespace

std::vector<Diagnostic> yamlRemarks(const Node& node) {
  Remarks remarks;
  FieldWalk<const Node, Remarks>(remarks).walk(node, {});
  return std::move(remarks.found);
}

}  // namespace spanscope::query
