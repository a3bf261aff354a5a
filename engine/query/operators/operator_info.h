// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the properties of operators and of their fields: the `kInfo` of each operator. Other code tests a
// property and not the operator. Open this file to add a property.
#pragma once

#include <array>
#include <string_view>

namespace spanscope::query {

/// How the fields of an operator are written in JSON and YAML.
enum class BodyForm {
  Value,       ///< its only field is the whole value: {"user": "text"}
  Fields,      ///< an object of its fields, or a list of them in order
  NamedFields  ///< an object of its fields, never a list
};

/// The contribution of an operator to its prompt.
enum class Gives {
  Text,      ///< a text of its own
  Children,  ///< the contributions of its children, in some order
  Answer,    ///< the answer of a model: the operator generates
  Nothing,   ///< no contribution: the operator runs for its side effect
  Resolved   ///< replaced before the query is sent anywhere
};

/// Who replaces an operator that the engine does not run, and by what.
enum class ResolvedBy {
  Nobody,     ///< the engine runs the operator
  Rule,       ///< a rule of the planner replaces it
  Retrieval,  ///< retrieval replaces the operator by passages, before planning
  Files,      ///< sugar: replaced by the file that its text names, before planning
  User,       ///< sugar: replaced by the user's answer to its text, before planning
};

/// A remark about one node, and a remark with {n} about several nodes. Empty: no remark.
struct Remark {
  std::string_view one = {};
  std::string_view many = {};
};

/// Another name of an operator: in other formats, in the Lisp form or in everyday speech.
struct OtherName {
  std::string_view name = {};
  std::string_view key = {};
};

struct OperatorInfo {
  BodyForm form = BodyForm::Fields;
  Gives gives = Gives::Resolved;
  ResolvedBy resolvedBy = ResolvedBy::Nobody;
  bool isInMacro = true;  ///< whether IBM/spnl's macro, the Lisp form, has the operator
  std::array<OtherName, 4> otherNames = {};

  const char* noun = "";  ///< for sugar: the thing that replaces the operator

  /// For an operator that is resolved before planning. The planner reports the operator as an error.
  /// `unplannedAs`, followed by its text or document name, is the found part. `plannedAs` is the expected
  /// part.
  const char* unplannedAs = "";
  const char* plannedAs = "";

  /// The reason why the endpoint of a server with span support does not accept the operator.
  Remark onServer = {};
  /// The remark in the export to other servers. For sugar: the remark in the export to any server.
  Remark elsewhere = {};
};

// The properties of a field of an operator besides its member. Each operator has one list of its fields in
// written order. The function `fields(op, visit)` calls visit(info, member) for each field. The type of the
// member determines the kind of the field (visit_fields.h).

struct FieldInfo {
  /// Empty if the field has no key. Then the field is the whole value of the operator, or the field is a
  /// group. The fields of such a group are beside the operator's own fields.
  const char* key = "";
  const char* missing = nullptr;  ///< name of the value in the error for a missing field; nullptr: optional
  const char* expected = "text";  ///< for a text: the expected value, in words
  bool isName = false;            ///< for a text: the name of a model, which should not be empty
  std::string_view olderKey =
      {};  ///< for a generate node: key of this field in older documents, which write a query there

  constexpr bool hasKey() const { return *key != '\0'; }
};

}  // namespace spanscope::query
