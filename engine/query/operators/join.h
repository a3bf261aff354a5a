// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operators seq, par, cross and plus. Open this file to change how other code treats them.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <array>
#include <vector>

namespace spanscope::query {

struct Node;

/// Seq and Cross: the order of the children matters. Plus and Par: the children may run in parallel. Only
/// Plus declares that its children are independent of each other and that their order does not matter.
enum class JoinKind { Seq, Par, Cross, Plus };

constexpr const char* joinName(JoinKind kind) {
  switch (kind) {
    case JoinKind::Seq:
      return "seq";
    case JoinKind::Par:
      return "par";
    case JoinKind::Cross:
      return "cross";
    case JoinKind::Plus:
      return "plus";
  }
  return "";
}

/// `{"plus": […]}`
struct Join {
  JoinKind kind = JoinKind::Seq;
  std::vector<Node> children;
  bool operator==(const Join&) const;

  /// The key of the operator shows the kind.
  static constexpr std::array kKinds = {JoinKind::Seq, JoinKind::Par, JoinKind::Cross, JoinKind::Plus};
  static constexpr const char* keyOf(JoinKind kind) { return joinName(kind); }
  static Join ofKind(JoinKind kind);
  const char* key() const { return keyOf(kind); }

  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Children,
      .otherNames = {{{"sequence", "seq"}, {"parallel", "par"}, {"commutative", "plus"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.children);
  }
};

}  // namespace spanscope::query
