// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `monad`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/base/shared.h"
#include "engine/query/operators/operator_info.h"

namespace spanscope::query {

struct Node;

/// `{"monad": {…}}`: runs for its side effect. The output is dropped.
struct Monad {
  Box<Node> body;
  bool operator==(const Monad&) const = default;

  static constexpr const char* kKey = "monad";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Nothing,
      .isInMacro = false,
      .onServer = {"A monad: SPNL runs this node separately. The server gets only messages and joins.",
                   "{n} monads: SPNL runs these nodes separately. The server gets only messages and joins."},
      .elsewhere = {"A monad is left out of the prompt: it only warms a cache.",
                    "{n} monads are left out of the prompt: they only warm a cache."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.body);
  }
};

}  // namespace spanscope::query
