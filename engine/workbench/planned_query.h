// SPDX-License-Identifier: GPL-3.0-or-later
// From the text of a query to its plan: read, give parameters their values, plan; with everything that is
// wrong on the way, each at its place in the text.
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
#include "engine/workbench/retrieval.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::workbench {

struct QueryOptions {
  std::map<std::string, std::string> parameters;            ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};  ///< what a document says of parameters
  query::QueryForm form = query::QueryForm::Json;           ///< of the text
  /// Where `ask` and `file` get their texts; without, they are left in the query as they are.
  query::Surroundings* surroundings = nullptr;
  /// What finds the fragments of each `augment`; without, they are left in the query as they are.
  Retrieval* retrieval = nullptr;
  /// What a document says of the fragments of its augments, by their place in the query.
  std::map<NodePath, retrieve::FragmentChoice> choices{};
  std::uint64_t seed = 0;
  bool distribute = true;  ///< plus distribution: nested generation reaches the outer prompt as a closure
  plan::OutputForm outputForm = plan::OutputForm::Anew;  ///< how it does otherwise: Anew or Reused
  std::map<std::string, bool> rules{};                   ///< rules switched on or off by name
  plan::LocalityOptions locality{};
  bool recordTrees = false;  ///< keep the trees before and after each pass
};

struct ReadQuery {
  /// With its parameters, questions, files and augments resolved; nothing if there was an error.
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  /// Those that the query has, resolved or not; nothing if it could not be read.
  std::optional<std::vector<query::ParameterInfo>> parameters;
  std::map<std::string, std::string> values;  ///< those that were given
  query::SourceMap sources{};  ///< where the nodes of the query as it was written stand in the text
  std::vector<retrieve::Retrieved> retrieved;  ///< what each augment found
  bool isStopped = false;                      ///< while it retrieved
};

struct PlannedQuery {
  std::optional<query::Node> query;
  std::optional<plan::Plan> plan;                 ///< nothing if there was an error
  std::optional<plan::Plan> planWithoutLocality;  ///< what it would be; only where locality was asked for
  std::vector<query::Diagnostic> diagnostics;
  std::optional<std::vector<query::ParameterInfo>> parameters;  ///< as in ReadQuery
  std::map<std::string, std::string> values{};                  ///< as in ReadQuery
  std::vector<retrieve::Retrieved> retrieved;                   ///< as in ReadQuery
  bool isStopped = false;                                       ///< as in ReadQuery
};

/// Where a query comes from: a text, in the form that the options say, or the node itself, e.g. of a
/// document. What is wrong with a node has its pointer and no position.
using QuerySource = std::variant<std::string_view, query::Node>;

/// Reads a query and gives its parameters their values. A number that is left without one is an error.
ReadQuery readQuery(const QuerySource& source, const QueryOptions& options);

/// The same, and what servers cannot read is an error too: an `ask` or `file` that was not resolved.
ReadQuery readQueryForServer(const QuerySource& source, const QueryOptions& options);

/// The range of the innermost node that the pointer leads to or through; nothing if the map is empty.
std::optional<query::SourceRange> rangeAround(std::string_view pointer, const query::SourceMap& sources);

/// Where a node stands in the text that the map was made from; for a field, the node around it. No position
/// if there is none.
query::TextPosition positionOf(std::string_view pointer, const query::SourceMap& sources,
                               std::string_view text);

PlannedQuery planQuery(const QuerySource& source, const QueryOptions& options);

}  // namespace spanscope::workbench
