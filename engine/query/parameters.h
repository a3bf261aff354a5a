// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters: places of a query that get their value when it is run. A number may be a parameter as a whole,
// "{n}"; a text may hold any number of them, "Write about {topic}.".
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

/// The name in a text that is a parameter as a whole: "n" for "{n}". Names begin with a letter or _ and go on
/// with letters, digits and _ . -
std::optional<std::string> parameterName(std::string_view text);

enum class ParameterKind {
  Text,         ///< stands in a text; without a value the text is kept as it is, braces and all
  Count,        ///< n of a repeat: a whole number from 0 to 255
  MaxTokens,    ///< a whole number of 32 bits
  Temperature,  ///< a finite number
};

/// One place where a parameter stands.
struct ParameterUse {
  std::string name;
  ParameterKind kind = ParameterKind::Text;
  NodePath node;
  std::string pointer;  ///< of the field, in the canonical form: "/g/max_tokens", "/g/input/cross/0/user"
  bool operator==(const ParameterUse&) const = default;
};

/// Every place of every parameter, in the order of the tree. Texts are messages, prints, prompts, paths,
/// inputs of a map, names of models and of documents; the content of a document is data and is not searched.
std::vector<ParameterUse> findParameters(const Node& node);

/// The query with the given values put in, or everything that is wrong with it: a number without a value, a
/// value that is not the number that belongs there. Values are not searched for parameters again. A name that
/// does not occur in the query is not an error. The diagnostics have a pointer into the canonical form and no
/// position.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::map<std::string, std::string>& values);

}  // namespace spanscope::query
