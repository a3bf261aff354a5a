// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `print`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <string>

namespace spanscope::query {

/// `{"print": "text"}`: prints a message on the console. The value of a print is an empty user message.
struct Print {
  std::string text;
  bool operator==(const Print&) const = default;

  static constexpr const char* kKey = "print";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Nothing,
      .onServer = {"A print: SPNL prints this text. The server gets only messages and joins.",
                   "{n} prints: SPNL prints these texts. The server gets only messages and joins."},
      .elsewhere = {"A print is left out: other servers do not print.",
                    "{n} prints are left out: other servers do not print."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.text);
  }
};

}  // namespace spanscope::query
