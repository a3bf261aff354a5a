// SPDX-License-Identifier: GPL-3.0-or-later
// Defines messages with their roles: system, user, assistant. Open this file to change how other code treats
// them.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <array>
#include <string>

namespace spanscope::query {

enum class Role { System, User, Assistant };

constexpr const char* roleName(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      return "assistant";
  }
  return "";
}

/// A leaf: `{"user": "text"}`.
struct Message {
  Role role = Role::User;
  std::string text;
  bool operator==(const Message&) const = default;

  /// The key of the operator shows the role.
  static constexpr std::array kKinds = {Role::User, Role::System, Role::Assistant};
  static constexpr const char* keyOf(Role role) { return roleName(role); }
  static Message ofKind(Role role) { return {role, {}}; }
  const char* key() const { return keyOf(role); }

  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Text,
      .otherNames = {{{"text", "user"}, {"human", "user"}, {"prompt", "user"}, {"ai", "assistant"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.text);
  }
};

}  // namespace spanscope::query
