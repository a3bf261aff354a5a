// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_look.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/model_names.h"
#include "ui/editor/tidy_layout.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

namespace spanscope::ui {

namespace {

using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;

/// Max visible characters of a text on the two lines of a card.
constexpr qsizetype kShownCharacters = 200;

QString shortened(const std::string& text) {
  // A character has at most four bytes, so the removed part would not be visible.
  return QString::fromStdString(text.substr(0, kShownCharacters * 4)).left(kShownCharacters).simplified();
}

/// Returns the number in the form of the query, or "{parameter}". Empty: the setting has no value.
template <class T>
QString written(const query::Setting<T>& setting) {
  if (const auto* value = std::get_if<T>(&setting)) return QString::number(*value);
  if (const auto* parameter = std::get_if<query::Parameter>(&setting)) {
    return QStringLiteral("{%1}").arg(QString::fromStdString(parameter->name));
  }
  return {};
}

/// Returns the text of a card below its title, from the fields of the operator.
QString textOf(const DocumentNode& node) {
  const query::Node& own = node.own;
  if (const std::string* text = query::textOf(own)) return shortened(*text);
  if (const std::vector<std::string>* inputs = query::inputsOf(own)) {
    QStringList shown;
    for (std::size_t i = 0; i < inputs->size() && i < 4; ++i) shown.append(shortened((*inputs)[i]));
    return shown.join(QStringLiteral(" · "));
  }
  if (const query::SourceDocument* document = query::documentOf(own)) {
    return tr("Passages of %1 that match the question").arg(shortened(document->name));
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

/// Returns the labels of inputs, such as "3". The first member of a stack has a range such as "4–20". Its
/// other members have empty labels.
QStringList labelsOf(const DocumentNode& node, const Stacks& stacks, std::size_t inputs) {
  QStringList labels;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (i >= node.children.size()) {
      labels.append(QStringLiteral("+"));
      continue;
    }
    const Stack* stack = stacks.of(node.children[i]);
    if (stack == nullptr) {
      labels.append(QString::number(i + 1));
    } else if (stack->first == i) {
      labels.append(QStringLiteral("%1–%2").arg(i + 1).arg(i + stack->members.size()));
    } else {
      labels.append(QString());
    }
  }
  return labels;
}

/// Turns the look of a stack's first member into the look of the stack.
void setStackLook(NodeLook& look, const Document& document, const Stack& stack,
                  const std::map<NodeId, int>& hues) {
  look.stacked = static_cast<int>(stack.members.size());
  look.title = stackTitle(document, stack);
  look.name.clear();
  look.identity.clear();
  look.modelLine.clear();
  look.promise.clear();
  look.problem.clear();
  look.frozen.clear();
  look.pill = false;
  look.answers = false;
  look.collapsed = false;
  look.hue = -1;
  bool muted = true;
  for (const NodeId member : stack.members) {
    muted = muted && (look.muted || document.at(member).muted);
    for (const NodeId id : document.subtree(member)) {
      const auto hue = hues.find(id);
      if (hue != hues.end()) look.hues.push_back(hue->second);
    }
  }
  look.muted = muted;
}

/// Returns the hues of texts, and of the answers of roots.
std::map<NodeId, int> huesOf(const Document& document, const SegmentIdentities& identities) {
  std::map<NodeId, int> hues;
  for (const NodeId id : document.ids()) {
    const DocumentNode& node = document.at(id);
    const bool isLeaf =
        node.children.empty() && (query::textOf(node.own) != nullptr || query::isSugar(node.own));
    const bool isRoot = node.parent == kNoNode && query::answers(node.own);
    if (!isLeaf && !isRoot) continue;
    if (const SegmentIdentity* identity = identities.ofNode(id)) hues[id] = static_cast<int>(identity->hue);
  }
  return hues;
}

/// The number of a document, if there are several documents.
QString identityOf(NodeId id, const SegmentIdentities& identities) {
  const SegmentIdentity* identity = identities.ofNode(id);
  if (identity == nullptr || identity->kind != PartKind::Document) return {};
  return identities.count(PartKind::Document) < 2 ? QString() : tr("document %1").arg(identity->number + 1);
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
  if (!temperature.isEmpty()) parts.append(tr("temp %1").arg(temperature));
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
  for (const std::string& answer : node.frozen) look.frozen.append(shortened(answer));
}

std::string answererOf(const Document& document, const DocumentNode& node, const std::string& checkpoint) {
  const std::string& server = node.server.empty() ? document.settings.server : node.server;
  return server.empty() || server == document::kEmbedded ? checkpoint : server;
}

QString stackTitle(const Document& document, const Stack& stack) {
  const auto count = static_cast<int>(stack.members.size());
  const query::Node& own = document.at(stack.members.front()).own;
  if (query::answers(own)) return tr("%1 answers").arg(count);
  const auto* join = document.at(stack.parent).own.as<query::Join>();
  const bool isText = query::infoOf(own).gives == query::Gives::Text || query::isSugar(own);
  if (isText && join != nullptr && join->kind == query::JoinKind::Plus) return tr("%1 documents").arg(count);
  return isText ? tr("%1 messages").arg(count) : tr("%1 nodes").arg(count);
}

std::map<NodeId, NodeLook> nodeLooks(const Document& document, const std::map<NodeId, document::Rect>& layout,
                                     const SegmentIdentities& identities, const Stacks& stacks) {
  const std::map<NodeId, int> hues = huesOf(document, identities);
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
      setOwnLook(look, node, answererOf(document, node, checkpoint));
      look.identity = identityOf(id, identities);
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
      look.labels = labelsOf(node, stacks, look.inputs.size());
      if (const Stack* stack = stacks.at(id)) {
        setStackLook(look, document, *stack, hues);
        look.inputs.clear();
        look.taken.clear();
        look.labels.clear();
      }
      looks.emplace(id, std::move(look));
    }
  }
  return looks;
}

namespace {

constexpr double kBarHeight = 6;
constexpr double kTitleTop = 8;
constexpr double kSlack = 0.1;          ///< share of a line that can extend into the space below
constexpr double kLeastWithBar = 22;    ///< min height of a card that has a bar below its title
constexpr double kLeastWithSpace = 30;  ///< min height at which the bar has space around it
constexpr double kLeastWithText = 33;   ///< height of a card that has room for a line below its title
constexpr double kLeastWithEdge = 35;   ///< min height at which the title of such a card is off the edge
constexpr double kLeastAtEase = 38;  ///< min height at which lines have space to the edge and to each other
constexpr double kScaleStep = 1.0625;

}  // namespace

double textScale(double zoom) {
  if (zoom >= kReadableZoom || zoom <= 0) return 1;
  return std::pow(kScaleStep, std::ceil(std::log(kReadableZoom / zoom) / std::log(kScaleStep) - 1e-9));
}

NodeCardPlan::NodeCardPlan(const NodeLook& look, double scale)
    : width((look.rect.width - (look.stacked > 0 ? kStackSheets : 0)) / scale),
      height((look.rect.height - (look.stacked > 0 ? kStackSheets : 0)) / scale) {
  const bool tight = height < 60;
  hasBar = height >= kLeastWithBar;
  const bool isFlat = height < kLeastWithSpace;
  titleTop = !hasBar  ? std::max(0.0, (height - kCardLine) / 2)
             : isFlat ? std::clamp(height - kLeastWithBar - 1, 0.0, 4.0)
             : tight  ? 4
                      : kTitleTop;
  bodyTop = tight ? 20 : 25;
  if (height >= kLeastWithText && height < kLeastAtEase) {
    const double missing = std::max(0.0, kLeastWithEdge - height);
    titleTop -= 2 + missing;
    bodyTop -= 3 + missing;
  }
  bar = QRectF(kCardLeft, height - (tight ? 9 : 13), width - kCardLeft - kCardRight - kShareWidth,
               tight ? 4 : kBarHeight);
  if (isFlat) bar = QRectF(bar.left(), height - 6, bar.width(), 3);
  bodyLines = std::max(0, static_cast<int>((bar.top() - bodyTop) / kCardLine + kSlack));
  // A line of text is more important than the bar. If there is too little room, the bar is at the lower edge.
  if (bodyLines == 0 && height >= kLeastWithText) {
    bar = QRectF(bar.left(), height - 5, bar.width(), 3);
    bodyLines = 1;
  }
  hasIcon = width >= 110;
  titleLeft = kCardLeft + (hasIcon ? 20 : 0);
  // On a low card, the digits have a min distance from the lower edge.
  shareTop = std::min(bar.center().y() - 7, height - kShareFoot);
  chipTop = std::max(height - 6.5, hasBar ? bar.bottom() + 1 : 0);
  if (!look.answers) return;
  hasModel = height >= 100;
  const double top = hasModel ? 42 : bodyTop;
  answer = QRectF(kCardLeft - 2, top, width - kCardLeft - kCardRight + 6, bar.top() - (tight ? 3 : 12) - top);
  hasState = answer.height() >= 38;
  bodyLines = std::max(0, static_cast<int>((answer.height() - (hasState ? 22 : 0)) / kCardLine));
}

QRectF pickerArea(const NodeLook& look, double scale) {
  const NodeCardPlan plan(look, scale);
  if (!plan.hasState) return {};
  const QRectF box = plan.answer;
  return {(box.right() - 80) * scale, (box.bottom() - 20) * scale, 80 * scale, 20 * scale};
}

QRectF barArea(const NodeLook& look, double scale) {
  const QRectF bar = NodeCardPlan(look, scale).bar;
  return {bar.topLeft() * scale, bar.size() * scale};
}

QRectF restackArea(const NodeLook& look) {
  if (!look.spread) return {};
  return {look.rect.width / 2 - 30, look.rect.height - 12, 60, 24};
}

}  // namespace spanscope::ui
