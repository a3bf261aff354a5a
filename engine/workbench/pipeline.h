// SPDX-License-Identifier: GPL-3.0-or-later
// The only way from a written query to its plan, in stages. The caller chooses the last stage, and what each
// stage may do. All problems are in one list, each with its place.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/parse_result.h"
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
  Parameters,  ///< parameters get their values; this comes first because paths and prompts may contain
               ///< parameters
  Sugar,       ///< `ask` and `file` are replaced by their texts
  Retrieve,    ///< augments are replaced by fragments; their question may contain a parameter or an answer
  Plan,
};
inline constexpr std::size_t kStages = 5;

/// The source of a query: a text, whose form is in the input, or the node itself, e.g. of a document.
/// Problems with a node have its pointer and no position.
using QuerySource = std::variant<std::string_view, query::Node>;

/// All inputs of the stages. Objects behind pointers must outlive the call.
struct PipelineInput {
  QuerySource source;
  query::QueryForm form = query::QueryForm::Json;  ///< of the text
  /// The first stage to run. A node that has already passed the stages before it is not changed by them
  /// again.
  Stage from = Stage::Read;

  std::map<std::string, std::string> parameters{};          ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};  ///< what a document declares about parameters
  /// If a number's parameter has no valid value, the parameter stays; otherwise this is an error.
  bool keepsNumbers = false;

  /// Gives `ask` and `file` their texts, and augments their files. Without it, `ask` and `file` stay in the
  /// query.
  query::Surroundings* surroundings = nullptr;
  bool endsAtAsk = false;      ///< a query with an `ask` ends before the sugar stage, so that nobody is asked
  bool endsAtAugment = false;  ///< a query with an augment ends before the sugar stage, so that nothing is
                               ///< retrieved

  /// Finds the fragments of each augment. Without it, augments stay in the query.
  Retrieval* retrieval = nullptr;
  retrieve::RetrievalOptions fragments{};  ///< how fragments are found, including a person's decisions
  retrieve::Watch watch{};                 ///< of indexing
  /// After retrieval, an `ask` or `file` that is still there is an error, because servers cannot read it.
  bool isForServer = false;

  plan::PlanOptions plan{};
  /// With attention locality, the query is also planned without it, for comparison.
  bool plansWithoutLocality = false;
};

/// Why the pipeline ended.
enum class PipelineEnd {
  Reached,    ///< it reached the requested stage
  Problem,    ///< a stage found an error
  Asks,       ///< see endsAtAsk
  Retrieves,  ///< see endsAtAugment
  Stopped,    ///< while it was retrieving
};

class PipelineResult {
 public:
  PipelineEnd end = PipelineEnd::Problem;
  Stage at = Stage::Read;                         ///< the last stage; if that failed: the stage that failed
  std::vector<query::Diagnostic> diagnostics;     ///< errors and advice, in the order of the stages
  query::SourceMap sources;                       ///< where the nodes of the written query stand in the text
  std::vector<retrieve::Retrieved> retrieved;     ///< the result of each augment
  std::optional<plan::Plan> plan;                 ///< nothing if the stage was not reached, or there was an
                                                  ///< error
  std::optional<plan::Plan> planWithoutLocality;  ///< the plan without attention locality; see
                                                  ///< plansWithoutLocality

  bool isReached() const { return end == PipelineEnd::Reached; }
  /// The query after a stage; nullptr if the pipeline did not complete this stage. A stage without anything
  /// to do leaves the query unchanged.
  const query::Node* queryAfter(Stage stage) const;
  /// The query after the last stage, which must be reached. Afterwards queryAfter() has no query.
  query::Node takeQuery();

 private:
  friend class Pipeline;
  std::array<std::optional<query::Node>, kStages> m_queries;  ///< of the stages that made one
  std::size_t m_passed = 0;                                   ///< number of completed stages
};

/// Runs the stages up to and including `last`. It throws nothing for problems of the query: they are in the
/// result.
PipelineResult runPipeline(PipelineInput input, Stage last = Stage::Plan);

/// The range of the innermost node on the way to the pointer's place; nothing if the map is empty.
std::optional<query::SourceRange> rangeAround(std::string_view pointer, const query::SourceMap& sources);

/// The position of a node in the text from which the map was made; for a field, the position of the node
/// around it. No position if there is none.
query::TextPosition positionOf(std::string_view pointer, const query::SourceMap& sources,
                               std::string_view text);

}  // namespace spanscope::workbench
