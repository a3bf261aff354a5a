// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `augment`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/base/shared.h"
#include "engine/query/operators/operator_info.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

struct Node;

struct SourceDocument {
  std::string name;
  std::variant<std::string, std::vector<std::uint8_t>> content;  ///< text, or the bytes of a PDF
  bool operator==(const SourceDocument&) const = default;
};

/// `{"augment": {…, "doc": […]}}`: passages of the document that match `body`. An embedding model retrieves
/// them.
struct Augment {
  std::string embeddingModel;
  Box<Node> body;
  SourceDocument document;
  bool operator==(const Augment&) const = default;

  static constexpr const char* kKey = "augment";
  static constexpr OperatorInfo kInfo = {
      .resolvedBy = ResolvedBy::Retrieval,
      .isInMacro = false,
      .otherNames = {{{"with", "augment"}}},
      .unplannedAs = "an augment over ",
      .plannedAs = "its passages: retrieval runs before planning",
      .onServer =
          {"An augment: SPNL retrieves the passages first. The server gets only messages and joins.",
           "{n} augments: SPNL retrieves the passages first. The server gets only messages and joins."},
      .elsewhere = {"An augment: chat completions do not retrieve. Retrieve the passages first.",
                    "{n} augments: chat completions do not retrieve. Retrieve the passages first."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "embedding_model",
                    .missing = "the name of a model",
                    .expected = "the name of an embedding model",
                    .isName = true},
          self.embeddingModel);
    visit(FieldInfo{.key = "body", .missing = "the query to find passages for"}, self.body);
    visit(FieldInfo{.key = "doc", .missing = "a list of a name and a content"}, self.document);
  }
};

}  // namespace spanscope::query
