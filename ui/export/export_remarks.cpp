// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/export_remarks.h"

#include "engine/query/parameters.h"

#include <QCoreApplication>
#include <QUrl>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace spanscope::ui {
namespace {

using document::Document;
using document::NodeId;
using document::NodePaths;

QString tr(const char* text) {
  return QCoreApplication::translate("export", text);
}

/// `many` has the number as %1.
QString counted(int count, const char* one, const char* many) {
  return count == 1 ? tr(one) : tr(many).arg(count);
}

/// How often something occurs in a query, and where first.
struct Count {
  int times = 0;
  NodePath first;

  void add(const NodePath& path) {
    if (times++ == 0) first = path;
  }
};

bool isGenerating(const query::Node& node) {
  return node.as<query::Generate>() != nullptr || node.as<query::Repeat>() != nullptr ||
         node.as<query::Map>() != nullptr;
}

/// What a query holds that some target has an opinion about.
struct Findings {
  Count ask;
  Count file;
  Count plus;
  Count inner;       ///< generates below another one
  Count clientSide;  ///< augment, zip, monad, print: resolved by IBM/spnl before a request is sent
  Count noTemperature;
  Count noMaxTokens;
  Count noModel;
  std::vector<std::pair<std::string, NodePath>> models;  ///< each once, in the order of the tree

  void settings(const query::GenerateSettings& settings, const NodePath& path) {
    if (std::holds_alternative<query::Absent>(settings.temperature)) noTemperature.add(path);
    if (std::holds_alternative<query::Absent>(settings.maxTokens)) noMaxTokens.add(path);
    if (settings.model.empty()) {
      noModel.add(path);
    } else if (std::none_of(models.begin(), models.end(),
                            [&settings](const auto& known) { return known.first == settings.model; })) {
      models.emplace_back(settings.model, path);
    }
  }

  void visit(const query::Node& node, const NodePath& path, bool inGenerate) {
    if (node.as<query::Ask>() != nullptr) ask.add(path);
    if (node.as<query::File>() != nullptr) file.add(path);
    if (const auto* join = node.as<query::Join>(); join != nullptr && join->kind == query::JoinKind::Plus)
      plus.add(path);
    if (node.as<query::Augment>() != nullptr || node.as<query::Zip>() != nullptr ||
        node.as<query::Monad>() != nullptr || node.as<query::Print>() != nullptr) {
      clientSide.add(path);
    }
    if (const auto* generate = node.as<query::Generate>()) settings(generate->settings, path);
    if (const auto* repeat = node.as<query::Repeat>()) settings(repeat->generate.settings, path);
    if (const auto* map = node.as<query::Map>()) settings(map->settings, path);
    if (isGenerating(node) && inGenerate) inner.add(path);
    for (const query::ChildRef& child : query::childrenOf(node)) {
      visit(*child.node, path + child.step, inGenerate || isGenerating(node));
    }
  }
};

class Remarks {
 public:
  explicit Remarks(const NodePaths& paths) : m_paths(paths) {}

  void add(RemarkKind kind, RemarkScope scope, const QString& text, const NodePath& path) {
    m_remarks.push_back({.kind = kind, .scope = scope, .text = text, .node = m_paths.nodeOf(path)});
  }
  void add(RemarkKind kind, RemarkScope scope, const QString& text, const Count& count) {
    if (count.times > 0) add(kind, scope, text, count.first);
  }
  void about(RemarkKind kind, RemarkScope scope, const QString& text, NodeId node = document::kNoNode) {
    m_remarks.push_back({.kind = kind, .scope = scope, .text = text, .node = node});
  }

  std::vector<ExportRemark> take() {
    std::stable_sort(m_remarks.begin(), m_remarks.end(),
                     [](const ExportRemark& a, const ExportRemark& b) { return a.kind < b.kind; });
    return std::move(m_remarks);
  }

 private:
  const NodePaths& m_paths;
  std::vector<ExportRemark> m_remarks;
};

void addParameters(Remarks& remarks, const query::Node& query) {
  std::set<std::string> seen;
  for (const query::ParameterUse& use : query::findParameters(query)) {
    if (!seen.insert(use.name).second) continue;
    const QString name = QStringLiteral("{%1}").arg(QString::fromStdString(use.name));
    if (use.kind == query::ParameterKind::Text) {
      remarks.add(RemarkKind::Note, RemarkScope::Everything,
                  tr("%1 has no value and is sent as it stands, braces and all.").arg(name), use.node);
    } else {
      remarks.add(RemarkKind::Refused, RemarkScope::Everything,
                  tr("%1 stands where a number belongs and has no number as its value: give it one in the "
                     "document's parameters.")
                      .arg(name),
                  use.node);
    }
  }
}

void addModels(Remarks& remarks, const Findings& findings) {
  remarks.add(RemarkKind::Refused, RemarkScope::Everything,
              counted(findings.noModel.times, "A generate names no model.", "%1 generates name no model."),
              findings.noModel);
  for (const auto& [model, path] : findings.models) {
    const QString name = QString::fromStdString(model);
    const auto slash = model.find('/');
    if (slash == std::string::npos) {
      remarks.add(RemarkKind::Refused, RemarkScope::Everything,
                  tr("“%1” has no provider: SPNL expects provider/name, for spans spnl/name.").arg(name),
                  path);
    } else if (model.compare(0, slash, "spnl") == 0) {
      remarks.add(
          RemarkKind::Note, RemarkScope::Server,
          tr("The server must serve “%1”: SPNL leaves “spnl/” out of what it sends, and so does this.")
              .arg(QString::fromStdString(model.substr(slash + 1))),
          path);
    } else {
      remarks.add(RemarkKind::Ignored, RemarkScope::Everything,
                  tr("“%1” is not of the provider spnl: SPNL sends plain chat there, and plus is read as an "
                     "ordinary sequence.")
                      .arg(name),
                  path);
    }
  }
}

void addServerLimits(Remarks& remarks, const query::Node& query, const Findings& findings,
                     const QueryExportOptions& options) {
  const QUrl url(QString::fromStdString(options.endpoint), QUrl::StrictMode);
  if (!url.isValid() || url.host().isEmpty() ||
      (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https"))) {
    remarks.about(RemarkKind::Refused, RemarkScope::Server,
                  tr("The endpoint is not an address that begins with http:// or https://."));
  }
  if (!isGenerating(query)) {
    remarks.add(
        RemarkKind::Refused, RemarkScope::Server,
        tr("The server runs one generate, repeat or map; this query begins with %1. SPNL runs it from "
           "the JSON.")
            .arg(QLatin1String(query::operatorName(query))),
        NodePath());
  }
  remarks.add(
      RemarkKind::Refused, RemarkScope::Server,
      counted(findings.inner.times,
              "A generate stands inside another one: the server runs one at a time and takes the answers "
              "of inner ones as messages. SPNL runs the whole from the JSON.",
              "%1 generates stand inside another one: the server runs one at a time and takes the answers "
              "of inner ones as messages. SPNL runs the whole from the JSON."),
      findings.inner);
  remarks.add(
      RemarkKind::Refused, RemarkScope::Server,
      counted(findings.clientSide.times,
              "A node is an augment, zip, monad or print: the server takes messages and joins only. SPNL "
              "resolves it before it sends.",
              "%1 nodes are augment, zip, monad or print: the server takes messages and joins only. SPNL "
              "resolves them before it sends."),
      findings.clientSide);
  remarks.add(
      RemarkKind::Note, RemarkScope::Server,
      tr("Reuse under plus in any order needs vLLM with the span patch and VLLM_V1_SPANS_ENABLED; a stock "
         "server does not have this endpoint."),
      findings.plus);
  if (query.as<query::Generate>() != nullptr) {
    remarks.add(RemarkKind::Note, RemarkScope::Server,
                tr("The generate is sent as a repeat of one, the form that the server documents."),
                NodePath());
  }
}

void addDefaults(Remarks& remarks, const Findings& findings) {
  remarks.add(RemarkKind::Note, RemarkScope::Everything,
              counted(findings.noTemperature.times,
                      "A generate sets no temperature: the language's default, 0.6, is written out.",
                      "%1 generates set no temperature: the language's default, 0.6, is written out."),
              findings.noTemperature);
  remarks.add(
      RemarkKind::Note, RemarkScope::Everything,
      counted(findings.noMaxTokens.times,
              "A generate sets no number of tokens: 0 is written out, which leaves it to the server.",
              "%1 generates set no number of tokens: 0 is written out, which leaves it to the server."),
      findings.noMaxTokens);
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
    if (node.frozen && frozen++ == 0) firstFrozen = id;
  }
  if (muted > 0) {
    remarks.about(RemarkKind::Note, RemarkScope::Everything,
                  counted(muted, "A muted node is left out with everything under it.",
                          "%1 muted nodes are left out with everything under them."),
                  firstMuted);
  }
  if (frozen > 0) {
    remarks.about(RemarkKind::Note, RemarkScope::Everything,
                  counted(frozen, "A frozen generate is sent as its answer.",
                          "%1 frozen generates are sent as their answers."),
                  firstFrozen);
  }
  const auto others = static_cast<int>(document.tops().size()) - 1;
  if (others > 0) {
    remarks.about(RemarkKind::Note, RemarkScope::Everything,
                  counted(others, "A tree beside the query is not part of it.",
                          "%1 trees beside the query are not part of it."));
  }
  remarks.about(RemarkKind::Note, RemarkScope::Everything,
                tr("Layout, names, notes and run settings stay in the document."));
}

}  // namespace

std::vector<ExportRemark> exportRemarks(const Document& document, const query::Node& query,
                                        const NodePaths& paths, const QueryExportOptions& options) {
  Findings findings;
  findings.visit(query, {}, false);
  Remarks remarks(paths);
  remarks.add(
      RemarkKind::Refused, RemarkScope::Everything,
      counted(findings.ask.times, "An ask node: a server has nobody to ask. Put the text itself there.",
              "%1 ask nodes: a server has nobody to ask. Put the text itself there."),
      findings.ask);
  remarks.add(RemarkKind::Refused, RemarkScope::Everything,
              counted(findings.file.times,
                      "A file node: a server does not read your files. Put the text itself there.",
                      "%1 file nodes: a server does not read your files. Put the text itself there."),
              findings.file);
  addParameters(remarks, query);
  addModels(remarks, findings);
  addServerLimits(remarks, query, findings, options);
  addDefaults(remarks, findings);
  addTakenOut(remarks, document);
  return remarks.take();
}

}  // namespace spanscope::ui
