// SPDX-License-Identifier: GPL-3.0-or-later
// Aligns rectangles in the scene. Computes where a dragged rectangle snaps, and where commands put several
// rectangles.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/tidy_layout.h"

#include <QLineF>
#include <QPointF>

#include <vector>

namespace spanscope::ui {

/// The distance between the dots of the canvas, in scene pixels. Dragged nodes snap to these dots.
inline constexpr double kGridStep = 20;
/// The distance at which a dragged node snaps, in pixels of the screen.
inline constexpr double kSnapReach = 6;

struct Snap {
  /// The movement of the rectangle, in scene pixels.
  QPointF by;
  /// The lines on which the moved rectangle is aligned with other rectangles. Each line spans both
  /// rectangles.
  std::vector<QLineF> guides;
};

/// Snaps a rectangle to the nearest edges and centers of others that are at most `reach` away. Both
/// directions are independent. In a direction without such a line, the rectangle's top left corner snaps to
/// the grid.
Snap snapTo(const document::Rect& rect, const std::vector<document::Rect>& others, double reach);

enum class Alignment { Left, Center, Right, Top, Middle, Bottom };

/// Moves each rectangle to this edge or center of the rectangle around all `rects`.
void align(std::vector<document::Rect>& rects, Alignment to);

/// Makes the gaps between the rectangles equal, from left to right or from top to bottom. The outermost two
/// rectangles do not move.
void distribute(std::vector<document::Rect>& rects, Qt::Orientation along);

/// Moves a draft down to the first place where the draft covers no other node and no note.
void moveToFreePlace(document::Document& document, document::NodeId top, const Stacks& stacks = {});

}  // namespace spanscope::ui
