// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/planned_query.h"

#include "engine/plan/planner.h"
#include "engine/query/json.h"
#include "engine/query/parameters.h"
#include "engine/query/source_map.h"

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
  std::string_view path = diagnostic.pointer;
  std::optional<query::SourceRange> range = source.map.find(path);
  while (!range && !path.empty()) {
    path = path.substr(0, path.rfind('/'));
    range = source.map.find(path);
  }
  if (!range) return;
  diagnostic.offset = range->begin;
  diagnostic.position = query::positionAt(source.text, range->begin);
}

void add(std::vector<Diagnostic>& diagnostics, Diagnostic diagnostic, const Source& source) {
  locate(diagnostic, source);
  diagnostics.push_back(std::move(diagnostic));
}

ReadQuery read(Source& source, const std::map<std::string, std::string>& parameters) {
  query::ParseResult parsed = query::parseJson(source.text);
  source.map = std::move(parsed.sources);
  ReadQuery result{.query = {}, .diagnostics = std::move(parsed.diagnostics)};
  if (!parsed.query) return result;
  auto resolved = query::resolveParameters(*parsed.query, parameters);
  if (auto* node = std::get_if<query::Node>(&resolved)) {
    result.query = std::move(*node);
  } else {
    for (Diagnostic& problem : std::get<std::vector<Diagnostic>>(resolved)) {
      add(result.diagnostics, std::move(problem), source);
    }
  }
  return result;
}

void refuseSugar(const query::Node& node, const NodePath& path, const Source& source,
                 std::vector<Diagnostic>& diagnostics) {
  if (node.as<query::Ask>() != nullptr || node.as<query::File>() != nullptr) {
    Diagnostic problem;
    problem.pointer = path;
    problem.found = std::string("an operator \"") + query::operatorName(node) + "\"";
    problem.expected = "one that servers know: put the text itself there";
    add(diagnostics, std::move(problem), source);
  }
  for (const query::ChildRef& child : query::childrenOf(node)) {
    refuseSugar(*child.node, path + child.step, source, diagnostics);
  }
}

}  // namespace

ReadQuery readQuery(std::string_view text, const std::map<std::string, std::string>& parameters) {
  Source source{.text = text, .map = {}};
  return read(source, parameters);
}

ReadQuery readQueryForServer(std::string_view text, const std::map<std::string, std::string>& parameters) {
  Source source{.text = text, .map = {}};
  ReadQuery result = read(source, parameters);
  if (!result.query) return result;
  refuseSugar(*result.query, {}, source, result.diagnostics);
  if (query::hasErrors(result.diagnostics)) result.query.reset();
  return result;
}

PlannedQuery planQuery(std::string_view text, const QueryOptions& options) {
  Source source{.text = text, .map = {}};
  ReadQuery readResult = read(source, options.parameters);
  PlannedQuery result{
      .query = std::move(readResult.query), .plan = {}, .diagnostics = std::move(readResult.diagnostics)};
  if (!result.query) return result;

  plan::PlanOptions planOptions;
  planOptions.seed = options.seed;
  planOptions.distribute = options.distribute;
  planOptions.outputForm = options.outputForm;
  plan::PlanResult planned = plan::makePlan(*result.query, planOptions);
  for (Error& problem : planned.problems) {
    Diagnostic diagnostic;
    diagnostic.pointer = std::move(problem.place);
    diagnostic.found = std::move(problem.found);
    diagnostic.expected = std::move(problem.expected);
    add(result.diagnostics, std::move(diagnostic), source);
  }
  result.plan = std::move(planned.plan);
  return result;
}

}  // namespace spanscope::workbench
