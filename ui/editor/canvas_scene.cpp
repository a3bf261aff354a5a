// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_scene.h"

#include "ui/editor/node_look.h"
#include "ui/editor/tidy_layout.h"

#include <QApplication>
#include <QGraphicsView>
#include <QStyle>

#include <algorithm>
#include <cmath>
#include <set>

namespace spanscope::ui {
namespace {

using document::kNoNode;
using document::NodeId;

constexpr int kMotionInterval = 33;  // milliseconds
constexpr double kMotionStep = 0.03;
constexpr double kNode = 2;  ///< z value of nodes: above wires, below notes
constexpr double kSelectedNode = 2.5;
/// Margin around the drawn items, in scene pixels. The scene's index is only rebuilt when items leave the
/// margin.
constexpr double kIndexMargin = 2000;
constexpr double kFarBend = 2000;  ///< max distance from the nodes of a reroute point that fit() shows

bool near(QPointF a, QPointF b, double reach) {
  return std::hypot(a.x() - b.x(), a.y() - b.y()) <= reach;
}

QRectF toRect(const document::Rect& rect) {
  return {rect.x, rect.y, rect.width, rect.height};
}

}  // namespace

CanvasScene::CanvasScene(CanvasCore& core, QObject* parent)
    : QGraphicsScene(parent), m_core(core), m_style(std::make_shared<CanvasStyle>(core.theme())) {
  setItemIndexMethod(QGraphicsScene::BspTreeIndex);
  setSceneRect(-kIndexMargin, -kIndexMargin, 2 * kIndexMargin, 2 * kIndexMargin);
  m_moves = QApplication::style()->styleHint(QStyle::SH_Widget_Animation_Duration) > 0;
  m_motion.setInterval(kMotionInterval);
  connect(&m_motion, &QTimer::timeout, this, &CanvasScene::tick);
  connect(&core, &CanvasCore::drawnChanged, this, &CanvasScene::sync);
  connect(&core, &CanvasCore::looksChanged, this, [this](const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) m_nodes.at(id)->setLook(m_core.looks().at(id));
  });
  connect(&core, &CanvasCore::statusesChanged, this, &CanvasScene::syncStatuses);
  connect(&core, &CanvasCore::selectionChanged, this, [this] {
    syncMarks();
    syncWires();
    syncAreas();
  });
  connect(&core, &CanvasCore::themeChanged, this, &CanvasScene::restyle);
  sync();
}

void CanvasScene::sync() {
  const auto& looks = m_core.looks();
  // The index divides this rectangle, so it should not be much larger than the drawn area.
  const QRectF content = contentRect();
  if (!sceneRect().contains(content)) {
    setSceneRect(content.adjusted(-kIndexMargin, -kIndexMargin, kIndexMargin, kIndexMargin));
  }
  std::erase_if(m_nodes, [&looks](const auto& item) { return looks.count(item.first) == 0; });
  for (const auto& [id, look] : looks) {
    auto& item = m_nodes[id];
    if (!item) {
      item = std::make_unique<NodeItem>(id, m_style);
      item->setLook(look);
      addItem(item.get());
    } else {
      item->setLook(look);
    }
  }
  syncStatuses();
  syncMarks();
  syncWires();
  syncAreas();
}

void CanvasScene::syncWires() {
  const document::Document& document = m_core.drawn();
  const auto& looks = m_core.looks();
  std::set<NodeId> accent;
  for (const NodeId id : m_core.selection()) {
    for (NodeId at = id; at != kNoNode && document.contains(at) && accent.insert(at).second;) {
      at = document.at(at).parent;
    }
  }
  const auto isDrawn = [&](NodeId id) {
    const auto look = looks.find(id);
    return look != looks.end() && look->second.hasParent && looks.count(document.at(id).parent) != 0;
  };
  std::erase_if(m_wires, [&](const auto& wire) { return !isDrawn(wire.first); });
  for (const auto& [parent, look] : looks) {
    if (look.inputs.empty()) continue;
    const std::vector<NodeId>& children = document.at(parent).children;
    for (std::size_t i = 0; i < children.size() && i < look.inputs.size(); ++i) {
      const NodeId child = children[i];
      if (child == kNoNode || !isDrawn(child)) continue;
      auto& wire = m_wires[child];
      const bool isNew = !wire;
      if (isNew) wire = std::make_unique<WireItem>(m_style);
      const QPointF output = outputOf(child);
      std::vector<QPointF> bends;
      // The wire of a stack represents several nodes, so it has no reroute points.
      if (m_core.stacks().of(child) == nullptr) {
        for (const document::Point& bend : document.at(child).bends)
          bends.push_back(output + QPointF(bend.x, bend.y));
      }
      wire->setEnds(output, QPointF(look.rect.x, look.rect.y + look.inputs[i]), bends);
      const bool isChosen = m_chosenBend && m_chosenBend->first == child;
      wire->setChosenBend(isChosen ? std::optional(m_chosenBend->second) : std::nullopt);
      wire->setMuted(looks.at(child).muted);
      wire->setVisible(m_targets.detached != child);
      wire->setLook(m_targets.wire == child    ? WireItem::Look::Target
                    : accent.count(child) != 0 ? WireItem::Look::Selected
                                               : WireItem::Look::Plain);
      if (isNew) addItem(wire.get());
    }
  }
}

void CanvasScene::syncAreas() {
  const document::Document& document = m_core.drawn();
  std::set<std::pair<int, std::uint32_t>> present;
  const auto show = [&](AreaRef ref, const QString& text, const document::Rect& area, std::size_t hue) {
    const std::pair key(static_cast<int>(ref.kind), ref.id);
    present.insert(key);
    auto& item = m_areas[key];
    const bool isNew = !item;
    if (isNew) item = std::make_unique<AreaItem>(ref.kind == AreaRef::Kind::Note, m_style);
    item->setContent(text, area, hue);
    item->setSelected(m_core.selectedArea() == ref);
    if (isNew) addItem(item.get());
  };
  for (const document::Frame& frame : document.frames) {
    show({AreaRef::Kind::Frame, frame.id}, QString::fromStdString(frame.title), frame.area, frame.hue);
    auto& title = m_titles[frame.id];
    const bool isNew = !title;
    if (isNew) title = std::make_unique<FrameTitleItem>(m_style);
    title->setContent(QString::fromStdString(frame.title), frame.area, frame.hue);
    if (isNew) addItem(title.get());
  }
  std::erase_if(m_titles, [&document](const auto& title) {
    return std::none_of(document.frames.begin(), document.frames.end(),
                        [&](const document::Frame& frame) { return frame.id == title.first; });
  });
  for (const document::Note& note : document.notes) {
    show({AreaRef::Kind::Note, note.id}, QString::fromStdString(note.text), note.area, 0);
  }
  std::erase_if(m_areas, [&present](const auto& item) { return present.count(item.first) == 0; });
}

void CanvasScene::syncMarks() {
  std::set<NodeId> selected(m_core.selection().begin(), m_core.selection().end());
  for (const auto& [id, item] : m_nodes) {
    NodeMarks marks;
    const Stack* stack = m_core.stacks().at(id);
    marks.selected = stack == nullptr ? selected.count(id) != 0
                                      : std::all_of(stack->members.begin(), stack->members.end(),
                                                    [&](NodeId member) { return selected.contains(member); });
    marks.focused = m_focused && id == m_core.current();
    marks.hovered = id == m_hovered;
    marks.moves = m_moves;
    const auto input = m_targets.inputs.find(id);
    if (input != m_targets.inputs.end()) marks.inputFits = input->second;
    marks.outputFits = m_targets.outputs.count(id) != 0;
    item->setMarks(marks);
    // A selected node is above others, so that a dragged node stays visible.
    item->setZValue(marks.selected ? kSelectedNode : kNode);
  }
}

void CanvasScene::syncStatuses() {
  bool running = false;
  for (const auto& [id, item] : m_nodes) {
    const Stack* stack = m_core.stacks().at(id);
    item->setStatus(stack == nullptr ? m_core.statusOf(id) : m_core.statusOf(*stack));
    item->setPrediction(stack == nullptr ? m_core.predictionOf(id) : nullptr);
    running = running || item->isRunning();
  }
  if (running && m_moves) {
    if (!m_motion.isActive()) m_motion.start();
  } else {
    m_motion.stop();
  }
}

void CanvasScene::restyle() {
  m_style = std::make_shared<CanvasStyle>(m_core.theme());
  for (const auto& [id, item] : m_nodes) item->setStyle(m_style);
  for (const auto& [id, item] : m_wires) item->setStyle(m_style);
  for (const auto& [key, item] : m_areas) item->setStyle(m_style);
  for (const auto& [frame, item] : m_titles) item->setStyle(m_style);
  if (m_loose) m_loose->setStyle(m_style);
  update();
}

void CanvasScene::tick() {
  for (const auto& [id, item] : m_nodes) {
    if (item->isRunning()) item->setMotion(std::fmod(item->marks().motion + kMotionStep, 1.0));
  }
}

QPointF CanvasScene::outputOf(NodeId id) const {
  const document::Rect* rect = m_core.rectOf(id);
  return rect == nullptr ? QPointF() : QPointF(rect->x + rect->width, rect->y + outputHeight(*rect));
}

QPointF CanvasScene::inputOf(NodeId id, std::size_t index) const {
  const auto look = m_core.looks().find(id);
  if (look == m_core.looks().end() || index >= look->second.inputs.size()) return {};
  return {look->second.rect.x, look->second.rect.y + look->second.inputs[index]};
}

CanvasHit CanvasScene::hitAt(QPointF point, double reach) const {
  using Kind = CanvasHit::Kind;
  // The area needs a size above 0, because an empty area intersects no item.
  const double half = std::max(reach, 0.5);
  const QRectF around(point - QPointF(half, half), QSizeF(2 * half, 2 * half));
  const QList<QGraphicsItem*> found = items(around, Qt::IntersectsItemBoundingRect, Qt::DescendingOrder);
  for (const QGraphicsItem* item : found) {
    const auto* node = qgraphicsitem_cast<const NodeItem*>(item);
    if (node == nullptr) continue;
    // Several inputs can be within the reach, so the nearest one counts.
    CanvasHit nearest;
    double least = reach;
    for (std::size_t i = 0; i < node->look().inputs.size(); ++i) {
      const QPointF away = inputOf(node->id(), i) - point;
      const double distance = std::hypot(away.x(), away.y());
      if (distance > least) continue;
      least = distance;
      nearest = {.kind = Kind::Input, .node = node->id(), .input = i};
    }
    if (nearest.kind == Kind::Input) return nearest;
    if (near(outputOf(node->id()), point, reach)) return {.kind = Kind::Output, .node = node->id()};
  }
  for (const auto& [frame, title] : m_titles) {
    // A title is painted over nodes, so a click there hits the title.
    if (title->labelAt(shownZoom()).translated(title->pos()).contains(point))
      return {.kind = Kind::Area, .area = {AreaRef::Kind::Frame, frame}};
  }
  for (const QGraphicsItem* item : found) {
    if (const auto* area = qgraphicsitem_cast<const AreaItem*>(item); area != nullptr && area->zValue() > 2) {
      for (const document::Note& note : m_core.drawn().notes) {
        const QRectF rect = toRect(note.area);
        if (!rect.contains(point)) continue;
        const AreaRef ref{AreaRef::Kind::Note, note.id};
        const bool grip = rect.right() - point.x() < kAreaGrip && rect.bottom() - point.y() < kAreaGrip;
        return {.kind = grip ? Kind::AreaGrip : Kind::Area, .area = ref};
      }
    }
    const auto* node = qgraphicsitem_cast<const NodeItem*>(item);
    if (node == nullptr) continue;
    if (restackArea(node->look()).contains(point - node->pos()))
      return {.kind = Kind::Restack, .node = node->id()};
    if (!toRect(node->look().rect).contains(point)) continue;
    if (node->look().stacked > 0) return {.kind = Kind::Stack, .node = node->id()};
    const bool picks = m_core.statusOf(node->id()).copies > 1 && node->look().answers &&
                       !node->look().isFrozen() &&
                       pickerArea(node->look(), textScale(shownZoom())).contains(point - node->pos());
    return {.kind = picks ? Kind::Picker : Kind::Node, .node = node->id()};
  }
  for (const QGraphicsItem* item : found) {
    const auto* bent = qgraphicsitem_cast<const WireItem*>(item);
    if (bent == nullptr || !bent->isVisible()) continue;
    for (std::size_t i = 0; i < bent->bends().size(); ++i) {
      if (!near(bent->bends()[i], point, reach)) continue;
      for (const auto& [child, own] : m_wires)
        if (own.get() == bent) return {.kind = Kind::Bend, .node = child, .input = i};
    }
  }
  const NodeId wire = wireAt(point, reach / 2);
  if (wire != kNoNode) return {.kind = Kind::Wire, .node = wire};
  const auto& frames = m_core.drawn().frames;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const QRectF rect = toRect(frame->area);
    if (!rect.contains(point)) continue;
    const AreaRef ref{AreaRef::Kind::Frame, frame->id};
    if (rect.right() - point.x() < kAreaGrip && rect.bottom() - point.y() < kAreaGrip) {
      return {.kind = Kind::AreaGrip, .area = ref};
    }
    if (point.y() - rect.top() < kFrameTitleHeight) return {.kind = Kind::Area, .area = ref};
  }
  return {};
}

double CanvasScene::shownZoom() const {
  const QList<QGraphicsView*> shown = views();
  return shown.isEmpty() ? 1 : shown.first()->transform().m11();
}

QString CanvasScene::tipAt(QPointF point) const {
  const CanvasHit hit = hitAt(point, 0);
  if (hit.kind == CanvasHit::Kind::Stack) {
    const QString title = m_core.looks().at(hit.node).title;
    return tr("%1 nodes in one stack, because the nodes do not fit. Click to show all nodes.").arg(title);
  }
  if (hit.kind == CanvasHit::Kind::Bend)
    return tr("Drag to reroute the wire, double-click to remove the point");
  if (hit.kind == CanvasHit::Kind::Restack) return tr("Stack the inputs that do not fit on the canvas");
  const bool isNode = hit.kind == CanvasHit::Kind::Node || hit.kind == CanvasHit::Kind::Picker;
  return isNode ? m_core.tipOf(hit.node) : QString();
}

std::size_t CanvasScene::gapAt(NodeId join, QPointF point) const {
  const auto look = m_core.looks().find(join);
  if (look == m_core.looks().end()) return 0;
  std::size_t index = 0;
  for (std::size_t i = 0; i < look->second.inputs.size(); ++i) {
    if (look->second.taken[i] && point.y() > look->second.rect.y + look->second.inputs[i]) index = i + 1;
  }
  return index;
}

NodeId CanvasScene::wireAt(QPointF point, double reach) const {
  for (const auto& [child, wire] : m_wires) {
    if (!wire->isVisible() || !wire->boundingRect().adjusted(-reach, -reach, reach, reach).contains(point))
      continue;
    if (wire->distance(point) <= reach) return child;
  }
  return kNoNode;
}

const WireItem* CanvasScene::wireOf(NodeId child) const {
  const auto found = m_wires.find(child);
  return found == m_wires.end() || !found->second->isVisible() ? nullptr : found->second.get();
}

QRectF CanvasScene::contentRect() const {
  QRectF all;
  for (const auto& [id, rect] : m_core.layout()) all |= toRect(rect);
  for (const document::Frame& frame : m_core.drawn().frames) all |= toRect(frame.area);
  for (const document::Note& note : m_core.drawn().notes) all |= toRect(note.area);
  // Ignores reroute points that are far from all nodes, so that the query stays large enough to read.
  const QRectF around = all.adjusted(-kFarBend, -kFarBend, kFarBend, kFarBend);
  for (const auto& [child, wire] : m_wires) {
    for (const QPointF bend : wire->bends()) {
      const QRectF point(bend - QPointF(kBendSize, kBendSize) / 2, QSizeF(kBendSize, kBendSize));
      if (around.contains(point)) all |= point;
    }
  }
  return all;
}

void CanvasScene::setChosenBend(std::optional<std::pair<NodeId, std::size_t>> bend) {
  if (bend == m_chosenBend) return;
  m_chosenBend = bend;
  syncWires();
}

void CanvasScene::setTargets(const CanvasTargets& targets) {
  if (targets == m_targets) return;
  m_targets = targets;
  syncMarks();
  syncWires();
}

void CanvasScene::setLooseWire(std::optional<std::pair<QPointF, QPointF>> ends) {
  if (!ends) {
    m_loose.reset();
    return;
  }
  if (!m_loose) {
    m_loose = std::make_unique<WireItem>(m_style);
    m_loose->setLook(WireItem::Look::Loose);
    addItem(m_loose.get());
  }
  m_loose->setEnds(ends->first, ends->second);
}

void CanvasScene::setHovered(NodeId id) {
  if (id == m_hovered) return;
  m_hovered = id;
  syncMarks();
}

void CanvasScene::setFocused(bool focused) {
  if (focused == m_focused) return;
  m_focused = focused;
  syncMarks();
}

}  // namespace spanscope::ui
