// SPDX-License-Identifier: GPL-3.0-or-later
// Paints one node. Sizes are in scene pixels at zoom 1. The origin is the top left corner of the node.
#pragma once

#include "ui/editor/canvas_style.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_status.h"

#include <QRectF>

class QPainter;

namespace spanscope::ui {

/// Zooms below which a node is drawn more simply.
inline constexpr double kTextZoom = 0.33;
inline constexpr double kShapeZoom = 0.15;
inline constexpr double kPortRadius = 4.5;
inline constexpr double kNumberRadius = 8;

struct NodeMarks {
  bool selected = false;
  bool focused = false;  ///< the node is the current node, and the canvas has the focus
  bool hovered = false;
  bool outputFits = false;  ///< a new wire can begin at the output
  int inputFits = -1;       ///< the input at which the wire can end; −1: none, −2: any input
  double motion = 0;        ///< position of the moving bar, 0 … 1
  bool moves = true;        ///< the system allows motion
  bool operator==(const NodeMarks&) const = default;
};

/// Returns the largest area that paintNode() can paint for this look, with any status, marks and zoom.
QRectF paintedArea(const NodeLook& look);

void paintNode(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
               const NodeMarks& marks, const CanvasStyle& style, double zoom);

}  // namespace spanscope::ui
