// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of CanvasGestures that drag wires.
#include "engine/workbench/document/edits.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/tidy_layout.h"

#include <QToolTip>

namespace spanscope::ui {

using document::Arity;
using document::arityOf;
using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Point;
using document::Rect;

void CanvasGestures::startWireUp(NodeId child, bool detached) {
  if (m_core.model() == nullptr) return;
  m_kind = Kind::WireUp;
  m_wireNode = child;
  m_detached = detached;
  const Document& document = m_core.document();
  m_fits = {};
  for (const auto& [id, look] : m_core.looks()) {
    if (look.inputs.empty()) continue;
    const auto input = freeInputOf(document.at(id));
    if (arityOf(document.at(id).own).most == Arity::kMany) {
      if (document::canConnect(document, child, {.parent = id, .index = 0})) m_fits.inputs[id] = -2;
    } else if (input && document::canConnect(document, child, {.parent = id, .index = *input})) {
      m_fits.inputs[id] = static_cast<int>(*input);
    }
  }
}

void CanvasGestures::startWireDown(NodeId parent, std::size_t input) {
  if (m_core.model() == nullptr) return;
  m_kind = Kind::WireDown;
  m_wireNode = parent;
  m_wireInput = input;
  m_detached = false;
  const Document& document = m_core.document();
  m_fits = {};
  for (const auto& [id, look] : m_core.looks()) {
    if (document::canConnect(document, id, {.parent = parent, .index = input})) m_fits.outputs[id] = true;
  }
}

void CanvasGestures::moveWire(QPointF at) {
  const CanvasHit hit = m_scene.hitAt(at, reach());
  m_target.reset();
  CanvasTargets targets = m_fits;
  const QPointF fixed =
      m_kind == Kind::WireUp ? m_scene.outputOf(m_wireNode) : m_scene.inputOf(m_wireNode, m_wireInput);
  QPointF loose = at;
  const bool onNode = hit.kind == CanvasHit::Kind::Node || hit.kind == CanvasHit::Kind::Input ||
                      hit.kind == CanvasHit::Kind::Output || hit.kind == CanvasHit::Kind::Picker;
  if (m_kind == Kind::WireUp) {
    const auto fits = onNode ? m_fits.inputs.find(hit.node) : m_fits.inputs.end();
    if (fits != m_fits.inputs.end()) {
      m_target = hit;
      if (fits->second >= 0) {
        m_target->input = static_cast<std::size_t>(fits->second);
        loose = m_scene.inputOf(hit.node, m_target->input);
      } else {
        // At the number of a child, the wire goes before that child. Elsewhere it goes into the gap at the
        // pointer.
        const auto& look = m_core.looks().at(hit.node);
        const bool onChild = hit.kind == CanvasHit::Kind::Input && look.taken[hit.input];
        m_target->input = onChild ? hit.input : m_scene.gapAt(hit.node, at);
        loose = QPointF(look.rect.x, at.y());
      }
    }
    if (m_detached) targets.detached = m_wireNode;
    m_scene.setLooseWire(std::pair(fixed, loose));
  } else {
    const bool fits = onNode && m_fits.outputs.count(hit.node) != 0;
    if (fits) {
      m_target = hit;
      loose = m_scene.outputOf(hit.node);
    }
    m_scene.setLooseWire(std::pair(loose, fixed));
  }
  m_scene.setTargets(targets);
  const bool isRefused = onNode && !m_target && hit.node != m_wireNode;
  m_view.viewport()->setCursor(isRefused ? Qt::ForbiddenCursor : Qt::CrossCursor);
  if (isRefused)
    QToolTip::showText(m_view.viewport()->mapToGlobal(m_view.mapFromScene(at)), refusal(hit.node),
                       m_view.viewport());
  else
    QToolTip::hideText();
}

QString CanvasGestures::refusal(NodeId other) const {
  const Document& document = m_core.document();
  const NodeId child = m_kind == Kind::WireUp ? m_wireNode : other;
  const NodeId parent = m_kind == Kind::WireUp ? other : m_wireNode;
  const auto titleOf = [&document](NodeId id) { return nodeTitle(document.at(id)); };
  if (document.isAncestor(child, parent))
    return tr("%1 is below %2, so %1 cannot also be above %2.").arg(titleOf(parent), titleOf(child));
  const document::DocumentNode& above = document.at(parent);
  if (arityOf(above.own).most == 0) return tr("%1 takes no input.").arg(titleOf(parent));
  if (above.children.size() == 1)
    return tr("%1 takes one input, and this input already has a wire. Drag that wire away first.")
        .arg(titleOf(parent));
  return tr("%1 has no free input. Drag a wire away first.").arg(titleOf(parent));
}

void CanvasGestures::startBend(NodeId child, std::size_t index) {
  const WireItem* wire = m_scene.wireOf(child);
  m_kind = Kind::None;
  if (m_core.model() == nullptr || wire == nullptr) return;
  m_kind = Kind::Bend;
  m_pressed = child;
  m_bends = m_core.document().at(child).bends;
  m_resultName = tr("Move reroute point");
  m_bend = index;
  if (index < m_bends.size()) return;
  // The user dragged the wire, so it gets a reroute point at the place of the press.
  if (m_bends.size() >= document::kMostBends) {
    m_kind = Kind::None;
    return;
  }
  m_resultName = tr("Reroute wire");
  m_bend = wire->bendIndexAt(m_pressedAt);
  m_bends.insert(m_bends.begin() + static_cast<std::ptrdiff_t>(m_bend), Point{});
}

void CanvasGestures::moveBend(QPointF at, Qt::KeyboardModifiers modifiers) {
  const QPointF output = m_scene.outputOf(m_pressed);
  const auto pointAt = [](QPointF point) { return Rect{.x = point.x(), .y = point.y()}; };
  if (!m_snaps || modifiers.testFlag(Qt::AltModifier)) {
    setGuides({});
  } else {
    // Points snap so that the parts of the wire are horizontal or vertical.
    const Document& document = m_core.document();
    const NodeId parent = document.at(m_pressed).parent;
    std::vector<Rect> others{pointAt(output),
                             pointAt(m_scene.inputOf(parent, document.indexInParent(m_pressed)))};
    for (std::size_t i = 0; i < m_bends.size(); ++i) {
      if (i != m_bend) others.push_back(pointAt(output + QPointF(m_bends[i].x, m_bends[i].y)));
    }
    Snap snap = snapTo(pointAt(at), others, kSnapReach / m_view.zoom());
    setGuides(std::move(snap.guides));
    at += snap.by;
  }
  m_bends[m_bend] = {.x = at.x() - output.x(), .y = at.y() - output.y()};
  Document shown = m_core.document();
  document::setBends(shown, m_pressed, m_bends);
  m_core.setPreview(std::move(shown));
}

void CanvasGestures::dropBend() {
  if (!m_core.hasPreview()) return;
  m_core.change(m_resultName,
                [this](Document& document) { document::setBends(document, m_pressed, m_bends); });
}

bool CanvasGestures::addBend(NodeId child, QPointF at) {
  const WireItem* wire = m_scene.wireOf(child);
  if (m_core.model() == nullptr || wire == nullptr) return false;
  std::vector<Point> bends = m_core.document().at(child).bends;
  if (bends.size() >= document::kMostBends) return false;
  const QPointF away = at - m_scene.outputOf(child);
  bends.insert(bends.begin() + static_cast<std::ptrdiff_t>(wire->bendIndexAt(at)),
               Point{.x = away.x(), .y = away.y()});
  return m_core.change(tr("Reroute wire"),
                       [&](Document& document) { document::setBends(document, child, bends); });
}

void CanvasGestures::removeBend(NodeId child, std::size_t index) {
  if (!m_core.document().contains(child)) return;
  std::vector<Point> bends = m_core.document().at(child).bends;
  if (index >= bends.size()) return;
  bends.erase(bends.begin() + static_cast<std::ptrdiff_t>(index));
  m_core.change(tr("Remove reroute point"),
                [&](Document& document) { document::setBends(document, child, bends); });
}

void CanvasGestures::dropWire(QPointF viewportPoint) {
  const QPointF at = m_view.mapToScene(viewportPoint.toPoint());
  const bool moved = (viewportPoint.toPoint() - m_pressedPixel).manhattanLength() >= 8;
  const NodeId node = m_wireNode;
  if (m_target) {
    const NodeId child = m_kind == Kind::WireUp ? node : m_target->node;
    const document::Place place = m_kind == Kind::WireUp
                                      ? document::Place{.parent = m_target->node, .index = m_target->input}
                                      : document::Place{.parent = node, .index = m_wireInput};
    if (moved) {
      m_core.change(tr("Connect"), [this, child, place](Document& document) {
        m_core.placeRootBeside(document, child);
        connectAt(document, child, place);
      });
      m_core.select({child});
      Q_EMIT connected(child);
      return;
    }
  }
  if (!moved) {
    // A click on a port selects its node. A click on a free input opens the list of operators.
    m_core.select({node});
    if (m_kind != Kind::WireDown) return;
    const AddPlace input{.kind = AddPlace::Kind::Child,
                         .node = node,
                         .index = m_wireInput,
                         .at = Point{.x = at.x() - kCardWidth - kColumnGap, .y = at.y()}};
    Q_EMIT addWanted(input, viewportPoint);
    return;
  }
  const CanvasHit hit = m_scene.hitAt(at, reach());
  if (hit.kind == CanvasHit::Kind::Node || hit.kind == CanvasHit::Kind::Input ||
      hit.kind == CanvasHit::Kind::Output || hit.kind == CanvasHit::Kind::Picker) {
    if (hit.node != node) m_core.say(refusal(hit.node));
    return;
  }
  if (m_kind == Kind::WireUp && m_detached) {
    const Rect* rect = m_core.rectOf(node);
    const Point stays = rect == nullptr ? Point{} : Point{.x = rect->x, .y = rect->y};
    m_core.change(tr("Disconnect"), [this, node, stays](Document& document) {
      m_core.placeRoot(document);
      if (document::disconnect(document, node)) document::setPosition(document, node, stays);
    });
    m_core.select({node});
    return;
  }
  AddPlace place{.kind = m_kind == Kind::WireUp ? AddPlace::Kind::Above : AddPlace::Kind::Child,
                 .node = node,
                 .index = m_wireInput,
                 .at = Point{.x = at.x(), .y = at.y()}};
  Q_EMIT addWanted(place, viewportPoint);
}

}  // namespace spanscope::ui
