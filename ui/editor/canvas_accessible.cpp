// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_view.h"
#include "ui/editor/node_paint.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QAccessibleWidget>
#include <QStringList>

#include <map>
#include <vector>

namespace spanscope::ui {
namespace {

using document::kNoNode;
using document::NodeId;

QString phaseWord(NodePhase phase) {
  switch (phase) {
    case NodePhase::Waiting:
      return tr("waiting");
    case NodePhase::Running:
      return tr("running");
    case NodePhase::Finished:
      return tr("finished");
    case NodePhase::Stopped:
      return tr("stopped");
    case NodePhase::Failed:
      return tr("failed");
    case NodePhase::None:
      break;
  }
  return {};
}

class AccessibleCanvas;

class AccessibleNode : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  AccessibleNode(AccessibleCanvas& canvas, NodeId id) : m_canvas(canvas), m_id(id) {}

  bool isValid() const override;
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* childAt(int x, int y) const override;
  QAccessibleInterface* parent() const override;
  QAccessibleInterface* child(int index) const override;
  int childCount() const override;
  int indexOfChild(const QAccessibleInterface* child) const override;
  QString text(QAccessible::Text type) const override;
  void setText(QAccessible::Text /*type*/, const QString& /*text*/) override {}
  QRect rect() const override;
  QAccessible::Role role() const override { return QAccessible::TreeItem; }
  QAccessible::State state() const override;
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this) : nullptr;
  }

  QStringList actionNames() const override { return {pressAction(), setFocusAction()}; }
  void doAction(const QString& name) override;
  QStringList keyBindingsForAction(const QString& /*name*/) const override { return {}; }

 private:
  std::vector<NodeId> children() const;

  AccessibleCanvas& m_canvas;
  NodeId m_id;
};

class AccessibleCanvas : public QAccessibleWidget {
 public:
  explicit AccessibleCanvas(Canvas* canvas)
      : QAccessibleWidget(canvas, QAccessible::Tree, canvas->accessibleName()) {}
  ~AccessibleCanvas() override {
    for (const auto& [id, interface] : m_nodes) QAccessible::deleteAccessibleInterface(interface);
  }

  // Each call looks up the core, because the interface can exist before and after the parts of the canvas.
  CanvasCore* core() const { return widget()->findChild<CanvasCore*>(QString(), Qt::FindDirectChildrenOnly); }
  CanvasView* view() const { return widget()->findChild<CanvasView*>(QString(), Qt::FindDirectChildrenOnly); }
  Canvas& canvas() const { return *static_cast<Canvas*>(widget()); }

  QAccessibleInterface* node(NodeId id) {
    const auto found = m_nodes.find(id);
    if (found != m_nodes.end()) return QAccessible::accessibleInterface(found->second);
    auto* made = new AccessibleNode(*this, id);
    m_nodes[id] = QAccessible::registerAccessibleInterface(made);
    return made;
  }

  /// Returns the number of trees and of the visible widgets over the canvas. The trees come first.
  int childCount() const override {
    return static_cast<int>(tops().size()) + static_cast<int>(overlays().size());
  }

  QAccessibleInterface* child(int index) const override {
    const std::vector<NodeId> trees = tops();
    const auto count = static_cast<int>(trees.size());
    if (index < 0) return nullptr;
    // The first call for a node makes its interface.
    if (index < count)
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): Qt calls a const function for an object that
      // can be changed.
      return const_cast<AccessibleCanvas*>(this)->node(trees[static_cast<std::size_t>(index)]);
    const QList<QWidget*> widgets = overlays();
    return index - count < widgets.size() ? QAccessible::queryAccessibleInterface(widgets.at(index - count))
                                          : nullptr;
  }

  int indexOfChild(const QAccessibleInterface* child) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (this->child(i) == child) return i;
    }
    return -1;
  }

  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      QAccessibleInterface* at = child(i);
      if (at == nullptr) continue;
      if (QAccessibleInterface* below = at->childAt(x, y)) return below;
      if (at->rect().contains(x, y)) return at;
    }
    return nullptr;
  }

  QAccessibleInterface* focusChild() const override {
    const CanvasCore* shown = core();
    if (canvas().hasFocus() && shown != nullptr && shown->current() != kNoNode) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): Qt calls a const function for an object that
      // can be changed.
      return const_cast<AccessibleCanvas*>(this)->node(shown->current());
    }
    return QAccessibleWidget::focusChild();
  }

 private:
  std::vector<NodeId> tops() const {
    const CanvasCore* shown = core();
    return shown == nullptr ? std::vector<NodeId>() : shown->document().tops();
  }

  QList<QWidget*> overlays() const {
    QList<QWidget*> shown;
    for (QWidget* widget : canvas().findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
      if (widget->isVisible() && widget != view()) shown.append(widget);
    }
    return shown;
  }

  std::map<NodeId, QAccessible::Id> m_nodes;
};

bool AccessibleNode::isValid() const {
  return m_canvas.core() != nullptr && m_canvas.core()->document().contains(m_id);
}

std::vector<NodeId> AccessibleNode::children() const {
  std::vector<NodeId> ids;
  if (!isValid()) return ids;
  const document::DocumentNode& node = m_canvas.core()->document().at(m_id);
  if (node.collapsed) return ids;
  for (const NodeId child : node.children) {
    if (child != kNoNode) ids.push_back(child);
  }
  return ids;
}

QAccessibleInterface* AccessibleNode::childAt(int x, int y) const {
  for (int i = 0; i < childCount(); ++i) {
    QAccessibleInterface* at = child(i);
    if (QAccessibleInterface* below = at->childAt(x, y)) return below;
    if (at->rect().contains(x, y)) return at;
  }
  return nullptr;
}

QAccessibleInterface* AccessibleNode::parent() const {
  if (!isValid()) return &m_canvas;
  const NodeId above = m_canvas.core()->document().at(m_id).parent;
  return above == kNoNode ? &m_canvas : m_canvas.node(above);
}

QAccessibleInterface* AccessibleNode::child(int index) const {
  const std::vector<NodeId> ids = children();
  if (index < 0 || static_cast<std::size_t>(index) >= ids.size()) return nullptr;
  return m_canvas.node(ids[static_cast<std::size_t>(index)]);
}

int AccessibleNode::childCount() const {
  return static_cast<int>(children().size());
}

int AccessibleNode::indexOfChild(const QAccessibleInterface* child) const {
  for (int i = 0; i < childCount(); ++i) {
    if (this->child(i) == child) return i;
  }
  return -1;
}

QString AccessibleNode::text(QAccessible::Text type) const {
  if (!isValid()) return {};
  const CanvasCore& core = *m_canvas.core();
  switch (type) {
    case QAccessible::Name:
      return accessibleNodeName(core, m_id);
    case QAccessible::Description: {
      const auto look = core.looks().find(m_id);
      QString answer = QString::fromStdString(core.statusOf(m_id).answer);
      if (look == core.looks().end()) return answer;
      if (look->second.stacked > 0) {
        const QString key =
            core.input() == nullptr ? QString() : core.input()->keyOf(QStringLiteral("node.stack"));
        return key.isEmpty() ? tr("A stack.") : tr("A stack: %1 shows each node.").arg(key);
      }
      return answer.isEmpty() ? look->second.text : answer;
    }
    default:
      return {};
  }
}

QRect AccessibleNode::rect() const {
  if (!isValid()) return {};
  const document::Rect* rect = m_canvas.core()->rectOf(m_id);
  // A node in a stack has the rectangle of the stack.
  const Stack* stack = m_canvas.core()->stacks().of(m_id);
  if (rect == nullptr && stack != nullptr) rect = m_canvas.core()->rectOf(stack->members.front());
  const CanvasView* view = m_canvas.view();
  if (rect == nullptr || view == nullptr) return {};
  const QRectF seen = view->viewportTransform().mapRect(QRectF(rect->x, rect->y, rect->width, rect->height));
  return QRect(view->viewport()->mapToGlobal(seen.topLeft().toPoint()), seen.size().toSize());
}

QAccessible::State AccessibleNode::state() const {
  QAccessible::State state;
  if (!isValid()) {
    state.invalid = true;
    return state;
  }
  const CanvasCore& core = *m_canvas.core();
  const document::DocumentNode& node = core.document().at(m_id);
  state.focusable = true;
  state.selectable = true;
  state.multiSelectable = true;
  state.selected = core.isSelected(m_id);
  state.focused = core.current() == m_id && m_canvas.canvas().hasFocus();
  state.invisible = core.rectOf(m_id) == nullptr;
  state.offscreen =
      !rect().intersects(QRect(m_canvas.canvas().mapToGlobal(QPoint()), m_canvas.canvas().size()));
  state.expandable = core.document().subtree(m_id).size() > 1;
  state.collapsed = node.collapsed;
  state.expanded = state.expandable && !node.collapsed;
  return state;
}

void AccessibleNode::doAction(const QString& name) {
  if (!isValid()) return;
  if (name == setFocusAction()) m_canvas.canvas().setFocus();
  CanvasCore& core = *m_canvas.core();
  if (const Stack* stack = core.selectedStack(); stack != nullptr && stack->members.front() == m_id) {
    const Stack opened = *stack;
    core.open(opened);
  }
  core.select({m_id});
}

QAccessibleInterface* makeInterface(const QString& className, QObject* object) {
  if (className != QStringLiteral("spanscope::ui::Canvas")) return nullptr;
  auto* canvas = qobject_cast<Canvas*>(object);
  return canvas == nullptr ? nullptr : new AccessibleCanvas(canvas);
}

}  // namespace

void installCanvasAccessibility() {
  static const bool installed = [] {
    QAccessible::installFactory(makeInterface);
    return true;
  }();
  Q_UNUSED(installed);
}

QString accessibleNodeName(const CanvasCore& core, NodeId id) {
  const document::DocumentNode* node = core.document().find(id);
  if (node == nullptr) return {};
  const auto look = core.looks().find(id);
  QStringList parts;
  if (const Stack* selected = core.selectedStack(); selected != nullptr && selected->members.front() == id) {
    parts.append(stackTitle(core.document(), *selected));
    if (const QString text = stackText(core.statusOf(*selected)); !text.isEmpty()) parts.append(text);
    parts.append(tr("stacked"));
    return parts.join(QStringLiteral(", "));
  }
  const NodeStatus& status = core.statusOf(id);
  parts.append(nodeTitle(*node).section(QStringLiteral(" · "), 0, 0));
  if (!node->name.empty()) parts.append(QString::fromStdString(node->name));
  if (look != core.looks().end() && node->name.empty() && !look->second.identity.isEmpty())
    parts.append(look->second.identity);
  if (look != core.looks().end() && !look->second.promise.isEmpty()) parts.append(look->second.promise);
  if (status.tokens >= 0) parts.append(tr("%1 tokens").arg(status.tokens));
  if (const QString found = passagesText(status); !found.isEmpty()) parts.append(found);
  if (const QString share = status.cachedShare(); !share.isEmpty())
    parts.append(metricPhrase("cached-tokens", share));
  if (status.looked >= 0) parts.append(tr("document share %1").arg(partText(status.looked)));
  if (const NodePrediction* prediction = core.predictionOf(id)) parts.append(predictionWords(*prediction));
  const QString phase = phaseWord(status.phase);
  if (!phase.isEmpty()) parts.append(phase);
  if (status.copies > 1 && !node->isFrozen())
    parts.append(tr("answer %1 of %2").arg(status.copy + 1).arg(status.copies));
  const QString problem = nodeProblem(core.document(), id);
  if (!problem.isEmpty()) parts.append(problem);
  if (look != core.looks().end() && look->second.muted) parts.append(tr("muted"));
  if (node->isFrozen()) {
    parts.append(node->frozen.size() == 1 ? tr("frozen") : tr("frozen, %1 answers").arg(node->frozen.size()));
  }
  if (node->collapsed) parts.append(tr("collapsed"));
  if (const Stack* stack = core.stacks().of(id))
    parts.append(tr(/*id:in-a-stack*/ "in a stack of %1").arg(stackTitle(core.document(), *stack)));
  if (look != core.looks().end() && look->second.draft) parts.append(tr("draft"));
  return parts.join(QStringLiteral(", "));
}

}  // namespace spanscope::ui
