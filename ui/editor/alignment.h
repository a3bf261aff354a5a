// SPDX-License-Identifier: GPL-3.0-or-later
// Lines up rectangles in the scene: where a dragged one snaps, and where commands put several of them.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"

#include <QLineF>
#include <QPointF>

#include <vector>

namespace spanscope::ui {

/// The distance between the dots of the canvas, in scene pixels. Dragged nodes snap to them.
inline constexpr double kGridStep = 20;
/// How near a dragged node snaps, in pixels of the screen.
inline constexpr double kSnapReach = 6;

struct Snap {
  QPointF by;  ///< how far the rectangle moves to snap, in scene pixels
  /// The lines that the rectangle then shares with others, each as long as both rectangles.
  std::vector<QLineF> guides;
};

/// Snaps a rectangle to the edges and centers of others that are at most `reach` away, in each direction on
/// its own. Where there are none, its top left corner snaps to the grid.
Snap snapTo(const document::Rect& rect, const std::vector<document::Rect>& others, double reach);

enum class Alignment { Left, Center, Right, Top, Middle, Bottom };

/// Moves each rectangle to this edge or center of the rectangle around all of them.
void align(std::vector<document::Rect>& rects, Alignment to);

/// Makes the gaps between the rectangles equal, from left to right or from top to bottom. The outermost two
/// stay.
void distribute(std::vector<document::Rect>& rects, Qt::Orientation along);

/// Moves a draft down to the first place where no node of it covers another node or a note.
void moveToFreePlace(document::Document& document, document::NodeId top, const Stacks& stacks = {});

}  // namespace spanscope::ui
