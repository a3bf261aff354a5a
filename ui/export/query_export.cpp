// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/query_export.h"

#include "engine/query/json.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "ui/document/document_query.h"
#include "ui/export/export_remarks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr std::string_view kSpanProvider = "spnl/";

/// Calls `change` with the settings of every generate, repeat and map.
template <class Change>
void changeSettings(query::Node& node, const Change& change) {
  if (auto* generate = node.as<query::Generate>()) {
    change(generate->settings);
    changeSettings(*generate->input, change);
  } else if (auto* repeat = node.as<query::Repeat>()) {
    change(repeat->generate.settings);
    changeSettings(*repeat->generate.input, change);
  } else if (auto* map = node.as<query::Map>()) {
    change(map->settings);
  } else if (auto* join = node.as<query::Join>()) {
    for (query::Node& child : join->children) changeSettings(child, change);
  } else if (auto* monad = node.as<query::Monad>()) {
    changeSettings(*monad->body, change);
  } else if (auto* zip = node.as<query::Zip>()) {
    changeSettings(*zip->first, change);
    changeSettings(*zip->second, change);
  } else if (auto* augment = node.as<query::Augment>()) {
    changeSettings(*augment->body, change);
  }
}

/// The field where the parameter stands as a number takes this value.
void setNumber(query::Node& root, const query::ParameterUse& use, bool asParameter) {
  query::Node* node = query::nodeAt(root, use.node);
  if (node == nullptr) return;
  const query::Parameter parameter{use.name};
  auto* repeat = node->as<query::Repeat>();
  if (use.kind == query::ParameterKind::Count) {
    if (repeat == nullptr) return;
    repeat->count = std::uint8_t{1};
    if (asParameter) repeat->count = parameter;
    return;
  }
  query::GenerateSettings* settings = nullptr;
  if (repeat != nullptr) settings = &repeat->generate.settings;
  if (auto* generate = node->as<query::Generate>()) settings = &generate->settings;
  if (auto* map = node->as<query::Map>()) settings = &map->settings;
  if (settings == nullptr) return;
  const auto set = [&](auto& field) {
    field = query::Absent{};
    if (asParameter) field = parameter;
  };
  if (use.kind == query::ParameterKind::MaxTokens) set(settings->maxTokens);
  if (use.kind == query::ParameterKind::Temperature) set(settings->temperature);
}

/// With the values put in wherever there is one that fits: a number without a value keeps its parameter and
/// does not keep the others from their values.
query::Node resolved(const query::Node& query, const std::map<std::string, std::string>& values) {
  auto result = query::resolveParameters(query, values);
  if (auto* node = std::get_if<query::Node>(&result)) return std::move(*node);

  std::vector<query::ParameterUse> unresolved;
  for (const query::ParameterUse& use : query::findParameters(query)) {
    for (const query::Diagnostic& problem : std::get<std::vector<query::Diagnostic>>(result)) {
      if (problem.pointer == use.pointer && use.kind != query::ParameterKind::Text) {
        unresolved.push_back(use);
        break;
      }
    }
  }
  query::Node rest = query;
  for (const query::ParameterUse& use : unresolved) setNumber(rest, use, false);
  auto again = query::resolveParameters(rest, values);
  auto* node = std::get_if<query::Node>(&again);
  if (node == nullptr) return query;
  for (const query::ParameterUse& use : unresolved) setNumber(*node, use, true);
  return std::move(*node);
}

/// Whether the request asks for one token only: SPNL then asks for the reply in one piece.
bool wantsOneToken(const query::Node& request) {
  const query::GenerateSettings* settings = nullptr;
  if (const auto* repeat = request.as<query::Repeat>()) settings = &repeat->generate.settings;
  if (const auto* map = request.as<query::Map>()) settings = &map->settings;
  if (settings == nullptr) return false;
  const auto* tokens = std::get_if<std::int32_t>(&settings->maxTokens);
  return tokens != nullptr && *tokens == 1;
}

Error missing(const document::Document& document, const std::vector<document::NodeId>& incomplete) {
  const document::DocumentNode& node = document.at(incomplete.front());
  const bool isZip = node.own.as<query::Zip>() != nullptr;
  std::string place = query::operatorName(node.own);
  if (!node.name.empty()) place += " “" + node.name + "”";
  if (incomplete.size() > 1) place += " and " + std::to_string(incomplete.size() - 1) + " more";
  bool isMuted = false;
  for (const document::NodeId child : node.children) {
    if (child != document::kNoNode && document.at(child).muted) isMuted = true;
  }
  return {.file = {},
          .place = place,
          .found = isMuted ? "an input that is muted"
                   : isZip ? "fewer than two inputs"
                           : "no input",
          .expected = isZip ? "a node connected to each input" : "a node connected to the input"};
}

/// What IBM/spnl would not read from the YAML or the Lisp as it was meant.
void addFormRemarks(QueryExport& result, const document::NodePaths& paths) {
  for (const auto& [form, scope] : {std::pair(query::QueryForm::Yaml, RemarkScope::Yaml),
                                    std::pair(query::QueryForm::Lisp, RemarkScope::Lisp)}) {
    for (const query::Diagnostic& diagnostic : query::formRemarks(result.query, form)) {
      result.remarks.push_back({.kind = RemarkKind::Refused,
                                .scope = scope,
                                .text = QString::fromStdString(diagnostic.message()),
                                .node = paths.nodeOf(diagnostic.pointer)});
    }
  }
  std::stable_sort(result.remarks.begin(), result.remarks.end(),
                   [](const ExportRemark& a, const ExportRemark& b) { return a.kind < b.kind; });
}

}  // namespace

query::Node requestFor(const query::Node& query) {
  query::Node request = query;
  if (const auto* generate = query.as<query::Generate>()) {
    request = query::Node{query::Repeat{.count = std::uint8_t{1}, .generate = *generate}};
  }
  changeSettings(request, [](query::GenerateSettings& settings) {
    if (settings.model.starts_with(kSpanProvider)) settings.model.erase(0, kSpanProvider.size());
  });
  return request;
}

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
  result.query = resolved(*made.query, document.parameters);
  if (!options.model.empty()) {
    changeSettings(result.query,
                   [&options](query::GenerateSettings& settings) { settings.model = options.model; });
  }
  result.canonical = query::writeCanonical(result.query);
  result.pretty = query::writePretty(result.query);
  result.yaml = query::writeQuery(result.query, query::QueryForm::Yaml);
  result.lisp = query::writeQuery(result.query, query::QueryForm::Lisp);
  const query::Node request = requestFor(result.query);
  result.body = query::writeCanonical(request);
  const bool stream = options.stream && !wantsOneToken(request);
  result.curl = curlLine(result.body, options.endpoint, stream);
  result.python = pythonProgram(result.body, options.endpoint, stream);
  result.remarks = exportRemarks(document, result.query, made.paths, options);
  addFormRemarks(result, made.paths);
  return result;
}

}  // namespace spanscope::ui
