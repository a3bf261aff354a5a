// SPDX-License-Identifier: GPL-3.0-or-later
// Spanscope documents (.span) where a command reads queries.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// What a command takes of a document. Its layout and its settings are the window's.
struct DocumentInput {
  /// As it is run: muted branches left out, frozen answers in place of what gave them. Nothing if there was
  /// an error.
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  std::map<std::string, std::string> values;  ///< of parameters
  std::vector<query::ParameterDeclaration> declarations;
};

/// Nothing: the text is no document.
std::optional<DocumentInput> readDocumentInput(std::string_view text);

}  // namespace spanscope::cli
