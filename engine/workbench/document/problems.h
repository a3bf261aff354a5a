// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of what is wrong with a document, or probably not intended. The window shows it before a run,
// a run is refused for its errors, and the command line prints it.
#pragma once

#include "engine/base/error.h"
#include "engine/query/surroundings.h"
#include "engine/run/plan_progress.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_obstacle.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::compute {
struct Device;
}

namespace spanscope::document {

/// A sentence that can be translated: its arguments come in later.
struct Sentence {
  struct Argument {
    std::string text;
    bool isOperator = false;  ///< `text` is the name of an operator, for which people have a word
  };
  /// Marked by forTranslation() with the context "Problems"; %1, %2… stand for the arguments.
  const char* form = "";
  std::vector<Argument> arguments{};

  std::string words() const;  ///< in English
};

struct QueryProblem {
  /// Error: the query cannot be run. Warning: it can be run, but probably does not do what was intended.
  Severity severity = Severity::Error;
  /// The node that has the problem; kNoNode: the document as a whole.
  NodeId node = kNoNode;
  std::string field{};  ///< JSON pointer from the node to its field: "/user"; "": the node itself
  Sentence text{};
  Sentence hint{};  ///< how to fix it; may have no words
  /// The model that the query names, if the query would run on another one. RunSettings::standsFor holds the
  /// names for which a person accepts that.
  std::string otherModel{};
  /// The document's device cannot be used here: the person must choose another one.
  bool isOfDevice = false;
  /// The chat template of the document's model is not known: the person must choose one, or, in a warning,
  /// may.
  bool isOfTemplate = false;
  /// It comes from the run settings, not from the query: with other settings the same query would not have
  /// it.
  bool isOfSettings = false;
  /// Blocks of a pool that would hold the run, if the present one is too small. 0: another problem.
  std::int32_t poolNeeded = 0;
};

/// How a query uses a path.
enum class FileUse {
  Text,       ///< the text of one file
  Documents,  ///< all files that the path stands for; see Surroundings::listFiles()
};

/// What is known of the machine, and of the model on which the query would run.
struct ProblemContext {
  /// Returns the number of tokens of a text. Empty: there is no tokenizer. It is called for every message of
  /// every prompt.
  std::function<std::int64_t(const std::string&)> countTokens{};
  std::int64_t contextLength = 0;  ///< tokens; 0: unknown
  /// Whether a run of the whole query fits, as the run itself counts. Null: not known. Prompts are then
  /// measured by `countTokens`, without the chat template.
  const run::PlanFit* fit = nullptr;
  /// All devices, including devices that cannot be used; null: not known.
  const std::vector<compute::Device>* devices = nullptr;
  /// What workbench::modelObstacle() says of the document's settings; nothing: the model can be opened, or it
  /// is not looked at.
  std::optional<workbench::ModelObstacle> modelObstacle{};
  /// What workbench::guessedTemplate() says of them.
  std::string guessedTemplate{};
  /// Says why a run of the document could not use a path; nothing: it can. Empty: files are not looked at.
  std::function<std::optional<query::NotGiven>(const std::string& path, FileUse use)> fileObstacle{};
};

/// Whether the embedded engine answers nothing of the document's query.
bool goesOnlyToServers(const Document& document);

/// What is wrong with a query whose plan has no step, and how to fix it.
Sentence nothingToGenerate();
Sentence nothingToGenerateHint();

/// Returns errors and warnings of what is run below `top` (kNoNode: of the query): first of the device and
/// the model, then of the nodes from the top down, then of the plan. For the query, trees outside of it come
/// last. If nothing prevents it, the query is planned, so that what the planner refuses is reported at its
/// node.
std::vector<QueryProblem> problemsOf(const Document& document, const ProblemContext& context = {},
                                     NodeId top = kNoNode);

/// JSON pointers to the places of problems in the document's query as it is drawn (toTree()), one for each.
/// "" for what stands outside of it.
std::vector<std::string> placesOf(const Document& document, const std::vector<QueryProblem>& problems);

}  // namespace spanscope::document
