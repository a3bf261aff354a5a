// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the generate node. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/base/shared.h"
#include "engine/query/operators/operator_info.h"
#include "engine/query/operators/settings.h"

namespace spanscope::query {

struct Node;

/// `{"g": {...}}`: generates new tokens after the input.
struct Generate {
  GenerateSettings settings;
  Box<Node> input;
  bool operator==(const Generate&) const = default;

  static constexpr const char* kKey = "g";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::NamedFields,
      .gives = Gives::Answer,
      .otherNames = {{{"generate", "g"}, {"gen", "g"}, {"model", "g"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.settings);
    visit(FieldInfo{.key = "input", .missing = "the query to continue"}, self.input);
  }
};

}  // namespace spanscope::query
