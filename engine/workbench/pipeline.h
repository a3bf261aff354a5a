// SPDX-License-Identifier: GPL-3.0-or-later
// The one way from a query as it was written to its plan. It is gone in stages; who calls says up to which,
// and what each of them may do. What is wrong on the way is one list, each at its place.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/query_form.h"
#include "engine/query/source_map.h"
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

/// In the order in which they are gone through.
enum class Stage {
  Read,        ///< the text becomes a query
  Parameters,  ///< values take the places of parameters: paths and prompts may hold them, so they come first
  Sugar,       ///< `ask` and `file` get their texts
  Retrieve,    ///< augments become what they find: what is asked for may come from a parameter or a question
  Plan,
};
inline constexpr std::size_t kStages = 5;

/// Where a query comes from: a text, in the form that the input says, or the node itself, e.g. of a document.
/// What is wrong with a node has its pointer and no position.
using QuerySource = std::variant<std::string_view, query::Node>;

/// Everything that the stages take, as values; what is pointed to outlives the call.
struct PipelineInput {
  QuerySource source;
  query::QueryForm form = query::QueryForm::Json;  ///< of the text
  /// The first stage that is run; a node that has been through those before it is not changed by them again.
  Stage from = Stage::Read;

  std::map<std::string, std::string> parameters{};          ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};  ///< what a document says of parameters
  /// A number whose parameter has no value that fits keeps its parameter, instead of being an error.
  bool keepsNumbers = false;

  /// Where `ask` and `file` get their texts, and augments their files; without, `ask` and `file` are left in
  /// the query as they are.
  query::Surroundings* surroundings = nullptr;
  bool endsAtAsk = false;      ///< a query with a question is not asked: it ends before its sugar
  bool endsAtAugment = false;  ///< a query with an augment does not retrieve: it ends before its sugar

  /// What finds the fragments of each augment; without, augments are left in the query as they are.
  Retrieval* retrieval = nullptr;
  retrieve::RetrievalOptions fragments{};  ///< how they are found; with what was decided of them
  retrieve::Watch watch{};                 ///< of indexing
  /// What servers cannot read is an error after retrieval: an `ask` or `file` that was not resolved.
  bool isForServer = false;

  plan::PlanOptions plan{};
  /// With attention locality, the query is planned without it as well, for comparison.
  bool plansWithoutLocality = false;
};

/// Why it ended where it did.
enum class PipelineEnd {
  Reached,    ///< the stage that was asked for
  Problem,    ///< a stage found an error
  Asks,       ///< see endsAtAsk
  Retrieves,  ///< see endsAtAugment
  Stopped,    ///< while it retrieved
};

class PipelineResult {
 public:
  PipelineEnd end = PipelineEnd::Problem;
  Stage at = Stage::Read;  ///< the last stage; where it did not get through: the one that it ended in
  std::vector<query::Diagnostic> diagnostics;  ///< errors and advice, in the order of the stages
  query::SourceMap sources;  ///< where the nodes of the query as it was written stand in the text
  std::vector<retrieve::Retrieved> retrieved;     ///< what each augment found
  std::optional<plan::Plan> plan;                 ///< nothing if it was not come to, or there was an error
  std::optional<plan::Plan> planWithoutLocality;  ///< what it would be; see plansWithoutLocality

  bool isReached() const { return end == PipelineEnd::Reached; }
  /// The query as it is after a stage; nullptr where that was not got through. A stage that had nothing to
  /// work with leaves it as it was.
  const query::Node* queryAfter(Stage stage) const;
  /// The query after the last stage, which is reached; queryAfter() has none afterwards.
  query::Node takeQuery();

 private:
  friend class Pipeline;
  std::array<std::optional<query::Node>, kStages> m_queries;  ///< of the stages that made one
  std::size_t m_passed = 0;                                   ///< how many stages were got through
};

/// Runs the stages up to and with `last`, the others not at all. Throws nothing for what is wrong with the
/// query: that is in the result.
PipelineResult runPipeline(PipelineInput input, Stage last = Stage::Plan);

/// The range of the innermost node that the pointer leads to or through; nothing if the map is empty.
std::optional<query::SourceRange> rangeAround(std::string_view pointer, const query::SourceMap& sources);

/// Where a node stands in the text that the map was made from; for a field, the node around it. No position
/// if there is none.
query::TextPosition positionOf(std::string_view pointer, const query::SourceMap& sources,
                               std::string_view text);

}  // namespace spanscope::workbench
