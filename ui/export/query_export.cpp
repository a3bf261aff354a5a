// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/query_export.h"

#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/query/surroundings.h"
#include "engine/spnl/request_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "ui/export/export_remarks.h"
#include "ui/session/run_inputs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spanscope::ui {
namespace {

/// Replaces every file by a message with its text. Returns why one cannot be read.
std::optional<QString> putInline(query::Node& query, const document::NodePaths& paths,
                                 const std::vector<Problem>& problems, const QString& documentPath) {
  RunInputs inputs(documentPath, {});
  std::optional<QString> obstacle;
  query::walk(query, {}, [&](query::Node& node, const NodePath& path) {
    if (obstacle || query::infoOf(node).resolvedBy != query::ResolvedBy::Files) return;
    auto text = query::readTextFile(inputs, *query::textOf(node));
    if (auto* reason = std::get_if<query::NotGiven>(&text)) {
      const auto listed = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) {
        return problem.severity == Severity::Error && problem.node == paths.nodeOf(path);
      });
      obstacle = listed != problems.end()
                     ? saidOf(*listed)
                     : QString::fromStdString(
                           errorAt({}, std::move(reason->found), std::move(reason->expected)).message());
      return;
    }
    node.value = query::Message{query::Role::User, std::get<std::string>(std::move(text))};
  });
  return obstacle;
}

/// The names of a query's models, where a person chose one or the query has none.
void nameModels(query::Node& query, const QueryExportOptions& options) {
  spnl::changeSettings(query, [&options](query::GenerateSettings& settings) {
    if (!options.model.empty())
      settings.model = options.model;
    else if (settings.model.empty())
      settings.model = options.usualModel;
  });
}

}  // namespace

std::variant<QueryExport, QString> exportQuery(const document::Document& document,
                                               const QueryExportOptions& options) {
  const std::vector<Problem> problems = options.problems.empty() ? findProblems(document) : options.problems;
  document::QueryOf made;
  if (document.root() != document::kNoNode)
    made = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!made.query || !made.incomplete.empty()) return refusalOf(problems);

  QueryExport result;
  result.query = workbench::runPipeline({.source = std::move(*made.query),
                                         .parameters = document::effectiveValues(document),
                                         .keepsNumbers = true},
                                        workbench::Stage::Parameters)
                     .takeQuery();
  if (options.inlineFiles) {
    std::optional<QString> obstacle = putInline(result.query, made.paths, problems, options.documentPath);
    if (obstacle) return std::move(*obstacle);
  }
  nameModels(result.query, options);
  // Tokens take a tokenizer, and are made beside the window.
  if (!options.target->has(exports::ExportOption::Tokens)) {
    auto written = options.target->write(result.query, options.settings);
    if (auto* error = std::get_if<Error>(&written)) return QString::fromStdString(error->message());
    result.text = std::get<exports::ExportedText>(std::move(written)).text;
  }
  result.remarks = exportRemarks(document, result.query, made.paths, problems, options);
  return result;
}

}  // namespace spanscope::ui
