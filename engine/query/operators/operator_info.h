// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of an operator besides its fields: `kInfo` of each. Whoever wants to know what an operator is
// like asks this, not which operator it is.
#pragma once

#include <array>
#include <string_view>

namespace spanscope::query {

/// How the fields of an operator are written in JSON and YAML.
enum class BodyForm {
  Value,       ///< its only field is its value: {"user": "text"}
  Fields,      ///< an object of its fields, or a list of them in their order
  NamedFields  ///< an object of its fields and never a list
};

/// What an operator gives to the prompt it stands in.
enum class Gives {
  Text,      ///< a text of its own
  Children,  ///< what its children give, in some order
  Reply,     ///< what a model replies: it generates
  Nothing,   ///< it is there for its effect
  Resolved   ///< what is put in its place before the query is sent anywhere
};

/// Who puts what in the place of an operator that the engine does not know.
enum class ResolvedBy {
  Nobody,     ///< the engine knows it
  Rule,       ///< a rule of the planner writes it out
  Retrieval,  ///< fragments are looked up before planning
  Files,      ///< sugar: the file that its text names is read before planning
  Person,     ///< sugar: the person is asked its text before planning
};

/// What is said of one node and, with {n}, of several. Empty: nothing.
struct Remark {
  std::string_view one = {};
  std::string_view many = {};
};

/// What other formats, the Lisp form and everyday speech call an operator.
struct OtherName {
  std::string_view name = {};
  std::string_view key = {};
};

struct OperatorInfo {
  BodyForm form = BodyForm::Fields;
  Gives gives = Gives::Resolved;
  ResolvedBy resolvedBy = ResolvedBy::Nobody;
  bool isInMacro = true;  ///< whether the macro of IBM/spnl, the Lisp form, has it
  std::array<OtherName, 4> otherNames = {};

  const char* noun = "";  ///< of sugar: what it stands for

  /// Of those that are resolved before planning, should a plan meet one: what was found, before its text or
  /// the name of its document, and what belongs there instead.
  const char* unplannedAs = "";
  const char* plannedAs = "";

  /// Why the endpoint of a span server does not take it.
  Remark onServer = {};
  /// What becomes of it on the way to other servers, or, of sugar, to any.
  Remark elsewhere = {};
};

}  // namespace spanscope::query
