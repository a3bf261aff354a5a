// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `repeat`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/query/operators/generate.h"
#include "engine/query/operators/operator_info.h"
#include "engine/query/operators/settings.h"

#include <cstdint>

namespace spanscope::query {

/// `{"repeat": {"n": 4, "g": {…}}}`: generates `count` answers to the same prompt.
struct Repeat {
  Times count = std::uint8_t{1};
  Generate generate;
  bool operator==(const Repeat&) const = default;

  static constexpr const char* kKey = "repeat";
  static constexpr OperatorInfo kInfo = {
      .gives = Gives::Answer,
      .resolvedBy = ResolvedBy::Rule,
      .otherNames = {{{"loop", "repeat"}}},
      .elsewhere = {"A repeat becomes one request per copy: chat completions have no bulk form.",
                    "{n} repeats become one request per copy: chat completions have no bulk form."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "n", .missing = "the number of answers"}, self.count);
    visit(
        FieldInfo{
            .key = "g", .missing = /*id:repeat-generate*/ "the generate node to repeat", .olderKey = "query"},
        self.generate);
  }
};

}  // namespace spanscope::query
