// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_gestures.h"

#include "engine/workbench/document/edits.h"
#include "ui/editor/tidy_layout.h"

#include <QApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace spanscope::ui {

using document::Arity;
using document::arityOf;
using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Point;
using document::Rect;

namespace {

/// The distance from a join's column, in scene pixels. Farther away, a drag moves the node instead of
/// reordering it.
constexpr double kReorderReach = 100;
constexpr double kSnap = 4;
constexpr double kLeastArea = 60;
/// The view scrolls if the pointer drags something this near to the edge of the viewport, or outside it.
constexpr int kScrollEdge = 24;
constexpr int kMostScroll = 24;  ///< pixels per tick
constexpr int kScrollTick = 16;  ///< milliseconds

bool holds(const Rect& area, const Rect& rect) {
  return rect.x >= area.x && rect.y >= area.y && rect.x + rect.width <= area.x + area.width &&
         rect.y + rect.height <= area.y + area.height;
}

QRectF between(QPointF a, QPointF b) {
  return QRectF(a, b).normalized();
}

}  // namespace

CanvasGestures::CanvasGestures(CanvasCore& core, CanvasScene& scene, CanvasView& view, QObject* parent)
    : QObject(parent), m_core(core), m_scene(scene), m_view(view) {
  m_scroll.setInterval(kScrollTick);
  connect(&m_scroll, &QTimer::timeout, this, &CanvasGestures::scrollOn);
}

double CanvasGestures::reach() const {
  return std::max(9.0, 7 / m_view.zoom());
}

void CanvasGestures::press(const QMouseEvent& event) {
  Q_EMIT pressed();
  if (m_kind != Kind::None) return;
  m_button = event.button();
  m_pressedPixel = event.position().toPoint();
  m_lastPixel = m_pressedPixel;
  const QPointF at = m_view.mapToScene(m_pressedPixel);
  m_pressedAt = at;
  m_last = at;
  m_toggles = (event.modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) != 0;
  if (m_button == Qt::MiddleButton || (m_button == Qt::LeftButton && m_space)) {
    m_kind = Kind::Pan;
    m_view.viewport()->setCursor(Qt::ClosedHandCursor);
  } else if (m_button == Qt::LeftButton) {
    pressLeft(event, at);
  } else if (m_button == Qt::RightButton) {
    const CanvasHit hit = m_scene.hitAt(at, reach());
    const bool isOfNode = hit.kind == CanvasHit::Kind::Node || hit.kind == CanvasHit::Kind::Wire ||
                          hit.kind == CanvasHit::Kind::Bend;
    if (isOfNode && !m_core.isSelected(hit.node)) m_core.select({hit.node});
    if (hit.kind == CanvasHit::Kind::Stack && !m_core.isSelected(hit.node)) selectStack(hit.node, false);
  }
}

void CanvasGestures::pressLeft(const QMouseEvent& /*event*/, QPointF at) {
  const CanvasHit hit = m_scene.hitAt(at, reach());
  switch (hit.kind) {
    case CanvasHit::Kind::Picker:
      m_core.showNextAnswer(hit.node);
      return;
    case CanvasHit::Kind::Output:
      startWireUp(hit.node, false);
      return;
    case CanvasHit::Kind::Input: {
      const auto& children = m_core.document().at(hit.node).children;
      const NodeId child = hit.input < children.size() ? children[hit.input] : kNoNode;
      if (child != kNoNode) {
        startWireUp(child, true);
      } else {
        startWireDown(hit.node, hit.input);
      }
      return;
    }
    case CanvasHit::Kind::Stack:
      m_kind = Kind::PressedStack;
      m_pressed = hit.node;
      return;
    case CanvasHit::Kind::Restack:
      Q_EMIT restackWanted(hit.node);
      return;
    case CanvasHit::Kind::Bend:
      m_core.select({hit.node});
      startBend(hit.node, hit.input);
      return;
    case CanvasHit::Kind::Node:
    case CanvasHit::Kind::Wire:
      m_kind = hit.kind == CanvasHit::Kind::Wire ? Kind::PressedWire : Kind::PressedNode;
      m_pressed = hit.node;
      if (!m_toggles && !m_core.isSelected(hit.node)) m_core.select({hit.node});
      return;
    case CanvasHit::Kind::Area:
    case CanvasHit::Kind::AreaGrip:
      m_core.selectArea(hit.area);
      m_area = hit.area;
      m_kind = hit.kind == CanvasHit::Kind::Area ? Kind::Area : Kind::AreaSize;
      startArea();
      return;
    case CanvasHit::Kind::Nothing:
      m_kind = Kind::PressedCanvas;
      // The second click of a double click must not replace the stored selection.
      if (!m_core.selection().empty() || !m_sinceCanvas.isValid() ||
          m_sinceCanvas.elapsed() > QApplication::doubleClickInterval()) {
        m_selectionBefore = m_core.selection();
      }
      m_sinceCanvas.start();
      return;
  }
}

void CanvasGestures::move(const QMouseEvent& event) {
  const QPoint pixel = event.position().toPoint();
  const QPoint before = std::exchange(m_lastPixel, pixel);
  m_modifiers = event.modifiers();
  if (m_kind == Kind::Pan) {
    m_view.panBy(pixel - before);
    return;
  }
  follow(pixel, m_modifiers);
  if (scrollStep().isNull()) {
    m_scroll.stop();
  } else if (!m_scroll.isActive()) {
    m_scroll.start();
  }
}

QPoint CanvasGestures::scrollStep() const {
  switch (m_kind) {
    case Kind::Rubber:
    case Kind::Nodes:
    case Kind::WireUp:
    case Kind::WireDown:
    case Kind::Bend:
    case Kind::Area:
    case Kind::AreaSize:
      break;
    default:
      return {};
  }
  const auto along = [](int at, int length) {
    const int before = kScrollEdge - at;
    const int after = at - (length - 1 - kScrollEdge);
    if (before > 0) return -std::min(before, kMostScroll);
    return after > 0 ? std::min(after, kMostScroll) : 0;
  };
  const QSize size = m_view.viewport()->size();
  return {along(m_lastPixel.x(), size.width()), along(m_lastPixel.y(), size.height())};
}

void CanvasGestures::scrollOn() {
  const QPoint step = scrollStep();
  if (step.isNull()) {
    m_scroll.stop();
    return;
  }
  m_view.panBy(-step);
  follow(m_lastPixel, m_modifiers);
}

void CanvasGestures::follow(QPoint pixel, Qt::KeyboardModifiers modifiers) {
  const QPointF at = m_view.mapToScene(pixel);
  const bool far = (pixel - m_pressedPixel).manhattanLength() >= QApplication::startDragDistance() / 2;
  m_last = at;
  if (m_kind == Kind::PressedNode && far) startNodes();
  if (m_kind == Kind::PressedWire && far) startBend(m_pressed, document::kMostBends);
  if (m_kind == Kind::PressedCanvas && far) {
    m_kind = m_dragPans && !m_toggles ? Kind::Pan : Kind::Rubber;
    if (m_kind == Kind::Pan) {
      m_view.viewport()->setCursor(Qt::ClosedHandCursor);
      m_view.panBy(pixel - m_pressedPixel);
    }
  }
  switch (m_kind) {
    case Kind::None: {
      const CanvasHit hit = m_scene.hitAt(at, reach());
      const bool port = hit.kind == CanvasHit::Kind::Output || hit.kind == CanvasHit::Kind::Input;
      const bool isWire = hit.kind == CanvasHit::Kind::Wire || hit.kind == CanvasHit::Kind::Bend;
      m_scene.setHovered(isWire ? kNoNode : hit.node);
      if (!m_space) {
        const bool opens = hit.kind == CanvasHit::Kind::Picker || hit.kind == CanvasHit::Kind::Stack ||
                           hit.kind == CanvasHit::Kind::Restack;
        if (port || opens) {
          m_view.viewport()->setCursor(port ? Qt::CrossCursor : Qt::PointingHandCursor);
        } else if (hit.kind == CanvasHit::Kind::Bend) {
          m_view.viewport()->setCursor(Qt::SizeAllCursor);
        } else if (hit.kind == CanvasHit::Kind::AreaGrip) {
          m_view.viewport()->setCursor(Qt::SizeFDiagCursor);
        } else {
          m_view.viewport()->unsetCursor();
        }
      }
      break;
    }
    case Kind::Rubber:
      m_view.viewport()->update();
      break;
    case Kind::Nodes:
      moveNodes(at, modifiers);
      break;
    case Kind::WireUp:
    case Kind::WireDown:
      moveWire(at);
      break;
    case Kind::Bend:
      if (far || m_core.hasPreview()) moveBend(at, modifiers);
      break;
    case Kind::Area:
    case Kind::AreaSize:
      if (far || m_core.hasPreview()) moveArea(at, modifiers);
      break;
    default:
      break;
  }
}

void CanvasGestures::release(const QMouseEvent& event) {
  if (event.button() != m_button) return;
  const QPoint pixel = event.position().toPoint();
  const QPointF at = m_view.mapToScene(pixel);
  const Kind kind = m_kind;
  switch (kind) {
    case Kind::PressedNode:
    case Kind::PressedWire:
      if (m_toggles) {
        std::vector<NodeId> nodes = m_core.selection();
        if (std::erase(nodes, m_pressed) == 0) nodes.push_back(m_pressed);
        m_core.select(std::move(nodes));
      } else {
        m_core.select({m_pressed});
      }
      break;
    case Kind::PressedStack:
      if (m_toggles) {
        selectStack(m_pressed, true);
      } else if ((pixel - m_pressedPixel).manhattanLength() < QApplication::startDragDistance()) {
        Q_EMIT openWanted(m_pressed);
      }
      break;
    case Kind::PressedCanvas:
      if (!m_toggles) m_core.select({});
      break;
    case Kind::Rubber: {
      std::vector<NodeId> nodes;
      if (m_toggles) nodes = m_core.selection();
      const QRectF band = between(m_pressedAt, at);
      for (const NodeId top : m_core.document().tops()) {
        for (const NodeId id : m_core.document().subtree(top)) {
          const Rect* rect = m_core.rectOf(id);
          // A stack represents its members.
          const Stack* stack = m_core.stacks().of(id);
          if (stack != nullptr) rect = m_core.rectOf(stack->members.front());
          if (rect == nullptr || !band.intersects(QRectF(rect->x, rect->y, rect->width, rect->height)))
            continue;
          if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) nodes.push_back(id);
        }
      }
      m_core.select(std::move(nodes));
      m_view.viewport()->update();
      break;
    }
    case Kind::Nodes:
      dropNodes();
      break;
    case Kind::WireUp:
    case Kind::WireDown:
      m_last = at;
      moveWire(at);
      dropWire(event.position());
      break;
    case Kind::Bend:
      dropBend();
      break;
    case Kind::Area:
    case Kind::AreaSize:
      if (m_core.hasPreview()) {
        m_core.change(kind == Kind::Area ? tr("Move frame or note") : tr("Resize frame or note"),
                      [this](Document& document) { setArea(document, m_areaBy); });
      }
      break;
    default:
      break;
  }
  end();
}

void CanvasGestures::doubleClick(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton || m_space) return;
  Q_EMIT pressed();
  const QPointF at = m_view.mapToScene(event.position().toPoint());
  const CanvasHit hit = m_scene.hitAt(at, reach());
  switch (hit.kind) {
    case CanvasHit::Kind::Node:
      m_core.select({hit.node});
      Q_EMIT editWanted(hit.node);
      break;
    case CanvasHit::Kind::Wire:
      addBend(hit.node, at);
      break;
    case CanvasHit::Kind::Bend:
      removeBend(hit.node, hit.input);
      break;
    case CanvasHit::Kind::Area:
      Q_EMIT renameAreaWanted(hit.area);
      break;
    case CanvasHit::Kind::Nothing: {
      // The first click cleared the selection. The new node belongs to that selection.
      if (m_core.selection().empty() && !m_selectionBefore.empty()) m_core.select(m_selectionBefore);
      m_selectionBefore.clear();
      AddPlace place = placeFor(m_core.document(), m_core.current());
      place.at = Point{.x = at.x(), .y = at.y()};
      Q_EMIT addWanted(place, event.position());
      break;
    }
    default:
      break;
  }
}

void CanvasGestures::selectStack(NodeId first, bool toggles) {
  const Stack* found = m_core.stacks().at(first);
  if (found == nullptr) return;
  const std::vector<NodeId> members(found->members.rbegin(), found->members.rend());
  std::vector<NodeId> nodes = toggles ? m_core.selection() : std::vector<NodeId>();
  const bool takesOut = toggles && m_core.isSelected(first);
  for (const NodeId member : members) std::erase(nodes, member);
  if (!takesOut) nodes.insert(nodes.end(), members.begin(), members.end());
  m_core.select(std::move(nodes));
}

void CanvasGestures::leave() {
  if (m_kind == Kind::None) m_scene.setHovered(kNoNode);
}

bool CanvasGestures::cancel() {
  if (m_kind == Kind::None) return false;
  m_result.reset();
  end();
  m_view.viewport()->update();
  return true;
}

void CanvasGestures::setSpaceHeld(bool held) {
  m_space = held;
  if (m_kind == Kind::None) m_view.setPanCursor(held);
}

void CanvasGestures::end() {
  m_scroll.stop();
  if (m_kind == Kind::Pan || m_kind == Kind::WireUp || m_kind == Kind::WireDown) m_view.setPanCursor(m_space);
  m_kind = Kind::None;
  m_button = Qt::NoButton;
  m_dragged.clear();
  m_start.clear();
  m_result.reset();
  m_onWire = false;
  m_target.reset();
  m_fits = {};
  m_others.clear();
  setGuides({});
  m_scene.setTargets({});
  m_scene.setLooseWire(std::nullopt);
  m_core.setPreview(std::nullopt);
}

void CanvasGestures::paintOver(QPainter& painter, const CanvasStyle& style) const {
  if (!m_guides.empty()) {
    QPen line(style.accent, 1);
    line.setCosmetic(true);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(line);
    for (const QLineF& guide : m_guides) painter.drawLine(guide);
  }
  if (m_kind != Kind::Rubber) return;
  QColor fill = style.accent;
  fill.setAlphaF(0.10F);
  QPen pen(style.accent, 1);
  pen.setCosmetic(true);
  painter.setPen(pen);
  painter.setBrush(fill);
  painter.drawRect(between(m_pressedAt, m_last));
}

void CanvasGestures::startNodes() {
  if (m_core.model() == nullptr) {
    m_kind = Kind::None;
    return;
  }
  m_kind = Kind::Nodes;
  if (!m_core.isSelected(m_pressed)) m_core.select({m_pressed});
  const Document& document = m_core.document();
  std::set<NodeId> tops;
  for (const NodeId id : m_core.selection()) {
    if (document.at(id).parent == kNoNode) tops.insert(id);
  }
  m_dragged.clear();
  m_start.clear();
  for (const NodeId id : m_core.selection()) {
    const Rect* rect = m_core.rectOf(id);
    if (rect == nullptr || m_core.stacks().of(id) != nullptr) continue;
    // If a top moves, the nodes that the layout places move with it.
    const bool comesAlong =
        tops.count(id) == 0 && !document.at(id).position &&
        std::any_of(tops.begin(), tops.end(), [&](NodeId top) { return document.isAncestor(top, id); });
    if (comesAlong) continue;
    m_dragged.push_back(id);
    m_start[id] = *rect;
  }
  m_others.clear();
  for (const auto& [id, rect] : m_core.layout()) {
    const bool moves = std::any_of(m_dragged.begin(), m_dragged.end(), [&, other = id](NodeId dragged) {
      return other == dragged ||
             (tops.contains(dragged) && document.isAncestor(dragged, other) && !document.at(other).position);
    });
    if (!moves) m_others.push_back(rect);
  }
}

QPointF CanvasGestures::snapped(QRectF all, QPointF delta, Qt::KeyboardModifiers modifiers) {
  if (!m_snaps || modifiers.testFlag(Qt::AltModifier)) {
    setGuides({});
    return {std::round(delta.x()), std::round(delta.y())};
  }
  all.translate(delta);
  const QRectF seen = m_view.visibleRect();
  std::vector<Rect> others;
  for (const Rect& rect : m_others) {
    if (seen.intersects(QRectF(rect.x, rect.y, rect.width, rect.height))) others.push_back(rect);
  }
  Snap snap = snapTo({.x = all.x(), .y = all.y(), .width = all.width(), .height = all.height()}, others,
                     kSnapReach / m_view.zoom());
  setGuides(std::move(snap.guides));
  return delta + snap.by;
}

void CanvasGestures::setGuides(std::vector<QLineF> guides) {
  if (guides == m_guides) return;
  m_guides = std::move(guides);
  m_view.viewport()->update();
}

bool CanvasGestures::reorders(QPointF at) const {
  if (m_dragged.size() != 1) return false;
  const Document& document = m_core.document();
  const document::DocumentNode& node = document.at(m_dragged.front());
  if (node.position || node.parent == kNoNode) return false;
  const document::DocumentNode& parent = document.at(node.parent);
  return arityOf(parent.own).ordered() && parent.children.size() > 1 &&
         std::abs(at.x() - m_pressedAt.x()) < kReorderReach;
}

Document CanvasGestures::reordered(QPointF at, bool swap) {
  const Document& document = m_core.document();
  const NodeId id = m_dragged.front();
  const NodeId parent = document.at(id).parent;
  const std::vector<NodeId>& children = document.at(parent).children;
  const std::size_t from = document.indexInParent(id);
  const Rect start = m_start.at(id);
  const double middle = start.y + start.height / 2 + at.y() - m_pressedAt.y();
  // Compares with the layout without the gesture, so that nodes do not flicker.
  const Stacks& stacks = m_core.stacks();
  const std::map<NodeId, Rect> layout = tidyLayout(document, stacks);
  std::size_t to = from;
  double nearest = 1e12;
  std::size_t before = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto rect = layout.find(children[i]);
    if (rect == layout.end()) continue;
    const double center = rect->second.y + rect->second.height / 2;
    const Stack* stack = stacks.at(children[i]);
    if (i != from && center < middle) before += stack == nullptr ? 1 : stack->members.size();
    if (stack != nullptr) continue;  // after a swap with a member, the node would disappear in the stack
    if (std::abs(center - middle) < nearest) {
      nearest = std::abs(center - middle);
      if (swap) to = i;
    }
  }
  const bool moves = arityOf(document.at(parent).own).most == Arity::kMany && !swap;
  if (moves) to = before;
  Document result = document;
  m_resultName = moves ? tr("Reorder inputs") : tr("Swap inputs");
  if (moves) {
    document::moveChild(result, parent, from, to);
  } else {
    if (!swap) to = before > from ? from + 1 : before;
    document::swapChildren(result, parent, from, std::min(to, children.size() - 1));
  }
  return result;
}

void CanvasGestures::moveNodes(QPointF at, Qt::KeyboardModifiers modifiers) {
  const QPointF delta = at - m_pressedAt;
  const bool swap = (modifiers & Qt::AltModifier) != 0;
  m_onWire = false;
  Document shown = m_core.document();
  if (reorders(at)) {
    m_result = reordered(at, swap);
    shown = *m_result;
    const Rect start = m_start.at(m_dragged.front());
    shown.edit(m_dragged.front()).position = Point{.x = start.x, .y = start.y + delta.y()};
    m_scene.setTargets({});
    setGuides({});
  } else {
    QRectF all;
    for (const auto& [id, rect] : m_start) all |= QRectF(rect.x, rect.y, rect.width, rect.height);
    const QPointF by = m_dragged.empty() ? delta : snapped(all, delta, modifiers);
    for (const NodeId id : m_dragged) {
      const Rect start = m_start.at(id);
      document::setPosition(shown, id, Point{.x = start.x + by.x(), .y = start.y + by.y()});
    }
    m_result = shown;
    m_resultName = m_dragged.size() == 1 ? tr("Move node") : tr("Move nodes");
    CanvasTargets targets;
    if (m_dragged.size() == 1 && shown.at(m_dragged.front()).parent == kNoNode) {
      const NodeId dragged = m_dragged.front();
      const NodeId wire = m_scene.wireAt(at, reach());
      Document inserted = m_core.document();
      if (wire != kNoNode && document::insertAbove(inserted, wire, dragged)) {
        document::setPosition(inserted, dragged, std::nullopt);
        targets.wire = wire;
        m_result = inserted;
        m_resultName = tr("Insert into wire");
        m_onWire = true;
        setGuides({});
      }
    }
    m_scene.setTargets(targets);
  }
  m_core.setPreview(std::move(shown));
}

void CanvasGestures::dropNodes() {
  if (!m_result) return;
  const Document result = std::move(*m_result);
  m_core.change(m_resultName, [&result](Document& document) { document = result; });
}

void CanvasGestures::startArea() {
  if (m_core.model() == nullptr) {
    m_kind = Kind::None;
    return;
  }
  m_areaBy = {};
  m_others.clear();
  const auto take = [this](AreaRef ref, const Rect& area) {
    if (ref == m_area)
      m_areaStart = area;
    else
      m_others.push_back(area);
  };
  for (const document::Note& note : m_core.document().notes) take({AreaRef::Kind::Note, note.id}, note.area);
  for (const document::Frame& frame : m_core.document().frames)
    take({AreaRef::Kind::Frame, frame.id}, frame.area);
  for (const auto& [id, rect] : m_core.layout()) {
    // The nodes in a frame move with it, so they are no snap targets.
    if (m_area.kind != AreaRef::Kind::Frame || !holds(m_areaStart, rect)) m_others.push_back(rect);
  }
}

void CanvasGestures::moveArea(QPointF at, Qt::KeyboardModifiers modifiers) {
  m_areaBy = at - m_pressedAt;
  if (m_kind == Kind::Area)
    m_areaBy =
        snapped({m_areaStart.x, m_areaStart.y, m_areaStart.width, m_areaStart.height}, m_areaBy, modifiers);
  Document shown = m_core.document();
  setArea(shown, m_areaBy);
  m_core.setPreview(std::move(shown));
}

void CanvasGestures::setArea(Document& document, QPointF delta) const {
  const auto change = [&](Rect& area) {
    if (m_kind == Kind::AreaSize) {
      area.width = std::max(kLeastArea, area.width + std::round(delta.x() / kSnap) * kSnap);
      area.height = std::max(kLeastArea / 2, area.height + std::round(delta.y() / kSnap) * kSnap);
      return;
    }
    area.x += delta.x();
    area.y += delta.y();
  };
  for (document::Note& note : document.notes) {
    if (m_area.kind == AreaRef::Kind::Note && note.id == m_area.id) change(note.area);
  }
  for (document::Frame& frame : document.frames) {
    if (m_area.kind != AreaRef::Kind::Frame || frame.id != m_area.id) continue;
    const Rect before = frame.area;
    change(frame.area);
    if (m_kind == Kind::AreaSize) continue;
    // The nodes in a frame move with it.
    const double dx = frame.area.x - before.x;
    const double dy = frame.area.y - before.y;
    for (const auto& [id, rect] : tidyLayout(m_core.document(), m_core.stacks())) {
      if (holds(before, rect) && m_core.stacks().of(id) == nullptr)
        document::setPosition(document, id, Point{.x = rect.x + dx, .y = rect.y + dy});
    }
  }
}

}  // namespace spanscope::ui
