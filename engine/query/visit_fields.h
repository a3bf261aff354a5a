// SPDX-License-Identifier: GPL-3.0-or-later
// Visits the fields of a node, whatever its operator is.
#pragma once

#include "engine/query/operators/field_kinds.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

namespace spanscope::query {

/// Calls visit(info, member) for each field of the node's operator, in the order in which the fields are
/// written. `AnyNode` is Node or const Node.
template <class AnyNode, class Visit>
void visitFields(AnyNode& node, Visit&& visit) {
  std::visit([&](auto& op) { std::remove_cvref_t<decltype(op)>::fields(op, visit); }, node.value);
}

/// The key of an operator's value in JSON.
template <class Operator>
const char* keyOf(const Operator& op) {
  if constexpr (requires { op.key(); }) {
    return op.key();
  } else {
    return Operator::kKey;
  }
}

/// The index of an operator in query::Operators.
template <class Operator>
inline constexpr std::size_t kIndexOf = [] {
  std::size_t index = 0;
  bool isFound = false;
  [&]<class... Known>(std::type_identity<std::variant<Known...>>) {
    (((isFound = isFound || std::is_same_v<Known, Operator>) || ++index), ...);
  }(std::type_identity<Operators>());
  return index;
}();

/// Calls f(key, make) for each JSON key of the operator; make() returns the empty operator with this key.
template <class Operator, class F>
constexpr void forEachKey(F&& f) {
  if constexpr (requires { Operator::kKinds; }) {
    for (const auto kind : Operator::kKinds)
      f(Operator::keyOf(kind), [kind] { return Operator::ofKind(kind); });
  } else {
    f(Operator::kKey, [] { return Operator{}; });
  }
}

/// The empty operator with this key.
template <class Operator>
Operator operatorOf(std::string_view key) {
  Operator op;
  forEachKey<Operator>([&](std::string_view known, const auto& make) {
    if (known == key) op = make();
  });
  return op;
}

/// Calls f.template operator()<Operator>() for every operator, in the order of query::Operators.
template <class F>
constexpr void forEachOperator(F&& f) {
  [&]<class... Operator>(std::type_identity<std::variant<Operator...>>) {
    (f.template operator()<Operator>(), ...);
  }(std::type_identity<Operators>());
}

}  // namespace spanscope::query
