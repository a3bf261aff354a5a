// SPDX-License-Identifier: GPL-3.0-or-later
// Handles the mouse on the canvas. During a gesture, the canvas shows the result. The end of the gesture adds
// one undo step.
#pragma once

#include "ui/editor/add_rules.h"
#include "ui/editor/alignment.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/canvas_view.h"

#include <QElapsedTimer>
#include <QMouseEvent>
#include <QObject>
#include <QPointF>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

class CanvasGestures : public QObject {
  Q_OBJECT
 public:
  CanvasGestures(CanvasCore& core, CanvasScene& scene, CanvasView& view, QObject* parent);

  void press(const QMouseEvent& event);
  void move(const QMouseEvent& event);
  void release(const QMouseEvent& event);
  void doubleClick(const QMouseEvent& event);
  void leave();
  /// Ends the gesture in progress without a change. Returns false if there is none.
  bool cancel();
  bool isActive() const { return m_kind != Kind::None; }
  /// Sets whether the space key is pressed. Then a drag with the left button moves the view.
  void setSpaceHeld(bool held);
  /// If `on`, a drag on empty canvas moves the view, and selects with Shift or Ctrl. Otherwise such a drag
  /// selects.
  void setDragPans(bool on) { m_dragPans = on; }
  /// Sets whether dragged nodes snap to others and to the grid. With Alt, dragged nodes move freely.
  void setSnaps(bool on) { m_snaps = on; }
  /// Returns the `reach` for CanvasScene::hitAt() at the current zoom, in scene pixels.
  double reach() const;

  /// Paints the rubber band, or the lines to which a dragged node snaps.
  void paintOver(QPainter& painter, const CanvasStyle& style) const;

  /// Puts a reroute point into the wire above the node, at a point of the scene. Returns false if that is not
  /// possible.
  bool addBend(document::NodeId child, QPointF at);
  void removeBend(document::NodeId child, std::size_t index);

 Q_SIGNALS:
  void pressed();
  /// The add popup should open at a point of the viewport.
  void addWanted(const spanscope::ui::AddPlace& place, QPointF viewportPoint);
  void editWanted(document::NodeId node);
  /// The stack with this first member should be opened.
  void openWanted(document::NodeId first);
  void restackWanted(document::NodeId list);
  /// The node has a new parent, and may now be outside the visible area.
  void connected(document::NodeId child);
  void renameAreaWanted(spanscope::ui::AreaRef area);

 private:
  enum class Kind {
    None,
    Pan,
    PressedNode,
    PressedStack,
    PressedWire,
    PressedCanvas,
    Rubber,
    Nodes,
    WireUp,
    WireDown,
    Bend,
    Area,
    AreaSize
  };

  void pressLeft(const QMouseEvent& event, QPointF at);
  /// Continues the gesture in progress with the pointer at this pixel of the viewport.
  void follow(QPoint pixel, Qt::KeyboardModifiers modifiers);
  /// Returns the scroll speed in pixels per tick while the pointer drags something near the edge of the
  /// view.
  QPoint scrollStep() const;
  void scrollOn();
  /// Selects the members of a stack. The first member, which is the drawn member, is selected last. So the
  /// first member becomes the current node.
  void selectStack(document::NodeId first, bool toggles);
  void startNodes();
  void moveNodes(QPointF at, Qt::KeyboardModifiers modifiers);
  void dropNodes();
  bool reorders(QPointF at) const;
  document::Document reordered(QPointF at, bool swap);
  void startWireUp(document::NodeId child, bool detached);
  void startWireDown(document::NodeId parent, std::size_t input);
  void moveWire(QPointF at);
  void dropWire(QPointF viewportPoint);
  /// Returns the reason why the dragged wire does not fit the node. Empty: the wire fits.
  QString refusal(document::NodeId other) const;
  /// Returns the movement of the dragged nodes or area, with snapping. The pointer has moved by `delta`.
  /// `all` is the rectangle at the start. Stores the lines to show.
  QPointF snapped(QRectF all, QPointF delta, Qt::KeyboardModifiers modifiers);
  void setGuides(std::vector<QLineF> guides);
  void startBend(document::NodeId child, std::size_t index);
  void moveBend(QPointF at, Qt::KeyboardModifiers modifiers);
  void dropBend();
  void startArea();
  void moveArea(QPointF at, Qt::KeyboardModifiers modifiers);
  void end();
  void setArea(document::Document& document, QPointF delta) const;

  CanvasCore& m_core;
  CanvasScene& m_scene;
  CanvasView& m_view;
  Kind m_kind = Kind::None;
  bool m_space = false;
  bool m_dragPans = false;
  bool m_snaps = true;
  Qt::MouseButton m_button = Qt::NoButton;
  QPointF m_pressedAt;    ///< in scene pixels
  QPoint m_pressedPixel;  ///< in viewport pixels
  QPoint m_lastPixel;
  QPointF m_last;                                   ///< in scene pixels
  std::vector<document::NodeId> m_selectionBefore;  ///< the selection at the last press on the canvas
  QElapsedTimer m_sinceCanvas;                      ///< since the last press on the canvas
  bool m_toggles = false;                           ///< the press was made with Ctrl
  QTimer m_scroll;                                  ///< runs while the pointer drags something near the edge
  Qt::KeyboardModifiers m_modifiers;                ///< modifiers of the last move

  // dragging nodes
  document::NodeId m_pressed = document::kNoNode;
  std::vector<document::NodeId> m_dragged;
  std::map<document::NodeId, document::Rect> m_start;
  std::optional<document::Document> m_result;  ///< the document after a drop
  QString m_resultName;
  bool m_onWire = false;
  std::vector<document::Rect> m_others;  ///< rectangles that do not move, to which dragged ones snap
  std::vector<QLineF> m_guides;

  // dragging a reroute point
  std::vector<document::Point> m_bends;  ///< reroute points of the wire above m_pressed
  std::size_t m_bend = 0;

  // dragging wires
  document::NodeId m_wireNode = document::kNoNode;  ///< the wire's child (WireUp) or parent (WireDown)
  std::size_t m_wireInput = 0;
  bool m_detached = false;
  CanvasTargets m_fits;
  std::optional<CanvasHit> m_target;

  AreaRef m_area;
  document::Rect m_areaStart;
  QPointF m_areaBy;  ///< the movement of the area, or of its corner
};

}  // namespace spanscope::ui
