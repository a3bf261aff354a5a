// SPDX-License-Identifier: GPL-3.0-or-later
// The part of CanvasGestures that drags wires.
#include "engine/workbench/document/edits.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/tidy_layout.h"

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
        // On a number the wire goes before that child, elsewhere into the gap where the pointer is.
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
      return;
    }
  }
  if (!moved) {
    // A click on a port is a click on its node, and one on a free input asks what to put there.
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
      hit.kind == CanvasHit::Kind::Output) {
    if (hit.node != node) m_core.say(tr("This input does not take it: it has one already, or it lies below"));
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
