// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a field of an operator besides its member. Each operator has one list of its fields, in
// the order in which they are written: `fields(op, visit)` calls visit(info, member) for each. The type of
// the member determines the kind of the field (field_kinds.h).
#pragma once

#include <string_view>

namespace spanscope::query {

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
