// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/document_input.h"

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"

#include <utility>

namespace spanscope::cli {
namespace {

/// The pointer of the query in a document.
constexpr const char* kQueryPointer = "/query";

/// What is wrong with a place of the query as it is written.
query::Diagnostic problem(const NodePath& written, std::string found, std::string expected,
                          const DocumentPlaces& places, std::string_view text) {
  query::Diagnostic diagnostic;
  diagnostic.pointer = kQueryPointer + written;
  diagnostic.offset = places.queryBegin;
  if (const auto range = workbench::rangeAround(written, places.sources)) diagnostic.offset += range->begin;
  diagnostic.position = query::positionAt(text, diagnostic.offset);
  diagnostic.found = std::move(found);
  diagnostic.expected = std::move(expected);
  return diagnostic;
}

}  // namespace

void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text) {
  if (diagnostic.position.line > 0) return;
  NodePath node = diagnostic.pointer;
  auto place = places.written.find(node);
  while (place == places.written.end() && !node.empty()) {
    const std::size_t slash = node.rfind('/');
    node.resize(slash == NodePath::npos ? 0 : slash);
    place = places.written.find(node);
  }
  if (place == places.written.end()) return;
  const NodePath written = place->second + diagnostic.pointer.substr(node.size());
  diagnostic.pointer = kQueryPointer + written;
  const auto range = workbench::rangeAround(written, places.sources);
  if (!range) return;
  diagnostic.offset = places.queryBegin + range->begin;
  diagnostic.position = query::positionAt(text, diagnostic.offset);
}

std::optional<DocumentInput> readDocumentInput(std::string_view text) {
  if (!document::isDocumentText(text)) return std::nullopt;
  document::OpenedDocument opened = document::readDocument(text);
  DocumentInput input;
  input.diagnostics = std::move(opened.diagnostics);
  if (!opened.document) return input;
  document::Document& document = *opened.document;
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  input.places.sources = std::move(opened.sources);
  input.places.queryBegin = opened.queryBegin;
  std::map<document::NodeId, NodePath> written;
  for (auto& [path, id] : document::pathsInTree(document, document.root())) written[id] = path;
  for (const auto& [path, id] : taken.paths.byPath) input.places.written[path] = written[id];
  for (const document::NodeId id : taken.incomplete) {
    input.diagnostics.push_back(problem(written[id], "a node that lacks an input",
                                        "one that is neither empty nor muted", input.places, text));
  }
  if (!taken.query && taken.incomplete.empty()) {
    input.diagnostics.push_back(problem({}, "no query", "a document with a node", input.places, text));
  }
  input.query = std::move(taken.query);
  input.choices = document::fragmentChoicesOf(document, taken.paths);
  input.values = std::move(document.parameters);
  input.declarations = std::move(document.declarations);
  return input;
}

}  // namespace spanscope::cli
