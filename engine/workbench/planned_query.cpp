// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/planned_query.h"

#include "engine/plan/planner.h"
#include "engine/query/node_parts.h"
#include "engine/query/node_walk.h"
#include "engine/query/parameters.h"

#include <utility>
#include <variant>

namespace spanscope::workbench {
namespace {

using query::Diagnostic;

/// A query with the text it was read from: what later passes find wrong is shown there.
struct Source {
  std::string_view text;
  query::SourceMap map;
};

/// Finds the place of a pointer in the text: of its node or, for a field, of the node around it.
void locate(Diagnostic& diagnostic, const Source& source) {
  if (diagnostic.position.line > 0) return;
  const std::optional<query::SourceRange> range = rangeAround(diagnostic.pointer, source.map);
  if (!range) return;
  diagnostic.offset = range->begin;
  diagnostic.position = query::positionAt(source.text, range->begin);
}

void add(std::vector<Diagnostic>& diagnostics, Diagnostic diagnostic, const Source& source) {
  locate(diagnostic, source);
  diagnostics.push_back(std::move(diagnostic));
}

/// The node that a pass made, or nothing after its problems were added.
std::optional<query::Node> resultOf(std::variant<query::Node, std::vector<Diagnostic>> resolved,
                                    const Source& source, std::vector<Diagnostic>& diagnostics) {
  if (auto* node = std::get_if<query::Node>(&resolved)) return std::move(*node);
  for (Diagnostic& problem : std::get<std::vector<Diagnostic>>(resolved)) {
    add(diagnostics, std::move(problem), source);
  }
  return std::nullopt;
}

/// The query as it was written; what is wrong with it, or where its nodes stand, goes to the other two.
std::optional<query::Node> parse(const QuerySource& given, Source& source, const QueryOptions& options,
                                 std::vector<Diagnostic>& diagnostics) {
  if (const auto* node = std::get_if<query::Node>(&given)) return *node;
  source.text = std::get<std::string_view>(given);
  query::ParseResult parsed = query::parseQuery(source.text, options.form, {}, options.surroundings);
  source.map = std::move(parsed.sources);
  diagnostics = std::move(parsed.diagnostics);
  return std::move(parsed.query);
}

ReadQuery read(const QuerySource& given, Source& source, const QueryOptions& options) {
  ReadQuery result;
  result.values = options.parameters;
  const std::optional<query::Node> written = parse(given, source, options, result.diagnostics);
  if (!written) return result;
  result.parameters = query::listParameters(*written, options.declarations);
  // Paths and prompts may hold parameters, so they come first.
  result.query = resultOf(query::resolveParameters(*written, options.declarations, options.parameters),
                          source, result.diagnostics);
  if (result.query && options.surroundings != nullptr) {
    result.query =
        resultOf(query::resolveSugar(*result.query, *options.surroundings), source, result.diagnostics);
  }
  if (result.query && options.retrieval != nullptr) {
    // Last: what is asked for may come from a parameter or a question.
    retrieve::ResolvedAugments resolved = options.retrieval->resolve(
        *result.query, options.choices, options.surroundings, options.retrieval->watch());
    for (Diagnostic& diagnostic : resolved.diagnostics) {
      add(result.diagnostics, std::move(diagnostic), source);
    }
    result.query = std::move(resolved.query);
    result.retrieved = std::move(resolved.retrieved);
    result.isStopped = resolved.isStopped;
  }
  return result;
}

void refuseSugar(const query::Node& query, const Source& source, std::vector<Diagnostic>& diagnostics) {
  query::walk(query, {}, [&](const query::Node& node, const NodePath& path) {
    if (!query::isSugar(node)) return;
    Diagnostic problem;
    problem.pointer = path;
    problem.found = std::string("an operator \"") + query::operatorName(node) + "\"";
    problem.expected = "one that servers know: put the text itself there";
    add(diagnostics, std::move(problem), source);
  });
}

}  // namespace

ReadQuery readQuery(const QuerySource& given, const QueryOptions& options) {
  Source source;
  ReadQuery result = read(given, source, options);
  result.sources = std::move(source.map);
  return result;
}

ReadQuery readQueryForServer(const QuerySource& given, const QueryOptions& options) {
  Source source;
  ReadQuery result = read(given, source, options);
  if (result.query) refuseSugar(*result.query, source, result.diagnostics);
  if (query::hasErrors(result.diagnostics)) result.query.reset();
  result.sources = std::move(source.map);
  return result;
}

std::optional<query::SourceRange> rangeAround(std::string_view pointer, const query::SourceMap& sources) {
  std::optional<query::SourceRange> range = sources.find(pointer);
  while (!range && !pointer.empty()) {
    pointer = pointer.substr(0, pointer.rfind('/'));
    range = sources.find(pointer);
  }
  return range;
}

query::TextPosition positionOf(std::string_view pointer, const query::SourceMap& sources,
                               std::string_view text) {
  const std::optional<query::SourceRange> range = rangeAround(pointer, sources);
  return range ? query::positionAt(text, range->begin) : query::TextPosition{};
}

PlannedQuery planQuery(const QuerySource& given, const QueryOptions& options) {
  Source source;
  ReadQuery readResult = read(given, source, options);
  PlannedQuery result;
  result.query = std::move(readResult.query);
  result.diagnostics = std::move(readResult.diagnostics);
  result.parameters = std::move(readResult.parameters);
  result.values = std::move(readResult.values);
  result.retrieved = std::move(readResult.retrieved);
  result.isStopped = readResult.isStopped;
  if (!result.query) return result;

  plan::PlanOptions planOptions;
  planOptions.seed = options.seed;
  planOptions.distribute = options.distribute;
  planOptions.outputForm = options.outputForm;
  planOptions.rules = options.rules;
  planOptions.locality = options.locality;
  planOptions.recordTrees = options.recordTrees;
  plan::PlanResult planned = plan::makePlan(*result.query, planOptions);
  for (Error& problem : planned.problems) {
    Diagnostic diagnostic;
    diagnostic.pointer = std::move(problem.place);
    diagnostic.found = std::move(problem.found);
    diagnostic.expected = std::move(problem.expected);
    add(result.diagnostics, std::move(diagnostic), source);
  }
  result.plan = std::move(planned.plan);
  if (result.plan && planOptions.locality.isOn()) {
    planOptions.locality = {};
    planOptions.recordTrees = false;
    result.planWithoutLocality = plan::makePlan(*result.query, planOptions).plan;
  }
  return result;
}

}  // namespace spanscope::workbench
