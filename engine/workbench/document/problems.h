// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the problems of a document: its errors, and its probable mistakes. The window shows the list before a
// run, and the command line prints it. A query with errors cannot run. Open this file to add a problem.
#pragma once

#include "engine/base/error.h"
#include "engine/query/surroundings.h"
#include "engine/run/drive_plan.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_problem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::compute {
struct Device;
}

namespace spanscope::document {

/// A translatable sentence. The arguments of the sentence are inserted after translation.
struct Sentence {
  struct Argument {
    std::string text;
    bool isOperator = false;  ///< whether `text` is the name of an operator, which is shown by its label
  };
  /// Marked by forTranslation() with the context "Problems". %1, %2… are the places of the arguments.
  const char* form = "";
  std::vector<Argument> arguments{};

  std::string words() const;  ///< in English
};

struct QueryProblem {
  /// Error: the query cannot run. Warning: the query can run, but probably does not do what the user intends.
  Severity severity = Severity::Error;
  /// The node with the problem; kNoNode: the whole document.
  NodeId node = kNoNode;
  std::string field{};  ///< JSON pointer from the node to its field: "/user"; "": the node itself
  Sentence text{};
  Sentence hint{};  ///< How to fix the problem. The hint may be empty.
  /// The model that the query names, if the query would run on another model. RunSettings::standsFor has the
  /// names for which the user accepts another model.
  std::string otherModel{};
  /// The document's device cannot be used here. The user must choose another device.
  bool isOfDevice = false;
  /// The chat template of the document's model is unknown. The user must choose a template. For a warning,
  /// this choice is optional.
  bool isOfTemplate = false;
  /// The run settings cause the problem, not the query. With other settings, the same query would not have
  /// the problem.
  bool isOfSettings = false;
  /// If the pool is too small: the block count of a large enough pool. 0: another problem.
  std::int32_t poolNeeded = 0;
};

/// How a query uses a path.
enum class FileUse {
  Text,       ///< the text of one file
  Documents,  ///< all files of the path; see Surroundings::listFiles()
};

/// The known facts about the machine, and about the model that would run the query.
struct ProblemContext {
  /// Returns the number of tokens of a text. Empty: there is no tokenizer. The function is called for every
  /// message of every prompt.
  std::function<std::int64_t(const std::string&)> countTokens{};
  std::int64_t contextLength = 0;  ///< tokens; 0: unknown
  /// Whether a run of the whole query fits. The run uses the same counts. Null: not known. `countTokens` then
  /// measures the prompts without the chat template.
  const run::PlanFit* fit = nullptr;
  /// All devices, including unusable ones; null: not known.
  const std::vector<compute::Device>* devices = nullptr;
  /// The result of workbench::modelProblem() for the document's settings. Nothing: the model can be opened,
  /// or was not checked.
  std::optional<workbench::ModelProblem> modelProblem{};
  /// The result of workbench::guessedTemplate() for these settings.
  std::string guessedTemplate{};
  /// Returns why a run of the document cannot use a path; nothing: the path is usable. Empty: files are not
  /// checked.
  std::function<std::optional<query::NotGiven>(const std::string& path, FileUse use)> fileReason{};
};

/// Whether the embedded engine answers no part of the document's query.
bool goesOnlyToServers(const Document& document);

/// Return the problem of a query whose plan has no step, and how to fix this problem.
Sentence nothingToGenerate();
Sentence nothingToGenerateHint();

/// Returns errors and warnings for a run of the nodes below `top` (kNoNode: of the query). The order is:
/// device and model, nodes from the top down, plan. For the query, other trees come last. If no error
/// prevents planning, the query is planned. Errors of the planner are then reported at their nodes.
std::vector<QueryProblem> problemsOf(const Document& document, const ProblemContext& context = {},
                                     NodeId top = kNoNode);

/// Returns the JSON pointer of each problem in the document's query as it is drawn (toTree()). A problem
/// outside of the query has "".
std::vector<std::string> placesOf(const Document& document, const std::vector<QueryProblem>& problems);

}  // namespace spanscope::document
