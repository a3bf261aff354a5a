// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp.h"

#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/lisp/lisp_form.h"
#include "engine/query/node_walk.h"
#include "engine/query/refuse_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::query {
namespace {

/// Adds the nodes of a tree to a map; their ranges are in preorder.
class SourceBuilder {
 public:
  SourceBuilder(SourceMap& sources, const std::vector<SourceRange>& ranges)
      : m_sources(sources), m_ranges(ranges) {}

  void add(const Node& node, std::string step) {
    if (m_next >= m_ranges.size()) return;
    const SourceRange range = m_ranges[m_next++];
    const std::size_t entry = m_sources.open(std::move(step), range.begin);
    forEachChild(node, [this](const Node& child, const std::string& childStep) { add(child, childStep); });
    m_sources.close(entry, range.end);
  }

 private:
  SourceMap& m_sources;
  const std::vector<SourceRange>& m_ranges;
  std::size_t m_next = 0;
};

}  // namespace

ParseResult parseLisp(std::string_view text, const ParseLimits& limits, Surroundings* surroundings) {
  ParseResult result;
  if (auto problem = refuseText(text, std::min(limits.maxBytes, kMaxLispBytes))) {
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  const std::optional<std::string> lines = withLineFeeds(text);
  if (lines) text = *lines;
  auto read =
      readLispForm(text, {.maxDepth = std::min(limits.maxDepth, kMaxDepth), .maxForms = kMaxLispSteps});
  if (auto* issues = std::get_if<std::vector<JsonIssue>>(&read)) {
    if (issues->size() > limits.maxDiagnostics) issues->resize(limits.maxDiagnostics);
    const auto isEarlier = [](const JsonIssue& a, const JsonIssue& b) { return a.offset < b.offset; };
    std::stable_sort(issues->begin(), issues->end(), isEarlier);
    for (JsonIssue& issue : *issues) {
      result.diagnostics.push_back({Severity::Error,
                                    {},
                                    {},
                                    issue.offset,
                                    std::move(issue.found),
                                    std::move(issue.expected),
                                    std::move(issue.hint)});
    }
  } else {
    LispEvaluator evaluator(limits, surroundings);
    if (auto query = evaluator.evaluate(std::get<LispForm>(read))) {
      SourceBuilder(result.sources, query->ranges).add(query->node, {});
      result.query = std::move(query->node);
    }
    result.diagnostics = evaluator.takeDiagnostics();
  }
  locate(result.diagnostics, text);
  return result;
}

}  // namespace spanscope::query
