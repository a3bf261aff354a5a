// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters: placeholders in a query that get their values when it is run. A number may be replaced by a
// parameter as a whole, "{n}". A text may contain any number of parameters, "Write about {topic}.".
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

/// The name, if the whole text is a parameter: "n" for "{n}". A name begins with a letter or _ and continues
/// with letters, digits and _ . -
std::optional<std::string> parameterName(std::string_view text);

enum class ParameterKind {
  Text,         ///< within a text; without a value the text stays as it is, including the braces
  Count,        ///< the n of a repeat: a whole number from 0 to 255
  MaxTokens,    ///< a whole number of 32 bits
  Temperature,  ///< a finite number
};

/// A place where a parameter is used.
struct ParameterUse {
  std::string name;
  ParameterKind kind = ParameterKind::Text;
  NodePath node;
  std::string pointer;  ///< of the field, in the canonical form: "/g/max_tokens", "/g/input/cross/0/user"
  bool operator==(const ParameterUse&) const = default;
};

/// All uses of all parameters, in the order of the tree. The texts are messages, prints, prompts, paths,
/// inputs of a map, and names of models and documents. The content of a document is data and is not searched.
std::vector<ParameterUse> findParameters(const Node& node);

/// The name of the kind in documents: "text", "count", "max_tokens", "temperature".
const char* parameterKindName(ParameterKind kind);
std::optional<ParameterKind> parameterKindOf(std::string_view name);

/// The kinds from the widest to the narrowest: the values of a kind are also values of all kinds before it.
const std::vector<ParameterKind>& parameterKinds();
/// The kind with fewer values.
ParameterKind narrowerKind(ParameterKind a, ParameterKind b);

/// What a value of this kind must be, in words: "a whole number from 0 to 255".
std::string parameterValueForm(ParameterKind kind);
/// Whether `value` is a value of this kind.
bool isParameterValue(ParameterKind kind, const std::string& value);

/// What a document declares about a parameter.
struct ParameterDeclaration {
  std::string name;
  std::optional<ParameterKind> kind;        ///< may be narrower than its uses need, e.g. a count within a
                                            ///< text
  std::optional<std::string> defaultValue;  ///< used if no value is given
  std::string description{};                ///< the purpose, for people
  bool operator==(const ParameterDeclaration&) const = default;

  /// Whether it declares only the name.
  bool isEmpty() const { return !kind && !defaultValue && description.empty(); }
};

/// Everything about a parameter, for a form in which a person enters values.
struct ParameterInfo {
  std::string name;
  /// The narrowest kind among its uses and its declaration. Each count is also a max_tokens, each max_tokens
  /// a temperature, and each temperature a text.
  ParameterKind kind = ParameterKind::Text;
  std::vector<ParameterUse> uses;  ///< empty if it is only declared
  std::optional<std::string> defaultValue;
  std::string description{};

  /// Whether the query needs a value for it to run.
  bool needsValue() const;
};

/// The parameters of a query in the order of their first uses, then the parameters that are only declared.
std::vector<ParameterInfo> listParameters(const Node& node,
                                          const std::vector<ParameterDeclaration>& declarations = {});

/// Checks values and defaults, but not the text of the query. Reports a value that does not have the kind of
/// its parameter, and warns about a name that neither the query nor a declaration has. There are no
/// positions; the pointer is that of the first use.
std::vector<Diagnostic> checkValues(const std::vector<ParameterInfo>& parameters,
                                    const std::map<std::string, std::string>& values);

/// `values`, completed with the defaults.
std::map<std::string, std::string> withDefaults(const std::vector<ParameterInfo>& parameters,
                                                std::map<std::string, std::string> values);

/// The query with the given values filled in, or all errors: a number without a value, and a value that is
/// not the right number. Values are not searched for parameters. A name that does not occur in the query is
/// no error. The diagnostics have a pointer into the canonical form and no position.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::map<std::string, std::string>& values);

/// The same with the declarations of a document: a default applies where no value is given, and values within
/// texts must have the declared kind too.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::vector<ParameterDeclaration>& declarations,
    const std::map<std::string, std::string>& values);

}  // namespace spanscope::query
