// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the query of a document into JSON text and back.
#pragma once

#include "engine/query/json/json.h"
#include "engine/workbench/document/document.h"
#include "ui/document/problems.h"

#include <QString>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// A text and the query that was read from it.
struct JsonText {
  std::string text;                  ///< UTF-8
  std::optional<query::Node> query;  ///< nothing if the text is no query
  std::vector<query::Diagnostic> diagnostics;
  query::SourceMap sources;
  bool isEmpty = false;  ///< there is no text at all, which means an empty document
};

JsonText readJsonText(std::string text);
/// The document's query as indented JSON, with an empty seq in place of a missing input. Empty if there is no
/// query.
std::string jsonOf(const document::Document& document);
/// Whether the text means the same query as the document.
bool saysTheSame(const JsonText& text, const document::Document& document);
/// Gives the document this query, which was read from the text. An input that was missing stays missing if
/// the text still has an empty seq there.
void applyJson(document::Document& document, const query::Node& query);

/// Where the node stands in the text, in bytes. Nothing if it does not.
std::optional<query::SourceRange> rangeOf(const JsonText& text, const document::Document& document,
                                          document::NodeId node);
/// Where the nodes stand in the text that a run leaves out, each with everything below it.
std::vector<query::SourceRange> mutedRanges(const JsonText& text, const document::Document& document);
/// The innermost node of the document around this byte; kNoNode: none.
document::NodeId nodeAtOffset(const JsonText& text, const document::Document& document, std::size_t offset);

/// One line under the text.
struct JsonRemark {
  Severity severity = Severity::Error;
  std::optional<std::size_t> offset;  ///< byte of the text that it is about; nothing: none
  QString text;
};

/// What is said of the text. Text that is not in step has the errors of its own. Text that is in step has the
/// problems of the document, and what only the text could say: that an unknown field was left out.
std::vector<JsonRemark> remarksOn(const JsonText& text, bool isInStep, const document::Document& document,
                                  const std::vector<Problem>& problems);

/// A summary: "in step ✓" or "line 7: expected …", and the numbers of errors and warnings.
QString jsonSummary(const JsonText& text, bool isInStep, const std::vector<JsonRemark>& remarks);

}  // namespace spanscope::ui
