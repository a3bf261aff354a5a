// SPDX-License-Identifier: GPL-3.0-or-later
// Reads Spanscope documents (.span) where a command takes queries.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/parse_result.h"
#include "engine/query/query.h"
#include "engine/retrieve/resolve_augments.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// Where the query of a document stands in the document's text.
struct DocumentPlaces {
  /// From the path of a node in the query that is run to its path in the query as it is written, which also
  /// holds muted nodes.
  std::map<NodePath, NodePath> written;
  query::SourceMap sources;    ///< places in the query as it is written, in bytes from `queryBegin`
  std::size_t queryBegin = 0;  ///< byte of the text at which the query begins
};

/// Gives a diagnostic of the query that is run a position in the document, unless it has one. The position is
/// that of the node to which its pointer leads, or, for a field, of the node around it.
void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text);

/// The query of a document and what belongs to it. It leaves out the layout, which only the window uses, and
/// the settings, which document_settings.h reads.
struct DocumentInput {
  /// The query as it is run: without muted branches, and with frozen answers in place of the nodes that gave
  /// them. Nothing if there was an error.
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  std::map<std::string, std::string> values;  ///< values of parameters
  std::vector<query::ParameterDeclaration> declarations;
  /// Pinned and dropped fragments, by the path of their augment in `query`.
  std::map<NodePath, retrieve::FragmentChoice> choices;
  DocumentPlaces places;
};

/// Reads a document. Returns nothing if the text is no document.
std::optional<DocumentInput> readDocumentInput(std::string_view text);

}  // namespace spanscope::cli
