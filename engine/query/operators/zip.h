// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `zip`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/base/shared.h"
#include "engine/query/operators/operator_info.h"

namespace spanscope::query {

struct Node;

/// `{"zip": {"first": …, "second": …}}`: repeats `first` before every element of `second`.
struct Zip {
  Box<Node> first;
  Box<Node> second;
  bool operator==(const Zip&) const = default;

  static constexpr const char* kKey = "zip";
  static constexpr OperatorInfo kInfo = {
      .resolvedBy = ResolvedBy::Rule,
      .isInMacro = false,
      .onServer = {"A zip: SPNL expands this node first. The server gets only messages and joins.",
                   "{n} zips: SPNL expands these nodes first. The server gets only messages and joins."},
      .elsewhere = {"A zip is expanded.", "{n} zips are expanded."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "first", .missing = "the query to repeat"}, self.first);
    visit(FieldInfo{.key = "second", .missing = "the query whose elements it precedes"}, self.second);
  }
};

}  // namespace spanscope::query
