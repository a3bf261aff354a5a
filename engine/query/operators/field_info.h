// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a field of an operator besides its member. Each operator has one list of its fields, in the
// order in which they are written: `fields(op, visit)` calls visit(info, member) for each. What kind of field
// it is follows from the type of the member (field_kinds.h).
#pragma once

#include <string_view>

namespace spanscope::query {

struct FieldInfo {
  /// Empty: it has none. Then it is the whole value of the operator, or stands for fields beside its own.
  const char* key = "";
  const char* missing = nullptr;   ///< what is missing without it, in words; nullptr: it may be left out
  const char* expected = "text";   ///< of a text: what belongs there, in words
  bool isName = false;             ///< of a text: that of a model, which should not be empty
  std::string_view olderKey = {};  ///< of a generate: the key under which older documents have it as a query

  constexpr bool hasKey() const { return *key != '\0'; }
};

}  // namespace spanscope::query
