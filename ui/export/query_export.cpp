// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/query_export.h"

#include "engine/export/chat_requests.h"
#include "engine/query/json/json.h"
#include "engine/query/json/reference_json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query_form.h"
#include "engine/spnl/change_settings.h"
#include "engine/spnl/optimize.h"
#include "engine/spnl/server_body.h"
#include "engine/spnl/simplify.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "ui/export/export_remarks.h"

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

std::string jsonLines(const std::vector<spnl::ServerBody>& bodies) {
  std::string text;
  for (const spnl::ServerBody& body : bodies) text += query::writeAsReference(body.body) + "\n";
  return text;
}

/// The query at its stage in one of SPNL's forms, or why it cannot be rewritten.
std::variant<std::string, Error> wholeText(const query::Node& query, const QueryExportOptions& options) {
  spnl::Rewritten written{.query = query, .problem = {}};
  if (options.stage == ExportStage::Simplified) written = spnl::simplifyOnce(query);
  if (options.stage == ExportStage::Optimized) written = spnl::optimize(query);
  if (!written.query) return *written.problem;
  if (options.target == ExportTarget::Yaml) return query::writeQuery(*written.query, query::QueryForm::Yaml);
  if (options.target == ExportTarget::Lisp) return query::writeQuery(*written.query, query::QueryForm::Lisp);
  return options.oneLine ? query::writeAsReference(*written.query) : query::writePretty(*written.query);
}

std::variant<std::string, Error> textOf(const query::Node& query, const QueryExportOptions& options) {
  switch (options.target) {
    case ExportTarget::Json:
      if (options.stage == ExportStage::Lowered) return jsonLines(spnl::serverBodies(query).bodies);
      break;
    case ExportTarget::Yaml:
    case ExportTarget::Lisp:
      break;
    case ExportTarget::Curl:
    case ExportTarget::Python: {
      const query::Node request = spnl::requestFor(query);
      const std::string body = query::writeCanonical(request);
      const bool stream = options.stream && !spnl::wantsOneToken(request);
      return options.target == ExportTarget::Curl ? spnl::curlLine(body, options.endpoint, stream)
                                                  : spnl::pythonProgram(body, options.endpoint, stream);
    }
    case ExportTarget::Chat: {
      const exports::ChatRequests made = exports::chatRequests(query, options.seed);
      return made.requests.empty() ? std::string() : exports::writeChatRequests(made.requests, true);
    }
    case ExportTarget::Tokens:
      return std::string();
  }
  return wholeText(query, options);
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
  if (!options.model.empty()) {
    spnl::changeSettings(result.query,
                         [&options](query::GenerateSettings& settings) { settings.model = options.model; });
  }
  std::variant<std::string, Error> text = textOf(result.query, options);
  if (auto* problem = std::get_if<Error>(&text)) return std::move(*problem);
  result.text = std::get<std::string>(std::move(text));
  result.remarks = exportRemarks(document, result.query, made.paths, options);
  return result;
}

}  // namespace spanscope::ui
