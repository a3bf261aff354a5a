// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a document's query in the forms that other programs take.
#pragma once

#include "engine/export/export_target.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "ui/document/problems.h"

#include <QString>

#include <string>
#include <variant>
#include <vector>

namespace spanscope::ui {

struct QueryExportOptions {
  const exports::ExportTarget* target = exports::findExportTarget("spnl");
  std::string model{};  ///< replaces every model that the query names; empty: these stay
  exports::ExportSettings settings{};
  /// Stands where the query names no model and `model` is empty; empty: nothing does.
  std::string usualModel{};
  /// Whether files of the query are written as user messages with what they hold now.
  bool inlineFiles = false;
  QString documentPath{};  ///< beside which files are read; empty if the document has no file
  /// The list of the document's problems, if it is known; else what the document alone tells is found anew.
  std::vector<Problem> problems{};
};

struct ExportRemark {
  exports::Effect effect = exports::Effect::Note;
  QString text;
  document::NodeId node = document::kNoNode;  ///< the first node that the remark is about
  bool operator==(const ExportRemark&) const = default;
};

struct QueryExport {
  query::Node query;  ///< as it is written, with parameters resolved where possible
  std::string text;   ///< empty if nothing can be written, and for tokens, which need a tokenizer
  std::vector<ExportRemark> remarks;  ///< the most serious first
};

/// Exports the query. Returns why there is none to write, in the words in which a run is refused.
std::variant<QueryExport, QString> exportQuery(const document::Document& document,
                                               const QueryExportOptions& options = {});

/// The remarks on exporting this query of the document, the most serious first: what the target does with the
/// query, remarks on the endpoint, and what stays in the document. `query` has the parameters and models that
/// will be sent. `paths` leads from its nodes to the document's nodes.
std::vector<ExportRemark> exportRemarks(const document::Document& document, const query::Node& query,
                                        const document::NodePaths& paths,
                                        const std::vector<Problem>& problems,
                                        const QueryExportOptions& options);

}  // namespace spanscope::ui
