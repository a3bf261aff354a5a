// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/document_input.h"

#include "ui/document/document_query.h"
#include "ui/document/document_text.h"

#include <utility>

namespace spanscope::cli {
namespace {

query::Diagnostic problem(std::string pointer, std::string found, std::string expected) {
  query::Diagnostic diagnostic;
  diagnostic.pointer = std::move(pointer);
  diagnostic.found = std::move(found);
  diagnostic.expected = std::move(expected);
  return diagnostic;
}

}  // namespace

std::optional<DocumentInput> readDocumentInput(std::string_view text) {
  if (!document::isDocumentText(text)) return std::nullopt;
  document::OpenedDocument opened = document::readDocument(text);
  DocumentInput input;
  input.diagnostics = std::move(opened.diagnostics);
  if (!opened.document) return input;
  document::QueryOf taken = document::toQuery(*opened.document, document::TakeOut::MutedAndFrozen);
  for (const document::NodeId id : taken.incomplete) {
    const auto place = taken.paths.byNode.find(id);
    input.diagnostics.push_back(problem("/query" + (place == taken.paths.byNode.end() ? "" : place->second),
                                        "a node that lacks an input", "one that is neither empty nor muted"));
  }
  if (!taken.query && taken.incomplete.empty()) {
    input.diagnostics.push_back(problem("/query", "no query", "a document with a node"));
  }
  input.query = std::move(taken.query);
  input.values = std::move(opened.document->parameters);
  input.declarations = std::move(opened.document->declarations);
  return input;
}

}  // namespace spanscope::cli
