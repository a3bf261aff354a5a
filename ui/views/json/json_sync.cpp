// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/json/json_sync.h"

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "ui/document/document_file.h"
#include "ui/words/tr.h"

#include <algorithm>
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

QString jsonSummary(const JsonText& text, bool isInStep) {
  const auto error = std::find_if(
      text.diagnostics.begin(), text.diagnostics.end(),
      [](const query::Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
  if (error != text.diagnostics.end()) {
    return tr("line %1: expected %2").arg(error->position.line).arg(QString::fromStdString(error->expected));
  }
  if (!isInStep) return tr("not in step");
  const std::size_t warnings = text.diagnostics.size();
  if (warnings == 0) return tr("in step ✓");
  return warnings == 1 ? tr("in step ✓ · 1 warning") : tr("in step ✓ · %1 warnings").arg(warnings);
}

}  // namespace spanscope::ui
