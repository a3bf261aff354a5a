// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with a document, or probably not meant, before it is run.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace spanscope::compute {
struct Device;
}

namespace spanscope::document {

struct Problem {
  /// Error: the query cannot be run. Warning: it can, but probably does not do what was meant.
  Severity severity = Severity::Error;
  NodeId node = kNoNode;  ///< where; kNoNode: the document as a whole
  QString text;           ///< one sentence
  QString hint;           ///< how to mend it; may be empty
  /// The model that the query names, where it would run on another: RunSettings::standsFor accepts that.
  std::string otherModel{};
  bool isOfDevice = false;  ///< the document's device cannot be used here: another one has to be chosen
  bool operator==(const Problem&) const = default;
};

/// What is known of the model that the query would run on, and of the machine.
struct ProblemContext {
  /// Number of tokens of a text; empty: no tokenizer. Called for every message of every prompt.
  std::function<std::int64_t(const std::string&)> countTokens;
  std::int64_t contextLength = 0;  ///< tokens; 0: unknown
  /// All devices, those that cannot be used included; null: not known.
  const std::vector<compute::Device>* devices = nullptr;
};

/// Errors and warnings in prompt order, the document's own first. Where the query can be planned it is, so
/// that what the planner refuses is told at its node.
std::vector<Problem> findProblems(const Document& document, const ProblemContext& context = {});

/// What a person calls the node: its name, or its operator.
QString nodeLabel(const DocumentNode& node);
/// What a person calls an operator: "generate" for "g", "sequence" for "seq", the rest as they are.
QString operatorLabel(const std::string& op);

}  // namespace spanscope::document
