// SPDX-License-Identifier: GPL-3.0-or-later
// The items of the scene: nodes, wires, frames, notes. The items only paint. The canvas handles all events.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_paint.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"

#include <QGraphicsItem>
#include <QPainterPath>

#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

using SharedStyle = std::shared_ptr<const CanvasStyle>;

inline constexpr double kFrameTitleHeight = 28;
inline constexpr double kAreaGrip = 14;  ///< size of the bottom right corner, where a drag resizes

inline constexpr double kBendSize = 8;  ///< size of the dot at a reroute point of a wire

class NodeItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 1 };
  NodeItem(document::NodeId id, SharedStyle style);
  int type() const override { return Type; }

  document::NodeId id() const { return m_id; }
  const NodeLook& look() const { return m_look; }
  void setLook(const NodeLook& look);
  void setStatus(const NodeStatus& status);
  /// Sets the prediction for the next run; nullptr: the card shows none.
  void setPrediction(const NodePrediction* prediction);
  void setMarks(const NodeMarks& marks);
  const NodeMarks& marks() const { return m_marks; }
  void setStyle(const SharedStyle& style);
  bool isRunning() const { return m_status.phase == NodePhase::Running; }
  /// Moves the bar of a running node.
  void setMotion(double motion);

  QRectF boundingRect() const override { return m_bounds; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  document::NodeId m_id;
  SharedStyle m_style;
  NodeLook m_look;
  NodeStatus m_status;
  std::optional<NodePrediction> m_prediction;
  NodeMarks m_marks;
  QRectF m_bounds;
  std::optional<NodeTexts> m_texts;
  bool m_isSign = false;  ///< whether the last picture had a sign instead of texts
  double m_scale = 1;     ///< scale of the texts that were painted last
};

/// A wire from an output at the left to an input at the right. The wire passes through its reroute points.
class WireItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 2 };
  enum class Look { Plain, Selected, Target, Loose };
  explicit WireItem(SharedStyle style);
  int type() const override { return Type; }

  void setEnds(QPointF from, QPointF to, const std::vector<QPointF>& bends = {});
  const std::vector<QPointF>& bends() const { return m_bends; }
  /// Returns the index in bends() for a new reroute point at this point.
  std::size_t bendIndexAt(QPointF point) const;
  QPointF middle() const { return m_path.pointAtPercent(0.5); }
  void setLook(Look look);
  void setMuted(bool muted);
  /// Marks the reroute point that keys move.
  void setChosenBend(std::optional<std::size_t> index);
  void setStyle(const SharedStyle& style);
  /// Returns the distance of a point from the wire.
  double distance(QPointF point) const;

  QRectF boundingRect() const override {
    return m_path.controlPointRect().adjusted(-kBendSize, -kBendSize, kBendSize, kBendSize);
  }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  SharedStyle m_style;
  QPointF m_from;
  QPointF m_to;
  std::vector<QPointF> m_bends;
  std::optional<std::size_t> m_chosenBend;
  QPainterPath m_path;
  Look m_look = Look::Plain;
  bool m_muted = false;
};

/// A frame or a note.
class AreaItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 3 };
  AreaItem(bool isNote, SharedStyle style);
  int type() const override { return Type; }

  void setContent(const QString& text, const document::Rect& area, std::size_t hue);
  void setSelected(bool selected);
  void setStyle(const SharedStyle& style);

  QRectF boundingRect() const override { return {-4, -4, m_area.width + 8, m_area.height + 8}; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  bool m_isNote;
  SharedStyle m_style;
  QString m_text;
  document::Rect m_area;
  std::size_t m_hue = 0;
  bool m_selected = false;
};

/// The title of a frame, painted over the nodes in the frame.
class FrameTitleItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 4 };
  explicit FrameTitleItem(SharedStyle style);
  int type() const override { return Type; }

  void setContent(const QString& text, const document::Rect& area, std::size_t hue);
  void setStyle(const SharedStyle& style);
  /// Returns the rectangle of the title at this zoom, in scene pixels from the top left corner of the frame.
  QRectF labelAt(double zoom) const;

  QRectF boundingRect() const override;
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  SharedStyle m_style;
  QString m_text;
  document::Rect m_area;
  std::size_t m_hue = 0;
};

/// Returns the zoom at which a painter paints a scene.
double zoomOf(const QPainter& painter);

}  // namespace spanscope::ui
