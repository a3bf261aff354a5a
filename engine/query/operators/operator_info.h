// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of an operator besides its fields: the `kInfo` of each. Code that depends on a property of an
// operator asks for the property here, not for the operator.
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

/// What an operator contributes to the prompt in which it stands.
enum class Gives {
  Text,      ///< a text of its own
  Children,  ///< what its children contribute, in some order
  Reply,     ///< the reply of a model: it generates
  Nothing,   ///< it runs for its side effect
  Resolved   ///< something replaces it before the query is sent anywhere
};

/// Who replaces an operator that the engine does not know, and by what.
enum class ResolvedBy {
  Nobody,     ///< the engine knows it
  Rule,       ///< a rule of the planner replaces it
  Retrieval,  ///< retrieval replaces it by fragments, before planning
  Files,      ///< sugar: replaced by the file that its text names, before planning
  Person,     ///< sugar: replaced by a person's answer to its text, before planning
};

/// A remark about one node and, with {n}, about several. Empty: no remark.
struct Remark {
  std::string_view one = {};
  std::string_view many = {};
};

/// Another name of an operator, in other formats, the Lisp form or everyday speech.
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

  const char* noun = "";  ///< for sugar: the thing that it stands for

  /// For an operator that is resolved before planning. A plan that meets it reports `unplannedAs`, followed
  /// by its text or the name of its document, as what it found, and `plannedAs` as what it expected.
  const char* unplannedAs = "";
  const char* plannedAs = "";

  /// Why the endpoint of a span server does not accept it.
  Remark onServer = {};
  /// What happens to it on the way to other servers; for sugar, on the way to any server.
  Remark elsewhere = {};
};

// What is known of a field of an operator besides its member. Each operator has one list of its fields, in
// the order in which they are written: `fields(op, visit)` calls visit(info, member) for each. The type of
// the member determines the kind of the field (visit_fields.h).

struct FieldInfo {
  /// Empty if the field has no key. Then it is the whole value of the operator, or a group whose fields stand
  /// beside the operator's own.
  const char* key = "";
  const char* missing = nullptr;   ///< names what the value is, for the error if it is missing; nullptr: the
                                   ///< field is optional
  const char* expected = "text";   ///< for a text: what belongs there, in words
  bool isName = false;             ///< for a text: it is the name of a model, which should not be empty
  std::string_view olderKey = {};  ///< for a generate: the key with which older documents write it as a query

  constexpr bool hasKey() const { return *key != '\0'; }
};

}  // namespace spanscope::query
