// SPDX-License-Identifier: GPL-3.0-or-later
// Spanscope documents (.span) where a command reads queries.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/source_map.h"
#include "engine/retrieve/resolve_augments.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// Where the query that a document runs stands in the document's text.
struct DocumentPlaces {
  /// The path of each node in the query as it is written, where what is muted stands too, by its path in the
  /// query that is run.
  std::map<NodePath, NodePath> written;
  query::SourceMap sources;    ///< of the query as it is written, in bytes from `queryBegin`
  std::size_t queryBegin = 0;  ///< the byte of the text at which the query begins
};

/// Has a diagnostic of the query that is run, unless it has a position, point into the document: at the node
/// that its pointer leads to or, for a field, at the node around it.
void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text);

/// The query of a document with what belongs to it. Its layout is the window's; document_settings.h has its
/// settings.
struct DocumentInput {
  /// As it is run: muted branches left out, frozen answers in place of what gave them. Nothing if there was
  /// an error.
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  std::map<std::string, std::string> values;  ///< of parameters
  std::vector<query::ParameterDeclaration> declarations;
  /// Fragments that are pinned or dropped, by the place of their augment in `query`.
  std::map<NodePath, retrieve::FragmentChoice> choices;
  DocumentPlaces places;
};

/// Nothing: the text is no document.
std::optional<DocumentInput> readDocumentInput(std::string_view text);

}  // namespace spanscope::cli
