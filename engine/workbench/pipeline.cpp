// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/pipeline.h"

#include "engine/base/error.h"
#include "engine/query/node_parts.h"

#include <cstdint>
#include <utility>

namespace spanscope::workbench {
namespace {

// Fills in parameters of an exported query. The receiver may fill in the other parameters.

/// Sets the number field that has the parameter to this value.
void setNumber(query::Node& root, const query::ParameterUse& use, bool asParameter) {
  query::Node* node = query::nodeAt(root, use.node);
  if (node == nullptr) return;
  const query::Parameter parameter{use.name};
  if (use.kind == query::ParameterKind::Count) {
    query::Times* times = query::countOf(*node);
    if (times == nullptr) return;
    *times = std::uint8_t{1};
    if (asParameter) *times = parameter;
    return;
  }
  query::GenerateSettings* settings = query::settingsOf(*node);
  if (settings == nullptr) return;
  const auto set = [&](auto& field) {
    field = query::Absent{};
    if (asParameter) field = parameter;
  };
  if (use.kind == query::ParameterKind::MaxTokens) set(settings->maxTokens);
  if (use.kind == query::ParameterKind::Temperature) set(settings->temperature);
}

/// The query with every valid value filled in. A number without a valid value keeps its parameter; the other
/// parameters still get their values.
query::Node resolveWhatFits(const query::Node& query,
                            const std::vector<query::ParameterDeclaration>& declarations,
                            const std::map<std::string, std::string>& values) {
  auto result = query::resolveParameters(query, declarations, values);
  if (auto* node = std::get_if<query::Node>(&result)) return std::move(*node);

  std::vector<query::ParameterUse> unresolved;
  for (const query::ParameterUse& use : query::findParameters(query)) {
    for (const query::Diagnostic& problem : std::get<std::vector<query::Diagnostic>>(result)) {
      if (problem.pointer == use.pointer && use.kind != query::ParameterKind::Text) {
        unresolved.push_back(use);
        break;
      }
    }
  }
  query::Node rest = query;
  for (const query::ParameterUse& use : unresolved) setNumber(rest, use, false);
  auto again = query::resolveParameters(rest, declarations, values);
  auto* node = std::get_if<query::Node>(&again);
  if (node == nullptr) return query;
  for (const query::ParameterUse& use : unresolved) setNumber(*node, use, true);
  return std::move(*node);
}

using query::Diagnostic;

bool holds(const query::Node& query, query::ResolvedBy resolver) {
  return query::anyNode(
      query, [resolver](const query::Node& node) { return query::infoOf(node).resolvedBy == resolver; });
}

void refuseSugar(const query::Node& query, std::vector<Diagnostic>& problems) {
  query::walk(query, {}, [&](const query::Node& node, const NodePath& path) {
    if (!query::isSugar(node)) return;
    Diagnostic& problem = problems.emplace_back();
    problem.pointer = path;
    problem.found = std::string("an operator \"") + query::operatorName(node) + "\"";
    problem.expected =
        /*id:servers-know-put*/ "an operator that servers know. Write the text into the query instead";
  });
}

}  // namespace

const query::Node* PipelineResult::queryAfter(Stage stage) const {
  if (static_cast<std::size_t>(stage) >= m_passed) return nullptr;
  for (std::size_t i = static_cast<std::size_t>(stage) + 1; i > 0; --i) {
    if (m_queries[i - 1]) return &*m_queries[i - 1];
  }
  return nullptr;
}

query::Node PipelineResult::takeQuery() {
  std::size_t last = m_passed;
  while (!m_queries[last - 1]) --last;
  m_passed = 0;
  return std::move(*m_queries[last - 1]);
}

/// One query in progress through the stages.
class Pipeline {
 public:
  explicit Pipeline(PipelineInput input) : m_input(std::move(input)) {}

  PipelineResult run(Stage last) {
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
      m_result.at = static_cast<Stage>(i);
      const bool isPassed = i < static_cast<std::size_t>(m_input.from) ? take() : pass(m_result.at);
      if (!isPassed) return std::move(m_result);
      m_result.m_passed = i + 1;
    }
    m_result.end = PipelineEnd::Reached;
    return std::move(m_result);
  }

 private:
  /// Returns false if the pipeline ends here.
  bool pass(Stage stage) {
    switch (stage) {
      case Stage::Read:
        return read();
      case Stage::Parameters:
        return resolveParameters();
      case Stage::Sugar:
        return resolveSugar();
      case Stage::Retrieve:
        return retrieve() && serverKnows();
      case Stage::Plan:
        return makePlan();
    }
    return false;
  }

  const query::Node& current() const {
    return *m_result.queryAfter(static_cast<Stage>(m_result.m_passed - 1));
  }

  bool keep(query::Node query) {
    m_result.m_queries[static_cast<std::size_t>(m_result.at)] = std::move(query);
    return true;
  }

  bool endAs(PipelineEnd end) {
    m_result.end = end;
    return false;
  }

  /// Sets the position in the text: the position of its node or, for a field, of the node around it.
  void add(Diagnostic diagnostic) {
    if (diagnostic.position.line == 0) {
      if (const auto range = rangeAround(diagnostic.pointer, m_result.sources)) {
        diagnostic.offset = range->begin;
        diagnostic.position = query::positionAt(m_text, range->begin);
      }
    }
    m_result.diagnostics.push_back(std::move(diagnostic));
  }

  bool keepOrAdd(std::variant<query::Node, std::vector<Diagnostic>> resolved) {
    if (auto* node = std::get_if<query::Node>(&resolved)) return keep(std::move(*node));
    for (Diagnostic& problem : std::get<std::vector<Diagnostic>>(resolved)) add(std::move(problem));
    return endAs(PipelineEnd::Problem);
  }

  /// A given node does not need the read stage.
  bool take() {
    auto* node = std::get_if<query::Node>(&m_input.source);
    if (node == nullptr || m_result.m_passed > 0) return node != nullptr;
    return keep(std::move(*node));
  }

  bool read() {
    if (std::holds_alternative<query::Node>(m_input.source)) return take();
    m_text = std::get<std::string_view>(m_input.source);
    query::ParseResult parsed = query::parseQuery(m_text, m_input.form, {}, m_input.surroundings);
    m_result.sources = std::move(parsed.sources);
    m_result.diagnostics = std::move(parsed.diagnostics);
    return parsed.query ? keep(std::move(*parsed.query)) : endAs(PipelineEnd::Problem);
  }

  bool resolveParameters() {
    if (m_input.keepsNumbers)
      return keep(resolveWhatFits(current(), m_input.declarations, m_input.parameters));
    return keepOrAdd(query::resolveParameters(current(), m_input.declarations, m_input.parameters));
  }

  bool resolveSugar() {
    if (m_input.endsAtAsk && holds(current(), query::ResolvedBy::User)) return endAs(PipelineEnd::Asks);
    if (m_input.endsAtAugment && holds(current(), query::ResolvedBy::Retrieval))
      return endAs(PipelineEnd::Retrieves);
    if (m_input.surroundings == nullptr) return true;
    return keepOrAdd(query::resolveSugar(current(), *m_input.surroundings));
  }

  bool retrieve() {
    if (m_input.retrieval == nullptr) return true;
    retrieve::ResolvedAugments resolved =
        m_input.retrieval->resolve(current(), m_input.passages, m_input.surroundings, m_input.watch);
    for (Diagnostic& diagnostic : resolved.diagnostics) add(std::move(diagnostic));
    m_result.retrieved = std::move(resolved.retrieved);
    if (resolved.query) return keep(std::move(*resolved.query));
    return endAs(resolved.isStopped ? PipelineEnd::Stopped : PipelineEnd::Problem);
  }

  bool serverKnows() {
    if (!m_input.isForServer) return true;
    const auto& retrieved = m_result.m_queries[static_cast<std::size_t>(Stage::Retrieve)];
    std::vector<Diagnostic> problems;
    refuseSugar(retrieved ? *retrieved : current(), problems);
    for (Diagnostic& problem : problems) add(std::move(problem));
    return problems.empty() || endAs(PipelineEnd::Problem);
  }

  bool makePlan() {
    plan::PlanResult planned = plan::makePlan(current(), m_input.plan);
    for (Error& problem : planned.problems) {
      Diagnostic diagnostic;
      diagnostic.pointer = std::move(problem.place);
      diagnostic.found = std::move(problem.found);
      diagnostic.expected = std::move(problem.expected);
      add(std::move(diagnostic));
    }
    m_result.plan = std::move(planned.plan);
    if (!m_result.plan) return endAs(PipelineEnd::Problem);
    if (m_input.plansWithoutLocality && m_input.plan.locality.isOn()) {
      plan::PlanOptions without = m_input.plan;
      without.locality = {};
      without.recordTrees = false;
      m_result.planWithoutLocality = plan::makePlan(current(), without).plan;
    }
    return true;
  }

  PipelineInput m_input;
  std::string_view m_text;
  PipelineResult m_result;
};

PipelineResult runPipeline(PipelineInput input, Stage last) {
  return Pipeline(std::move(input)).run(last);
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

}  // namespace spanscope::workbench
