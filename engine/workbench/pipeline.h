// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the stages from a written query to its plan. Every plan is made here. The caller chooses the last
// stage, and the permissions of each stage. All problems are in one list, each with its place. Open this file
// to add a stage.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/query_form.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/retrieval.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::workbench {

/// The stages, in order.
enum class Stage {
  Read,        ///< the text becomes a query
  Parameters,  ///< Parameters get their values. This stage comes early, because paths and prompts may contain
               ///< parameters.
  Sugar,       ///< `ask` and `file` are replaced by their texts
  Retrieve,    ///< augments are replaced by passages; their question may contain a parameter or an answer
  Plan,
};
inline constexpr std::size_t kStages = 5;

/// The source of a query: a text, whose form is in the input, or a node, e.g. of a document. Problems with a
/// node have its pointer and no position.
using QuerySource = std::variant<std::string_view, query::Node>;

/// All inputs of the stages. The objects that pointers refer to must outlive the call.
struct PipelineInput {
  QuerySource source;
  query::QueryForm form = query::QueryForm::Json;  ///< of the text
  /// The first stage to run. Earlier stages do not change a node that already passed them.
  Stage from = Stage::Read;

  std::map<std::string, std::string> parameters{};          ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};  ///< a document's declarations of parameters
  /// If true, the parameter of a number remains when the parameter has no valid value. If false, a missing or
  /// wrong value is an error.
  bool keepsNumbers = false;

  /// Returns the texts of `ask` and `file`, and the files of augments. Without this member, `ask` and `file`
  /// remain in the query.
  query::Surroundings* surroundings = nullptr;
  bool endsAtAsk = false;  ///< whether an `ask` ends the pipeline before the sugar stage, so that the user is
                           ///< not asked
  bool endsAtAugment = false;  ///< whether an augment ends the pipeline before the sugar stage, so that
                               ///< nothing is retrieved

  /// Finds the passages of each augment. Without this member, augments remain in the query.
  Retrieval* retrieval = nullptr;
  retrieve::RetrievalOptions passages{};  ///< how passages are found, including the user's decisions
  retrieve::Watch watch{};                ///< watches the indexing
  /// A remaining `ask` or `file` is an error after retrieval, because servers cannot read such an operator.
  bool isForServer = false;

  plan::PlanOptions plan{};
  /// With attention locality, the query is also planned without attention locality, for comparison.
  bool plansWithoutLocality = false;
};

/// Why the pipeline ended.
enum class PipelineEnd {
  Reached,    ///< the pipeline reached the requested stage
  Problem,    ///< a stage found an error
  Asks,       ///< see endsAtAsk
  Retrieves,  ///< see endsAtAugment
  Stopped,    ///< a stop came during retrieval
};

class PipelineResult {
 public:
  PipelineEnd end = PipelineEnd::Problem;
  Stage at = Stage::Read;                      ///< the last stage, or the stage that failed
  std::vector<query::Diagnostic> diagnostics;  ///< errors and advice, in the order of the stages
  query::SourceMap sources;                    ///< the places of the nodes of the written query in the text
  std::vector<retrieve::Retrieved> retrieved;  ///< the result of each augment
  std::optional<plan::Plan> plan;              ///< nothing if the stage was not reached, or after an error
  std::optional<plan::Plan> planWithoutLocality;  ///< the plan without attention locality; see
                                                  ///< plansWithoutLocality

  bool isReached() const { return end == PipelineEnd::Reached; }
  /// Returns the query after a stage; null if the pipeline did not complete this stage. A stage without work
  /// leaves the query unchanged.
  const query::Node* queryAfter(Stage stage) const;
  /// Returns the query after the last stage, which must be reached. Afterwards queryAfter() has no query.
  query::Node takeQuery();

 private:
  friend class Pipeline;
  std::array<std::optional<query::Node>, kStages> m_queries;  ///< the queries of the stages that changed them
  std::size_t m_passed = 0;                                   ///< number of completed stages
};

/// Runs the stages up to and including `last`. The result contains the problems of the query. The function
/// does not throw for such problems.
PipelineResult runPipeline(PipelineInput input, Stage last = Stage::Plan);

/// Returns the range of the innermost node around the pointer's place; nothing if the map is empty.
std::optional<query::SourceRange> rangeAround(std::string_view pointer, const query::SourceMap& sources);

/// Returns the position of a node in the text of the map. A field has the position of the node around it. The
/// result is empty if the map has no such node.
query::TextPosition positionOf(std::string_view pointer, const query::SourceMap& sources,
                               std::string_view text);

}  // namespace spanscope::workbench
