// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_look.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/model_names.h"
#include "ui/editor/tidy_layout.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <set>
#include <variant>

namespace spanscope::ui {
namespace {

using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;

/// Characters of a text that may matter for two lines of a card.
constexpr qsizetype kShownCharacters = 200;

QString shortened(const std::string& text) {
  // A character has at most four bytes; what is cut off would not be drawn.
  return QString::fromStdString(text.substr(0, kShownCharacters * 4)).left(kShownCharacters).simplified();
}

/// The number as it is written, or nothing where the setting says none.
template <class T>
QString written(const query::Setting<T>& setting) {
  if (const auto* value = std::get_if<T>(&setting)) return QString::number(*value);
  if (const auto* parameter = std::get_if<query::Parameter>(&setting)) {
    return QStringLiteral("{%1}").arg(QString::fromStdString(parameter->name));
  }
  return {};
}

/// What a card says besides its title: by the fields of the operator.
QString textOf(const DocumentNode& node) {
  const query::Node& own = node.own;
  if (const std::string* text = query::textOf(own)) return shortened(*text);
  if (const std::vector<std::string>* inputs = query::inputsOf(own)) {
    QStringList shown;
    for (std::size_t i = 0; i < inputs->size() && i < 4; ++i) shown.append(shortened((*inputs)[i]));
    return shown.join(QStringLiteral(" · "));
  }
  if (const query::SourceDocument* document = query::documentOf(own)) {
    return tr("Fragments of %1 that fit the question").arg(shortened(document->name));
  }
  const bool isEffect = query::infoOf(own).gives == query::Gives::Nothing;
  return isEffect ? operatorInfo(query::operatorName(own)).help : QString();
}

QString titleOf(const DocumentNode& node) {
  QString title = operatorInfo(query::operatorName(node.own)).label;
  if (const query::Times* times = query::countOf(node.own)) {
    if (const auto* count = std::get_if<std::uint8_t>(times)) {
      title += QStringLiteral(" ×%1").arg(*count);
    } else {
      title += QStringLiteral(" ×{%1}").arg(QString::fromStdString(std::get<query::Parameter>(*times).name));
    }
  }
  if (const auto* inputs = query::inputsOf(node.own)) title += QStringLiteral(" ×%1").arg(inputs->size());
  return title;
}

/// Hues by the order of the leaf messages in the prompt; the root generate has the one after the last.
std::map<NodeId, int> huesOf(const Document& document) {
  std::map<NodeId, int> hues;
  for (const NodeId top : document.tops()) {
    int next = 0;
    for (const NodeId id : document.subtree(top)) {
      if (document.at(id).own.as<query::Message>() != nullptr) hues[id] = next++;
    }
    if (query::answers(document.at(top).own)) hues[top] = next;
  }
  return hues;
}

}  // namespace

QString modelLine(const query::Node& own, const std::string& checkpoint) {
  const query::GenerateSettings* settings = query::settingsOf(own);
  if (settings == nullptr) return {};
  QStringList parts;
  const QString name = QString::fromStdString(settings->model).section(QLatin1Char('/'), -1);
  const QString runsOn = QString::fromStdString(checkpoint);
  if (workbench::meansModel(settings->model, checkpoint))
    parts.append(runsOn.isEmpty() ? tr("no model") : runsOn);
  else
    parts.append(runsOn.isEmpty() ? name : tr("%1 → %2").arg(name, runsOn));
  const QString temperature = written(settings->temperature);
  if (!temperature.isEmpty()) parts.append(tr("temperature %1").arg(temperature));
  const QString most = written(settings->maxTokens);
  if (!most.isEmpty() && most != QStringLiteral("0")) parts.append(tr("max %1").arg(most));
  return parts.join(QStringLiteral(" · "));
}

QString nodeTitle(const DocumentNode& node) {
  const QString title = titleOf(node);
  return node.name.empty() ? title : title + QStringLiteral(" · ") + QString::fromStdString(node.name);
}

QString nodeSearchText(const DocumentNode& node) {
  QStringList parts{nodeTitle(node), textOf(node), modelLine(node.own)};
  if (const auto* message = node.own.as<query::Message>()) parts[1] = QString::fromStdString(message->text);
  if (const std::vector<std::string>* inputs = query::inputsOf(node.own)) {
    for (const std::string& input : *inputs) parts.append(QString::fromStdString(input));
  }
  return parts.join(QLatin1Char('\n'));
}

QString nodeProblem(const Document& document, NodeId id) {
  const DocumentNode& node = document.at(id);
  if (node.own.as<query::Join>() != nullptr) return node.children.empty() ? tr("needs an input") : QString();
  for (const NodeId child : node.children) {
    if (child == kNoNode) return tr("needs an input");
  }
  return {};
}

void setOwnLook(NodeLook& look, const DocumentNode& node, const std::string& checkpoint) {
  look.op = query::operatorName(node.own);
  look.title = titleOf(node);
  look.name = QString::fromStdString(node.name);
  look.text = textOf(node);
  look.modelLine = modelLine(node.own, checkpoint);
  look.promise = operatorInfo(look.op).promise;
  look.frozen.clear();
  for (const std::string& reply : node.frozen) look.frozen.append(shortened(reply));
}

std::map<NodeId, NodeLook> nodeLooks(const Document& document,
                                     const std::map<NodeId, document::Rect>& layout) {
  const std::map<NodeId, int> hues = huesOf(document);
  std::set<NodeId> inQuery;
  std::set<NodeId> muted;
  if (document.root() != kNoNode) {
    const std::vector<NodeId> nodes = document.subtree(document.root());
    inQuery.insert(nodes.begin(), nodes.end());
  }
  const std::string checkpoint = workbench::modelNameOf(document.settings);
  std::map<NodeId, NodeLook> looks;
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {  // parents first
      const DocumentNode& node = document.at(id);
      if (node.muted || muted.count(node.parent) != 0) muted.insert(id);
      const auto rect = layout.find(id);
      if (rect == layout.end()) continue;
      NodeLook look;
      setOwnLook(look, node, checkpoint);
      look.problem = nodeProblem(document, id);
      look.pill = isPill(node.own);
      look.answers = query::answers(node.own);
      look.muted = muted.count(id) != 0;
      look.draft = inQuery.count(id) == 0;
      look.hasParent = node.parent != kNoNode;
      look.collapsed = node.collapsed;
      if (node.collapsed) look.hidden = static_cast<int>(document.subtree(id).size()) - 1;
      const auto hue = hues.find(id);
      if (hue != hues.end()) look.hue = hue->second;
      look.rect = rect->second;
      look.inputs = inputHeights(document, id, layout);
      look.taken.assign(look.inputs.size(), false);
      for (std::size_t i = 0; i < look.inputs.size() && i < node.children.size(); ++i) {
        look.taken[i] = node.children[i] != kNoNode;
      }
      looks.emplace(id, std::move(look));
    }
  }
  return looks;
}

}  // namespace spanscope::ui
