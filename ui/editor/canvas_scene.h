// SPDX-License-Identifier: GPL-3.0-or-later
// Items for what the core says is drawn, and what lies at a point.
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
    Stack,    ///< of which `node` is the first member
    Restack,  ///< where a list offers to stack its inputs again
    Output,
    Input,
    Picker,
    Wire,
    Area,
    AreaGrip
  };
  Kind kind = Kind::Nothing;
  document::NodeId node = document::kNoNode;  ///< of a wire: the child
  std::size_t input = 0;
  AreaRef area{};
};

/// What a gesture points at.
struct CanvasTargets {
  document::NodeId wire = document::kNoNode;  ///< the wire above this node takes what is dropped
  std::map<document::NodeId, int> inputs;     ///< as NodeMarks::inputFits
  std::map<document::NodeId, bool> outputs;
  document::NodeId detached = document::kNoNode;  ///< its wire is in the hand
  bool operator==(const CanvasTargets&) const = default;
};

class CanvasScene : public QGraphicsScene {
  Q_OBJECT
 public:
  CanvasScene(CanvasCore& core, QObject* parent);

  const CanvasStyle& style() const { return *m_style; }
  /// `reach`: how far in scene pixels a port catches the pointer.
  CanvasHit hitAt(QPointF point, double reach) const;
  /// What a tool tip says there; empty: nothing.
  QString tipAt(QPointF point) const;
  /// The input of a join nearest to a point, as an index for a new child.
  std::size_t gapAt(document::NodeId join, QPointF point) const;
  /// The child whose wire lies at the point; kNoNode: none.
  document::NodeId wireAt(QPointF point, double reach) const;

  QPointF outputOf(document::NodeId id) const;
  QPointF inputOf(document::NodeId id, std::size_t index) const;
  /// Around everything that is drawn; null on an empty canvas.
  QRectF contentRect() const;

  void setTargets(const CanvasTargets& targets);
  void setLooseWire(std::optional<std::pair<QPointF, QPointF>> ends);
  void setHovered(document::NodeId id);
  void setFocused(bool focused);

 private:
  void sync();
  void syncAreas();
  void syncWires();
  void syncMarks();
  void syncStatuses();
  double shownZoom() const;  ///< of the view that shows it
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
  bool m_focused = false;
  QTimer m_motion;
  bool m_moves = true;
};

}  // namespace spanscope::ui
