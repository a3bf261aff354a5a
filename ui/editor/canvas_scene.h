// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps an item for everything that CanvasCore says is drawn, and finds what lies at a point.
#pragma once

#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_items.h"

#include <QGraphicsScene>
#include <QTimer>

#include <map>
#include <memory>

namespace spanscope::ui {

/// What lies under the pointer.
struct CanvasHit {
  enum class Kind {
    Nothing,
    Node,
    Stack,    ///< `node` is its first member
    Restack,  ///< the place where a list node offers to stack its inputs again
    Output,
    Input,
    Picker,
    Wire,
    Bend,  ///< a reroute point of a wire
    Area,
    AreaGrip
  };
  Kind kind = Kind::Nothing;
  document::NodeId node = document::kNoNode;  ///< for a wire: its child
  std::size_t input = 0;                      ///< of a bend: its index
  AreaRef area{};
};

/// What a gesture points at.
struct CanvasTargets {
  document::NodeId wire = document::kNoNode;  ///< a drop goes into the wire above this node
  std::map<document::NodeId, int> inputs;     ///< by node: see NodeMarks::inputFits
  std::map<document::NodeId, bool> outputs;
  document::NodeId detached = document::kNoNode;  ///< the pointer drags the wire of this node
  bool operator==(const CanvasTargets&) const = default;
};

class CanvasScene : public QGraphicsScene {
  Q_OBJECT
 public:
  CanvasScene(CanvasCore& core, QObject* parent);

  const CanvasStyle& style() const { return *m_style; }
  /// What lies at a point. A port catches the pointer up to `reach` scene pixels away, a wire up to half of
  /// that.
  CanvasHit hitAt(QPointF point, double reach) const;
  /// The tool tip at this point; empty: none.
  QString tipAt(QPointF point) const;
  /// The index for a new child of the join that is dropped at the point: behind the inputs above the point.
  std::size_t gapAt(document::NodeId join, QPointF point) const;
  /// The child whose wire passes within `reach` of the point; kNoNode: none.
  document::NodeId wireAt(QPointF point, double reach) const;

  /// The wire above this node; nullptr: none is drawn.
  const WireItem* wireOf(document::NodeId child) const;
  QPointF outputOf(document::NodeId id) const;
  QPointF inputOf(document::NodeId id, std::size_t index) const;
  /// The rectangle around everything that is drawn; null if the canvas is empty.
  QRectF contentRect() const;

  void setTargets(const CanvasTargets& targets);
  void setLooseWire(std::optional<std::pair<QPointF, QPointF>> ends);
  void setHovered(document::NodeId id);
  /// The reroute point that keys move: the node below its wire, and its place among the points; nothing:
  /// none.
  void setChosenBend(std::optional<std::pair<document::NodeId, std::size_t>> bend);
  const std::optional<std::pair<document::NodeId, std::size_t>>& chosenBend() const { return m_chosenBend; }
  void setFocused(bool focused);

 private:
  void sync();
  void syncAreas();
  void syncWires();
  void syncMarks();
  void syncStatuses();
  double shownZoom() const;  ///< zoom of the view that shows this scene
  void restyle();
  void tick();

  CanvasCore& m_core;
  SharedStyle m_style;
  std::map<document::NodeId, std::unique_ptr<NodeItem>> m_nodes;
  std::map<document::NodeId, std::unique_ptr<WireItem>> m_wires;  ///< by child
  std::map<std::pair<int, std::uint32_t>, std::unique_ptr<AreaItem>> m_areas;
  std::map<std::uint32_t, std::unique_ptr<FrameTitleItem>> m_titles;  ///< by frame
  std::unique_ptr<WireItem> m_loose;
  CanvasTargets m_targets;
  document::NodeId m_hovered = document::kNoNode;
  std::optional<std::pair<document::NodeId, std::size_t>> m_chosenBend;
  bool m_focused = false;
  QTimer m_motion;
  bool m_moves = true;
};

}  // namespace spanscope::ui
