// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `ask`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <string>

namespace spanscope::query {

/// `{"ask": "text"}`: sugar in older documents. The text is a question to the user who runs the query.
struct Ask {
  std::string prompt;
  bool operator==(const Ask&) const = default;

  static constexpr const char* kKey = "ask";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .resolvedBy = ResolvedBy::User,
      .isInMacro = false,
      .noun = "question",
      .unplannedAs = "the question ",
      .plannedAs = "its answer: questions are answered before planning",
      .elsewhere = {"An ask node: a server cannot ask the user. Replace the node by the answer.",
                    "{n} ask nodes: a server cannot ask the user. Replace the nodes by the answers."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.prompt);
  }
};

}  // namespace spanscope::query
