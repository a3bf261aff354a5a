// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/query_export.h"

#include "engine/query/node_parts.h"
#include "engine/query/node_walk.h"
#include "engine/query/surroundings.h"
#include "engine/spnl/change_settings.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "ui/export/export_remarks.h"
#include "ui/session/run_inputs.h"

#include <optional>
#include <utility>

namespace spanscope::ui {
namespace {

Error missing(const document::Document& document, const std::vector<document::NodeId>& incomplete) {
  const document::DocumentNode& node = document.at(incomplete.front());
  const bool takesTwo = query::arityOf(node.own).most == 2;
  std::string place = query::operatorName(node.own);
  if (!node.name.empty()) place += " “" + node.name + "”";
  if (incomplete.size() > 1) place += " and " + std::to_string(incomplete.size() - 1) + " more";
  bool isMuted = false;
  for (const document::NodeId child : node.children) {
    if (child != document::kNoNode && document.at(child).muted) isMuted = true;
  }
  return {.file = {},
          .place = place,
          .found = isMuted    ? "an input that is muted"
                   : takesTwo ? "fewer than two inputs"
                              : "no input",
          .expected = takesTwo ? "a node connected to each input" : "a node connected to the input"};
}

/// Replaces every file by a message with its text. Returns why one cannot be read.
std::optional<Error> putInline(query::Node& query, const QString& documentPath) {
  RunInputs inputs(documentPath, {});
  std::optional<Error> problem;
  query::walk(query, {}, [&](query::Node& node, const NodePath& path) {
    if (problem || query::infoOf(node).resolvedBy != query::ResolvedBy::Files) return;
    auto text = query::readTextFile(inputs, *query::textOf(node));
    if (auto* reason = std::get_if<query::NotGiven>(&text)) {
      problem = Error{.file = {},
                      .place = path,
                      .found = std::move(reason->found),
                      .expected = std::move(reason->expected)};
      return;
    }
    node.value = query::Message{query::Role::User, std::get<std::string>(std::move(text))};
  });
  return problem;
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

std::variant<QueryExport, Error> exportQuery(const document::Document& document,
                                             const QueryExportOptions& options) {
  if (document.root() == document::kNoNode) {
    return Error{.file = {}, .place = {}, .found = "an empty document", .expected = "a query to export"};
  }
  document::QueryOf made = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!made.incomplete.empty()) return missing(document, made.incomplete);
  if (!made.query) {
    return Error{
        .file = {}, .place = {}, .found = "nothing but muted nodes", .expected = "a query to export"};
  }

  QueryExport result;
  result.query = workbench::runPipeline({.source = std::move(*made.query),
                                         .parameters = document::effectiveValues(document),
                                         .keepsNumbers = true},
                                        workbench::Stage::Parameters)
                     .takeQuery();
  if (options.inlineFiles) {
    if (std::optional<Error> problem = putInline(result.query, options.documentPath)) return *problem;
  }
  nameModels(result.query, options);
  // Tokens take a tokenizer, and are made beside the window.
  if (!options.target->has(exports::ExportOption::Tokens)) {
    auto written = options.target->write(result.query, options.settings);
    if (auto* problem = std::get_if<Error>(&written)) return std::move(*problem);
    result.text = std::get<exports::ExportedText>(std::move(written)).text;
  }
  result.remarks = exportRemarks(document, result.query, made.paths, options);
  return result;
}

}  // namespace spanscope::ui
