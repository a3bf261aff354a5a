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

/// "text", "count", "max_tokens", "temperature": how a document names the kind.
const char* parameterKindName(ParameterKind kind);
std::optional<ParameterKind> parameterKindOf(std::string_view name);

/// The kinds from the widest to the narrowest: the values of each are values of those before it.
const std::vector<ParameterKind>& parameterKinds();
/// The one whose values are fewer.
ParameterKind narrowerKind(ParameterKind a, ParameterKind b);

/// What a value of that kind must be, in words: "a whole number from 0 to 255".
std::string parameterValueForm(ParameterKind kind);
/// Whether a value is one of that kind.
bool isParameterValue(ParameterKind kind, const std::string& value);

/// What a document says of a parameter.
struct ParameterDeclaration {
  std::string name;
  std::optional<ParameterKind> kind;        ///< narrower than its places need, e.g. a count within a text
  std::optional<std::string> defaultValue;  ///< where no value is given
  std::string description{};                ///< what it is for, for people
  bool operator==(const ParameterDeclaration&) const = default;

  /// Whether it says nothing but the name.
  bool isEmpty() const { return !kind && !defaultValue && description.empty(); }
};

/// A parameter as a whole, for a form in which a person fills in values.
struct ParameterInfo {
  std::string name;
  /// The narrowest of its places and its declaration: each count is a max_tokens, each of those a
  /// temperature, each of those a text.
  ParameterKind kind = ParameterKind::Text;
  std::vector<ParameterUse> uses;  ///< none if it is only declared
  std::optional<std::string> defaultValue;
  std::string description{};

  /// Whether the query cannot be run without a value.
  bool needsValue() const;
};

/// The parameters of a query in the order in which they occur, then those that are only declared.
std::vector<ParameterInfo> listParameters(const Node& node,
                                          const std::vector<ParameterDeclaration>& declarations = {});

/// What is wrong with values and defaults, apart from the query's text: a value that is not of the
/// parameter's kind, a name that neither the query nor a declaration has (a warning). No positions; the
/// pointer is that of the first place.
std::vector<Diagnostic> checkValues(const std::vector<ParameterInfo>& parameters,
                                    const std::map<std::string, std::string>& values);

/// `values`, and the defaults where it has none.
std::map<std::string, std::string> withDefaults(const std::vector<ParameterInfo>& parameters,
                                                std::map<std::string, std::string> values);

/// The query with the given values put in, or everything that is wrong with it: a number without a value, a
/// value that is not the number that belongs there. Values are not searched for parameters again. A name that
/// does not occur in the query is not an error. The diagnostics have a pointer into the canonical form and no
/// position.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::map<std::string, std::string>& values);

/// The same with what a document declares: a default stands where no value is given, and what stands in a
/// text must be of the declared kind too.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::vector<ParameterDeclaration>& declarations,
    const std::map<std::string, std::string>& values);

}  // namespace spanscope::query
