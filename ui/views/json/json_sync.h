// SPDX-License-Identifier: GPL-3.0-or-later
// The query of a document as JSON text, and back.
#pragma once

#include "engine/query/json/json.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// A text that was read as a query.
struct JsonText {
  std::string text;                  ///< UTF-8
  std::optional<query::Node> query;  ///< nothing where it is none
  std::vector<query::Diagnostic> diagnostics;
  query::SourceMap sources;
  bool isEmpty = false;  ///< no text at all, which is an empty document
};

JsonText readJsonText(std::string text);
/// The document's query on indented lines, an empty seq where an input is missing; no text without a query.
std::string jsonOf(const document::Document& document);
/// Whether the text says what the document says.
bool saysTheSame(const JsonText& text, const document::Document& document);
/// Makes the document say what the text says, which is a query. Inputs that were missing stay missing where
/// the text still has an empty seq.
void applyJson(document::Document& document, const query::Node& query);

/// Where the node stands in the text.
std::optional<query::SourceRange> rangeOf(const JsonText& text, const document::Document& document,
                                          document::NodeId node);
/// Where the nodes stand that are left out of a run, each with everything under it.
std::vector<query::SourceRange> mutedRanges(const JsonText& text, const document::Document& document);
/// The innermost node of the document around that byte; kNoNode: none.
document::NodeId nodeAtOffset(const JsonText& text, const document::Document& document, std::size_t offset);

/// "in step ✓", "line 7: expected …", with the number of warnings.
QString jsonSummary(const JsonText& text, bool isInStep);

}  // namespace spanscope::ui
