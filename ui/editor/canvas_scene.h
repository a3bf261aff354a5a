// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps an item for each drawn part of CanvasCore, and finds the item at a point.
#pragma once

#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_items.h"

#include <QGraphicsScene>
#include <QTimer>

#include <map>
#include <memory>

namespace spanscope::ui {

/// The part of the canvas at a point.
struct CanvasHit {
  enum class Kind {
    Nothing,
    Node,
    Stack,    ///< `node` is its first member
    Restack,  ///< the button of a list node that stacks its inputs again
    Output,
    Input,
    Picker,
    Wire,
    Bend,  ///< a reroute point of a wire
    Area,
    AreaGrip
  };
  Kind kind = Kind::Nothing;
  document::NodeId node = document::kNoNode;  ///< for a wire: the child of the wire
  std::size_t input = 0;                      ///< for a bend: the index of the reroute point
  AreaRef area{};
};

/// The targets that a gesture marks.
struct CanvasTargets {
  document::NodeId wire = document::kNoNode;  ///< a drop goes into the wire above this node
  std::map<document::NodeId, int> inputs;     ///< by node, see NodeMarks::inputFits
  std::map<document::NodeId, bool> outputs;
  document::NodeId detached = document::kNoNode;  ///< the pointer drags the wire of this node
  bool operator==(const CanvasTargets&) const = default;
};

class CanvasScene : public QGraphicsScene {
  Q_OBJECT
 public:
  CanvasScene(CanvasCore& core, QObject* parent);

  const CanvasStyle& style() const { return *m_style; }
  /// Returns the part at a point. A port catches the pointer up to `reach` scene pixels away, a wire up to
  /// half this distance.
  CanvasHit hitAt(QPointF point, double reach) const;
  /// Returns the tool tip at this point. Empty: there is none.
  QString tipAt(QPointF point) const;
  /// Returns the index for a new child of the join that is dropped at the point. The new child comes after
  /// all inputs above the point.
  std::size_t gapAt(document::NodeId join, QPointF point) const;
  /// Returns the child whose wire passes within `reach` of the point. kNoNode: there is none.
  document::NodeId wireAt(QPointF point, double reach) const;

  /// Returns the wire above this node. nullptr: none is drawn.
  const WireItem* wireOf(document::NodeId child) const;
  QPointF outputOf(document::NodeId id) const;
  QPointF inputOf(document::NodeId id, std::size_t index) const;
  /// Returns the rectangle around everything that is drawn. The rectangle is null if the canvas is empty.
  QRectF contentRect() const;

  void setTargets(const CanvasTargets& targets);
  void setLooseWire(std::optional<std::pair<QPointF, QPointF>> ends);
  void setHovered(document::NodeId id);
  /// Sets the reroute point that keys move: the node below its wire, and the index of the point. Nothing:
  /// keys move no point.
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
