// SPDX-License-Identifier: GPL-3.0-or-later
// Finds what is wrong with a document, or probably not intended, before it is run.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/surroundings.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::compute {
struct Device;
}

namespace spanscope::ui {

struct Problem {
  /// Error: the query cannot be run. Warning: it can be run, but probably does not do what was intended.
  Severity severity = Severity::Error;
  /// The node that has the problem; kNoNode: the document as a whole.
  document::NodeId node = document::kNoNode;
  QString text;  ///< one sentence
  QString hint;  ///< how to fix it; may be empty
  /// The model that the query names, if the query would run on another one. RunSettings::standsFor holds the
  /// names for which a person accepts that.
  std::string otherModel{};
  bool isOfDevice = false;  ///< the document's device cannot be used here: the person must choose another one
  bool operator==(const Problem&) const = default;
};

/// What is known of the machine, and of the model on which the query would run.
struct ProblemContext {
  /// Returns the number of tokens of a text. Empty: there is no tokenizer. It is called for every message of
  /// every prompt.
  std::function<std::int64_t(const std::string&)> countTokens;
  std::int64_t contextLength = 0;  ///< tokens; 0: unknown
  /// Says why a run of the document could not read a file; nothing: it can. Empty: files are not looked at.
  std::function<std::optional<query::NotGiven>(const std::string& path)> fileObstacle{};
  /// All devices, including devices that cannot be used; null: not known.
  const std::vector<compute::Device>* devices = nullptr;
};

/// Returns errors and warnings: first of the device, then of the query's nodes from the root down, then of
/// the plan, then of trees outside the query. If nothing prevents it, the query is planned, so that what the
/// planner refuses is reported at its node.
std::vector<Problem> findProblems(const document::Document& document, const ProblemContext& context = {});

/// Why the query cannot be run, from the same list: its first error, and how many more there are. Empty: it
/// has no error.
QString refusalOf(const std::vector<Problem>& problems);

/// What a person calls the node: its operator, with the node's own name if it has one: "generate · answer".
QString nodeLabel(const document::DocumentNode& node);

}  // namespace spanscope::ui
