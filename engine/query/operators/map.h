// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `map`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/query/operators/operator_info.h"
#include "engine/query/operators/settings.h"

#include <string>
#include <vector>

namespace spanscope::query {

/// `{"map": {"metadata": {…}, "inputs": […]}}`: one generate node per input. Each input is a user message.
struct Map {
  GenerateSettings settings;
  std::vector<std::string> inputs;
  bool operator==(const Map&) const = default;

  static constexpr const char* kKey = "map";
  static constexpr OperatorInfo kInfo = {
      .gives = Gives::Answer,
      .resolvedBy = ResolvedBy::Rule,
      .isInMacro = false,
      .otherNames = {{{"foreach", "map"}}},
      .elsewhere = {"A map becomes one request per input: chat completions have no bulk form.",
                    "{n} maps become one request per input: chat completions have no bulk form."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "metadata", .missing = "the model and its settings"}, self.settings);
    visit(FieldInfo{.key = "inputs", .missing = "a list of texts"}, self.inputs);
  }
};

}  // namespace spanscope::query
