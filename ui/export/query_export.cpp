// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/query_export.h"

#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/query/surroundings.h"
#include "engine/spnl/request_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "ui/session/run_inputs.h"
#include "ui/words/tr.h"

#include <QUrl>

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

namespace {

using document::Document;
using document::NodeId;
using exports::Effect;

/// `many` has the number as %1.
QString counted(int count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

class Remarks {
 public:
  void add(Effect effect, const QString& text, NodeId node = document::kNoNode) {
    m_remarks.push_back({.effect = effect, .text = text, .node = node});
  }
  void note(const QString& text, NodeId node = document::kNoNode) { add(Effect::Note, text, node); }

  std::vector<ExportRemark> take() {
    std::stable_sort(m_remarks.begin(), m_remarks.end(),
                     [](const ExportRemark& a, const ExportRemark& b) { return a.effect < b.effect; });
    return std::move(m_remarks);
  }

 private:
  std::vector<ExportRemark> m_remarks;
};

void addEndpoint(Remarks& remarks, const QueryExportOptions& options) {
  if (!options.target->has(exports::ExportOption::Endpoint)) return;
  const QUrl url(QString::fromStdString(options.settings.endpoint), QUrl::StrictMode);
  if (!url.isValid() || url.host().isEmpty() ||
      (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https"))) {
    remarks.add(Effect::Refused, tr("The endpoint must begin with http:// or https://."));
  }
}

/// What a run here refuses, another server may take: it may have the file, or more room.
void addRefusals(Remarks& remarks, const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::Error)
      remarks.note(tr("It cannot run here: %1").arg(saidOf(problem)), problem.node);
  }
}

void addTakenOut(Remarks& remarks, const Document& document) {
  if (document.root() == document::kNoNode) return;
  int muted = 0;
  int frozen = 0;
  NodeId firstMuted = document::kNoNode;
  NodeId firstFrozen = document::kNoNode;
  for (const NodeId id : document.subtree(document.root())) {
    const document::DocumentNode& node = document.at(id);
    if (node.muted && id != document.root() && muted++ == 0) firstMuted = id;
    if (node.isFrozen() && frozen++ == 0) firstFrozen = id;
  }
  if (muted > 0) {
    remarks.note(counted(muted, tr("A muted node and everything under it is left out."),
                         tr("%1 muted nodes and everything under them are left out.")),
                 firstMuted);
  }
  if (frozen > 0) {
    remarks.note(counted(frozen, tr("A frozen node is replaced by its answer."),
                         tr("%1 frozen nodes are replaced by their answers.")),
                 firstFrozen);
  }
  const auto others = static_cast<int>(document.tops().size()) - 1;
  if (others > 0) {
    remarks.note(counted(others, tr("A tree next to the query is not part of it."),
                         tr("%1 trees next to the query are not part of it.")));
  }
  remarks.note(tr("Layout, names, notes and run settings stay in the document."));
}

}  // namespace

std::vector<ExportRemark> exportRemarks(const Document& document, const query::Node& query,
                                        const document::NodePaths& paths,
                                        const std::vector<Problem>& problems,
                                        const QueryExportOptions& options) {
  Remarks remarks;
  for (const exports::TargetRemark& remark :
       exports::exportRemarks(query, *options.target, options.settings)) {
    remarks.add(remark.effect, QString::fromStdString(remark.text),
                remark.places.empty() ? document::kNoNode : paths.nodeOf(remark.places.front()));
  }
  addEndpoint(remarks, options);
  addRefusals(remarks, problems);
  addTakenOut(remarks, document);
  return remarks.take();
}

}  // namespace spanscope::ui
