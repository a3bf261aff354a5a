// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/json/json_sync.h"

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/pipeline.h"
#include "ui/document/document_file.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::ui {
namespace {

bool isEmptySeq(const document::DocumentNode& node) {
  const auto* join = node.own.as<query::Join>();
  return join != nullptr && join->kind == query::JoinKind::Seq && node.children.empty();
}

}  // namespace

JsonText readJsonText(std::string text) {
  JsonText result;
  result.text = std::move(text);
  result.isEmpty = result.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (result.isEmpty) return result;
  query::ParseResult parsed = query::parseJson(result.text);
  result.query = std::move(parsed.query);
  result.diagnostics = std::move(parsed.diagnostics);
  result.sources = std::move(parsed.sources);
  return result;
}

std::string jsonOf(const document::Document& document) {
  if (document.root() == document::kNoNode) return {};
  std::string text = query::writePretty(document::toTree(document, document.root()));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool saysTheSame(const JsonText& text, const document::Document& document) {
  if (document.root() == document::kNoNode) return text.isEmpty;
  return text.query && *text.query == document::toTree(document, document.root());
}

void applyJson(document::Document& document, const query::Node& query) {
  std::vector<std::pair<document::NodeId, std::size_t>> missing;
  for (const document::NodeId id : document.ids()) {
    const std::vector<document::NodeId>& children = document.at(id).children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children[i] == document::kNoNode) missing.emplace_back(id, i);
    }
  }
  document::replaceQuery(document, query);
  std::vector<document::NodeId> fillers;
  for (const auto& [id, index] : missing) {
    const document::DocumentNode* node = document.find(id);
    if (node == nullptr || index >= node->children.size() || node->children[index] == document::kNoNode)
      continue;
    if (isEmptySeq(document.at(node->children[index]))) fillers.push_back(node->children[index]);
  }
  document::removeSubtrees(document, fillers);
}

std::optional<query::SourceRange> rangeOf(const JsonText& text, const document::Document& document,
                                          document::NodeId node) {
  if (!text.query || !document.contains(node) || !document.inQuery(node)) return std::nullopt;
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    if (id == node) return text.sources.find(path);
  }
  return std::nullopt;
}

std::vector<query::SourceRange> mutedRanges(const JsonText& text, const document::Document& document) {
  std::vector<query::SourceRange> ranges;
  if (!text.query || document.root() == document::kNoNode) return ranges;
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    // A missing input has a path but no node.
    if (!document.contains(id) || !document.at(id).muted) continue;
    bool isOutermost = true;
    for (document::NodeId at = document.at(id).parent; at != document::kNoNode; at = document.at(at).parent)
      isOutermost = isOutermost && !document.at(at).muted;
    const auto range = text.sources.find(path);
    if (isOutermost && range) ranges.push_back(*range);
  }
  return ranges;
}

document::NodeId nodeAtOffset(const JsonText& text, const document::Document& document, std::size_t offset) {
  const std::optional<NodePath> path = text.sources.nodeAround(offset);
  if (!path || document.root() == document::kNoNode) return document::kNoNode;
  for (const auto& [place, id] : document::pathsInTree(document, document.root())) {
    if (place == *path) return id;
  }
  return document::kNoNode;
}

std::vector<JsonRemark> remarksOn(const JsonText& text, bool isInStep, const document::Document& document,
                                  const std::vector<Problem>& problems) {
  std::vector<JsonRemark> remarks;
  std::map<std::string, std::size_t> fields;  // the exact places of what both say
  for (const query::Diagnostic& said : text.diagnostics) {
    const bool isInList =
        isInStep && std::any_of(problems.begin(), problems.end(), [&said](const Problem& problem) {
          return !problem.place.empty() && problem.place == said.pointer;
        });
    if (isInList)
      fields.emplace(said.pointer, said.offset);
    else
      remarks.push_back({said.severity, said.offset, QString::fromStdString(said.message())});
  }
  if (!isInStep) return remarks;
  for (const Problem& problem : problems) {
    JsonRemark& remark = remarks.emplace_back(JsonRemark{problem.severity, std::nullopt, saidOf(problem)});
    // What stands outside of the query has no place in the text.
    if (problem.place.empty() && (problem.node != document.root() || text.isEmpty)) continue;
    if (const auto field = fields.find(problem.place); field != fields.end())
      remark.offset = field->second;
    else if (const auto range = workbench::rangeAround(problem.place, text.sources))
      remark.offset = range->begin;
  }
  return remarks;
}

QString jsonSummary(const JsonText& text, bool isInStep, const std::vector<JsonRemark>& remarks) {
  const auto error = std::find_if(
      text.diagnostics.begin(), text.diagnostics.end(),
      [](const query::Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
  if (error != text.diagnostics.end()) {
    return tr("line %1: expected %2").arg(error->position.line).arg(QString::fromStdString(error->expected));
  }
  if (!isInStep) return tr("not in step");
  const auto errors = std::count_if(remarks.begin(), remarks.end(), [](const JsonRemark& remark) {
    return remark.severity == Severity::Error;
  });
  const auto warnings = static_cast<std::ptrdiff_t>(remarks.size()) - errors;
  QStringList parts(tr("in step ✓"));
  if (errors > 0) parts += errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors);
  if (warnings > 0) parts += warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings);
  return parts.join(tr(" · "));
}

}  // namespace spanscope::ui
