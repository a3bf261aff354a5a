// SPDX-License-Identifier: GPL-3.0-or-later
// Finds, checks and fills in parameters: placeholders in a query that get their values when the query runs. A
// number may be a parameter as a whole, "{n}". A text may contain any number of parameters, "Write about
// {topic}.". Open this file to change which values a parameter accepts.
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

/// Returns the name if the whole text is a parameter: "n" for "{n}". A name begins with a letter or _. The
/// other characters are letters, digits, _, . and -.
std::optional<std::string> parameterName(std::string_view text);

enum class ParameterKind {
  Text,         ///< in a text; without a value the text keeps "{name}"
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

/// Lists all uses of all parameters, in the order of the tree. The function searches messages, prints,
/// prompts, paths, the inputs of a map, and the names of models and documents. The function does not search
/// the content of a document.
std::vector<ParameterUse> findParameters(const Node& node);

/// Returns the name of the kind in documents: "text", "count", "max_tokens", "temperature".
const char* parameterKindName(ParameterKind kind);
std::optional<ParameterKind> parameterKindOf(std::string_view name);

/// Returns the kinds from the widest to the narrowest. Each value of a kind is also a value of all earlier
/// kinds.
const std::vector<ParameterKind>& parameterKinds();
/// Returns the kind with fewer values.
ParameterKind narrowerKind(ParameterKind a, ParameterKind b);

/// Describes a value of this kind in words: "a whole number from 0 to 255".
std::string parameterValueForm(ParameterKind kind);
/// Whether `value` is a value of this kind.
bool isParameterValue(ParameterKind kind, const std::string& value);

/// The declaration of a parameter in a document.
struct ParameterDeclaration {
  std::string name;
  std::optional<ParameterKind> kind;        ///< may be narrower than the uses need, e.g. a count in a text
  std::optional<std::string> defaultValue;  ///< used if no value is given
  std::string description{};                ///< the purpose, for the user
  bool operator==(const ParameterDeclaration&) const = default;

  /// Whether the declaration has only the name.
  bool isEmpty() const { return !kind && !defaultValue && description.empty(); }
};

/// All data about a parameter, for a form in which the user enters values.
struct ParameterInfo {
  std::string name;
  /// The narrowest kind among the uses and the declaration of the parameter. Each count is also a max_tokens,
  /// each max_tokens is also a temperature, and each temperature is also a text.
  ParameterKind kind = ParameterKind::Text;
  std::vector<ParameterUse> uses;  ///< empty if the parameter is only declared
  std::optional<std::string> defaultValue;
  std::string description{};

  /// Whether the query cannot run without a value.
  bool needsValue() const;
};

/// Lists the parameters of a query in the order of their first uses. Parameters that are only declared
/// follow.
std::vector<ParameterInfo> listParameters(const Node& node,
                                          const std::vector<ParameterDeclaration>& declarations = {});

/// Checks values and defaults, but not the text of the query. Reports each value that does not have the kind
/// of its parameter. Warns about a name that neither the query nor a declaration has. The diagnostics have no
/// positions. The pointer of a diagnostic is the pointer of the first use.
std::vector<Diagnostic> checkValues(const std::vector<ParameterInfo>& parameters,
                                    const std::map<std::string, std::string>& values);

/// Returns `values`, completed with the defaults.
std::map<std::string, std::string> withDefaults(const std::vector<ParameterInfo>& parameters,
                                                std::map<std::string, std::string> values);

/// Returns the query with the given values filled in, or all errors. A number without a value is an error. A
/// value of the wrong kind is also an error. The function does not search values for parameters. A name that
/// does not occur in the query is no error. The diagnostics have a pointer into the canonical form and no
/// position.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::map<std::string, std::string>& values);

/// Like the function above, with the declarations of a document. A default applies where no value is given.
/// Values in texts must also have the declared kind.
std::variant<Node, std::vector<Diagnostic>> resolveParameters(
    const Node& node, const std::vector<ParameterDeclaration>& declarations,
    const std::map<std::string, std::string>& values);

}  // namespace spanscope::query
